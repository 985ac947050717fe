"""What a value becomes where it is stored: `array.array` converts it, a list does not."""

from __future__ import annotations

import ast

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    BOOL,
    F64,
    Builder,
    at,
    mixed_types,
    require_scalar,
)
from ppybuild.emit.loops.lower.operators import to_float, to_int
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import (
    Items,
    Mixed,
    Number,
    View,
    describe,
    unmixed,
)

_RANGES = {
    ir.Element.I32: (-(2**31), 2**31 - 1),
    ir.Element.U8: (0, 255),
    ir.Element.I8: (-128, 127),
}


def stored_value(builder: Builder, node: ast.AST, buffer: Items, given: Number) -> ir.Expr:
    """The value, as an element of the buffer."""
    whole = buffer.buffer if isinstance(buffer, View) else buffer
    if whole.is_list:
        return _kept(node, buffer, given)
    value = unmixed(given)
    if buffer.element.type is F64:
        return to_float(value)
    if value.type is F64:
        raise Stay(node, "a float stored into a buffer of ints", "convert it with `int`")
    value = to_int(value)
    limits = _RANGES.get(buffer.element)
    return _in_range(builder, node, value, *limits) if limits else value


def _kept(node: ast.AST, buffer: Items, given: Number) -> ir.Expr:
    """A list converts nothing."""
    if isinstance(given, Mixed):
        raise mixed_types(node)
    if given.type is not buffer.type:
        raise Stay(
            node,
            f"{describe(given)} in {describe(buffer)}",
            "give the list items of one type, such as by writing 0.0 for 0",
        )
    return to_int(given) if given.type is BOOL else given


def _in_range(
    builder: Builder, node: ast.AST, value: ir.Expr, least: int, most: int
) -> ir.Expr:
    value = require_scalar(node, builder.pin(value, len(builder.block), at(node)))
    inside = ir.Op(
        "and",
        (
            ir.Op("ge.i64", (value, ir.Const(least, value.type)), BOOL),
            ir.Op("le.i64", (value, ir.Const(most, value.type)), BOOL),
        ),
        BOOL,
    )
    builder.emit(ir.Guard(inside, "value out of range", at(node)))
    return value
