"""A small program with a native function and a data file, packaged once, and ways to run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import ppybuild, write

SOURCE = """\
import os
import signal
import sys

import ppy


def add(a: int, b: int) -> int:
    return a + b


def main(args: list[str]) -> None:
    if args[:1] == ["exit"]:
        sys.exit(int(args[1]))
    if args[:1] == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if args[:1] == ["wait"]:
        print("ready", flush=True)
        signal.pause()
    print(add(2, 3), ppy.native.compiled(add), args)
    print(ppy.resource("weights/a.txt").read_text())
    print(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


if __name__ == "__main__":
    main(sys.argv[1:])
"""
MANIFEST = """\
[project]
version = "1.2"

[sources]
roots = ["src"]

[entry.start]
module = "prog.main"
args = ["default"]
data = ["weights"]
"""
FILES = {
    "ppy.toml": MANIFEST,
    "src/prog/__init__.py": "",
    "src/prog/main.py": SOURCE,
    "weights/a.txt": "the weights",
}

Run = Callable[..., subprocess.CompletedProcess[str]]


def run(
    command: Path | str, *args: str, cwd: Path | str = "/", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Start a package where ppybuild cannot be imported by accident."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PPY_CACHE")
    }
    return subprocess.run(
        [command, *args],
        cwd=cwd,
        env=kept | {"PPY_PYTHON": sys.executable} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def output(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.fixture(scope="session")
def packaged_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's folder; `out/` holds both packages, and the sources are gone."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, FILES)
    for form in ("dir", "onefile"):
        done = ppybuild(
            folder, "package", "start", "--format", form, "--output", "out/", PPY_PYTHON=""
        )
        assert done.returncode == 0, done.stderr
    (folder / "src").rename(folder / "gone")
    return folder


@pytest.fixture(scope="session")
def folder_package(packaged_project: Path) -> Path:
    """The folder of format `dir`."""
    return next(path for path in (packaged_project / "out").glob("start-*") if path.is_dir())


@pytest.fixture(scope="session")
def file_package(packaged_project: Path) -> Path:
    """The file of format `onefile`."""
    return packaged_project / "out" / "start"
