"""Expressions in C: operators in every place of every other, comparisons that are settled."""

from __future__ import annotations

import array
import operator
from collections.abc import Callable, Iterator

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.c_expr import Names, print_expr
from ppybuild.emit.loops.ops import OPS
from tests.emit.loops.native import Kernels

I64, F64, BOOL = ir.Type.I64, ir.Type.F64, ir.Type.BOOL
AT = ir.Location(1, 1)
VARIABLES = {I64: ("x", "y", "z"), F64: ("u", "v", "w"), BOOL: ("p", "q", "r")}
SYMBOLS = {name: row for name, row in OPS.items() if not row.c.isidentifier()}
SMALL = ir.BufferParameter("small", ir.Element.U8, False)


def variable(type_: ir.Type, at: int) -> ir.Var:
    return ir.Var(VARIABLES[type_][at], type_)


def operands(type_: ir.Type) -> Iterator[ir.Expr]:
    """Everything of this type that is more than a name."""
    for name, row in SYMBOLS.items():
        if row.result is type_:
            args = tuple(variable(each, at + 1) for at, each in enumerate(row.args))
            yield ir.Op(name, args, type_)
    yield ir.Select(variable(BOOL, 0), variable(type_, 1), variable(type_, 2), type_)
    if type_ is I64:
        yield ir.Const(-1, I64)
        yield ir.Load("small", ir.Const(0, I64), I64)
    if type_ is F64:
        yield ir.Const(-1.0, F64)


def pairs() -> Iterator[ir.Op]:
    for name, row in SYMBOLS.items():
        for at, type_ in enumerate(row.args):
            for inner in operands(type_):
                args: list[ir.Expr] = [variable(each, 0) for each in row.args]
                args[at] = inner
                yield ir.Op(name, tuple(args), row.result)


def test_every_pair_compiles_without_warnings() -> None:
    scalars = tuple(
        ir.ScalarParameter(name, type_) for type_, names in VARIABLES.items() for name in names
    )
    functions = {
        f"m.f{number}": ir.Function(
            f"m.f{number}", (*scalars, SMALL), expr.type, (), (ir.Return((expr,), AT),), AT
        )
        for number, expr in enumerate(pairs())
    }
    assert len(functions) > 500
    Kernels(functions)


def test_parentheses_are_where_a_reader_wants_them() -> None:
    plain = {name: name for names in VARIABLES.values() for name in names}
    names = Names(plain, {})
    x, y, z = (variable(I64, at) for at in range(3))
    p, q, r = (variable(BOOL, at) for at in range(3))

    def op(name: str, *args: ir.Expr) -> ir.Op:
        return ir.Op(name, args, OPS[name].result)

    unsettled = op("eq.i64", op("and.i64", x, ir.Const(4, I64)), ir.Const(4, I64))
    shown = {
        "(x & 4) == 4": unsettled,
        "x ^ (y - z)": op("xor.i64", x, op("sub.i64", y, z)),
        "(x * y) & z": op("and.i64", op("mul.i64", x, y), z),
        "x | y | z": op("or.i64", op("or.i64", x, y), z),
        "x | (y & z)": op("or.i64", x, op("and.i64", y, z)),
        "(x & y) + z": op("add.i64", op("and.i64", x, y), z),
        "x + y * z": op("add.i64", x, op("mul.i64", y, z)),
        "x - (y - z)": op("sub.i64", x, op("sub.i64", y, z)),
        "(x & y) == z": op("eq.i64", op("and.i64", x, y), z),
        "x + y < z": op("lt.i64", op("add.i64", x, y), z),
        "x < y && p": op("and", op("lt.i64", x, y), p),
        "p || (q && r)": op("or", p, op("and", q, r)),
        "(x < y) == p": op("eq.bool", op("lt.i64", x, y), p),
        "-(x + y)": op("neg.i64", op("add.i64", x, y)),
        "~x & y": op("and.i64", op("invert.i64", x), y),
    }
    assert {print_expr(expr, names): expr for expr in shown.values()} == shown


def settled_comparisons() -> Iterator[ir.Op]:
    """Ints against constants inside and outside what they can be."""
    x, p = variable(I64, 0), variable(BOOL, 0)
    load = ir.Load("small", ir.Const(0, I64), I64)
    is_less = ir.Op("lt.i64", (x, variable(I64, 1)), BOOL)
    bits = [
        ir.Op(name, (x, ir.Const(mask, I64)), I64)
        for name in ("and.i64", "or.i64", "xor.i64")
        for mask in (0, 4, 255, -8)
    ]
    flags = [ir.Op("to_i64.bool", (each,), I64) for each in (p, is_less)]
    for value in (x, load, *bits, *flags):
        for constant in (-(2**63), -2, -1, 0, 1, 2, 3, 4, 255, 256, 2**40, 2**63 - 1):
            for name in ("eq", "ne", "lt", "le", "gt", "ge"):
                pair: list[ir.Expr] = [value, ir.Const(constant, I64)]
                yield ir.Op(f"{name}.i64", tuple(pair), BOOL)
                yield ir.Op(f"{name}.i64", tuple(reversed(pair)), BOOL)
            yield ir.Op("eq.i64", (value, value), BOOL)


def test_settled_comparisons_compile_without_warnings_and_are_right() -> None:
    scalars = tuple(ir.ScalarParameter(name, I64) for name in "xy")
    parameters = (*scalars, ir.ScalarParameter("p", BOOL), SMALL)
    comparisons = list(settled_comparisons())
    functions = {
        f"m.f{number}": ir.Function(
            f"m.f{number}", parameters, BOOL, (), (ir.Return((expr,), AT),), AT
        )
        for number, expr in enumerate(comparisons)
    }
    kernels = Kernels(functions)
    for x, y, p, small in ((0, 0, False, 0), (4, 9, True, 255), (-3, -7, False, 3)):
        for number, expr in enumerate(comparisons):
            got = kernels.call(f"m.f{number}", x, y, p, array.array("B", [small]))
            assert got == value_of(expr, {"x": x, "y": y, "p": p, "small": small}), expr


def value_of(expr: ir.Expr, values: dict[str, int]) -> int:
    match expr:
        case ir.Const(value=int() as value) | ir.Var(name=str() as value):
            return values[value] if isinstance(value, str) else value
        case ir.Load(buffer=buffer):
            return values[buffer]
        case ir.Op(name="to_i64.bool", args=(inner,)):
            return int(value_of(inner, values))
        case ir.Op(name=name, args=(left, right)):
            python: dict[str, Callable[[int, int], int]] = {
                "and": operator.and_, "or": operator.or_, "xor": operator.xor,
                "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
                "gt": operator.gt, "ge": operator.ge,
            }  # fmt: skip
            return python[name.partition(".")[0]](
                value_of(left, values), value_of(right, values)
            )
    raise TypeError(expr)
