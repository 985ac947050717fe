"""What inference knows while it runs: units of code, slots that grow, a worklist.

A *slot* holds a type that only grows: a parameter, a result, a field, a variable that other
units read, the contents of a container. A *unit* is a module, function or lambda body; it
is visited again when a slot that it read has grown.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ppybuild.graph.lattice import join
from ppybuild.graph.program import FunctionNode, Module
from ppybuild.graph.scopes import Scope
from ppybuild.graph.types import NEVER, UNKNOWN, Type

MAX_VISITS = 40
"""A unit visited more often than this gives `UNKNOWN` for whatever it still changes."""

Kind = Literal["positional", "normal", "rest", "keyword", "keywords"]


class Slot:
    """A type that grows, and the units that have read it."""

    __slots__ = ("readers", "type")

    def __init__(self, found: Type = NEVER) -> None:
        self.type: Type = found
        self.readers: dict[Unit, None] = {}


@dataclass(slots=True, eq=False)
class Input:
    """A parameter of a unit."""

    name: str
    kind: Kind
    declared: Type | None
    default: ast.expr | None
    slot: Slot
    annotated: bool = False
    value: Slot = field(default_factory=Slot)
    """A literal of the one int that every call passes; `int` where they differ."""


@dataclass(slots=True, eq=False)
class Unit:
    """A body of code that is inferred as a whole."""

    name: str
    module: Module
    node: FunctionNode | ast.Lambda | ast.Module
    scope: Scope
    parent: Unit | None = None
    """The function unit that it is nested in."""
    owner: str | None = None
    """The class that it is a method of."""
    inputs: tuple[Input, ...] = ()
    declared_result: Type | None = None
    result: Slot = field(default_factory=Slot)
    variables: dict[str, Slot] = field(default_factory=dict)
    """The join over all bindings, by variable; of a module, its globals."""
    declared: dict[str, Type] = field(default_factory=dict)
    decorators: tuple[str, ...] = ()
    opaque: bool = False
    """True where a decorator may have put anything in the function's place."""
    visits: int = 0
    once: dict[str, ast.expr] | None = None
    """What the variables that are bound once are bound to; found when first asked for."""
    rebound: set[str] = field(default_factory=set)
    """Variables that nested functions bind as `nonlocal`."""
    reached: bool = False
    """False for a function that nothing is known to call: what it passes on as unknown says
    nothing about its callees."""

    def variable(self, name: str) -> Slot:
        """The slot of a variable of this unit."""
        slot = self.variables.get(name)
        if slot is None:
            slot = self.variables[name] = Slot()
        return slot


def outer_units(unit: Unit) -> list[Unit]:
    """The function units around a unit, innermost first."""
    found = []
    outer = unit.parent
    while outer is not None:
        found.append(outer)
        outer = outer.parent
    return found


class Work:
    """The units that are to be visited again, in the order in which they became stale."""

    def __init__(self) -> None:
        self._queue: deque[Unit] = deque()
        self._queued: set[Unit] = set()

    def add(self, unit: Unit) -> None:
        """Puts a unit in the queue, once."""
        if unit not in self._queued:
            self._queued.add(unit)
            self._queue.append(unit)

    def take(self) -> Unit | None:
        """The next unit."""
        if not self._queue:
            return None
        unit = self._queue.popleft()
        self._queued.discard(unit)
        return unit

    def drop(self, unit: Unit) -> None:
        """Forgets that a unit is stale: it is being visited now."""
        if unit in self._queued:
            self._queued.discard(unit)
            self._queue.remove(unit)

    def write(self, slot: Slot, found: Type, *, writer: Unit | None = None) -> bool:
        """Joins a type into a slot; its readers become stale where that changed it."""
        old = slot.type
        if found is old or found is NEVER:
            return False
        new = join(old, found)
        if new == old:
            return False
        slot.type = UNKNOWN if writer is not None and writer.visits > MAX_VISITS else new
        for reader in slot.readers:
            self.add(reader)
        return True


def named_inputs(inputs: Sequence[Input]) -> dict[str, Input]:
    """Parameters that a keyword can name."""
    return {found.name: found for found in inputs if found.kind in ("normal", "keyword")}
