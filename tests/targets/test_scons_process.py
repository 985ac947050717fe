"""SCons as a process that waits until there is something to do."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ppybuild.targets.scons_process import Scons


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "SConstruct").write_text(
        "DefaultEnvironment(tools=[])\n"
        "env = Environment(tools=[])\n"
        'env.Command("made", [], "echo one > $TARGET")\n'
    )
    return folder


def ran(scons: Scons, folder: Path) -> tuple[int, str]:
    log = folder / "log"
    status = scons.run(folder, ["-Q", "made"], log).wait()
    return status, log.read_text()


def test_runs_one_after_another(tmp_path: Path) -> None:
    with Scons().started() as scons:
        for name in ("first", "second"):
            status, said = ran(scons, project(tmp_path / name))
            assert (status, said) == (0, "echo one > made\n")
            assert (tmp_path / name / "made").read_text() == "one\n"


def test_one_that_has_not_been_started(tmp_path: Path) -> None:
    assert ran(Scons(), project(tmp_path / "only"))[0] == 0


def test_one_that_was_killed_while_it_waited(tmp_path: Path) -> None:
    with Scons().started() as scons:
        waiting = scons._waiting
        assert waiting is not None
        os.kill(waiting.pid, signal.SIGKILL)
        waiting.wait()
        assert ran(scons, project(tmp_path / "killed"))[0] == 0


def test_ends_without_work_and_lets_go_of_what_it_held(tmp_path: Path) -> None:
    read, write = os.pipe()
    with Scons(hold=(write,)).started() as scons:
        waiting = scons._waiting
        assert waiting is not None
    assert waiting.returncode == 0
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)


def test_what_fails_is_in_the_log(tmp_path: Path) -> None:
    folder = project(tmp_path / "broken")
    (folder / "SConstruct").write_text("1 / 0\n")
    with Scons().started() as scons:
        status, said = ran(scons, folder)
    assert status != 0
    assert "ZeroDivisionError" in said
