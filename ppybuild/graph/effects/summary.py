"""Where values come from, and what is known of a function so far.

A *root* stands for what a value may share contents with: a parameter by its name,
`^name` a variable of a function around, `@module.name` a module variable, `#12:4` something
that the function made itself, `?` anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ppybuild.graph.program import Effects
from ppybuild.graph.types import (
    NONE,
    Class,
    Collection,
    Function,
    Instance,
    Literal,
    Module,
    Never,
    Scalar,
    Tuple,
    Type,
    Union,
)

Roots = frozenset[str]
NOWHERE: Roots = frozenset()
ANYWHERE: Roots = frozenset("?")

Env = dict[str, Roots]
"""The roots of each variable, at one place of a body."""

_IMMUTABLE = frozenset({"torch.device", "torch.dtype", "builtins.slice", "torch.Size"})


@dataclass(slots=True)
class Summary:
    """What is known of a function's effects; it only grows."""

    writes: set[str] = field(default_factory=set)
    reads_globals: set[str] = field(default_factory=set)
    writes_globals: set[str] = field(default_factory=set)
    io: bool = False
    unknown: bool = False
    returned: set[str] = field(default_factory=set)
    stores: set[tuple[str, str]] = field(default_factory=set)
    """What may afterwards hold what: pairs of roots."""

    def size(self) -> int:
        """Grows whenever the summary does."""
        names = (self.writes, self.reads_globals, self.writes_globals, self.returned)
        return sum(map(len, names)) + len(self.stores) + self.io + self.unknown

    def effects(self, name: str, parameters: Iterable[str]) -> Effects:
        """The facts about the function of this name, in terms of its own parameters."""
        outer = name.rpartition(".<locals>.")[0]
        own = frozenset(parameters)
        elsewhere = {root for root in self.writes if root[0] in "^?"}
        return Effects(
            writes=own & self.writes,
            reads_globals=frozenset(self.reads_globals),
            writes_globals=frozenset(self.writes_globals)
            | {root[1:] for root in self.writes if root[0] == "@"}
            | {f"{outer}.{root[1:]}" for root in self.writes if root[0] == "^"},
            performs_io=self.io,
            calls_unknown=self.unknown or "?" in elsewhere,
            returned=own & self.returned,
        )


def may_share(found: Type) -> bool:
    """False for values that have no contents that could change."""
    match found:
        case Scalar() | Literal() | Function() | Class() | Module() | Never():
            return False
        case Tuple():
            return any(map(may_share, found.items))
        case Union():
            return any(may_share(member) for member in found.members if member != NONE)
        case Collection("tuple" | "frozenset" | "range"):
            return may_share(found.item)
        case Instance():
            return found.name not in _IMMUTABLE
    return True
