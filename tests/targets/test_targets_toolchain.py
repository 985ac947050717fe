"""What is said where something to build with is missing, or is stopped."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from ppybuild.diagnostics import Diagnostic, Failure
from ppybuild.targets import toolchain
from ppybuild.targets.report import Silent
from ppybuild.targets.scons import compile_extensions
from ppybuild.targets.scons_process import Scons
from ppybuild.targets.toolchain import need_compiler, need_python_headers
from tests.targets.projects import emission, extension


def refused(failure: pytest.ExceptionInfo[Failure]) -> Diagnostic:
    (found,) = failure.value.diagnostics
    assert failure.value.status == 2
    assert found.help
    return found


def test_no_cpp_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "missing-compiler")
    with pytest.raises(Failure) as failure:
        need_compiler("C++")
    assert refused(failure).code == "E4002"
    assert "missing-compiler" in refused(failure).message
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure) as failure:
        need_compiler("C++")
    assert refused(failure).code == "E4002"


def test_a_cpp_compiler_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(Failure) as failure:
        need_compiler("C++")
    assert refused(failure).code == "E4002"
    assert "does not work" in refused(failure).message


def test_no_python_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "python_include", lambda: tmp_path)
    with pytest.raises(Failure) as failure:
        need_python_headers()
    assert refused(failure).code == "E4003"
    assert str(tmp_path) in refused(failure).message


class Stopped(Scons):
    """SCons, with a script of the shell in its place."""

    def __init__(self, script: str) -> None:
        super().__init__()
        self.script = script

    def run(self, folder: Path, words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            return subprocess.Popen(["sh", "-c", self.script], cwd=folder, stdout=output)


@pytest.mark.parametrize(
    "script",
    ["kill -9 $$", "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 2"],
)
def test_a_compiler_that_is_stopped(tmp_path: Path, script: str) -> None:
    with pytest.raises(Failure) as failure:
        compile_extensions(
            tmp_path,
            emission(extension()),
            entry="main",
            jobs=1,
            verbose=False,
            report=Silent(),
            scons=Stopped(script),
        )
    assert refused(failure).code == "E4009"
    assert "--jobs 1" in refused(failure).help
