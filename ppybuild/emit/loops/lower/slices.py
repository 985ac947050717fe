"""Slices of buffers: what Python copies, a kernel borrows.

    row = raw[base : base + cols]    →    row.start = slice_bound(base, len(raw))
                                          row.length = slice_length(row.start, ...)
    row[i]                           →    raw[row.start + i]

The two are the same as long as nothing is stored into the slice, nor into the buffer while
the slice is in use. Another buffer that is stored into meanwhile may be the same memory:
then the function starts with a guard that it is not.
"""

from __future__ import annotations

import ast

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import I64, Builder, at, op
from ppybuild.emit.loops.lower.operators import to_int
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import BufferRef, Items, Value, View, describe

_ZERO = ir.Const(0, I64)


def slice_parts(node: ast.Slice) -> list[ast.expr | None]:
    """The bounds that are written, `None` for those that are not."""
    if not (_is_absent(node.step) or _is_one(node.step)):
        raise Stay(node, "a slice with a step", "index the buffer in a range with that step")
    return [None if _is_absent(each) else each for each in (node.lower, node.upper)]


def _is_absent(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_one(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1


def make_view(
    builder: Builder, node: ast.AST, source: Value, lower: Value | None, upper: Value | None
) -> View:
    """The slice of a buffer, or of a slice, between two bounds."""
    if not isinstance(source, Items):
        raise Stay(node, f"a slice of {describe(source)}", "take its items one by one")
    start = _bound(builder, node, source, lower, _ZERO)
    stop = _bound(builder, node, source, upper, source.length)
    length = stop if start == _ZERO else op("slice_length", start, stop)
    buffer = source if isinstance(source, BufferRef) else source.buffer
    first = start if isinstance(source, BufferRef) else source.place(start)
    location = at(node)
    return View(buffer, builder.settled(first, location), builder.settled(length, location))


def _bound(
    builder: Builder, node: ast.AST, source: Items, given: Value | None, absent: ir.Expr
) -> ir.Expr:
    if given is None:
        return absent
    bound = to_int(given) if isinstance(given, ir.Expr) else None
    if bound is None or bound.type is not I64:
        raise Stay(node, f"a slice bounded by {describe(given)}", "convert it with `int`")
    return builder.settled(op("slice_bound", bound, source.length), at(node))
