"""Compile the C runtime of executables once, and call its functions from Python."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
RUNTIME = HERE.parents[3] / "ppybuild" / "emit" / "runtime" / "standalone"
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", str(RUNTIME))


def compile_runtime(main: Path, target: Path, *flags: str, compiler: str = "gcc") -> Path:
    """`main` and the whole runtime as one file."""
    found = shutil.which(compiler)
    assert found is not None
    sources = [str(path) for path in sorted(RUNTIME.glob("*.c"))]
    command = [found, *FLAGS, *flags, str(main), *sources, "-o", str(target), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


class _Text(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_char_p),
        ("bytes", ctypes.c_int64),
        ("length", ctypes.c_int64),
    )


class _Arguments(ctypes.Structure):
    _fields_ = (
        ("a", _Text),
        ("b", _Text),
        ("c", _Text),
        ("i", ctypes.c_int64),
        ("j", ctypes.c_int64),
        ("k", ctypes.c_int64),
        ("d", ctypes.c_double),
    )


def _text(said: str) -> _Text:
    data = said.encode("utf-8", "surrogatepass")
    return _Text(data, len(data), len(said))


@dataclass
class Runtime:
    """The functions of `driver.c`."""

    library: ctypes.CDLL
    room: ctypes.Array[ctypes.c_char] = field(
        default_factory=lambda: ctypes.create_string_buffer(1 << 20)
    )

    def __post_init__(self) -> None:
        self.library.drive.restype = self.library.str_floats.restype = ctypes.c_int64

    def __call__(
        self, name: str, *texts: str, i: int = 0, j: int = 0, k: int = 0, d: float = 0.0
    ) -> str:
        """`=` and what the operation gives, or `!` and the repr of what it raises."""
        padded = (*texts, "", "", "")[:3]
        given = _Arguments(*map(_text, padded), i, j, k, d)
        room = self.room
        count = self.library.drive(
            name.encode(), ctypes.byref(given), room, ctypes.c_int64(len(room))
        )
        assert 0 < count < len(room), (name, count)
        return room.raw[:count].decode("utf-8", "surrogatepass")

    def str_floats(self, values: array[float]) -> list[str]:
        """`str` of many at once."""
        room = ctypes.create_string_buffer(len(values) * 26)
        data = (ctypes.c_double * len(values)).from_buffer(values)
        count = self.library.str_floats(data, ctypes.c_int64(len(values)), room)
        return room.raw[:count].decode("ascii").split("\n")[:-1]


@contextmanager
def runtime(folder: Path) -> Iterator[Runtime]:
    """The functions, compiled in the folder."""
    made = compile_runtime(HERE / "driver.c", folder / "runtime.so", "-shared", "-fPIC")
    yield Runtime(ctypes.CDLL(str(made)))
