"""Rows that lie side by side in one memory: `ppy.grid`, and lists of lists of a function.

    m = [[0] * cols for _ in range(rows)]    →    make m[rows * cols]
    m[i][j]                                  →    m[i * cols + j]

What would make a row longer, or put another one in its place, is Python's.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

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
from ppybuild.emit.loops.lower.expressions import lower_expr
from ppybuild.emit.loops.lower.iteration import plan_iteration
from ppybuild.emit.loops.lower.memory import (
    Kind,
    count_turns,
    fill,
    is_zero,
    kind_of,
    make_memory,
    own_buffer,
)
from ppybuild.emit.loops.lower.operators import to_int
from ppybuild.emit.loops.lower.signatures import ARRAYS
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.lower.storing import stored_value
from ppybuild.emit.loops.lower.values import GridRef

_ZERO = ir.Const(0, I64)
_SIZES = ("builtins.len", "builtins.range")
"""Calls that have one value for all rows."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """`[[item] * width for _ in over]`, or `[[item for _ in width] for _ in over]`."""

    over: ast.expr
    item: ast.expr
    width: ast.expr
    counted: bool
    """Whether `width` is how many, and not what is gone through."""


def lower_grid(builder: Builder, site: ast.Call) -> GridRef:
    """`ppy.grid("d", [[x] * cols for _ in range(rows)])`."""
    match site.args:
        case [ast.Constant(value="d" | "q" as code), rows]:
            shape = _shape(builder, rows)
            if shape is not None:
                return _rectangle(builder, site, (ARRAYS[code], "array"), shape)
    raise Stay(site, "this form of `ppy.grid`", "make it of rows that are repeated numbers")


def lower_rows(builder: Builder, site: ast.ListComp) -> GridRef | None:
    """The same as a list of lists; None where it is another list."""
    shape = _shape(builder, site)
    return None if shape is None else _rectangle(builder, site, None, shape)


def _shape(builder: Builder, node: ast.expr) -> _Rows | None:
    match node:
        case ast.ListComp(
            elt=ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=width),
            generators=[ast.comprehension(target=ast.Name(id=name), ifs=[]) as loop],
        ):
            inner, counted = name, True
        case ast.ListComp(
            elt=ast.ListComp(
                elt=item,
                generators=[
                    ast.comprehension(target=ast.Name(id=inner), ifs=[], iter=width) as within
                ],
            ),
            generators=[ast.comprehension(target=ast.Name(id=name), ifs=[]) as loop],
        ) if not within.is_async:
            counted = False
        case _:
            return None
    if loop.is_async or _depends(builder, item, inner):
        return None
    if _depends(builder, item, name) or _depends(builder, width, name):
        return None
    return _Rows(loop.iter, item, width, counted)


def _depends(builder: Builder, node: ast.expr, name: str) -> bool:
    """Whether an expression may have another value for another `name`."""
    return any(
        isinstance(each, ast.NamedExpr | ast.ListComp | ast.GeneratorExp)
        or (isinstance(each, ast.Name) and each.id == name)
        or (isinstance(each, ast.Call) and not _is_size(builder, each))
        for each in ast.walk(node)
    )


def _is_size(builder: Builder, node: ast.Call) -> bool:
    callee = builder.facts.callees.get(node)
    return callee is not None and callee.name in _SIZES


def _rectangle(builder: Builder, site: ast.expr, kind: Kind | None, rows: _Rows) -> GridRef:
    count = _turns(builder, site, rows.over)
    item = require_number(site, lower_expr(builder, rows.item))
    width = _width(builder, site, rows)
    buffer = own_buffer(builder, site, kind or kind_of(rows.item, item))
    grid = GridRef(buffer.name, buffer.element, buffer.holder if kind is None else None)
    stored = builder.settled(stored_value(builder, site, buffer, item), at(site))
    size = builder.checked("mul.i64", (count, width), at(site))
    make_memory(builder, site, buffer, size)
    for variable, given in ((grid.length, count), (grid.width, width)):
        builder.locals[variable.name] = I64
        builder.emit(ir.Assign(variable.name, given, at(site)))
    if not is_zero(stored):
        fill(builder, site, buffer.size, lambda _: stored, buffer)
    return grid


def _width(builder: Builder, site: ast.expr, rows: _Rows) -> ir.Expr:
    if not rows.counted:
        return _turns(builder, site, rows.width)
    width = to_int(require_scalar(site, lower_expr(builder, rows.width)))
    if width.type is F64:
        raise Stay(site, "a row that is repeated a float of times", "convert it with `int`")
    return builder.settled(op("max.i64", width, _ZERO), at(site))


def _turns(builder: Builder, site: ast.expr, over: ast.expr) -> ir.Expr:
    """How many times a comprehension goes round."""
    iteration = plan_iteration(builder, over)
    if iteration is None:
        raise Dead("iteration")
    count = count_turns(builder, site, iteration)
    if count is None:
        raise Stay(over, "a range with a step, here", "count the rows first")
    return count
