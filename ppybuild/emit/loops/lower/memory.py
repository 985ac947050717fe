"""The memory of what a function makes: of which kind, how much, and filled with one number."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import I64, Builder, at, mixed_types, op
from ppybuild.emit.loops.lower.iteration import Iteration
from ppybuild.emit.loops.lower.signatures import LISTS, SCALARS
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import BufferRef, Mixed, Number, View, held_buffers
from ppybuild.graph import types

Kind = tuple[ir.Element, ir.Holder]

_ZERO, _ONE = ir.Const(0, I64), ir.Const(1, I64)


def count_turns(builder: Builder, site: ast.expr, iteration: Iteration) -> ir.Expr | None:
    """The number of turns, where that is known beforehand."""
    if iteration.step != _ONE:
        return None
    count = iteration.stop
    if iteration.start != _ZERO:
        count = builder.checked("sub.i64", (iteration.stop, iteration.start), at(site))
    return builder.settled(op("max.i64", count, _ZERO), at(site))


def fill(
    builder: Builder,
    site: ast.expr,
    count: ir.Expr,
    item: Callable[[ir.Var], ir.Expr],
    buffer: BufferRef,
) -> None:
    index = builder.temporary(I64, "index")
    body = (ir.Store(buffer.name, index, item(index), at(site)),)
    builder.emit(ir.For(index.name, _ZERO, count, _ONE, body, (), at(site)))


def kind_of(node: ast.AST, value: Number) -> Kind:
    if isinstance(value, Mixed):
        raise mixed_types(node)
    return LISTS[value.type]


def kind_of_empty(builder: Builder, site: ast.expr) -> Kind:
    """By what the whole function puts in."""
    found = builder.facts.types.get(site)
    held = found.item if isinstance(found, types.Collection) else None
    item = SCALARS.get(held) if isinstance(held, types.Scalar) else None
    if item is None:
        raise Stay(site, "a list of items that are not all one kind of number")
    return LISTS[item]


def is_zero(value: ir.Expr) -> bool:
    """Whether its bytes are zeros, as new memory is."""
    return (
        isinstance(value, ir.Const) and value.value == 0 and math.copysign(1, value.value) > 0
    )


def own_buffer(builder: Builder, site: ast.expr, kind: Kind) -> BufferRef:
    known = builder.made.get(site)
    if known is None:
        name = f"{builder.targets.get(site, 'made')}.m{len(builder.made) + 1}"
        known = builder.made[site] = BufferRef(name, *kind, own=True)
        builder.locals[known.size.name] = I64
    if (known.element, known.holder) != kind:
        raise Stay(site, "a list whose items change their type from turn to turn")
    return known


def make_memory(
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
