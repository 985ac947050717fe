"""Compile small extension modules and lay down small bundles, for tests."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import ppy
from ppy.bundle import digest, soabi
from ppy.launcher import SCRIPT
from ppybuild.emit.boundary.runtime import runtime_sources

FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared")
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def build_extension(
    folder: Path, name: str, sources: Mapping[str, str], flags: Sequence[str] = ()
) -> Path:
    """Compile C `sources`, by file name, with the runtime's, into `folder/NAME.so`."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {str(source.path): source.text for source in runtime_sources()} | dict(sources)
    for file, text in written.items():
        (folder / file).write_text(text, encoding="utf-8")
    include = sysconfig.get_paths()["include"]
    output = folder / f"{name}.so"
    units = [file for file in written if file.endswith(".c")]
    command = ["gcc", *FLAGS, *WARNINGS, *flags, f"-I{include}", "-o", output, *units, "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output


def load_extension(path: Path) -> ModuleType:
    """The extension module of this file, kept out of `sys.modules`."""
    loader = importlib.machinery.ExtensionFileLoader(path.stem, str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def write_bundle(
    root: Path,
    sources: Mapping[str, str],
    module: str,
    extensions: Mapping[str, Path] | None = None,
    bindings: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    **changes: Any,
) -> Path:
    """A bundle in folder `root`, as docs/architecture.md describes; gives its launcher."""
    for path, text in sources.items():
        target = root / "app" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (root / "native").mkdir(parents=True)
    for extension in (extensions or {}).values():
        shutil.copy(extension, root / "native")
    runtime = Path(ppy.__file__).parent
    shutil.copytree(runtime, root / "ppy", ignore=shutil.ignore_patterns("__pycache__"))
    launcher = root / "start"
    launcher.write_text(SCRIPT, encoding="utf-8")
    launcher.chmod(0o755)
    description = {
        "schema": 1,
        "entry": "start",
        "version": "0.1.0",
        "module": module,
        "args": [],
        "device": "cpu",
        "without_gpu": "cpu",
        "platform": sysconfig.get_platform(),
        "python": soabi(),
        "torch": None,
        "cpu": [],
        "requires": {},
        "licences": {},
        "extensions": {name: path.name for name, path in (extensions or {}).items()},
        "bindings": bindings or {},
        "splices": {},
        "files": {
            path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        },
    } | changes
    description["digest"] = digest(description)
    (root / "bundle.json").write_text(json.dumps(description), encoding="utf-8")
    return launcher
