"""A build that is killed at any moment leaves a project that the next build finishes, and
two builds at once wait for each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ppybuild.manifest import load
from ppybuild.targets import folder
from ppybuild.targets.lock import locked
from tests.targets.projects import project

ROOT = Path(__file__).parents[2]
MAIN = {"main.py": "def f():\n    return 0\n\n\nprint(f)\n"}

MOMENTS = [
    ("ppybuild.targets.folder", "create"),
    ("ppybuild.targets.scons", "prepare"),
    ("ppybuild.targets.scons", "_write_if_changed"),
    ("ppybuild.targets.scons", "_follow"),
    ("ppybuild.targets.bundle", "_fill"),
    ("ppybuild.targets.bundle", "_description"),
    ("pathlib", "Path.rename"),
    ("ppybuild.targets.build", "write_stamp"),
    ("pathlib", "Path.replace"),
]

COMPILER = """#!/bin/sh
# Leaves half an object and waits: the test kills it, or opens the gate.
case "$*" in
*" -c "*)
    while [ "$1" != -o ]; do shift; done
    target=$2
    printf half > "$target"
    echo here > "{folder}/reached"
    read -r word < "{folder}/gate"
    exec gcc "$@"
    ;;
esac
exec gcc "$@"
"""


def start_build(
    place: Path, module: str = "-", function: str = "-", compiler: str | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.targets.stopping_build", str(place), module, function],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **({"CC": compiler} if compiler else {})},
        start_new_session=True,
    )


def finish_build(place: Path) -> None:
    """The next build, and what it made, run."""
    build = start_build(place)
    assert build.communicate()[0] == "done\n"
    launch = place / "build" / "cpu" / "main" / "ppy" / "launch.py"
    ran = subprocess.run([sys.executable, launch], capture_output=True, text=True, check=True)
    assert ran.stdout == "41\n"
    assert not [path for path in (place / "build" / "cpu").iterdir() if path.name[0] == "."]


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize(("module", "function"), MOMENTS)
def test_killed_at_a_moment(tmp_path: Path, module: str, function: str) -> None:
    project(tmp_path, MAIN)
    build = start_build(tmp_path, module, function)
    assert build.stdout is not None
    assert build.stdout.readline() == "here\n"
    kill(build)
    finish_build(tmp_path)


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    """A compiler that stops half way, in a folder of its own."""
    place = tmp_path / "compiler"
    place.mkdir()
    os.mkfifo(place / "reached")
    os.mkfifo(place / "gate")
    compiler = place / "cc"
    compiler.write_text(COMPILER.format(folder=place))
    compiler.chmod(0o755)
    return compiler


def test_killed_while_compiling(tmp_path: Path, gated: Path) -> None:
    """Not even going back to sources that were compiled before is trusted."""
    place = tmp_path / "project"
    place.mkdir()
    project(place, MAIN)
    finish_build(place)
    (place / "build" / "cpu" / "main" / "bundle.json").unlink()
    (place / "build" / ".work" / "cpu" / "main" / ".sconsign.dblite").unlink()
    build = start_build(place, compiler=str(gated))
    assert (gated.parent / "reached").read_text() == "here\n"
    kill(build)
    finish_build(place)


def test_a_compiler_that_outlives_the_build_is_waited_for(tmp_path: Path, gated: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    project(place, MAIN)
    build = start_build(place, compiler=str(gated))
    assert (gated.parent / "reached").read_text() == "here\n"
    os.kill(build.pid, signal.SIGKILL)  # SCons and the compiler live on
    build.communicate()

    def open_gate() -> None:
        (gated.parent / "gate").write_text("go\n")

    marker = folder.marker(place / "build")
    with locked(marker, open_gate):
        pass
    finish_build(place)


def test_builds_wait_for_each_other(tmp_path: Path) -> None:
    marker = tmp_path / "build" / ".ppybuild"
    waiting, ended = threading.Event(), []

    def second() -> None:
        with locked(marker, waiting.set):
            ended.append("second")

    with locked(marker, lambda: pytest.fail("nobody has it")):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(60)
        ended.append("first")
    thread.join(60)
    assert ended == ["first", "second"]


def test_a_lock_outlives_the_folder(tmp_path: Path) -> None:
    """`clean` removes the folder under a build that waits: the build makes it again."""
    place = tmp_path / "build"
    folder.create(place)
    waiting, done = threading.Event(), threading.Event()

    def second() -> None:
        with locked(folder.marker(place), waiting.set):
            assert folder.is_ours(place)
            done.set()

    with locked(folder.marker(place), lambda: None):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(60)
        folder.marker(place).unlink()
        place.rmdir()
    thread.join(60)
    assert done.is_set()


def test_two_builds_at_once(tmp_path: Path) -> None:
    project(tmp_path, MAIN)
    builds = [start_build(tmp_path) for _ in range(3)]
    assert [build.communicate()[0] for build in builds] == ["done\n"] * 3
    finish_build(tmp_path)


def test_clean_removes_the_build_folder_alone(tmp_path: Path) -> None:
    manifest = project(tmp_path, MAIN)
    finish_build(tmp_path)
    assert folder.remove(manifest.build.dir, lambda: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.py", "ppy.toml"]
    assert not folder.remove(manifest.build.dir, lambda: None)
    assert load(tmp_path / "ppy.toml") == manifest
