"""Where a kernel's locals are declared: beside their first binding wherever C allows.

A local is declared by the statement that binds it first if that statement stands in the
innermost block that holds every use. A local that carries a value from one turn of a loop
into the next is declared, as zero, at the top of the kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.tree import (
    blocks,
    own_expressions,
    own_targets,
    statements,
    variables,
)

Item = ir.Statement | ir.Expr
"""A block of C holds statements, and the condition of a `while` between test and body."""


@dataclass(frozen=True, slots=True)
class Scopes:
    top: tuple[str, ...]
    """Declared at the top."""
    first: Mapping[int, tuple[str, ...]]
    """By `id` of the statement that declares them."""
    private: frozenset[str]
    """Loop variables that exist inside their loops only."""
    once: frozenset[str]
    """Bound by one statement only."""
    unread: frozenset[tuple[int, str]]
    """Declared and never read: by the declaring statement's `id`, 0 for the top."""


def plan_scopes(function: ir.Function) -> Scopes:
    bindings = Counter(
        target for each in statements(function.body) for target in own_targets(each)
    )
    uses = _Uses()
    read = {name for each in statements(function.body) for name in uses.reads(each)}
    names = [name for name, _ in function.locals if name in bindings or name in read]
    private = frozenset(name for name in names if _is_private(uses, name, function.body))
    first: dict[int, tuple[str, ...]] = {}
    top: list[str] = []
    unread = {(0, name) for name in names if name not in read}
    for name in names:
        if name in private:
            continue
        declaring = _first_bindings(uses, name, function.body)
        if declaring is None:
            top.append(name)
        for statement, is_read in declaring or ():
            first[id(statement)] = (*first.get(id(statement), ()), name)
            if not is_read:
                unread.add((id(statement), name))
    return Scopes(
        tuple(top),
        first,
        private,
        frozenset(name for name, count in bindings.items() if count == 1),
        frozenset(unread),
    )


@dataclass(slots=True)
class _Uses:
    """The variables of each statement, found once; by `id`."""

    own: dict[int, frozenset[str]] = field(default_factory=dict)
    inside: dict[int, frozenset[str]] = field(default_factory=dict)
    whole: dict[int, frozenset[str]] = field(default_factory=dict)

    def reads(self, statement: ir.Statement) -> frozenset[str]:
        """What the statement's own expressions read."""
        found = self.own.get(id(statement))
        if found is None:
            found = frozenset().union(*map(variables, own_expressions(statement)))
            self.own[id(statement)] = found
        return found

    def read_in(self, item: Item) -> frozenset[str]:
        """What is read anywhere in it."""
        if isinstance(item, ir.Expr):
            return variables(item)
        found = self.inside.get(id(item))
        if found is None:
            inner = [self.read_in(each) for block in blocks(item) for each in block]
            found = self.inside[id(item)] = self.reads(item).union(*inner)
        return found

    def mentioned(self, item: Item) -> frozenset[str]:
        """What is read or bound anywhere in it."""
        if isinstance(item, ir.Expr):
            return variables(item)
        found = self.whole.get(id(item))
        if found is None:
            inner = [self.mentioned(each) for block in blocks(item) for each in block]
            found = self.reads(item).union(own_targets(item), *inner)
            self.whole[id(item)] = found
        return found


def _is_private(uses: _Uses, name: str, block: ir.Block, inside: bool = False) -> bool:
    """Whether every use is a read inside the body of a loop over `name`, none in another."""
    for statement in block:
        if name not in uses.mentioned(statement):
            continue
        if not inside and name in uses.reads(statement):
            return False
        if isinstance(statement, ir.For) and statement.target == name:
            if inside or not _is_private(uses, name, statement.body, inside=True):
                return False
            if not _is_private(uses, name, statement.orelse):
                return False
        elif name in own_targets(statement) or not all(
            _is_private(uses, name, each, inside) for each in blocks(statement)
        ):
            return False
    return True


def _first_bindings(
    uses: _Uses, name: str, items: tuple[Item, ...]
) -> list[tuple[ir.Statement, bool]] | None:
    """The statements to declare `name`, if it can be declared where it is first bound, and
    whether what follows each in its block reads it."""
    using = [item for item in items if name in uses.mentioned(item)]
    if _binds_first(uses, using[0], name):
        assert not isinstance(using[0], ir.Expr)
        return [(using[0], any(name in uses.read_in(item) for item in using))]
    found: list[tuple[ir.Statement, bool]] = []
    for item in using:
        if isinstance(item, ir.Expr) or name in own_targets(item):
            return None
        if not isinstance(item, ir.While) and name in uses.reads(item):
            return None
        for inner in _c_blocks(item):
            if any(name in uses.mentioned(each) for each in inner):
                declaring = _first_bindings(uses, name, inner)
                if declaring is None:
                    return None
                found += declaring
    return found


def _binds_first(uses: _Uses, item: Item, name: str) -> bool:
    return (
        isinstance(item, ir.Assign | ir.Checked | ir.Call)
        and own_targets(item).count(name) == 1
        and name not in uses.reads(item)
    )


def _c_blocks(statement: ir.Statement) -> tuple[tuple[Item, ...], ...]:
    if isinstance(statement, ir.While):
        return ((*statement.test, statement.condition, *statement.body), statement.orelse)
    return blocks(statement)
