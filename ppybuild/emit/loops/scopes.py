"""Where a kernel's locals are declared: beside their first binding wherever C allows.

A local is declared by the statement that binds it first if that statement stands in the
innermost block that holds every use. A local that carries a value from one turn of a loop
into the next is declared, as zero, at the top of the kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.passes.tree import (
    blocks,
    expressions,
    own_expressions,
    own_targets,
    parts,
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
    unread: frozenset[str]


def plan_scopes(function: ir.Function) -> Scopes:
    bindings = Counter(
        target for each in statements(function.body) for target in own_targets(each)
    )
    read = {part.name for part in expressions(function.body) if isinstance(part, ir.Var)}
    names = [name for name, _ in function.locals if name in bindings or name in read]
    private = frozenset(name for name in names if _is_private(name, function.body))
    first: dict[int, tuple[str, ...]] = {}
    top: list[str] = []
    for name in names:
        if name in private:
            continue
        declaring = _first_bindings(name, function.body)
        if declaring is None:
            top.append(name)
        for statement in declaring or ():
            first[id(statement)] = (*first.get(id(statement), ()), name)
    return Scopes(
        tuple(top),
        first,
        private,
        frozenset(name for name, count in bindings.items() if count == 1),
        frozenset(names) - read,
    )


def _is_private(name: str, block: ir.Block, inside: bool = False) -> bool:
    """Whether every use is a read inside the body of a loop over `name`, none in another."""
    for statement in block:
        reads = any(name in variables(each) for each in own_expressions(statement))
        if reads and not inside:
            return False
        if isinstance(statement, ir.For) and statement.target == name:
            if inside or not _is_private(name, statement.body, inside=True):
                return False
            if not _is_private(name, statement.orelse):
                return False
        elif name in own_targets(statement) or not all(
            _is_private(name, each, inside) for each in blocks(statement)
        ):
            return False
    return True


def _first_bindings(name: str, items: tuple[Item, ...]) -> list[ir.Statement] | None:
    """The statements to declare `name`, if it can be declared where it is first bound."""
    using = [item for item in items if name in _mentioned(item)]
    if _binds_first(using[0], name):
        assert not isinstance(using[0], ir.Expr)
        return [using[0]]
    found: list[ir.Statement] = []
    for item in using:
        if isinstance(item, ir.Expr) or name in own_targets(item):
            return None
        own = () if isinstance(item, ir.While) else own_expressions(item)
        if any(name in variables(each) for each in own):
            return None
        for inner in _c_blocks(item):
            if any(name in _mentioned(each) for each in inner):
                declaring = _first_bindings(name, inner)
                if declaring is None:
                    return None
                found += declaring
    return found


def _binds_first(item: Item, name: str) -> bool:
    return (
        isinstance(item, ir.Assign | ir.Checked | ir.Call)
        and name in own_targets(item)
        and own_targets(item).count(name) == 1
        and not any(name in variables(each) for each in own_expressions(item))
    )


def _c_blocks(statement: ir.Statement) -> tuple[tuple[Item, ...], ...]:
    if isinstance(statement, ir.While):
        return ((*statement.test, statement.condition, *statement.body), statement.orelse)
    return blocks(statement)


def _mentioned(item: Item) -> frozenset[str]:
    if isinstance(item, ir.Expr):
        return frozenset(part.name for part in parts(item) if isinstance(part, ir.Var))
    return frozenset(_names(item))


def _names(statement: ir.Statement) -> Iterator[str]:
    for each in statements((statement,)):
        yield from own_targets(each)
        for expression in own_expressions(each):
            yield from variables(expression)
