"""Arrays and lists that a function makes: memory of its own, which its caller may get.

    out = [0.0] * n                      →    make out[n]
    [f(v) for v in values if v > 0.0]    →    make out[0], and a loop that appends

Each place in the source that makes one has one buffer; where it makes another, the first has
to be out of use, which is looked at here.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    F64,
    I64,
    Builder,
    at,
    op,
    require_number,
    require_scalar,
)
from ppybuild.emit.loops.lower.calls import rely_on_library
from ppybuild.emit.loops.lower.expressions import lower_expr, lower_operands
from ppybuild.emit.loops.lower.grids import lower_grid, lower_rows
from ppybuild.emit.loops.lower.growing import push
from ppybuild.emit.loops.lower.iteration import Iteration, plan_iteration
from ppybuild.emit.loops.lower.memory import (
    Kind,
    count_turns,
    fill,
    is_zero,
    kind_of,
    kind_of_empty,
    make_memory,
    own_buffer,
)
from ppybuild.emit.loops.lower.operators import to_int
from ppybuild.emit.loops.lower.signatures import ARRAYS
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.lower.storing import stored_value
from ppybuild.emit.loops.lower.turns import lower_turns, plan_turns, stored_outside
from ppybuild.emit.loops.lower.values import (
    BufferRef,
    Value,
    View,
    Whole,
)

_ZERO, _ONE = ir.Const(0, I64), ir.Const(1, I64)


def lower_made(builder: Builder, node: ast.expr) -> Whole | None:
    """The array, list or grid that an expression makes; None where it makes none."""
    match node:
        case ast.ListComp() if (rows := lower_rows(builder, node)) is not None:
            return rows
        case ast.List() | ast.ListComp() | ast.BinOp(op=ast.Mult()):
            return _filled(builder, node, node, None)
        case ast.Call(args=args, keywords=[]):
            callee = builder.facts.callees.get(node)
            name = callee.name if callee else ""
            if name == "ppy.grid":
                return lower_grid(builder, node)
            if callee is None or name not in ("array.array", "builtins.list"):
                return None
            rely_on_library(builder, node, callee)
            kind, given = _called(node, name, args)
            return _filled(builder, node, given, kind)
    return None


def _called(
    node: ast.Call, name: str, args: Sequence[ast.expr]
) -> tuple[Kind | None, ast.expr]:
    """What `list(x)` or `array.array("d", x)` makes, and of what."""
    empty = ast.copy_location(ast.List([], ast.Load()), node)
    match args:
        case [ast.Constant(value=str() as code), *rest] if (
            name == "array.array" and code in ARRAYS and len(rest) < 2
        ):
            return (ARRAYS[code], "array"), rest[0] if rest else empty
        case [given] if name == "builtins.list":
            return None, given
    raise Stay(node, f"this form of `{ast.unparse(node.func)}`")


def _filled(
    builder: Builder, site: ast.expr, given: ast.expr, kind: Kind | None
) -> BufferRef | None:
    match given:
        case ast.List(elts=items):
            return _display(builder, site, items, kind)
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=count):
            value, times = lower_operands(builder, (item, count))
            return _repeated(builder, site, value, times, kind)
        case ast.BinOp(left=count, op=ast.Mult(), right=ast.List(elts=[item])):
            times, value = lower_operands(builder, (count, item))
            return _repeated(builder, site, value, times, kind)
        case ast.BinOp(left=ast.Call() as inner, op=ast.Mult(), right=count) if (
            kind is None and (found := _array_of_one(builder, inner))
        ):
            value, times = lower_operands(builder, (found[1], count))
            return _repeated(builder, site, value, times, found[0])
        case ast.BinOp(left=count, op=ast.Mult(), right=ast.Call() as inner) if (
            kind is None and (found := _array_of_one(builder, inner))
        ):
            times, value = lower_operands(builder, (count, found[1]))
            return _repeated(builder, site, value, times, found[0])
        case ast.ListComp(elt=item, generators=[ast.comprehension() as loop]):
            return _comprehended(builder, site, item, loop, kind)
        case ast.GeneratorExp(elt=item, generators=[ast.comprehension() as loop]) if (
            site is not given
        ):
            return _comprehended(builder, site, item, loop, kind)
        case ast.ListComp():
            raise Stay(given, "a comprehension with several loops", "write the loops out")
    return _copied(builder, site, given, kind) if site is not given else None


def _array_of_one(builder: Builder, node: ast.Call) -> tuple[Kind, ast.expr] | None:
    """The item of `array.array("d", [item])`."""
    callee = builder.facts.callees.get(node)
    match node:
        case ast.Call(
            args=[ast.Constant(value=str() as code), ast.List(elts=[item])], keywords=[]
        ) if callee and callee.name == "array.array" and code in ARRAYS:
            rely_on_library(builder, node, callee)
            return (ARRAYS[code], "array"), item
    return None


# Ways to fill one


def _display(
    builder: Builder, site: ast.expr, items: list[ast.expr], kind: Kind | None
) -> BufferRef:
    values = [
        require_number(node, value)
        for node, value in zip(items, lower_operands(builder, items), strict=True)
    ]
    if kind is None:
        kind = kind_of(items[0], values[0]) if items else kind_of_empty(builder, site)
    buffer = own_buffer(builder, site, kind)
    stored = [
        stored_value(builder, node, buffer, value)
        for node, value in zip(items, values, strict=True)
    ]
    make_memory(builder, site, buffer, ir.Const(len(items), I64))
    for place, value in enumerate(stored):
        builder.emit(ir.Store(buffer.name, ir.Const(place, I64), value, at(site)))
    return buffer


def _repeated(
    builder: Builder, site: ast.expr, value: Value, times: Value, kind: Kind | None
) -> BufferRef:
    item = require_number(site, value)
    count = to_int(require_scalar(site, times))
    if count.type is F64:
        raise Stay(site, "a list that is repeated a float of times", "convert it with `int`")
    buffer = own_buffer(builder, site, kind or kind_of(site, item))
    stored = builder.settled(stored_value(builder, site, buffer, item), at(site))
    make_memory(builder, site, buffer, op("max.i64", count, _ZERO))
    if not is_zero(stored):
        fill(builder, site, buffer.size, lambda _: stored, buffer)
    return buffer


def _copied(builder: Builder, site: ast.expr, given: ast.expr, kind: Kind | None) -> BufferRef:
    """`list(x)`: a range, or numbers in memory."""
    iteration = plan_iteration(builder, given)
    if iteration is None:
        raise Dead("iteration")
    value = require_number(given, iteration.value)
    if kind is not None and kind[0] is not ir.Element.U8:
        _refuse_bytes(given, iteration)
    buffer = own_buffer(builder, site, kind or kind_of(given, value))
    count = count_turns(builder, site, iteration)
    if count is None:
        raise Stay(given, "a range with a step, here", "write the loop out")
    with builder.sub_block() as body:
        stored = stored_value(builder, site, buffer, value)
        place = op("sub.i64", iteration.index, iteration.start)
        builder.emit(ir.Store(buffer.name, place, stored, at(site)))
    make_memory(builder, site, buffer, count, reading=(given,))
    stop = op("add.i64", iteration.start, buffer.size)
    turns = (iteration.start, stop, _ONE)
    builder.emit(ir.For(iteration.index.name, *turns, tuple(body), (), at(site)))
    return buffer


def _refuse_bytes(given: ast.expr, iteration: Iteration) -> None:
    """An array takes what may be bytes, or a part of them, for the memory of its items."""
    for each in iteration.over if not isinstance(given, ast.Call) else ():
        buffer = each.buffer if isinstance(each, View) else each
        if (
            isinstance(buffer, BufferRef)
            and buffer.element is ir.Element.U8
            and not (buffer.own or buffer.is_list)
        ):
            raise Stay(
                given, "an array of what may be bytes", "go through them in a comprehension"
            )


def _comprehended(
    builder: Builder,
    site: ast.expr,
    item: ast.expr,
    loop: ast.comprehension,
    kind: Kind | None,
) -> BufferRef:
    iteration = plan_turns(builder, site, loop)
    count = None if loop.ifs else count_turns(builder, site, iteration)
    made: list[BufferRef] = []

    def put(counter: ir.Var) -> None:
        value = require_number(item, lower_expr(builder, item))
        buffer = own_buffer(builder, site, kind or kind_of(item, value))
        made.append(buffer)
        if count is None:
            push(builder, site, buffer, value)
        else:
            stored = stored_value(builder, site, buffer, value)
            place = op("sub.i64", counter, iteration.start)
            builder.emit(ir.Store(buffer.name, place, stored, at(site)))

    turns = lower_turns(builder, site, loop, iteration, put)
    (buffer,) = made
    if stored_outside(builder, turns) - {buffer.name}:
        raise Stay(site, "a comprehension that stores into a buffer", "write the loop out")
    reading = (loop.iter, item, *loop.ifs)
    make_memory(builder, site, buffer, _ZERO if count is None else count, reading)
    turns.emit(builder, site)
    return buffer
