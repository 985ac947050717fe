"""What a build says while it runs."""

from __future__ import annotations

from typing import Protocol


class Report(Protocol):
    """Told about the build as it goes on; the command line shows it."""

    def waiting(self) -> None:
        """Another build of the project is running; this one waits for it."""

    def stale(self, entry: str, reason: str) -> None:
        """The entry is built, and why: `changed (train.ppy)`."""

    def step(self, entry: str, done: int, total: int, what: str) -> None:
        """A file is about to be compiled or linked, the `done`-th of at most `total`."""

    def command(self, line: str) -> None:
        """A line that a compiler or SCons wrote, where all of them are wanted."""


class Silent:
    """Says nothing."""

    def waiting(self) -> None:
        pass

    def stale(self, entry: str, reason: str) -> None:
        pass

    def step(self, entry: str, done: int, total: int, what: str) -> None:
        pass

    def command(self, line: str) -> None:
        pass
