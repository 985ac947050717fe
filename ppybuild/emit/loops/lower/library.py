"""Built-in and `math` functions on numbers, as tables.

Functions that take several numbers as one argument are in `sequences.py`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import BOOL, F64, I64, Builder, op
from ppybuild.emit.loops.lower.operators import (
    as_float,
    lower_binary,
    mix,
    operands,
    to_bool,
    to_float,
    to_int,
)
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import Mixed, Number, Value, describe_type, unmixed
from ppybuild.emit.loops.ops import CHECKED, OPS


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a library function whose arguments are numbers."""

    builder: Builder
    node: ast.Call
    args: tuple[Number, ...]
    location: ir.Location
    named: Mapping[str, Number] = field(default_factory=dict)
    """What was passed for parameters that have names only."""

    def checked(self, name: str, *args: ir.Expr) -> ir.Expr:
        return self.builder.checked(name, args, self.location)


Rule = Callable[[Call], Value]


def _row(name: str) -> Rule:
    """The operator of this name, on arguments converted to what it takes."""
    row = CHECKED[name] if name in CHECKED else OPS[name]

    def apply(call: Call) -> Value:
        args = tuple(
            as_float(arg) if type_ is F64 else _int_only(arg)
            for arg, type_ in zip(call.args, row.args, strict=True)
        )
        return call.checked(name, *args) if name in CHECKED else op(name, *args)

    return apply


class NotAnInt(Exception):
    """A float where CPython takes ints only."""


def _int_only(value: Number) -> ir.Expr:
    if isinstance(value, Mixed) or value.type is F64:
        raise NotAnInt
    return to_int(value)


def _whole(name: str) -> Rule:
    """floor, ceil and the like: an int is its own."""

    def apply(call: Call) -> Value:
        value = to_int(unmixed(call.args[0]))
        return call.checked(name, value) if value.type is F64 else value

    return apply


def _round(call: Call) -> Value:
    if len(call.args) == 1:
        return _whole("round")(call)
    value, digits = call.args
    if isinstance(value, ir.Expr) and value.type is F64:
        return call.checked("round.digits", value, _int_only(digits))
    if isinstance(value, ir.Expr) and isinstance(digits, ir.Const) and digits.value >= 0:
        return to_int(value)
    raise Stay(call.node, "`round` of an int to digits", "round a float")


def _abs(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, Mixed):
        return Mixed(op("abs.f64", value.value))
    value = to_int(value)
    return op("abs.f64", value) if value.type is F64 else call.checked("abs.i64", value)


def extreme(name: str) -> Rule:
    """min or max of two or more: the first of equals, and what compares with nan stays."""

    def apply(call: Call) -> Value:
        best, *others = call.args
        for other in others:
            best = _better(call.node, name, best, other)
        return best

    return apply


def _better(node: ast.AST, name: str, best: Number, other: Number) -> Number:
    if isinstance(best, Mixed) or isinstance(other, Mixed) or best.type is not other.type:
        floats = mix(best, other)
        if floats is None:
            what = f"`{name}` of {describe_type(best)} and {describe_type(other)}"
            raise Stay(
                node,
                f"{what}, whose type depends on the values",
                "make the arguments one type, such as by writing 0.0 for 0",
            )
        return Mixed(op(f"{name}.f64", *floats))
    if best.type is BOOL:
        return op("and" if name == "min" else "or", best, other)
    return op(f"{name}.{best.type.value}", best, other)


def _divmod(call: Call) -> Value:
    left, right = map(to_int, operands(call.node, *call.args))
    kind = "i64"
    if F64 in (left.type, right.type):
        left, right, kind = to_float(left), to_float(right), "f64"
    quotient = call.checked(f"floordiv.{kind}", left, right)
    return quotient, call.checked(f"mod.{kind}", left, right)


def _pow(call: Call) -> Value:
    base, exponent = call.args
    return lower_binary(call.builder, call.node, ast.Pow(), base, exponent, call.location)


def _log(call: Call) -> Value:
    top = call.checked("log", as_float(call.args[0]))
    if len(call.args) == 1:
        return top
    return call.checked("div.f64", top, call.checked("log", as_float(call.args[1])))


def _scaled(factor: float) -> Rule:
    return lambda call: op("mul.f64", as_float(call.args[0]), ir.Const(factor, F64))


def _fold(name: str, start: int) -> Rule:
    """An operator of two ints, over any number of them."""

    def apply(call: Call) -> Value:
        value: ir.Expr = ir.Const(start, I64)
        for arg in call.args:
            value = call.checked(name, value, _int_only(arg))
        return value

    return apply


def _perm(call: Call) -> Value:
    """Of one number: all orders of so many."""
    return _row("factorial" if len(call.args) == 1 else "perm")(call)


def _hypot(call: Call) -> Value:
    if not call.args:
        return ir.Const(0.0, F64)
    return call.checked("hypot", *map(as_float, call.args))


def _isclose(call: Call) -> Value:
    a, b = (as_float(arg) for arg in call.args)
    relative = as_float(call.named.get("rel_tol", ir.Const(1e-9, F64)))
    absolute = as_float(call.named.get("abs_tol", ir.Const(0.0, F64)))
    for tolerance in (relative, absolute):
        if not isinstance(tolerance, ir.Const) or tolerance.value < 0:
            fine = op("not", op("lt.f64", tolerance, ir.Const(0.0, F64)))
            call.builder.emit(ir.Guard(fine, "negative tolerance", call.location))
    size = op("abs.f64", op("sub.f64", b, a))
    limits = [op("abs.f64", op("mul.f64", relative, one)) for one in (b, a)]
    near = reduce(
        lambda one, two: op("or", one, two),
        (op("le.f64", size, limit) for limit in (*limits, absolute)),
    )
    infinite = op("or", op("isinf", a), op("isinf", b))
    return op("or", op("eq.f64", a, b), op("and", op("not", infinite), near))


@dataclass(frozen=True, slots=True)
class Function:
    """How many numbers a function takes, at the least and at the most, and its rule."""

    least: int
    most: int
    rule: Rule
    names: tuple[str, ...] = ()
    """By which the parameters may be passed too, in order."""
    only_named: tuple[str, ...] = ()
    """Further parameters, which may be left out."""


_ANY = 255
_UNARY = """
    acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 isfinite isinf
    isnan log10 log1p log2 sin sinh sqrt tan tanh ulp
""".split()  # noqa: SIM905 -- a list of names

FUNCTIONS: dict[str, Function] = {
    "builtins.abs": Function(1, 1, _abs),
    "builtins.min": Function(2, _ANY, extreme("min")),
    "builtins.max": Function(2, _ANY, extreme("max")),
    "builtins.int": Function(1, 1, _whole("trunc")),
    "builtins.float": Function(1, 1, lambda call: as_float(call.args[0])),
    "builtins.bool": Function(1, 1, lambda call: to_bool(unmixed(call.args[0]))),
    "builtins.round": Function(1, 2, _round, ("number", "ndigits")),
    "builtins.divmod": Function(2, 2, _divmod),
    "builtins.pow": Function(2, 2, _pow, ("base", "exp")),
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
    "math.perm": Function(1, 2, _perm),
    "math.isqrt": Function(1, 1, _row("isqrt")),
    "math.factorial": Function(1, 1, _row("factorial")),
    "math.isclose": Function(2, 2, _isclose, ("a", "b"), ("rel_tol", "abs_tol")),
    "math.gamma": Function(1, 1, _row("gamma")),
    "math.lgamma": Function(1, 1, _row("lgamma")),
    "math.hypot": Function(0, _ANY, _hypot),
    "math.modf": Function(
        1,
        1,
        lambda call: (
            op("modf.fraction", as_float(call.args[0])),
            op("modf.whole", as_float(call.args[0])),
        ),
    ),
    "math.frexp": Function(
        1,
        1,
        lambda call: (
            op("frexp.mantissa", as_float(call.args[0])),
            op("frexp.exponent", as_float(call.args[0])),
        ),
    ),
}
"""By canonical dotted name."""


def bind_arguments(
    function: Function, node: ast.Call, values: Sequence[Number]
) -> tuple[tuple[Number, ...], dict[str, Number]] | None:
    """The arguments by position, and those that have names only; None where they do not fit.

    `values` are of the arguments, then of the keywords.
    """
    given = len(node.args)
    named = {
        str(each.arg): value for each, value in zip(node.keywords, values[given:], strict=True)
    }
    only = {name: named.pop(name) for name in function.only_named if name in named}
    args = list(values[:given])
    for name in function.names[given:]:
        if name not in named:
            break
        args.append(named.pop(name))
    if named or not function.least <= len(args) <= function.most:
        return None
    return tuple(args), only
