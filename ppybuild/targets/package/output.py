"""Puts what was made in its place at once, or leaves everything as it was.

A package is written in a folder beside its place, and renamed when it is whole. The folder
is locked for as long as it is in use: one that a killed run has left is removed by the next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.targets.bundle import remove_tree

_PREFIX = ".ppybuild-"


def refuse_existing(folder: Path, names: Sequence[str], force: bool) -> None:
    """Stop where something is in the way that may not be replaced."""
    taken = [folder / name for name in names if os.path.lexists(folder / name)]
    if taken and not force:
        raise Failure(
            *(
                Diagnostic(
                    "E2104",
                    f"`{path}` exists already",
                    help="`--force` replaces it; `--output` names another place",
                )
                for path in taken
            ),
            status=2,
        )


@contextmanager
def staged(folder: Path, names: Sequence[str], force: bool) -> Iterator[Path]:
    """Gives a folder to write in; then the files and folders of these names that it holds
    go into `folder`, which is made where there is none.

    Nothing of it remains where the block fails, or the process is told to stop.
    """
    refuse_existing(folder, names, force)
    with _stopping(), _made(folder):
        _remove_left(folder)
        stage = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
        lock = os.open(stage, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield stage
            refuse_existing(folder, names, force)
            _publish(stage, folder, names)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            os.close(lock)


def _publish(stage: Path, folder: Path, names: Sequence[str]) -> None:
    """Rename everything, or on a failure put back what was there."""
    before = stage / ".before"
    before.mkdir()
    replaced: list[str] = []
    placed: list[str] = []
    try:
        for name in names:
            if os.path.lexists(folder / name):
                (folder / name).rename(before / name)
                replaced.append(name)
            (stage / name).rename(folder / name)
            placed.append(name)
    except BaseException:
        for name in placed:
            remove_tree(folder / name)
        for name in replaced:
            (before / name).rename(folder / name)
        raise


def _remove_left(folder: Path) -> None:
    """Remove what runs that were killed have left."""
    for left in folder.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except OSError:
            pass  # in use
        finally:
            os.close(lock)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there inside; where the block fails, folders that were made are gone."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:  # as in /proc
        said = f"`{folder}` cannot be made: {error.strerror}"
        raise Failure(Diagnostic("E2108", said, help=CODES["E2108"].fix), status=2) from None
    try:
        yield
    except BaseException:
        for path in missing:
            try:
                path.rmdir()
            except OSError:
                break
        raise


@contextmanager
def _stopping() -> Iterator[None]:
    """Signals that end a process run its `finally` blocks first."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    kept = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
