"""One build at a time in a build folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[int]:
    """Holds the lock file, after calling `waiting` where another process has it.

    Gives its descriptor: a child that inherits it holds the lock too, so that a compiler
    run that outlives a killed build is waited for. The system releases it when the last
    of them ends, however that is.
    """
    descriptor = _acquire(path, waiting)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(path: Path, waiting: Callable[[], None]) -> int:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _lies_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # removed by `clean` while this one waited


def _lies_at(descriptor: int, path: Path) -> bool:
    """Whether the file that is open is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
