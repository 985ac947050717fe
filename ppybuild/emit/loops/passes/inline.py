"""Write what is computed for one place at that place.

    t1 = base + i                          s = s + a[base + i]
    s = s + a[t1]                  →

For the reader of the C, who then meets the program's own names; the C compiler makes the
same of both. A temporary of lowering that one statement binds and one expression reads is
replaced by its value, where nothing between the two changes what the value reads.

Keeps: values, order of checks and stores. Needs: nothing. Guards: none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ppybuild.emit.loops import ir, tree

MOST_PARTS = 12
"""In an expression; a longer one is harder to read than its parts."""
MOST_AHEAD = 24
"""Statements that are looked at for the place: bounds the work."""
_TEMPORARY = re.compile(r".*\.t\d+(_\d+)?")


def run(function: ir.Function) -> ir.Function:
    local = _Reads()
    local.block(function.body, frozenset())
    body = _Inlining(local.elsewhere).block(function.body)
    used = tree.assigned(body) | {
        part.name for part in tree.expressions(body) if isinstance(part, ir.Var)
    }
    kept = tuple(local for local in function.locals if local[0] in used)
    return replace(function, body=body, locals=kept)


def _temporaries(expressions: Iterable[ir.Expr]) -> Counter[str]:
    """How often they read which temporaries."""
    return Counter(
        part.name
        for whole in expressions
        for part in tree.parts(whole)
        if isinstance(part, ir.Var) and _TEMPORARY.fullmatch(part.name)
    )


@dataclass(slots=True)
class _Reads:
    """Finds the temporaries that are read where their value may come from a statement that
    is not the last one before, in this block or one around, that binds them."""

    elsewhere: set[str] = field(default_factory=set)

    def block(self, block: ir.Block, bound: frozenset[str]) -> None:
        for statement in block:
            reads = _temporaries(tree.own_expressions(statement))
            inside = tree.assigned(
                tuple(one for each in tree.blocks(statement) for one in each)
            )
            if isinstance(statement, ir.For | ir.While):
                bound -= inside
            self.elsewhere |= reads.keys() - bound
            for inner in tree.blocks(statement):
                self.block(inner, bound)
            bound = (bound - inside) | frozenset(tree.own_targets(statement))


@dataclass(frozen=True, slots=True)
class _Inlining:
    elsewhere: set[str]

    def block(self, block: ir.Block) -> ir.Block:
        lines = [_Line(statement) for statement in block]
        result: list[ir.Statement] = []
        for number, line in enumerate(lines):
            statement = line.statement
            if isinstance(statement, ir.Assign) and self._may(statement.target):
                place = _place(statement, lines, number + 1)
                if place is not None:
                    lines[place] = _Line(_with_value(lines[place].statement, statement))
                    continue
            result.append(tree.map_blocks(statement, self.block))
        return tuple(result)

    def _may(self, name: str) -> bool:
        return name not in self.elsewhere and _TEMPORARY.fullmatch(name) is not None


class _Line:
    """A statement of a block, and what it does with everything in it."""

    def __init__(self, statement: ir.Statement) -> None:
        inside = tuple(tree.statements((statement,)))
        self.statement = statement
        self.reads = _temporaries(
            whole for each in inside for whole in tree.own_expressions(each)
        )
        self.binds = frozenset(name for each in inside for name in tree.own_targets(each))
        self.writes = any(map(tree.writes_memory, inside))


def _place(assign: ir.Assign, lines: list[_Line], first: int) -> int | None:
    """The line that may have the value in the variable's place: the only one that reads it,
    once, and not in a block inside."""
    name = assign.target
    variables, memory = tree.variables(assign.value), bool(tree.loaded(assign.value))
    place: int | None = None
    for number in range(first, len(lines)):
        line = lines[number]
        if line.reads[name]:
            if place is not None or line.reads[name] > 1 or not _fits(assign, line):
                return None
            place = number
        elif place is None:
            far = number - first >= MOST_AHEAD
            if far or line.binds & variables or (memory and line.writes):
                return None
        if name in line.binds:
            break
    return place


def _fits(assign: ir.Assign, line: _Line) -> bool:
    own = tree.own_expressions(line.statement)
    if isinstance(line.statement, ir.While) or not _temporaries(own)[assign.target]:
        return False
    return _size(assign.value) + max(map(_size, own)) <= MOST_PARTS


def _size(expression: ir.Expr) -> int:
    return sum(1 for _ in tree.parts(expression))


def _with_value(statement: ir.Statement, assign: ir.Assign) -> ir.Statement:
    def change(part: ir.Expr) -> ir.Expr:
        is_read = isinstance(part, ir.Var) and part.name == assign.target
        return assign.value if is_read else part

    return tree.map_own(statement, lambda whole: tree.rewrite(whole, change))
