"""What is around the line that is written: loops, bodies of `try`, `except` clauses."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from ppybuild.emit.standalone.values import Value


@dataclass(frozen=True, slots=True)
class FlagLine:
    """Sets a local variable's flag; printed where anything asks for the flag."""

    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class TryBody:
    """The body of a `try`, by its C handler; on every way out of it, `final` is run."""

    handler: str
    final: tuple[ast.stmt, ...] = ()
    inner: Mapping[str, Value] = field(default_factory=dict)
    """`Body.inner` where the `try` stands."""


@dataclass(frozen=True, slots=True)
class Clause:
    """An `except` clause; how the arena was where it began."""

    mark: str


Around = TryBody | Clause


@dataclass(slots=True)
class Loop:
    """A loop that is being written, and how its body leaves it."""

    done: str
    around: int
    """How many of `Body.around` are around it."""
    broken: bool = False
    """Whether a `break` goes to the label `done`."""
    bound: list[set[str]] = field(default_factory=list)
    """The names that are bound at each `break`."""
