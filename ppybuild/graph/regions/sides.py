"""Branches on values that Python knows before a run of statements begins: a region per side.

    if kind == "l1":                      one region where `kind == "l1"` is True,
        loss = F.l1_loss(out, y)     →    one where it is False; whether it is, is worked out
    else:                                 before either is tried
        loss = F.mse_loss(out, y)

Such a condition is made of variables, fields and constants that are numbers, texts or None, so
that nothing can tell when, or how often, it is worked out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.types import BOOL, FLOAT, INT, NONE, STR, Literal, Type, Union

MOST = 4
"""Regions of one run of statements."""
_PLAIN = (BOOL, FLOAT, INT, STR, NONE)
_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.Mod | ast.FloorDiv


@final
@dataclass(slots=True)
class Sides:
    """The sides that one way through the statements takes: first those that it is told to
    take, then that of True."""

    told: tuple[bool, ...] = ()
    taken: dict[str, bool] = field(default_factory=dict)
    """By condition."""

    def take(self, test: ast.expr) -> bool:
        text = ast.unparse(test)
        if text not in self.taken:
            place = len(self.taken)
            self.taken[text] = self.told[place] if place < len(self.told) else True
        return self.taken[text]

    def others(self) -> list[tuple[bool, ...]]:
        """What to tell the ways that part from this one where it was told nothing."""
        sides = tuple(self.taken.values())
        return [(*sides[:at], not sides[at]) for at in range(len(self.told), len(sides))]


def is_settled(facts: Facts, test: ast.expr, is_path: Callable[[ast.expr], bool]) -> bool:
    """Whether a condition can be worked out early. `is_path`: whether reading a variable or a
    field early gives the same."""

    def settled(node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name() | ast.Attribute():
                return _is_plain(facts.types.get(node)) and is_path(node)
            case ast.BoolOp(values=parts):
                return all(map(settled, parts))
            case ast.UnaryOp(operand=operand):
                return settled(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, _ARITHMETIC) and settled(left) and settled(right)
            case ast.Compare(left=left, comparators=parts):
                return all(map(settled, (left, *parts)))
            case _:
                return False

    return settled(test)


def _is_plain(type: Type | None) -> bool:
    match type:
        case Union(members=members):
            return all(map(_is_plain, members))
        case Literal():
            return True
        case _:
            return type in _PLAIN
