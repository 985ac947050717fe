"""The functions of `math`, as rows."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.kinds import (
    BOOL,
    FLOAT,
    INT,
    NUMBERS,
    Kind,
    ListOf,
    TupleOf,
    show,
)
from ppybuild.emit.standalone.lists import gathered
from ppybuild.emit.standalone.operators import checked, to_float, to_int
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, constant, tuple_of

Rule = Callable[[Body, ast.AST, Sequence[Value]], Value]


def _total(c: str, result: Kind = FLOAT) -> Rule:
    """Fails nowhere."""

    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        words = ", ".join(to_float(arg).c for arg in args)
        return body.temporary(result, f"{c}({words})")

    return apply


def _failing(operation: str, why: str) -> Rule:
    """Of floats; fails outside its domain or range."""

    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        return checked(body, node, operation, why, FLOAT, *map(to_float, args))

    return apply


def _ints(operation: str, why: str) -> Rule:
    """Of ints alone."""

    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        ints = [to_int(arg) for arg in args]
        if any(arg.kind != INT for arg in ints):
            raise Refused(node, "a float where Python takes ints only")
        return checked(body, node, operation, why, INT, *ints)

    return apply


def whole(operation: str) -> Rule:
    """floor, ceil and the like: an int is its own."""

    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        value = to_int(args[0])
        if value.kind == INT:
            return value
        return checked(body, node, operation, "whole", INT, value)

    return apply


def _ldexp(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
    exponent = to_int(args[1])
    if exponent.kind != INT:
        raise Refused(node, "`ldexp` with a float for the exponent")
    return checked(body, node, "ldexp", "ldexp", FLOAT, to_float(args[0]), exponent)


def _log(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
    log = _failing("log", "math")
    top = log(body, node, args[:1])
    if len(args) == 1:
        return top
    return checked(body, node, "div_f64", "div_f64", FLOAT, top, log(body, node, args[1:]))


def _scaled(factor: float) -> Rule:
    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        return Value(FLOAT, f"({to_float(args[0]).c} * {constant(factor).c})")

    return apply


def _fold(operation: str, start: int) -> Rule:
    step = _ints(operation, "integer")

    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        value = constant(start)
        for arg in args:
            value = step(body, node, (value, arg))
        return value

    return apply


def _pair(first: str, second: str, second_kind: Kind) -> Rule:
    def apply(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
        value = body.keep(to_float(args[0]))
        return tuple_of(
            (
                body.temporary(FLOAT, f"{first}({value.c})"),
                body.temporary(second_kind, f"{second}({value.c})"),
            )
        )

    return apply


def _hypot(body: Body, node: ast.AST, args: Sequence[Value]) -> Value:
    words = ", ".join(to_float(arg).c for arg in args)
    given = f"(const double[]){{{words}}}" if args else "NULL"
    return body.temporary(FLOAT, f"ppy_hypot({given}, {len(args)})")


_ANY = 255
_DOMAIN = """acos acosh asin atanh cos log10 log1p log2 sin sqrt tan""".split()  # noqa: SIM905
_GROWING = """cosh exp exp2 expm1 sinh""".split()  # noqa: SIM905

FUNCTIONS: dict[str, tuple[int, int, Rule]] = {
    **{name: (1, 1, _failing(name, "math")) for name in _DOMAIN},
    **{name: (1, 1, _failing(name, "growing")) for name in _GROWING},
    **{
        name: (1, 1, _total(f"ppy_libm_{name}"))
        for name in ("atan", "asinh", "tanh", "cbrt", "erf", "erfc")
    },
    "atan2": (2, 2, _total("ppy_libm_atan2")),
    "copysign": (2, 2, _total("copysign")),
    "nextafter": (2, 2, _total("nextafter")),
    "ulp": (1, 1, _total("ppy_ulp")),
    "fabs": (1, 1, _total("fabs")),
    "isnan": (1, 1, _total("(bool)isnan", BOOL)),
    "isinf": (1, 1, _total("(bool)isinf", BOOL)),
    "isfinite": (1, 1, _total("(bool)isfinite", BOOL)),
    "pow": (2, 2, _failing("math_pow", "math_pow")),
    "hypot": (0, _ANY, _hypot),
    "fmod": (2, 2, _failing("fmod", "two")),
    "remainder": (2, 2, _failing("remainder", "two")),
    "ldexp": (2, 2, _ldexp),
    "floor": (1, 1, whole("floor")),
    "ceil": (1, 1, whole("ceil")),
    "trunc": (1, 1, whole("trunc")),
    "log": (1, 2, _log),
    "degrees": (1, 1, _scaled(180.0 / math.pi)),
    "radians": (1, 1, _scaled(math.pi / 180.0)),
    "gcd": (0, _ANY, _fold("gcd", 0)),
    "lcm": (0, _ANY, _fold("lcm", 1)),
    "comb": (2, 2, _ints("comb", "chosen")),
    "perm": (2, 2, _ints("perm", "chosen")),
    "isqrt": (1, 1, _ints("isqrt", "isqrt")),
    "factorial": (1, 1, _ints("factorial", "factorial")),
    "modf": (1, 1, _pair("ppy_modf_fraction", "ppy_modf_whole", FLOAT)),
    "frexp": (1, 1, _pair("ppy_frexp_mantissa", "ppy_frexp_exponent", INT)),
}
"""By name: how many numbers it takes, at the least and at the most, and its rule. Those that
CPython computes with algorithms of its own (gamma, lgamma) are not here."""


def lower_math(body: Body, node: ast.Call, name: str) -> Value:
    """A call of `math.<name>`."""
    if name == "isclose":
        return _is_close(body, node)
    if name == "fsum":
        return _fsum(body, node)
    if name == "dist":
        return _dist(body, node)
    if name not in FUNCTIONS:
        raise Refused(node, f"`math.{name}`, which CPython computes in its own way")
    least, most, rule = FUNCTIONS[name]
    if node.keywords or not least <= len(node.args) <= most:
        raise Refused(node, f"these arguments of `math.{name}`")
    args = body.values(*node.args)
    for arg in args:
        if arg.kind not in NUMBERS:
            raise Refused(node, f"`math.{name}` of {show(arg.kind)}")
    return rule(body, node, args)


def _dist(body: Body, node: ast.Call) -> Value:
    """`math.dist(p, q)` of tuples."""
    if len(node.args) != 2 or node.keywords:
        raise Refused(node, "these arguments of `math.dist`")
    points = [
        value.items() for value in body.values(*node.args) if isinstance(value.kind, TupleOf)
    ]
    if len(points) != 2 or len(points[0]) != len(points[1]):
        raise Refused(node, "`math.dist` of what are no tuples of one length")
    if any(part.kind not in NUMBERS for point in points for part in point):
        raise Refused(node, "`math.dist` of anything but numbers")
    pairs = zip(*points, strict=True)
    away = [Value(FLOAT, f"({to_float(a).c} - {to_float(b).c})") for a, b in pairs]
    return _hypot(body, node, away)


def _fsum(body: Body, node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords:
        raise Refused(node, "these arguments of `math.fsum`")
    values = gathered(body, node.args[0])
    if values.kind != ListOf(FLOAT):
        raise Refused(node, f"`math.fsum` of {show(values.kind)}")
    body.at(node)
    return body.temporary(FLOAT, f"ppy_fsum({values.c})")


def _is_close(body: Body, node: ast.Call) -> Value:
    """`math.isclose(a, b, rel_tol=1e-9, abs_tol=0.0)` with tolerances that are written out."""
    tolerances = {"rel_tol": 1e-9, "abs_tol": 0.0}
    for keyword in node.keywords:
        match keyword:
            case ast.keyword(
                arg=("rel_tol" | "abs_tol") as name,
                value=ast.Constant(value=int() | float() as to),
            ) if not isinstance(to, bool):
                tolerances[name] = float(to)
            case _:
                raise Refused(node, "`math.isclose` with tolerances that are not numbers")
    if len(node.args) != 2:
        raise Refused(node, "these arguments of `math.isclose`")
    args = body.values(*node.args)
    if any(arg.kind not in NUMBERS for arg in args):
        raise Refused(node, "`math.isclose` of anything but numbers")
    words = [to_float(arg).c for arg in args]
    words += [constant(tolerances[name]).c for name in ("rel_tol", "abs_tol")]
    return body.temporary(BOOL, f"ppy_is_close({', '.join(words)})")
