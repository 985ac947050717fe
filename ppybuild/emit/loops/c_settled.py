"""Comparisons whose outcome shows in how they are written, which C compilers warn of.

x == x        (x & 4) == 3        bytes[i] < 300
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from ppybuild.emit.loops import ir

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_ENDS = {
    ir.Element.I32: (-(2**31), 2**31 - 1),
    ir.Element.U8: (0, 2**8 - 1),
    ir.Element.I8: (-(2**7), 2**7 - 1),
}


def settled(op: ir.Op, elements: Mapping[str, ir.Element]) -> bool | None:
    """What a comparison gives whatever its variables hold; None where that depends."""
    name, _, kind = op.name.partition(".")
    if name not in _COMPARE or kind not in ("i64", "bool"):
        return None
    left, right = op.args
    if left == right:
        return _COMPARE[name](0, 0)
    if isinstance(left, ir.Const):
        left, right, name = right, left, _TURNED.get(name, name)
    if kind == "bool" or not isinstance(right, ir.Const):
        return None
    return _against(name, left, int(right.value), elements)


def _against(
    name: str, left: ir.Expr, constant: int, elements: Mapping[str, ir.Element]
) -> bool | None:
    match left:
        case ir.Load(buffer=buffer) if elements[buffer] in _ENDS:
            return _of_ends(name, _ENDS[elements[buffer]], constant)
        case ir.Op(name="to_i64.bool"):
            return _of_ends(name, (0, 1), constant)
        case ir.Op(name="and.i64" | "or.i64" as bits, args=args) if name in ("eq", "ne"):
            masks = [int(arg.value) for arg in args if isinstance(arg, ir.Const)]
            never = any(
                constant & ~mask if bits == "and.i64" else mask & ~constant for mask in masks
            )
            return name == "ne" if never else None
    return None


def _of_ends(name: str, ends: tuple[int, int], constant: int) -> bool | None:
    """Of a number between two ends, both of which it may be."""
    first, last = (_COMPARE[name](end, constant) for end in ends)
    if name in ("eq", "ne") and ends[0] <= constant <= ends[1]:
        return None
    return first if first == last else None
