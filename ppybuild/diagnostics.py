"""Diagnostics: the record, and the one table of codes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning", "remark"]


@dataclass(frozen=True, slots=True)
class Location:
    """A span of source. Lines and columns count from 1; `end_column` is exclusive."""

    path: Path
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a code of `CODES`, where, what is wrong, and what to do."""

    code: str
    message: str
    location: Location | None = None
    help: str = ""
    label: str = ""
    """Said beside the marked span: `Tensor | None`."""


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the table; `ppybuild explain CODE` and `docs/diagnostics.md` print it."""

    severity: Severity
    title: str
    meaning: str
    example: str
    fix: str


CODES: dict[str, Code] = {}


class Failure(Exception):
    """What the user did wrong, as diagnostics; the command line prints them and exits.

    `status` is 1 where the program or its build is at fault, 2 for the command line, the
    manifest or the machine.
    """

    def __init__(self, *diagnostics: Diagnostic, status: Literal[1, 2] = 1) -> None:
        super().__init__("; ".join(found.message for found in diagnostics))
        self.diagnostics = diagnostics
        self.status = status


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be."""
    import difflib  # only where something is wrong

    candidates = sorted(set(known))
    folded = {candidate.lower(): candidate for candidate in reversed(candidates)}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None
