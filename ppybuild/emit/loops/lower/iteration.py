"""What a `for` loop goes over: ranges, buffers, and what turns, counts and joins them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import F64, I64, Builder, at, op, require_scalar
from ppybuild.emit.loops.lower.calls import rely_on_library
from ppybuild.emit.loops.lower.expressions import lower_expr, lower_scalar, lower_scalars
from ppybuild.emit.loops.lower.operators import lower_binary, to_int
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import (
    GridRef,
    Items,
    Value,
    describe_type,
    leaves,
    rebuild,
)

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
    over: tuple[Value, ...] = ()
    """The buffers, grids and slices that it goes over."""


@dataclass(frozen=True, slots=True)
class _Items:
    """An iterable by position: how many items, and the one at a position."""

    length: ir.Expr
    item: Callable[[ir.Expr], Value]
    over: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class _Range:
    start: ir.Expr
    stop: ir.Expr
    step: ir.Expr


def plan_iteration(builder: Builder, iterable: ast.expr) -> Iteration | None:
    """None where evaluating the iterable always raises."""
    index = builder.temporary(I64, "index")
    lower_range = _range_like(builder, iterable)
    if lower_range is not None:
        found = lower_range()
        if found is None:
            return None
        return Iteration(found.start, found.stop, found.step, index, index, direct=True)
    items = _items(builder, iterable)
    if items is None:
        return None
    value = items.item(index)
    return Iteration(_ZERO, items.length, _ONE, index, value, False, items.over)


def _range_like(builder: Builder, node: ast.expr) -> Callable[[], _Range | None] | None:
    """How to lower a range, forwards or backwards; None for other iterables."""
    match _library_name(builder, node), node:
        case "range", ast.Call() as call:
            return lambda: _range(builder, call)
        case _, ast.Tuple(elts=items) | ast.List(elts=items) if steps := _progression(items):
            return lambda: steps
        case "reversed", ast.Call(args=[ast.Call() as inner]) as call if (
            _library_name(builder, inner) == "range"
        ):
            return lambda: _backwards(builder, call, inner)
    return None


def _progression(items: list[ast.expr]) -> _Range | None:
    """`(-1, 0, 1)` as a range."""
    values = [_whole(item) for item in items]
    if len(values) < 2 or None in values:
        return None
    first, second, *_ = known = [value for value in values if value is not None]
    step = second - first
    if step == 0 or known != list(range(first, first + step * len(known), step)):
        return None
    bounds = (first, first + step * len(known), step)
    start, stop, by = (ir.Const(bound, I64) for bound in bounds)
    return _Range(start, stop, by)


def _whole(node: ast.expr) -> int | None:
    """A small int that is written there."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            value = -value
        case ast.Constant(value=int(value)):
            pass
        case _:
            return None
    return None if isinstance(value, bool) or abs(value) > 2**31 else value


def _library_name(builder: Builder, node: ast.expr) -> str:
    """`range` and the like, where a call is of one of them; else empty."""
    callee = builder.facts.callees.get(node) if isinstance(node, ast.Call) else None
    name = callee.name.removeprefix("builtins.") if callee else ""
    return name if name == "range" or name in _ITERABLES else ""


def _rely(builder: Builder, node: ast.Call) -> None:
    rely_on_library(builder, node, builder.facts.callees[node])


def _plain_arguments(call: ast.Call, least: int, most: int) -> None:
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    if starred or call.keywords or not least <= len(call.args) <= most:
        raise Stay(call, f"this form of `{ast.unparse(call.func)}`")


# Ranges


def _range(builder: Builder, call: ast.Call) -> _Range | None:
    _rely(builder, call)
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
    return _Range(start, stop, step)


def _backwards(builder: Builder, call: ast.Call, inner: ast.Call) -> _Range | None:
    """The same numbers from the last: an empty range stays empty."""
    _plain_arguments(call, 1, 1)
    _rely(builder, call)
    found = _range(builder, inner)
    if found is None:
        return None
    step = _constant_step(call, found)
    start = require_scalar(call, builder.pin(found.start, len(builder.block), at(call)))
    last = found.stop
    if abs(step) == 1:
        last = _arithmetic(builder, call, ast.Sub(), last, ir.Const(step, I64))
    else:
        span = _arithmetic(builder, call, ast.Sub(), last, start)
        toward = ir.Const(1 if step > 0 else -1, I64)
        span = _arithmetic(builder, call, ast.Sub(), span, toward)
        turns = _arithmetic(builder, call, ast.FloorDiv(), span, ir.Const(step, I64))
        passed = _arithmetic(builder, call, ast.Mult(), turns, ir.Const(step, I64))
        last = _arithmetic(builder, call, ast.Add(), start, passed)
    end = ir.Const(1 if step > 0 else -1, I64)
    before = _arithmetic(builder, call, ast.Sub(), start, end)
    return _Range(last, before, ir.Const(-step, I64))


def _constant_step(call: ast.Call, found: _Range) -> int:
    if not isinstance(found.step, ir.Const) or found.step.value == -(2**63):
        raise Stay(call, "a range with a step that is not constant, here", "count in the loop")
    return int(found.step.value)


def _arithmetic(
    builder: Builder, call: ast.Call, operator_: ast.operator, left: ir.Expr, right: ir.Expr
) -> ir.Expr:
    return lower_binary(builder, call, operator_, left, right, at(call))


def _range_items(builder: Builder, call: ast.Call) -> _Items | None:
    found = _range(builder, call)
    if found is None:
        return None
    step = _constant_step(call, found)
    start = require_scalar(call, builder.pin(found.start, len(builder.block), at(call)))
    length = found.stop
    if start != _ZERO:
        length = _arithmetic(builder, call, ast.Sub(), length, start)
    if step != 1:
        nearly = ir.Const(step - 1 if step > 0 else step + 1, I64)
        length = _arithmetic(builder, call, ast.Add(), length, nearly)
        length = _arithmetic(builder, call, ast.FloorDiv(), length, ir.Const(step, I64))
    length = require_scalar(call, builder.pin(length, len(builder.block), at(call)))

    def item(index: ir.Expr) -> ir.Expr:
        passed = index if step == 1 else op("mul.i64", index, ir.Const(step, I64))
        return passed if start == _ZERO else op("add.i64", start, passed)

    return _Items(length, item)


# Items by position


def _items(builder: Builder, node: ast.expr) -> _Items | None:
    """None where evaluating it always raises."""
    name = _library_name(builder, node)
    if name == "range" and isinstance(node, ast.Call):
        return _range_items(builder, node)
    if name and isinstance(node, ast.Call):
        _rely(builder, node)
        return _ITERABLES[name](builder, node)
    value = builder.pin(lower_expr(builder, node), len(builder.block), at(node))
    if isinstance(value, tuple):
        return _written_out(node, value)
    if not isinstance(value, Items | GridRef):
        raise Stay(node, "a loop over anything but ranges and buffers", "count in the loop")
    return _Items(value.length, value.item, (value,))


MOST_WRITTEN = 64
"""Items of a tuple that a loop goes over: each turn compares with them in order."""


def _written_out(node: ast.expr, items: tuple[Value, ...]) -> _Items:
    """The items of a tuple, which have to be alike."""
    if not items:
        return _Items(_ZERO, lambda index: index)
    if len(items) > MOST_WRITTEN:
        raise Stay(node, f"a loop over more than {MOST_WRITTEN} items of a tuple")
    parts = [list(leaves(item)) for item in items]
    numbers = [[part for part in each if isinstance(part, ir.Expr)] for each in parts]
    shapes = {tuple(part.type for part in each) for each in numbers}
    if numbers != parts or len(shapes) > 1 or len(set(map(describe_type, items))) > 1:
        raise Stay(node, "a loop over a tuple of different things", "write the turns out")

    def item(index: ir.Expr) -> Value:
        chosen = numbers[-1]
        for place in reversed(range(len(items) - 1)):
            here = op("eq.i64", index, ir.Const(place, I64))
            chosen = [
                one if one == other else ir.Select(here, one, other, one.type)
                for one, other in zip(numbers[place], chosen, strict=True)
            ]
        return rebuild(items[0], iter(chosen))

    return _Items(ir.Const(len(items), I64), item)


def _enumerate(builder: Builder, call: ast.Call) -> _Items | None:
    """Counts from an int; where the last count is past 64 bits Python counts."""
    keywords = [each.value for each in call.keywords if each.arg == "start"]
    given = [*call.args[1:], *keywords]
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    if starred or len(keywords) != len(call.keywords) or not call.args or len(given) > 1:
        raise Stay(call, "this form of `enumerate`")
    inner = _items(builder, call.args[0])
    first = to_int(lower_scalar(builder, given[0])) if given else _ZERO
    if inner is None:
        return None
    if first.type is F64:
        raise Stay(call, "`enumerate` from a float")
    if first == _ZERO:
        return _Items(inner.length, lambda index: (index, inner.item(index)), inner.over)
    first = require_scalar(call, builder.pin(first, len(builder.block), at(call)))
    _arithmetic(builder, call, ast.Add(), first, inner.length)

    def item(index: ir.Expr) -> Value:
        return op("add.i64", first, index), inner.item(index)

    return _Items(inner.length, item, inner.over)


def _zip(builder: Builder, call: ast.Call) -> _Items | None:
    _plain_arguments(call, 1, 255)
    parts = [_items(builder, arg) for arg in call.args]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    length = reduce(lambda one, two: op("min.i64", one, two), (part.length for part in found))
    together = tuple(value for part in found for value in part.over)
    return _Items(length, lambda index: tuple(part.item(index) for part in found), together)


def _reversed(builder: Builder, call: ast.Call) -> _Items | None:
    _plain_arguments(call, 1, 1)
    if _library_name(builder, call.args[0]) not in ("", "range"):
        raise Stay(call, "`reversed` of anything but a range or a buffer")
    inner = _items(builder, call.args[0])
    if inner is None:
        return None
    last = op("sub.i64", inner.length, _ONE)

    def item(index: ir.Expr) -> Value:
        return inner.item(op("sub.i64", last, index))

    return _Items(inner.length, item, inner.over)


_ITERABLES: dict[str, Callable[[Builder, ast.Call], _Items | None]] = {
    "enumerate": _enumerate,
    "reversed": _reversed,
    "zip": _zip,
}
