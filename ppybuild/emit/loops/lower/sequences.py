"""Functions of several numbers passed as one argument: a buffer, or a tuple."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    BOOL,
    F64,
    I64,
    Builder,
    at,
    op,
    require_number,
    require_scalar,
)
from ppybuild.emit.loops.lower.library import Call, extreme
from ppybuild.emit.loops.lower.operators import (
    as_float,
    lower_binary,
    negation,
    to_bool,
    to_float,
    to_int,
)
from ppybuild.emit.loops.lower.slices import side_by_side
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import (
    Char,
    GridRef,
    Items,
    Letters,
    Number,
    Value,
    describe,
)

COMPENSATED_SUM = sys.version_info >= (3, 12)
"""Whether `sum` of floats carries a correction along, which kernels do not."""

Rule = Callable[[Builder, ast.Call, list[Value]], Value]
"""The values are of the arguments, then of the keywords."""


def _length(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
    if node.keywords or len(values) != 1:
        raise Stay(node, "this form of `len`")
    value = values[0]
    if isinstance(value, tuple):
        return ir.Const(len(value), I64)
    if isinstance(value, Char | Letters):
        return ir.Const(1 if isinstance(value, Char) else len(value.text), I64)
    if not isinstance(value, Items | GridRef):
        raise Stay(node, f"the length of {describe(value)}")
    return value.length


# Sums and products, from left to right


def _fold(name: str, operator_: ast.operator, by_position: bool) -> Rule:
    """`sum` or `prod`: from the int that changes nothing, or from `start`."""
    operation = "add" if isinstance(operator_, ast.Add) else "mul"
    neutral = ir.Const(0 if operation == "add" else 1, I64)

    def lower(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
        most = 2 if by_position else 1
        named = [each.arg for each in node.keywords]
        if not 1 <= len(node.args) <= most or named not in ([], ["start"]) or len(values) > 2:
            raise Stay(node, f"this form of `{name}`")
        start = require_scalar(node, values[1]) if len(values) == 2 else neutral
        source = values[0]
        if start.type is BOOL:
            raise Stay(node, f"`{name}` from a bool, which is what nothing gives", "start at 0")
        if isinstance(source, Items):
            _refuse_text(node, name, source)
            return _fold_buffer(builder, node, name, operation, source, to_int(start))
        if not isinstance(source, tuple):
            raise Stay(node, f"`{name}` of anything but a buffer or a tuple", _WRITE_OUT)
        items = [require_number(node, item) for item in source]
        if operation == "add" and COMPENSATED_SUM and not all(map(_is_int, items)):
            raise Stay(node, "`sum` of floats", _WRITE_OUT)
        total: Number = to_int(start)
        for item in items:
            total = lower_binary(builder, node, operator_, total, item, at(node))
        return total

    return lower


_WRITE_OUT = "write the loop out"


def _is_int(value: Number) -> bool:
    return isinstance(value, ir.Expr) and value.type is not F64


def _fold_buffer(
    builder: Builder,
    node: ast.Call,
    name: str,
    operation: str,
    buffer: Items,
    start: ir.Expr,
) -> Value:
    location = at(node)
    if operation == "add" and COMPENSATED_SUM and F64 in (start.type, buffer.element.type):
        raise Stay(node, f"`{name}` of floats", _WRITE_OUT)
    type_ = I64 if buffer.type is BOOL else buffer.type
    if type_ is F64 and start.type is I64:
        # What an empty buffer gives is an int.
        _require_items(builder, buffer, location)
        start = to_float(start)
    elif type_ is I64 and start.type is F64:
        type_ = F64
    total = builder.temporary(type_, name)
    builder.emit(ir.Assign(total.name, start, location))
    index, item = _item(builder, node, buffer)
    body: ir.Statement
    if type_ is F64:
        body = ir.Assign(total.name, op(f"{operation}.f64", total, to_float(item)), location)
    else:
        body = ir.Checked(total.name, f"{operation}.i64", (total, to_int(item)), location)
    builder.emit(_over(buffer, index, 0, (body,), location))
    return total


# The least and the greatest


def _extreme_item(name: str) -> Rule:
    def lower(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
        if node.keywords:
            raise Stay(node, f"this form of `{name}`")
        source = values[0]
        if isinstance(source, tuple) and source:
            items = tuple(require_number(node, item) for item in source)
            return extreme(name)(Call(builder, node, items, at(node)))
        if not isinstance(source, Items):
            raise Stay(node, f"`{name}` of anything but numbers, a tuple or a buffer")
        _refuse_text(node, name, source)
        location = at(node)
        type_ = source.type
        if type_ is BOOL:
            raise Stay(node, f"`{name}` of a list of bools")
        _require_items(builder, source, location)
        best = builder.temporary(type_, name)
        builder.emit(ir.Assign(best.name, _number(node, source, ir.Const(0, I64)), location))
        index, item = _item(builder, node, source)
        body = ir.Assign(best.name, op(f"{name}.{type_.value}", best, item), location)
        builder.emit(_over(source, index, 1, (body,), location))
        return best

    return lower


def _require_items(builder: Builder, buffer: Items, location: ir.Location) -> None:
    some = op("gt.i64", buffer.length, ir.Const(0, I64))
    builder.emit(ir.Guard(some, "empty buffer", location))


def _item(builder: Builder, node: ast.AST, buffer: Items) -> tuple[ir.Var, ir.Expr]:
    index = builder.temporary(I64, "index")
    return index, _number(node, buffer, index)


def _number(node: ast.AST, buffer: Items, index: ir.Expr) -> ir.Expr:
    return require_scalar(node, buffer.item(index))


def _refuse_text(node: ast.AST, name: str, source: Items) -> None:
    if source.element is ir.Element.STR:
        raise Stay(node, f"`{name}` of a str", "go through its characters")


def _over(
    buffer: Items, index: ir.Var, start: int, body: ir.Block, location: ir.Location
) -> ir.For:
    first, one = ir.Const(start, I64), ir.Const(1, I64)
    return ir.For(index.name, first, buffer.length, one, body, (), location)


# Whether any number is true, or all are


def _quantified(name: str) -> Rule:
    def lower(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
        source = _only(node, name, values)
        if not isinstance(source, Items):
            raise Stay(node, f"`{name}` of anything but a buffer or a generator", _WRITE_OUT)
        _refuse_text(node, name, source)
        is_any, location = name == "any", at(node)
        answer = builder.temporary(BOOL, name)
        builder.emit(ir.Assign(answer.name, ir.Const(not is_any, BOOL), location))
        index, item = _item(builder, node, source)
        test = to_bool(item) if is_any else negation(to_bool(item))
        found = ir.Assign(answer.name, ir.Const(is_any, BOOL), location)
        body = ir.If(test, (found, ir.Break(location)), (), location)
        builder.emit(_over(source, index, 0, (body,), location))
        return answer

    return lower


# Operators that take all the numbers at once


def _exact_sum(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
    source = _only(node, "math.fsum", values)
    if isinstance(source, Items):
        _refuse_text(node, "math.fsum", source)
    if isinstance(source, Items) and source.type is not BOOL:
        row = f"fsum.{source.element.value}"
        return builder.checked(row, (side_by_side(node, source),), at(node))
    numbers = _floats(node, "math.fsum", source)
    return builder.checked("fsum", numbers, at(node)) if numbers else ir.Const(0.0, F64)


def _distance(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
    if node.keywords or len(values) != 2:
        raise Stay(node, "this form of `math.dist`")
    one, two = (_floats(node, "math.dist", value) for value in values)
    if len(one) != len(two) or not one:
        raise Stay(node, "`math.dist` of points without common coordinates")
    return builder.checked("dist", (*one, *two), at(node))


def _only(node: ast.Call, name: str, values: list[Value]) -> Value:
    if node.keywords or len(values) != 1:
        raise Stay(node, f"this form of `{name}`")
    return values[0]


def _floats(node: ast.Call, name: str, value: Value) -> tuple[ir.Expr, ...]:
    if not isinstance(value, tuple):
        raise Stay(node, f"`{name}` of {describe(value)}", _WRITE_OUT)
    return tuple(as_float(require_number(node, item)) for item in value)


ON_SEQUENCES: dict[str, Rule] = {
    "builtins.len": _length,
    "builtins.sum": _fold("sum", ast.Add(), by_position=True),
    "builtins.any": _quantified("any"),
    "builtins.all": _quantified("all"),
    "builtins.min": _extreme_item("min"),
    "builtins.max": _extreme_item("max"),
    "math.prod": _fold("prod", ast.Mult(), by_position=False),
    "math.fsum": _exact_sum,
    "math.dist": _distance,
}
"""By canonical dotted name."""
