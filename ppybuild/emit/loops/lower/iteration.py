"""What a `for` loop goes over: ranges, buffers, and enumerations and zips of buffers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import F64, I64, Builder, at, op, require_scalar
from ppybuild.emit.loops.lower.calls import rely_on_library
from ppybuild.emit.loops.lower.expressions import lower_expr, lower_operands, lower_scalars
from ppybuild.emit.loops.lower.operators import lower_binary, to_int
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import BufferRef, Value

_ZERO, _ONE = ir.Const(0, I64), ir.Const(1, I64)


@dataclass(frozen=True, slots=True)
class Iteration:
    """A counted loop, and what its target is bound to at each turn."""

    start: ir.Expr
    stop: ir.Expr
    step: ir.Expr
    index: ir.Var
    """The counter, where the target is not the counter itself."""
    value: Value
    direct: bool
    """Whether the target is bound to the counter."""


def plan_iteration(builder: Builder, node: ast.For) -> Iteration | None:
    """None where evaluating the iterable always raises."""
    callee = builder.facts.callees.get(node.iter) if isinstance(node.iter, ast.Call) else None
    if isinstance(node.iter, ast.Call) and callee and callee.name in _ITERABLES:
        rely_on_library(builder, node.iter, callee)
        return _ITERABLES[callee.name](builder, node.iter)
    value = lower_expr(builder, node.iter)
    if not isinstance(value, BufferRef):
        raise Stay(node.iter, "a loop over a tuple", "write its turns out")
    index = builder.temporary(I64, "index")
    return _counted(index, ir.Length(value.name), _item(value, index))


def _counted(index: ir.Var, length: ir.Expr, value: Value) -> Iteration:
    return Iteration(_ZERO, length, _ONE, index, value, direct=False)


def _item(buffer: BufferRef, index: ir.Expr) -> ir.Load:
    return ir.Load(buffer.name, index, buffer.element.type)


def _plain_arguments(call: ast.Call, least: int, most: int) -> None:
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    if starred or call.keywords or not least <= len(call.args) <= most:
        raise Stay(call, f"this form of `{ast.unparse(call.func)}`")


def _range(builder: Builder, call: ast.Call) -> Iteration | None:
    _plain_arguments(call, 1, 3)
    bounds = [to_int(bound) for bound in lower_scalars(builder, call.args)]
    if any(bound.type is F64 for bound in bounds):
        raise Stay(call, "a range over floats", "convert its bounds with `int`")
    if len(bounds) == 1:
        bounds.insert(0, _ZERO)
    start, stop, step = bounds if len(bounds) == 3 else (*bounds, _ONE)
    if step == _ZERO:
        builder.fail("range step", at(call))
        return None
    if not isinstance(step, ir.Const):
        step = require_scalar(call, builder.pin(step, len(builder.block), at(call)))
        builder.emit(ir.Guard(op("ne.i64", step, _ZERO), "range step", at(call)))
    index = builder.temporary(I64, "index")
    return Iteration(start, stop, step, index, index, direct=True)


def _enumerate(builder: Builder, call: ast.Call) -> Iteration:
    """Counts from an int; where the last count is past 64 bits Python counts."""
    keywords = [each.value for each in call.keywords if each.arg == "start"]
    if len(keywords) != len(call.keywords) or not 1 <= len(call.args) + len(keywords) <= 2:
        raise Stay(call, "this form of `enumerate`")
    buffer, *given = lower_operands(builder, [*call.args, *keywords])
    if not isinstance(buffer, BufferRef):
        raise Stay(call, "`enumerate` of anything but a buffer", "count in the loop")
    index = builder.temporary(I64, "index")
    length = ir.Length(buffer.name)
    first = to_int(require_scalar(call, given[0])) if given else _ZERO
    if first.type is F64:
        raise Stay(call, "`enumerate` from a float")
    if first == _ZERO:
        return _counted(index, length, (index, _item(buffer, index)))
    first = require_scalar(call, builder.pin(first, len(builder.block), at(call)))
    lower_binary(builder, call, ast.Add(), first, length, at(call))
    count = op("add.i64", first, index)
    return _counted(index, length, (count, _item(buffer, index)))


def _zip(builder: Builder, call: ast.Call) -> Iteration:
    _plain_arguments(call, 1, 255)
    buffers = _buffers(call, lower_operands(builder, call.args))
    index = builder.temporary(I64, "index")
    length: ir.Expr = ir.Length(buffers[0].name)
    for buffer in buffers[1:]:
        length = op("min.i64", length, ir.Length(buffer.name))
    return _counted(index, length, tuple(_item(buffer, index) for buffer in buffers))


def _buffers(call: ast.Call, values: Sequence[Value]) -> list[BufferRef]:
    buffers = [value for value in values if isinstance(value, BufferRef)]
    if len(buffers) != len(values):
        raise Stay(call, "`zip` of anything but buffers", "index them in the loop")
    return buffers


_ITERABLES: dict[str, Callable[[Builder, ast.Call], Iteration | None]] = {
    "builtins.range": _range,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
}
