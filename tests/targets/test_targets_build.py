"""Building with emissions made by hand: what is rebuilt, why, and what is left after faults."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from ppybuild.diagnostics import Diagnostic, Failure
from ppybuild.emit.emission import Emission, Extension, SourceFile
from ppybuild.graph.load import load as read
from ppybuild.manifest import Manifest, load
from ppybuild.targets import build as building
from ppybuild.targets import digest, folder
from ppybuild.targets.build import Options, Result, build
from ppybuild.targets.digest import state
from tests.targets.projects import EXTENSION, emission, extension, project

MAIN = {"main.py": "def f():\n    return 0\n\n\nprint(f)\n"}


class Told:
    """A report that keeps what it is told."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.steps: list[str] = []
        self.lines: list[str] = []
        self.waited = 0

    def waiting(self) -> None:
        self.waited += 1

    def stale(self, entry: str, reason: str) -> None:
        self.reasons.append(f"{entry}: {reason}")

    def step(self, entry: str, done: int, total: int, what: str) -> None:
        assert done <= total
        self.steps.append(what)

    def command(self, line: str) -> None:
        self.lines.append(line)


def project_of(folder: Path) -> Manifest:
    """A project written without making folders."""
    (folder / "main.py").write_text(MAIN["main.py"])
    (folder / "ppy.toml").write_text("[entry.main]\n")
    return load(folder / "ppy.toml")


Emit = Callable[[Emission], None]


@pytest.fixture
def emits(monkeypatch: pytest.MonkeyPatch) -> Emit:
    """Sets what is emitted for every entry, in place of analysis and lowering."""
    now = [emission(extension())]
    fake = types.ModuleType("ppybuild.targets.emitting")
    fake.__dict__["emit_entry"] = lambda *_: now[0]
    monkeypatch.setitem(sys.modules, fake.__name__, fake)

    def analyse(manifest: Manifest, names: Any) -> tuple[Any, Any]:
        program = read(manifest)
        building._check_entries(manifest, program, names)
        return program, types.SimpleNamespace(diagnostics=())

    monkeypatch.setattr(building, "analyse_entries", analyse)

    def use(emitted: Emission) -> None:
        now[0] = emitted

    return use


def make(manifest: Manifest, *entries: str, **options: Any) -> tuple[Told, tuple[Result, ...]]:
    told = Told()
    return told, build(manifest, entries, "cpu", Options(**options), told)


def start(result: Result) -> str:
    return subprocess.run(
        [sys.executable, result.start], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_what_changed_is_rebuilt_and_nothing_else(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN)
    told, (result,) = make(manifest)
    assert told.reasons == ["main: not built yet"]
    assert told.steps[0] == "compiling loops/loops.c"
    assert start(result) == "41"

    told, (result,) = make(manifest)
    assert (told.reasons, told.steps, result.reason) == ([], [], "")

    (tmp_path / "main.py").write_text(MAIN["main.py"] + "print(2)\n")
    told, (result,) = make(manifest)
    assert told.reasons == ["main: changed (main.py)"]
    assert told.steps == []  # the same C
    assert start(result) == "41\n2"

    (tmp_path / "main.py").write_text(MAIN["main.py"])
    emits(emission(extension(value="42")))
    told, (result,) = make(manifest)
    assert told.steps[0] == "compiling loops/loops.c"
    assert start(result) == "42"


def test_an_unread_file_is_no_reason(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN)
    make(manifest)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.py").write_text("x")
    assert make(manifest)[0].reasons == []
    (tmp_path / "new.py").write_text("")
    assert make(manifest)[0].reasons == ["main: changed (new new.py)"]
    (tmp_path / "new.py").unlink()
    assert make(manifest)[0].reasons == ["main: changed (gone new.py)"]


def test_options_compiler_and_bundle_are_noticed(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = project(tmp_path, MAIN)
    _, (result,) = make(manifest)
    assert make(manifest, numerics="exact")[0].reasons == ["main: changed (options)"]
    make(manifest)
    monkeypatch.setenv("CC", "cc")
    assert make(manifest)[0].reasons == ["main: changed (the C compiler)"]
    (result.bundle / "app" / "main.py").write_text("")
    assert make(manifest)[0].reasons == ["main: its bundle was changed (app/main.py)"]
    (result.bundle / "bundle.json").unlink()
    assert make(manifest)[0].reasons == ["main: its bundle was changed (bundle.json)"]
    result.bundle.rename(tmp_path / ".moved")
    assert make(manifest)[0].reasons == ["main: its bundle is gone"]


def test_a_program_without_native_code_needs_no_compiler(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    emits(emission())
    monkeypatch.setenv("CC", "missing-compiler")
    _, (result,) = make(project(tmp_path, {"main.py": "print('plain')\n"}))
    assert start(result) == "plain"
    description = json.loads((result.bundle / "bundle.json").read_text())
    assert description["cpu"] == []
    assert description["torch"] is None


def test_bundles_are_the_same_bytes_in_two_folders(tmp_path: Path, emits: Emit) -> None:
    emits(emission(extension(text=EXTENSION + "\nconst char *where = __FILE__;\n")))
    contents = []
    for name in ("a", "b with space"):
        (tmp_path / name).mkdir()
        manifest = project(tmp_path / name, MAIN, '[project]\nname = "p"\n[entry.main]\n')
        _, (result,) = make(manifest)
        files = sorted(path for path in result.bundle.rglob("*") if path.is_file())
        contents.append(
            {
                path.relative_to(result.bundle).as_posix(): (
                    path.read_bytes(),
                    path.stat().st_mode & 0o777,
                )
                for path in files
            }
        )
    assert contents[0] == contents[1]
    assert not any(str(tmp_path).encode() in data for data, _ in contents[0].values())


def test_a_cache_serves_another_project(tmp_path: Path, emits: Emit) -> None:
    steps = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        manifest = project(tmp_path / name, MAIN, '[entry.main]\n[build]\ncache = "../cache"\n')
        told, (result,) = make(manifest)
        steps.append(told.steps)
        assert start(result) == "41"
    assert any("compiling" in step for step in steps[0])
    assert not any("compiling" in step for step in steps[1])


def test_entries_share_objects(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN, '[entry.main]\n[entry.second]\nmodule = "main"\n')
    told, (first, second) = make(manifest)
    assert [step for step in told.steps if "compiling" in step] == ["compiling loops/loops.c"]
    assert start(first) == start(second) == "41"


def test_the_cache_of_a_build_folder_does_not_grow_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_CACHE_BYTES", 10)
    place = folder.own_cache(tmp_path)
    place.mkdir()
    (place / "a").write_bytes(bytes(10))
    assert (folder.own_cache(tmp_path) / "a").exists()
    (place / "b").write_bytes(b"x")
    assert not folder.own_cache(tmp_path).exists()


def test_verbose_shows_commands(tmp_path: Path, emits: Emit) -> None:
    told, _ = make(project(tmp_path, MAIN), verbose=True)
    assert any(
        "-ffp-contract=off" in line and "gen/loops/loops.c" in line for line in told.lines
    )


def test_compile_commands_are_written(tmp_path: Path, emits: Emit) -> None:
    make(project(tmp_path, MAIN))
    path = tmp_path / "build" / ".work" / "cpu" / "main" / "compile_commands.json"
    (command,) = json.loads(path.read_text())
    assert command["file"] == "gen/loops/loops.c"


def test_a_source_dropped_from_the_emission_is_dropped(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN)
    emits(emission(extension(), extension("other")))
    make(manifest)
    emits(emission(extension()))
    (tmp_path / "main.py").write_text("def f(): ...\n")
    _, (result,) = make(manifest)
    assert [path.name.partition(".")[0] for path in (result.bundle / "native").iterdir()] == [
        "loops"
    ]
    assert not (tmp_path / "build/.work/cpu/main/gen/other/other.c").exists()


def failing(manifest: Manifest, *entries: str) -> tuple[int, tuple[Diagnostic, ...]]:
    with pytest.raises(Failure) as caught:
        make(manifest, *entries)
    return caught.value.status, caught.value.diagnostics


def code_of(failure: tuple[int, tuple[Diagnostic, ...]]) -> tuple[int, list[str]]:
    return failure[0], [found.code for found in failure[1]]


def test_code_that_does_not_compile_is_our_fault(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN)
    _, (result,) = make(manifest)
    before = state(result.bundle)
    emits(emission(extension(text="#error broken")))
    (tmp_path / "main.py").write_text("def f(): ...\n")
    status, (found,) = failing(manifest)
    assert (status, found.code) == (1, "E4007")
    assert "broken" in found.message
    assert (tmp_path / "build/.work/cpu/main/build.log").read_text()
    assert state(result.bundle) == before
    emits(emission(extension()))
    (tmp_path / "main.py").write_text(MAIN["main.py"])
    assert start(make(manifest)[1][0]) == "41"


@pytest.mark.parametrize(
    ("names", "help_"), [(("mian",), "did you mean `main`?"), (("zzz",), "entries: main")]
)
def test_an_unknown_entry(
    tmp_path: Path, emits: Emit, names: tuple[str, ...], help_: str
) -> None:
    status, (found,) = failing(project(tmp_path, MAIN), *names)
    assert (status, found.code, found.help) == (2, "E2101", help_)


def test_no_entry(tmp_path: Path, emits: Emit) -> None:
    assert code_of(failing(project(tmp_path, MAIN, ""))) == (2, ["E2102"])


def test_a_module_that_is_not_there(tmp_path: Path, emits: Emit) -> None:
    text = '[entry.a]\nmodule = "mian"\n[entry.b]\nmodule = "pack"\n'
    manifest = project(tmp_path, {**MAIN, "pack/__init__.py": ""}, text)
    status, (first, second) = failing(manifest)
    assert (status, first.code, second.code) == (2, "E2103", "E2103")
    assert first.help == "did you mean `main`?"


def test_a_package_runs_its_main(tmp_path: Path, emits: Emit) -> None:
    emits(emission())
    files = {"pack/__init__.py": "", "pack/__main__.py": "print(__spec__.name)\n"}
    _, (result,) = make(project(tmp_path, files, "[entry.pack]\n"))
    assert start(result) == "pack.__main__"


def test_a_source_that_is_not_python(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, {**MAIN, "bad.py": "def f(:\n"})
    assert code_of(failing(manifest)) == (1, ["E1001"])


def test_no_compiler(tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = project(tmp_path, MAIN)
    monkeypatch.setenv("CC", "missing-compiler")
    assert code_of(failing(manifest)) == (2, ["E4001"])
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_of(failing(manifest)) == (2, ["E4001"])


@pytest.mark.parametrize("named", ["gcc '", "false"])
def test_a_compiler_that_is_none(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("CC", named)
    assert code_of(failing(project(tmp_path, MAIN))) == (2, ["E4001"])


def test_a_folder_with_characters_of_the_shell(tmp_path: Path, emits: Emit) -> None:
    folder = tmp_path / "a $b `c` \"d\" 'e' ü"
    folder.mkdir()
    _, (result,) = make(project(folder, MAIN))
    assert start(result)


def test_an_unknown_cpu(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN, '[entry.main]\n[device.cpu]\ncpu = "znver99"\n')
    assert code_of(failing(manifest)) == (2, ["E4006"])


def test_the_baseline_needs_no_features(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, MAIN, '[entry.main]\n[device.cpu]\ncpu = "baseline"\n')
    _, (result,) = make(manifest)
    assert json.loads((result.bundle / "bundle.json").read_text())["cpu"] == []


def test_a_build_folder_that_is_a_file(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, {**MAIN, "build": "x"})
    assert code_of(failing(manifest)) == (2, ["E2107"])


def test_a_build_folder_of_someone_else(tmp_path: Path, emits: Emit) -> None:
    manifest = project(tmp_path, {**MAIN, "build/data.csv": "x"})
    assert code_of(failing(manifest)) == (2, ["E2107"])
    assert (tmp_path / "build" / "data.csv").read_text() == "x"


def test_no_space(tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    manifest = project(tmp_path, MAIN)
    _, (result,) = make(manifest)
    before = state(result.bundle)
    (tmp_path / "main.py").write_text("def f(): ...\n")
    monkeypatch.setattr("ppybuild.targets.bundle._copy", full)
    assert code_of(failing(manifest)) == (2, ["E4008"])
    assert state(result.bundle) == before
    monkeypatch.undo()


def test_no_space_for_the_compiler(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "bin" / "full-cc"
    compiler.parent.mkdir()
    compiler.write_text(
        "#!/bin/sh\n"
        'case "$*" in *loops.c*) echo "loops.c: No space left on device" >&2; exit 1;; esac\n'
        'exec gcc "$@"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert code_of(failing(project(tmp_path, MAIN))) == (2, ["E4008"])


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_may_not_be_written(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(tmp_path / "build"))

    monkeypatch.setattr(Path, "mkdir", refused)
    status, (found,) = failing(project_of(tmp_path))
    assert (status, found.code) == (2, "E2108")
    assert f"`{tmp_path / 'build'}` cannot be written" in found.message


def test_a_source_saved_during_the_build_is_in_the_bundle(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = project(tmp_path, MAIN)
    emits(emission())
    analyse = building.analyse_entries
    saves = iter(["print('saved')\n"])

    def saving(*args: Any) -> Any:
        found = analyse(*args)
        for text in saves:
            (tmp_path / "main.py").write_text(text)
            break
        return found

    monkeypatch.setattr(building, "analyse_entries", saving)
    told, (result,) = make(manifest)
    assert told.reasons == ["main: not built yet", "main: changed (main.py)"]
    assert start(result) == "saved"


REGION = """
#include <ATen/core/Tensor.h>

extern "C" long region_value(void)
{
    return at::Tensor().toString() == "UndefinedType" ? 41 : 0;
}
"""

CALLER = EXTENSION.replace("VALUE);", "region_value());").replace(
    "static PyObject", "long region_value(void);\n\nstatic PyObject", 1
)


@pytest.mark.slow
def test_an_extension_with_torch(tmp_path: Path, emits: Emit) -> None:
    sources = (
        SourceFile(PurePosixPath("value.h"), ""),
        SourceFile(PurePosixPath("region.cpp"), REGION),
        SourceFile(PurePosixPath("caller.c"), CALLER.replace("NAME", "regions")),
    )
    regions = Extension("regions", sources, uses_torch=True)
    emits(Emission((regions,), {"main.f": ("regions", "main_f")}, ()))
    _, (result,) = make(project(tmp_path, MAIN))
    assert start(result) == "41"
    description = json.loads((result.bundle / "bundle.json").read_text())
    assert description["torch"] == metadata.version("torch")
    data = (result.bundle / "native" / description["extensions"]["regions"]).read_bytes()
    assert b"libtorch_cpu.so" in data
    assert b"site-packages" not in data
    assert "warning" not in (tmp_path / "build/.work/cpu/main/build.log").read_text()


@pytest.mark.parametrize("part", ["Python", "torch", "ppybuild", "the C++ compiler"])
def test_every_part_of_the_toolchain_is_noticed(
    tmp_path: Path, emits: Emit, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    emits(emission())
    manifest = project(tmp_path, {"main.py": "print(1)\n"})
    make(manifest)
    fingerprint = digest.fingerprint

    def other(*arguments: Any) -> dict[str, str]:
        found = fingerprint(*arguments)
        assert part in found
        return {**found, part: "other"}

    monkeypatch.setattr(building, "fingerprint", other)
    assert make(manifest)[0].reasons == [f"main: changed ({part})"]
