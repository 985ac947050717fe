"""The operators of the loop IR, as tables.

`OPS` are total: an expression may be moved, repeated or dropped. `CHECKED` may fail, and
name the total operator that they become once a pass has proved that they cannot. A total
operator whose row is also in `CHECKED` is only defined where the checked one succeeds.

Names are `operation.type`, or the plain name where one type makes sense. C spellings are a
symbol (infix for two arguments, prefix for one) or the name of a function, of
`ppy_kernel.h` and its parts where it begins with `ppy_`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ppybuild.emit.loops.ir import Element, Type

I64, F64, BOOL = Type.I64, Type.F64, Type.BOOL


@dataclass(frozen=True, slots=True)
class Operator:
    """A total operator: what it takes, what it gives, how C says it."""

    args: tuple[Type | Element, ...]
    """An element: all elements of a buffer of such."""
    result: Type
    c: str


@dataclass(frozen=True, slots=True)
class CheckedOperator:
    """A fallible operator; `c` is a function that returns whether it succeeded, and stores
    the result through a pointer that comes last."""

    args: tuple[Type | Element, ...]
    """An element: all elements of a buffer of such."""
    result: Type
    c: str
    total: str = ""
    """A name of `OPS`; empty where no pass can tell that it does not fail."""
    many: bool = False
    """Takes any number of floats, at least one; in C they are one `ppy_f64`."""
    asks: bool = False
    """CPython's own function answers; in C the run comes first."""


_INTEGER = {
    "add.i64": Operator((I64, I64), I64, "+"),
    "sub.i64": Operator((I64, I64), I64, "-"),
    "mul.i64": Operator((I64, I64), I64, "*"),
    "neg.i64": Operator((I64,), I64, "-"),
    "abs.i64": Operator((I64,), I64, "ppy_abs_i64"),
    "floordiv.i64": Operator((I64, I64), I64, "ppy_floordiv_i64"),
    "mod.i64": Operator((I64, I64), I64, "ppy_mod_i64"),
    # C's own division and remainder: Python's for operands that are not negative.
    "quot.i64": Operator((I64, I64), I64, "/"),
    "rem.i64": Operator((I64, I64), I64, "%"),
    "truediv.i64": Operator((I64, I64), F64, "ppy_truediv_i64"),
    "pow.i64": Operator((I64, I64), I64, "ppy_pow_i64"),
    "shl.i64": Operator((I64, I64), I64, "ppy_shl_i64"),
    "shr.i64": Operator((I64, I64), I64, "ppy_shr_i64"),
    "and.i64": Operator((I64, I64), I64, "&"),
    "or.i64": Operator((I64, I64), I64, "|"),
    "xor.i64": Operator((I64, I64), I64, "^"),
    "invert.i64": Operator((I64,), I64, "~"),
    "min.i64": Operator((I64, I64), I64, "ppy_min_i64"),
    "max.i64": Operator((I64, I64), I64, "ppy_max_i64"),
    "gcd": Operator((I64, I64), I64, "ppy_gcd"),
    "lcm": Operator((I64, I64), I64, "ppy_lcm"),
    "comb": Operator((I64, I64), I64, "ppy_comb"),
    "perm": Operator((I64, I64), I64, "ppy_perm"),
    "isqrt": Operator((I64,), I64, "ppy_isqrt"),
    "factorial": Operator((I64,), I64, "ppy_factorial"),
    "index": Operator((I64, I64), I64, "ppy_index"),
    # Where a slice of so many items starts or stops, and how many lie between the two.
    "slice_bound": Operator((I64, I64), I64, "ppy_slice_bound"),
    "slice_length": Operator((I64, I64), I64, "ppy_slice_length"),
    # The same of a slice with a step.
    "stride_bound": Operator((I64, I64, I64), I64, "ppy_stride_bound"),
    "stride_length": Operator((I64, I64, I64), I64, "ppy_stride_length"),
}

# Of operands that are not negative: the greatest integer where the result is beyond it. Passes
# write the conditions of versioned loops with these.
_SATURATING = {
    "add.sat": Operator((I64, I64), I64, "ppy_add_sat"),
    "mul.sat": Operator((I64, I64), I64, "ppy_mul_sat"),
}

_FLOAT = {
    "add.f64": Operator((F64, F64), F64, "+"),
    "sub.f64": Operator((F64, F64), F64, "-"),
    "mul.f64": Operator((F64, F64), F64, "*"),
    "div.f64": Operator((F64, F64), F64, "/"),
    "neg.f64": Operator((F64,), F64, "-"),
    "abs.f64": Operator((F64,), F64, "fabs"),
    "floordiv.f64": Operator((F64, F64), F64, "ppy_floordiv_f64"),
    "mod.f64": Operator((F64, F64), F64, "ppy_mod_f64"),
    "pow.f64": Operator((F64, F64), F64, "ppy_libm_pow"),
    "min.f64": Operator((F64, F64), F64, "ppy_min_f64"),
    "max.f64": Operator((F64, F64), F64, "ppy_max_f64"),
}

_COMPARISON = {
    f"{name}.{kind}": Operator((type_, type_), BOOL, symbol)
    for kind, type_ in (("i64", I64), ("f64", F64), ("bool", BOOL))
    for name, symbol in (
        ("eq", "=="),
        ("ne", "!="),
        ("lt", "<"),
        ("le", "<="),
        ("gt", ">"),
        ("ge", ">="),
    )
    if kind != "bool" or name in ("eq", "ne")
}

# An int against a float, exact beyond 2**53; the int comes first.
_MIXED_COMPARISON = {
    "eq.mixed": Operator((I64, F64), BOOL, "ppy_eq_mixed"),
    "ne.mixed": Operator((I64, F64), BOOL, "ppy_ne_mixed"),
    "lt.mixed": Operator((I64, F64), BOOL, "ppy_lt_mixed"),
    "le.mixed": Operator((I64, F64), BOOL, "ppy_le_mixed"),
    "gt.mixed": Operator((I64, F64), BOOL, "ppy_gt_mixed"),
    "ge.mixed": Operator((I64, F64), BOOL, "ppy_ge_mixed"),
}

_LOGIC = {
    "and": Operator((BOOL, BOOL), BOOL, "&&"),
    "or": Operator((BOOL, BOOL), BOOL, "||"),
    "not": Operator((BOOL,), BOOL, "!"),
}

_CONVERSION = {
    "to_f64": Operator((I64,), F64, "(double)"),
    "to_i64.bool": Operator((BOOL,), I64, "(int64_t)"),
    "to_f64.bool": Operator((BOOL,), F64, "(double)"),
    "round_f32": Operator((F64,), F64, "ppy_round_f32"),
    "trunc": Operator((F64,), I64, "(int64_t)"),
    "floor": Operator((F64,), I64, "ppy_floor"),
    "ceil": Operator((F64,), I64, "ppy_ceil"),
    "round": Operator((F64,), I64, "ppy_round"),
}

# Fail nowhere in CPython.
_MATH_TOTAL = {
    name: Operator((F64,), F64, c)
    for name, c in (
        ("atan", "ppy_libm_atan"),
        ("asinh", "ppy_libm_asinh"),
        ("tanh", "ppy_libm_tanh"),
        ("cbrt", "ppy_libm_cbrt"),
        ("erf", "ppy_libm_erf"),
        ("erfc", "ppy_libm_erfc"),
        ("ulp", "ppy_ulp"),
        ("modf.fraction", "ppy_modf_fraction"),
        ("modf.whole", "ppy_modf_whole"),
        ("frexp.mantissa", "ppy_frexp_mantissa"),
    )
} | {
    "frexp.exponent": Operator((F64,), I64, "ppy_frexp_exponent"),
    "atan2": Operator((F64, F64), F64, "ppy_libm_atan2"),
    "copysign": Operator((F64, F64), F64, "copysign"),
    "nextafter": Operator((F64, F64), F64, "nextafter"),
    "isnan": Operator((F64,), BOOL, "isnan"),
    "isinf": Operator((F64,), BOOL, "isinf"),
    "isfinite": Operator((F64,), BOOL, "isfinite"),
}

# Of one float; raise where libm gives nan for a number, or an infinity for a finite one.
_LIBM_UNARY = (
    "acos", "acosh", "asin", "atanh", "cos", "cosh", "exp", "exp2", "expm1",
    "log", "log10", "log1p", "log2", "sin", "sinh", "tan",
)  # fmt: skip

_MATH = {name: Operator((F64,), F64, f"ppy_libm_{name}") for name in _LIBM_UNARY} | {
    "sqrt": Operator((F64,), F64, "sqrt"),
    "math_pow": Operator((F64, F64), F64, "ppy_libm_pow"),
    "fmod": Operator((F64, F64), F64, "fmod"),
    "remainder": Operator((F64, F64), F64, "remainder"),
    "ldexp": Operator((F64, I64), F64, "ppy_ldexp"),
}

_TEXT = {
    "equal.str": Operator((Element.STR, Element.STR), BOOL, "ppy_str_equal"),
    "compare.str": Operator((Element.STR, Element.STR), I64, "ppy_str_compare"),
    "holds.str": Operator((Element.STR, I64), BOOL, "ppy_str_holds"),
    # Whether there is such a place, and this character is there.
    "has_at.str": Operator((Element.STR, I64, I64), BOOL, "ppy_str_has_at"),
}

OPS: dict[str, Operator] = {
    **_INTEGER,
    **_SATURATING,
    **_FLOAT,
    **_COMPARISON,
    **_MIXED_COMPARISON,
    **_LOGIC,
    **_CONVERSION,
    **_MATH_TOTAL,
    **_MATH,
    **_TEXT,
}


def _checked(name: str, c: str) -> CheckedOperator:
    total = OPS[name]
    return CheckedOperator(total.args, total.result, c, name)


# By algorithms of CPython's own: libm would not give the same bits.
_ASKED = {
    "gamma": CheckedOperator((F64,), F64, "ppy_checked_gamma", asks=True),
    "lgamma": CheckedOperator((F64,), F64, "ppy_checked_lgamma", asks=True),
    "hypot": CheckedOperator((F64,), F64, "ppy_checked_hypot", many=True, asks=True),
    "dist": CheckedOperator((F64,), F64, "ppy_checked_dist", many=True, asks=True),
    "round.digits": CheckedOperator((F64, I64), F64, "ppy_checked_round_digits", asks=True),
}

_SUMS = {"fsum": CheckedOperator((F64,), F64, "ppy_checked_fsum_f64", many=True)} | {
    f"fsum.{element.value}": CheckedOperator(
        (element,), F64, f"ppy_checked_fsum_{element.value}"
    )
    for element in Element
    if element is not Element.STR
}

# Of one character, by its code point: beyond ASCII Python is asked.
_CHARACTERS = {
    f"{name}.char": CheckedOperator((I64,), result, f"ppy_checked_{name}", asks=True)
    for result, names in (
        (BOOL, ("isalnum", "isalpha", "isdecimal", "isdigit")),
        (BOOL, ("islower", "isnumeric", "isspace", "isupper")),
        (I64, ("lower", "upper")),
    )
    for name in names
}
CHARACTER_TESTS = frozenset(name for name, row in _CHARACTERS.items() if row.result is BOOL)
"""These have an answer for every character."""

CHECKED: dict[str, CheckedOperator] = {
    **_ASKED,
    **_SUMS,
    **_CHARACTERS,
    # Beyond 64 bits.
    "add.i64": _checked("add.i64", "ppy_checked_add_i64"),
    "sub.i64": _checked("sub.i64", "ppy_checked_sub_i64"),
    "mul.i64": _checked("mul.i64", "ppy_checked_mul_i64"),
    "neg.i64": _checked("neg.i64", "ppy_checked_neg_i64"),
    "abs.i64": _checked("abs.i64", "ppy_checked_abs_i64"),
    "gcd": _checked("gcd", "ppy_checked_gcd"),
    "trunc": _checked("trunc", "ppy_checked_trunc"),
    "floor": _checked("floor", "ppy_checked_floor"),
    "ceil": _checked("ceil", "ppy_checked_ceil"),
    "round": _checked("round", "ppy_checked_round"),
    # The same, and a zero divisor, a negative count or exponent.
    "floordiv.i64": _checked("floordiv.i64", "ppy_checked_floordiv_i64"),
    "mod.i64": _checked("mod.i64", "ppy_checked_mod_i64"),
    "truediv.i64": _checked("truediv.i64", "ppy_checked_truediv_i64"),
    "pow.i64": _checked("pow.i64", "ppy_checked_pow_i64"),
    "shl.i64": _checked("shl.i64", "ppy_checked_shl_i64"),
    "shr.i64": _checked("shr.i64", "ppy_checked_shr_i64"),
    "lcm": _checked("lcm", "ppy_checked_lcm"),
    "comb": _checked("comb", "ppy_checked_comb"),
    "perm": _checked("perm", "ppy_checked_perm"),
    "isqrt": _checked("isqrt", "ppy_checked_isqrt"),
    "factorial": _checked("factorial", "ppy_checked_factorial"),
    "div.f64": _checked("div.f64", "ppy_checked_div_f64"),
    "floordiv.f64": _checked("floordiv.f64", "ppy_checked_floordiv_f64"),
    "mod.f64": _checked("mod.f64", "ppy_checked_mod_f64"),
    "pow.f64": _checked("pow.f64", "ppy_checked_pow_f64"),
    # Outside the buffer.
    "index": _checked("index", "ppy_checked_index"),
    # Outside the function's domain or range.
    **{name: _checked(name, f"ppy_checked_{name}") for name in _MATH},
}
