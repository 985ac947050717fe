"""Builds programs without Python, and runs them beside CPython."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.standalone.program import Standalone, emit_standalone
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import load
from ppybuild.manifest import load as load_manifest

_FLAGS = ("-std=gnu17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-Wall", "-Wextra")
_MANIFEST = """\
[project]
name = "program"
version = "0.1.0"

[sources]
roots = ["src"]

[entry.main]
module = "main"
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What can be seen of a run."""

    output: str
    last: str
    """The last line of standard error."""
    status: int


def emitted(folder: Path, sources: Mapping[str, str]) -> Standalone | tuple[Diagnostic, ...]:
    """The program of these modules, whose `main` is run."""
    (folder / "src").mkdir(parents=True)
    for name, text in sources.items():
        path = folder / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "ppy.toml").write_text(_MANIFEST)
    facts = analyse(load(load_manifest(folder / "ppy.toml")))
    return emit_standalone(facts, "main", "{}\n")


def refusals(folder: Path, sources: Mapping[str, str]) -> list[tuple[int, str]]:
    """Line and text of everything that needs Python."""
    found = emitted(folder, sources)
    assert not isinstance(found, Standalone)
    return [(each.location.line if each.location else 0, each.message) for each in found]


@dataclass(frozen=True, slots=True)
class Builder:
    """Compiles programs; the runtime once for all."""

    runtime: Path
    flags: Sequence[str] = ()

    def build(self, folder: Path, sources: Mapping[str, str]) -> Path:
        found = emitted(folder, sources)
        assert isinstance(found, Standalone), found
        made = folder / "made"
        made.mkdir()
        objects = []
        for source in found.sources:
            (made / source.path).write_text(source.text, encoding="utf-8")
        for source in found.sources:
            if source.path.suffix != ".c":
                continue
            shared = source.path.name.startswith("ppy_")
            target = (self.runtime if shared else made) / f"{source.path}.o"
            if not target.exists():
                self._gcc(made, "-Werror", "-c", str(source.path), "-o", str(target))
            objects.append(str(target))
        self._gcc(made, *objects, "-o", str(folder / "program"), "-lm")
        return folder / "program"

    def _gcc(self, folder: Path, *arguments: str) -> None:
        command = ["gcc", *_FLAGS, *self.flags, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def run_native(program: Path, arguments: Sequence[str] = (), given: str = "") -> Run:
    return _run([str(program), *arguments], program.parent, given)


def run_python(folder: Path, arguments: Sequence[str] = (), given: str = "") -> Run:
    return _run([sys.executable, "main.py", *arguments], folder / "src", given)


def _run(command: Sequence[str], folder: Path, given: str) -> Run:
    done = subprocess.run(
        command,
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONUTF8": "1", "ASAN_OPTIONS": "detect_leaks=0"},
        check=False,
    )
    lines = done.stderr.splitlines()
    return Run(done.stdout, lines[-1] if lines else "", done.returncode)
