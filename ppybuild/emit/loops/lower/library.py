"""Built-in and `math` functions on numbers, as tables.

What is not here stays in Python, for one of two reasons: it has no meaning for numbers
alone, or CPython computes it with an algorithm of its own (`gamma`, `lgamma`, `hypot`,
`dist`, `fsum`), so that libm would not give the same bits.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import BOOL, F64, I64, Builder, op
from ppybuild.emit.loops.lower.operators import lower_binary, to_bool, to_float, to_int
from ppybuild.emit.loops.lower.values import Value, describe_type
from ppybuild.emit.loops.ops import CHECKED, OPS


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a library function whose arguments are numbers."""

    builder: Builder
    node: ast.Call
    args: tuple[ir.Expr, ...]
    location: ir.Location

    def checked(self, name: str, *args: ir.Expr) -> ir.Expr:
        return self.builder.checked(name, args, self.location)


Rule = Callable[[Call], Value]


def _row(name: str) -> Rule:
    """The operator of this name, on arguments converted to what it takes."""

    def apply(call: Call) -> Value:
        args = tuple(
            to_float(arg) if type_ is F64 else _int_only(arg)
            for arg, type_ in zip(call.args, OPS[name].args, strict=True)
        )
        return call.checked(name, *args) if name in CHECKED else op(name, *args)

    return apply


class NotAnInt(Exception):
    """A float where CPython takes ints only."""


def _int_only(value: ir.Expr) -> ir.Expr:
    if value.type is F64:
        raise NotAnInt
    return to_int(value)


def _whole(name: str) -> Rule:
    """floor, ceil and the like: an int is its own."""
    return lambda call: (
        call.checked(name, call.args[0]) if call.args[0].type is F64 else to_int(call.args[0])
    )


def _abs(call: Call) -> Value:
    value = to_int(call.args[0])
    return op("abs.f64", value) if value.type is F64 else call.checked("abs.i64", value)


def _extreme(name: str) -> Rule:
    """min or max of two or more: the first of equals, and what compares with nan stays."""

    def apply(call: Call) -> Value:
        first, *others = call.args
        for other in others:
            if other.type is not first.type:
                raise Mixed(first, other)
            if first.type is BOOL:
                first = op("and" if name == "min" else "or", first, other)
            else:
                first = op(f"{name}.{first.type.value}", first, other)
        return first

    return apply


class Mixed(Exception):
    """min or max of an int and a float: its type depends on the values."""

    def __init__(self, first: ir.Expr, second: ir.Expr) -> None:
        super().__init__(f"{describe_type(first)} and {describe_type(second)}")


def _divmod(call: Call) -> Value:
    left, right = (to_int(arg) for arg in call.args)
    kind = "i64"
    if F64 in (left.type, right.type):
        left, right, kind = to_float(left), to_float(right), "f64"
    quotient = call.checked(f"floordiv.{kind}", left, right)
    return quotient, call.checked(f"mod.{kind}", left, right)


def _pow(call: Call) -> Value:
    base, exponent = call.args
    return lower_binary(call.builder, call.node, ast.Pow(), base, exponent, call.location)


def _log(call: Call) -> Value:
    top = call.checked("log", to_float(call.args[0]))
    if len(call.args) == 1:
        return top
    return call.checked("div.f64", top, call.checked("log", to_float(call.args[1])))


def _scaled(factor: float) -> Rule:
    return lambda call: op("mul.f64", to_float(call.args[0]), ir.Const(factor, F64))


def _fold(name: str, start: int) -> Rule:
    """An operator of two ints, over any number of them."""

    def apply(call: Call) -> Value:
        value: ir.Expr = ir.Const(start, I64)
        for arg in call.args:
            value = call.checked(name, value, _int_only(arg))
        return value

    return apply


def _isclose(call: Call) -> Value:
    a, b = (to_float(arg) for arg in call.args)
    size = op("abs.f64", op("sub.f64", b, a))
    relative = ir.Const(1e-9, F64)
    near = op(
        "or",
        op("le.f64", size, op("abs.f64", op("mul.f64", relative, b))),
        op("le.f64", size, op("abs.f64", op("mul.f64", relative, a))),
    )
    # CPython's absolute tolerance of zero adds nothing: a difference of zero is equality.
    infinite = op("or", op("isinf", a), op("isinf", b))
    return op("or", op("eq.f64", a, b), op("and", op("not", infinite), near))


@dataclass(frozen=True, slots=True)
class Function:
    """How many numbers a function takes, at the least and at the most, and its rule."""

    least: int
    most: int
    rule: Rule


_ANY = 255
_UNARY = """
    acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 isfinite isinf
    isnan log10 log1p log2 sin sinh sqrt tan tanh ulp
""".split()  # noqa: SIM905 -- a list of names

FUNCTIONS: dict[str, Function] = {
    "builtins.abs": Function(1, 1, _abs),
    "builtins.min": Function(2, _ANY, _extreme("min")),
    "builtins.max": Function(2, _ANY, _extreme("max")),
    "builtins.int": Function(1, 1, _whole("trunc")),
    "builtins.float": Function(1, 1, lambda call: to_float(call.args[0])),
    "builtins.bool": Function(1, 1, lambda call: to_bool(call.args[0])),
    "builtins.round": Function(1, 1, _whole("round")),
    "builtins.divmod": Function(2, 2, _divmod),
    "builtins.pow": Function(2, 2, _pow),
    **{f"math.{name}": Function(1, 1, _row(name)) for name in _UNARY},
    **{
        f"math.{name}": Function(2, 2, _row(name))
        for name in ("atan2", "copysign", "fmod", "ldexp", "nextafter", "remainder")
    },
    "math.pow": Function(2, 2, _row("math_pow")),
    "math.fabs": Function(1, 1, _row("abs.f64")),
    "math.floor": Function(1, 1, _whole("floor")),
    "math.ceil": Function(1, 1, _whole("ceil")),
    "math.trunc": Function(1, 1, _whole("trunc")),
    "math.log": Function(1, 2, _log),
    "math.degrees": Function(1, 1, _scaled(180.0 / math.pi)),
    "math.radians": Function(1, 1, _scaled(math.pi / 180.0)),
    "math.gcd": Function(0, _ANY, _fold("gcd", 0)),
    "math.lcm": Function(0, _ANY, _fold("lcm", 1)),
    "math.comb": Function(2, 2, _row("comb")),
    "math.perm": Function(2, 2, _row("perm")),
    "math.isqrt": Function(1, 1, _row("isqrt")),
    "math.factorial": Function(1, 1, _row("factorial")),
    "math.isclose": Function(2, 2, _isclose),
    "math.modf": Function(
        1,
        1,
        lambda call: (
            op("modf.fraction", to_float(call.args[0])),
            op("modf.whole", to_float(call.args[0])),
        ),
    ),
    "math.frexp": Function(
        1,
        1,
        lambda call: (
            op("frexp.mantissa", to_float(call.args[0])),
            op("frexp.exponent", to_float(call.args[0])),
        ),
    ),
}
"""By canonical dotted name."""
