"""Python's operators on scalars, by the types of their operands."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import BOOL, F64, I64, Builder, mixed_types, op
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import Mixed, Number, describe_type, unmixed

# What an operator is on two ints and on two floats; "?" marks a `CHECKED` row.
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("?add.i64", "add.f64"),
    ast.Sub: ("?sub.i64", "sub.f64"),
    ast.Mult: ("?mul.i64", "mul.f64"),
    ast.Div: ("?truediv.i64", "?div.f64"),
    ast.FloorDiv: ("?floordiv.i64", "?floordiv.f64"),
    ast.Mod: ("?mod.i64", "?mod.f64"),
    ast.Pow: ("?pow.i64", "?pow.f64"),
    ast.LShift: ("?shl.i64", ""),
    ast.RShift: ("?shr.i64", ""),
    ast.BitAnd: ("and.i64", ""),
    ast.BitOr: ("or.i64", ""),
    ast.BitXor: ("xor.i64", ""),
}
# On two bools the result is one too.
_BITWISE_BOOL: dict[type[ast.operator], str] = {
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "ne.bool",
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "eq"),  # and with the operands swapped
    ast.NotEq: ("ne", "ne"),
    ast.Lt: ("lt", "gt"),
    ast.LtE: ("le", "ge"),
    ast.Gt: ("gt", "lt"),
    ast.GtE: ("ge", "le"),
}
_PYTHON: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_TYPES = {int: I64, float: F64, bool: BOOL}


def to_int(value: ir.Expr) -> ir.Expr:
    """A bool as an int; an int as it is."""
    if value.type is not BOOL:
        return value
    if isinstance(value, ir.Const):
        return ir.Const(int(value.value), I64)
    return op("to_i64.bool", value)


def to_float(value: ir.Expr) -> ir.Expr:
    """A number as a float, rounded as Python rounds."""
    if value.type is F64:
        return value
    if isinstance(value, ir.Const):
        return ir.Const(float(value.value), F64)
    return op("to_f64.bool" if value.type is BOOL else "to_f64", value)


def to_bool(value: ir.Expr) -> ir.Expr:
    """The truth of a number."""
    if isinstance(value, ir.Const):
        return ir.Const(bool(value.value), BOOL)
    if value.type is I64:
        return op("ne.i64", value, ir.Const(0, I64))
    if value.type is F64:
        return op("ne.f64", value, ir.Const(0.0, F64))
    return value


def as_float(value: Number) -> ir.Expr:
    """As `to_float`, of what may be an int already."""
    return to_float(unmixed(value))


def mix(one: Number, two: Number) -> tuple[ir.Expr, ir.Expr] | None:
    """Both as floats, where one may be an int that is the same number; None for others."""
    exact = [_exact_float(each) for each in (one, two)]
    kinds = [each for each in (one, two) if isinstance(each, Mixed) or each.type is F64]
    return (exact[0], exact[1]) if kinds and exact[0] and exact[1] else None


def _exact_float(value: Number) -> ir.Expr | None:
    """A float, or a constant int that a float is equal to."""
    if isinstance(value, Mixed):
        return value.value
    if isinstance(value, ir.Const) and value.type is I64:
        return to_float(value) if float(value.value) == value.value else None
    return value if value.type is F64 else None


def negation(value: ir.Expr) -> ir.Expr:
    """`not value`, of a bool."""
    if isinstance(value, ir.Const):
        return ir.Const(not value.value, BOOL)
    return op("not", value)


def lower_unary(
    builder: Builder, node: ast.UnaryOp, value: ir.Expr, location: ir.Location
) -> ir.Expr:
    """`-x`, `+x`, `~x`; `not` is a test."""
    value = to_int(value)
    match node.op:
        case ast.UAdd():
            return value
        case ast.USub() if value.type is F64:
            return op("neg.f64", value)
        case ast.USub():
            return builder.checked("neg.i64", (value,), location)
        case ast.Invert() if value.type is I64:
            return op("invert.i64", value)
    raise Stay(node, "an operator on a number that does not have it")


def operands(node: ast.AST, left: Number, right: Number) -> tuple[ir.Expr, ir.Expr]:
    """Two operands of arithmetic: beside a float, an int becomes one anyway."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Mixed) and (isinstance(other, Mixed) or other.type is not F64):
            raise mixed_types(node)
    return unmixed(left), unmixed(right)


def lower_binary(
    builder: Builder,
    node: ast.AST,
    operator_: ast.operator,
    left: Number,
    right: Number,
    location: ir.Location,
) -> ir.Expr:
    """`left + right` and the like; `node` is what a remark points at."""
    kind = type(operator_)
    left, right = operands(node, left, right)
    folded = _fold(kind, left, right)
    if folded is not None:
        return folded
    if left.type is BOOL and right.type is BOOL and kind in _BITWISE_BOOL:
        return op(_BITWISE_BOOL[kind], left, right)
    left, right = to_int(left), to_int(right)
    if kind not in _ARITHMETIC:
        raise Stay(node, "matrix multiplication")
    on_ints, on_floats = _ARITHMETIC[kind]
    name = on_ints
    if F64 in (left.type, right.type) or _is_negative_power(kind, right):
        left, right, name = to_float(left), to_float(right), on_floats
    if not name:
        types = f"{describe_type(left)} and {describe_type(right)}"
        raise Stay(node, f"an operator that {types} do not have")
    if name.startswith("?"):
        if name in ("?div.f64", "?floordiv.f64", "?mod.f64") and _is_nonzero(right):
            return op(name[1:], left, right)
        return builder.checked(name[1:], (left, right), location)
    return op(name, left, right)


def _is_negative_power(kind: type[ast.operator], exponent: ir.Expr) -> bool:
    """Whether this power of ints is a float, for sure."""
    return kind is ast.Pow and isinstance(exponent, ir.Const) and exponent.value < 0


def _is_nonzero(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.value != 0


def _fold(kind: type[ast.operator], left: ir.Expr, right: ir.Expr) -> ir.Const | None:
    """The operator on two constants, where Python gives a number that has a place."""
    if not (isinstance(left, ir.Const) and isinstance(right, ir.Const)):
        return None
    if kind in (ast.Pow, ast.LShift) and _is_small_power(left, right):
        value: Any = left.value**right.value if kind is ast.Pow else _shifted(left, right)
    elif kind in _PYTHON:
        try:
            value = _PYTHON[kind](left.value, right.value)
        except (ArithmeticError, TypeError):
            return None
    else:
        return None
    return constant(value)


def _is_small_power(left: ir.Const, right: ir.Const) -> bool:
    both_ints = left.type is I64 and right.type is I64
    return both_ints and 0 <= right.value <= 64


def _shifted(left: ir.Const, right: ir.Const) -> int:
    return int(left.value) << int(right.value)


def constant(value: object) -> ir.Const | None:
    """A Python number as a constant; None where it is none, or an int past 64 bits."""
    if isinstance(value, bool | float):
        return ir.Const(value, _TYPES[type(value)])
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return ir.Const(int(value), I64)
    return None


def check_comparison(node: ast.AST, operator_: ast.cmpop) -> None:
    """Numbers are compared by value."""
    if type(operator_) not in _COMPARISONS:
        raise Stay(node, "`is` or `in`", "compare numbers with ==, !=, <, <=, > or >=")


def lower_comparison(operator_: ast.cmpop, left: Number, right: Number) -> ir.Expr:
    """One comparison of two numbers, exact between an int and a float."""
    name, swapped = _COMPARISONS[type(operator_)]
    left, right = unmixed(left), unmixed(right)
    if left.type is BOOL and right.type is BOOL and name in ("eq", "ne"):
        return op(f"{name}.bool", left, right)
    left, right = _exact_constant(to_int(left), right), _exact_constant(to_int(right), left)
    if left.type is right.type:
        return op(f"{name}.{left.type.value}", left, right)
    if left.type is I64:
        return op(f"{name}.mixed", left, right)
    return op(f"{swapped}.mixed", right, left)


def _exact_constant(value: ir.Expr, other: ir.Expr) -> ir.Expr:
    """An int constant beside a float, as a float if that is the same number."""
    if other.type is F64 and isinstance(value, ir.Const) and value.type is I64:
        number = float(value.value)
        if int(number) == value.value:
            return ir.Const(number, F64)
    return value
