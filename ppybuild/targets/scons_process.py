"""SCons as a process, started before there is anything to compile.

Loading SCons takes a good part of a short build; this way it happens while the program is
analysed. The process then waits for a line that says where to work, and ends without one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_CHILD = """
import importlib, json, os, sys
import SCons.Script
for tool in ("compilation_db", "g++", "gcc", "gnulink"):
    importlib.import_module(f"SCons.Tool.{tool}")
line = sys.stdin.buffer.readline()
if not line:
    sys.exit(0)
order = json.loads(line)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
log = os.open(order["log"], os.O_WRONLY | os.O_APPEND)
os.dup2(log, 1)
os.dup2(log, 2)
os.chdir(order["folder"])
sys.argv = ["scons", *order["words"]]
SCons.Script.main()
"""


class Scons:
    """Runs SCons; the first run is by a process that is waiting already.

    `hold` are descriptors that it keeps open for as long as it runs.
    """

    def __init__(self, hold: Sequence[int] = ()) -> None:
        self._hold = tuple(hold)
        self._waiting: subprocess.Popen[bytes] | None = None

    @contextlib.contextmanager
    def started(self) -> Iterator[Scons]:
        """Let a process wait for the first run."""
        self._waiting = self._start(subprocess.DEVNULL)
        try:
            yield self
        finally:
            if self._waiting is not None:
                _end(self._waiting)

    def run(self, folder: Path, words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        """SCons at work in a folder; all that it says goes to the log."""
        log.write_bytes(b"")
        process, self._waiting = self._waiting, None
        if process is None or process.poll() is not None:
            with log.open("ab") as errors:
                process = self._start(errors.fileno())
        order = {"folder": str(folder.resolve()), "log": str(log.resolve()), "words": [*words]}
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as told:
            told.write(json.dumps(order).encode() + b"\n")
        return process

    def _start(self, errors: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-u", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=_environment(),
            pass_fds=self._hold,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def _environment() -> dict[str, str]:
    """Nothing of the user's locale or clock reaches what is compiled or said."""
    ours = {"LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}
    dropped = {"SCONSFLAGS", "PYTHONWARNINGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, **ours}
