"""Slices of buffers: what Python copies, a kernel borrows.

    row = raw[base : base + cols]    →    row.start = slice_bound(base, len(raw))
                                          row.length = slice_length(row.start, ...)
    row[i]                           →    raw[row.start + i]
    raw[first::step][i]              →    raw[first + i * step]

The two are the same as long as nothing is stored into the slice, nor into the buffer while
the slice is in use. Another buffer that is stored into meanwhile may be the same memory:
then the function starts with a guard that it is not.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import I64, Builder, at, op
from ppybuild.emit.loops.lower.operators import to_int
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.lower.values import ONE, BufferRef, Items, Value, View, describe

_FARTHEST = 2**62
"""Longer steps pass every item too, and the place after the last one fits."""
_ZERO, _LAST = ir.Const(0, I64), ir.Const(-1, I64)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is written between the brackets, as far as it is."""

    lower: Value | None
    upper: Value | None
    step: Value | None


def slice_parts(node: ast.Slice) -> list[ast.expr | None]:
    """The bounds and the step that are written, `None` for those that are not."""
    parts = (node.lower, node.upper, node.step)
    return [None if _is_absent(each) else each for each in parts]


def _is_absent(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def make_view(builder: Builder, node: ast.AST, source: Value, bounds: Bounds) -> View:
    """The slice of a buffer, or of a slice."""
    if not isinstance(source, Items):
        raise Stay(node, f"a slice of {describe(source)}", "take its items one by one")
    step = _step(builder, node, bounds.step)
    if isinstance(source, View) and source.step != ONE:
        raise Stay(node, "a slice of a slice with a step", "take one slice")
    if step == ONE:
        start = _bound(builder, node, source, bounds.lower, ONE, _ZERO)
        stop = _bound(builder, node, source, bounds.upper, ONE, source.length)
        length = stop if start == _ZERO else op("slice_length", start, stop)
    else:
        first, last = _whole(source, step)
        start = _bound(builder, node, source, bounds.lower, step, first)
        stop = _bound(builder, node, source, bounds.upper, step, last)
        length = op("stride_length", start, stop, step)
    buffer = source if isinstance(source, BufferRef) else source.buffer
    place = start if isinstance(source, BufferRef) else source.place(start)
    location = at(node)
    ends = builder.settled(place, location), builder.settled(length, location)
    return View(buffer, *ends, step=step)


def _step(builder: Builder, node: ast.AST, given: Value | None) -> ir.Expr:
    """Not zero."""
    if given is None:
        return ONE
    step = builder.settled(_int(node, given), at(node))
    if isinstance(step, ir.Const):
        if step == _ZERO:
            raise Dead("slice step")
        return ir.Const(max(-_FARTHEST, min(int(step.value), _FARTHEST)), I64)
    builder.emit(ir.Guard(op("ne.i64", step, _ZERO), "slice step", at(node)))
    near = op("min.i64", step, ir.Const(_FARTHEST, I64))
    return builder.settled(op("max.i64", near, ir.Const(-_FARTHEST, I64)), at(node))


def _whole(source: Items, step: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Where a slice without bounds starts and stops."""
    last = op("sub.i64", source.length, ONE)
    if isinstance(step, ir.Const):
        return (_ZERO, source.length) if step.value > 0 else (last, _LAST)
    up = op("gt.i64", step, _ZERO)
    return ir.Select(up, _ZERO, last, I64), ir.Select(up, source.length, _LAST, I64)


def _bound(
    builder: Builder,
    node: ast.AST,
    source: Items,
    given: Value | None,
    step: ir.Expr,
    absent: ir.Expr,
) -> ir.Expr:
    if given is None:
        return absent if step == ONE else builder.settled(absent, at(node))
    bound = _int(node, given)
    if isinstance(step, ir.Const) and step.value > 0:
        clamped = op("slice_bound", bound, source.length)
    else:
        clamped = op("stride_bound", bound, source.length, step)
    return builder.settled(clamped, at(node))


def _int(node: ast.AST, given: Value) -> ir.Expr:
    bound = to_int(given) if isinstance(given, ir.Expr) else None
    if bound is None or bound.type is not I64:
        raise Stay(node, f"a slice bounded by {describe(given)}", "convert it with `int`")
    return bound


def side_by_side(node: ast.AST, items: Items) -> ir.Elements:
    """Numbers as one piece of memory."""
    if isinstance(items, View) and items.step != ONE:
        raise Stay(node, "a slice with a step, passed on whole", "go through it in a loop")
    return items.elements()
