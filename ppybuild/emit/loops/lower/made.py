"""Arrays and lists that a function makes: memory of its own, which its caller may get.

    out = [0.0] * n                      →    make out[n]
    [f(v) for v in values if v > 0.0]    →    make out[0], and a loop that appends

Each place in the source that makes one has one buffer; where it makes another, the first has
to be out of use, which is looked at here.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    F64,
    I64,
    Builder,
    at,
    mixed_types,
    op,
    require_number,
    require_scalar,
)
from ppybuild.emit.loops.lower.calls import rely_on_library
from ppybuild.emit.loops.lower.expressions import lower_expr, lower_operands
from ppybuild.emit.loops.lower.growing import push
from ppybuild.emit.loops.lower.iteration import Iteration, plan_iteration
from ppybuild.emit.loops.lower.operators import to_int
from ppybuild.emit.loops.lower.signatures import ARRAYS, LISTS, SCALARS
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.lower.storing import stored_value
from ppybuild.emit.loops.lower.turns import lower_turns, plan_turns, stored_outside
from ppybuild.emit.loops.lower.values import (
    BufferRef,
    GridRef,
    Mixed,
    Number,
    Value,
    View,
    Whole,
    held_buffers,
)
from ppybuild.graph import types

Kind = tuple[ir.Element, ir.Holder]

_ZERO, _ONE = ir.Const(0, I64), ir.Const(1, I64)


def lower_made(builder: Builder, node: ast.expr) -> Whole | None:
    """The array, list or grid that an expression makes; None where it makes none."""
    match node:
        case ast.List() | ast.ListComp() | ast.BinOp(op=ast.Mult()):
            return _filled(builder, node, node, None)
        case ast.Call(args=args, keywords=[]):
            callee = builder.facts.callees.get(node)
            name = callee.name if callee else ""
            if name == "ppy.grid":
                return _grid(builder, node, args)
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
        kind = _kind_of(items[0], values[0]) if items else _kind_of_empty(builder, site)
    buffer = _buffer(builder, site, kind)
    stored = [
        stored_value(builder, node, buffer, value)
        for node, value in zip(items, values, strict=True)
    ]
    _make(builder, site, buffer, ir.Const(len(items), I64))
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
    buffer = _buffer(builder, site, kind or _kind_of(site, item))
    stored = builder.settled(stored_value(builder, site, buffer, item), at(site))
    _make(builder, site, buffer, op("max.i64", count, _ZERO))
    if not _is_zero(stored):
        _loop(builder, site, buffer.size, lambda _: stored, buffer)
    return buffer


def _copied(builder: Builder, site: ast.expr, given: ast.expr, kind: Kind | None) -> BufferRef:
    """`list(x)`: a range, or numbers in memory."""
    iteration = plan_iteration(builder, given)
    if iteration is None:
        raise Dead("iteration")
    value = require_number(given, iteration.value)
    if kind is not None and kind[0] is not ir.Element.U8:
        _refuse_bytes(given, iteration)
    buffer = _buffer(builder, site, kind or _kind_of(given, value))
    count = _count(builder, site, iteration)
    if count is None:
        raise Stay(given, "a range with a step, here", "write the loop out")
    with builder.sub_block() as body:
        stored = stored_value(builder, site, buffer, value)
        place = op("sub.i64", iteration.index, iteration.start)
        builder.emit(ir.Store(buffer.name, place, stored, at(site)))
    _make(builder, site, buffer, count, reading=(given,))
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
    count = None if loop.ifs else _count(builder, site, iteration)
    made: list[BufferRef] = []

    def put(counter: ir.Var) -> None:
        value = require_number(item, lower_expr(builder, item))
        buffer = _buffer(builder, site, kind or _kind_of(item, value))
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
    _make(builder, site, buffer, _ZERO if count is None else count, reading)
    turns.emit(builder, site)
    return buffer


def _count(builder: Builder, site: ast.expr, iteration: Iteration) -> ir.Expr | None:
    """The number of turns, where that is known beforehand."""
    if iteration.step != _ONE:
        return None
    count = iteration.stop
    if iteration.start != _ZERO:
        count = builder.checked("sub.i64", (iteration.stop, iteration.start), at(site))
    return builder.settled(op("max.i64", count, _ZERO), at(site))


def _loop(
    builder: Builder,
    site: ast.expr,
    count: ir.Expr,
    item: Callable[[ir.Var], ir.Expr],
    buffer: BufferRef,
) -> None:
    index = builder.temporary(I64, "index")
    body = (ir.Store(buffer.name, index, item(index), at(site)),)
    builder.emit(ir.For(index.name, _ZERO, count, _ONE, body, (), at(site)))


def _grid(builder: Builder, site: ast.Call, args: list[ast.expr]) -> GridRef:
    """`ppy.grid("d", [[x] * cols for _ in range(rows)])`."""
    match args:
        case [
            ast.Constant(value="d" | "q" as code),
            ast.ListComp(
                elt=ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=width),
                generators=[ast.comprehension(target=ast.Name(id=name), ifs=[]) as loop],
            ),
        ] if not any(_depends(each, name) for each in (item, width)):
            iteration = plan_iteration(builder, loop.iter)
            if iteration is None:
                raise Dead("iteration")
            count = _count(builder, site, iteration)
            value, times = lower_operands(builder, (item, width))
            if count is not None:
                return _rectangle(builder, site, ARRAYS[code], count, value, times)
    raise Stay(site, "this form of `ppy.grid`", "make it of rows that are repeated numbers")


def _depends(node: ast.expr, name: str) -> bool:
    """Whether an expression may have another value for another `name`."""
    return any(
        isinstance(each, ast.Call | ast.NamedExpr)
        or (isinstance(each, ast.Name) and each.id == name)
        for each in ast.walk(node)
    )


def _rectangle(
    builder: Builder,
    site: ast.Call,
    element: ir.Element,
    count: ir.Expr,
    value: Value,
    times: Value,
) -> GridRef:
    item = require_number(site, value)
    width = to_int(require_scalar(site, times))
    if width.type is F64:
        raise Stay(site, "a row that is repeated a float of times", "convert it with `int`")
    buffer = _buffer(builder, site, (element, "array"))
    grid = GridRef(buffer.name, element)
    stored = builder.settled(stored_value(builder, site, buffer, item), at(site))
    width = builder.settled(op("max.i64", width, _ZERO), at(site))
    size = builder.checked("mul.i64", (count, width), at(site))
    _make(builder, site, buffer, size)
    for variable, given in ((grid.length, count), (grid.width, width)):
        builder.locals[variable.name] = I64
        builder.emit(ir.Assign(variable.name, given, at(site)))
    if not _is_zero(stored):
        _loop(builder, site, buffer.size, lambda _: stored, buffer)
    return grid


# The buffer


def _kind_of(node: ast.AST, value: Number) -> Kind:
    if isinstance(value, Mixed):
        raise mixed_types(node)
    return LISTS[value.type]


def _kind_of_empty(builder: Builder, site: ast.expr) -> Kind:
    """By what the whole function puts in."""
    found = builder.facts.types.get(site)
    held = found.item if isinstance(found, types.Collection) else None
    item = SCALARS.get(held) if isinstance(held, types.Scalar) else None
    if item is None:
        raise Stay(site, "a list of items that are not all one kind of number")
    return LISTS[item]


def _is_zero(value: ir.Expr) -> bool:
    """Whether its bytes are zeros, as new memory is."""
    return (
        isinstance(value, ir.Const) and value.value == 0 and math.copysign(1, value.value) > 0
    )


def _buffer(builder: Builder, site: ast.expr, kind: Kind) -> BufferRef:
    known = builder.made.get(site)
    if known is None:
        name = f"{builder.targets.get(site, 'made')}.m{len(builder.made) + 1}"
        known = builder.made[site] = BufferRef(name, *kind, own=True)
        builder.locals[known.size.name] = I64
    if (known.element, known.holder) != kind:
        raise Stay(site, "a list whose items change their type from turn to turn")
    return known


def _make(
    builder: Builder,
    site: ast.expr,
    buffer: BufferRef,
    length: ir.Expr,
    reading: Sequence[ast.expr] = (),
) -> None:
    """`reading`: what is evaluated after the memory is there."""
    assert builder.env is not None
    target = builder.targets.get(site)
    read = {
        each.id for node in reading for each in ast.walk(node) if isinstance(each, ast.Name)
    }
    for name, binding in builder.env.items():
        held = binding.value is not None and buffer.name in held_buffers(binding.value)
        goes = name == target or isinstance(binding.value, View)
        if held and (name in read or not goes):
            raise Stay(
                site,
                f"an array that takes the place of one that `{name}` still is",
                "make it before the loop, and fill it anew",
            )
        if held and isinstance(binding.value, View):
            builder.env[name] = replace(binding, value=None)
    builder.emit(ir.Assign(buffer.size.name, length, at(site)))
    builder.emit(ir.Make(buffer.name, buffer.size, at(site)))
