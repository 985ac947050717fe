"""Shows a build as it goes on: a line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys


class Progress:
    """A `Report` on standard error, so that a program's output stays its own."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._open = False

    def waiting(self) -> None:
        self._say("waiting for another build of this project")

    def stale(self, entry: str, reason: str) -> None:
        self._say(f"{entry}: {reason}")

    def step(self, entry: str, done: int, total: int, what: str) -> None:
        line = f"{entry}: [{done}/{total}] {what}"
        if self._terminal:
            sys.stderr.write(f"\r\033[K{line}")
            sys.stderr.flush()
            self._open = True
        else:
            self._say(line)

    def command(self, line: str) -> None:
        self._say(line)

    def close(self) -> None:
        """End the line that changes."""
        if self._open:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._open = False

    def _say(self, line: str) -> None:
        self.close()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
