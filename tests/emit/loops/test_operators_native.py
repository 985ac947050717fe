"""Every operator and library function on hand-picked values, natively and under CPython."""

from __future__ import annotations

import itertools
import math

import pytest

from tests.emit.loops.lower_compare import Program

INTS = [
    0, 1, -1, 2, -2, 3, 7, -7, 10, 63, 64, 65, 2**31, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1,
    2**62, -(2**62), 2**63 - 1, -(2**63), -(2**63) + 1, 123456789012345678,
]  # fmt: skip
FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, -7.3, 1e-310, 5e-324, -5e-324,
    2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 9.223372036854775e18, 1e308, -1e308,
    1.7976931348623157e308, math.inf, -math.inf, math.nan, 171.5, 710.0, -745.5, 1e16,
]  # fmt: skip
BOOLS = [False, True]
VALUES = {"int": INTS, "float": FLOATS, "bool": BOOLS}

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "shl": "<<", "shr": ">>", "and": "&", "or": "|", "xor": "^",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
INTEGER_ONLY = {"shl", "shr", "and", "or", "xor"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def result_type(name: str, left: str, right: str) -> str:
    if name in COMPARISONS:
        return "bool"
    if "float" in (left, right) or name == "truediv":
        return "float"
    return "bool" if left == right == "bool" and name in ("and", "or", "xor") else "int"


def binary_source() -> str:
    return "\n".join(
        f"def {name}_{left}_{right}(a: {left}, b: {right})"
        f" -> {result_type(name, left, right)}:\n    return a {symbol} b\n"
        for name, symbol in BINARY.items()
        for left, right in itertools.product(VALUES, VALUES)
        if not (name in INTEGER_ONLY and "float" in (left, right))
    )


@pytest.fixture(scope="module")
def binary() -> Program:
    return Program(binary_source())


def test_binary_operators_all_lower(binary: Program) -> None:
    assert binary.remarks == ()


@pytest.mark.parametrize("name", BINARY)
def test_binary_operator(binary: Program, name: str) -> None:
    for left, right in itertools.product(VALUES, VALUES):
        function = f"{name}_{left}_{right}"
        if f"m.{function}" not in binary.functions:
            continue
        calls = [
            (a, b)
            for a, b in itertools.product(VALUES[left], VALUES[right])
            if not (name == "shl" and b > 10**6) and not (name == "pow" and is_huge(a, b))
        ]
        assert binary.check_all(function, calls) > 0


def is_huge(base: float, exponent: float) -> bool:
    return isinstance(base, int) and isinstance(exponent, int) and abs(exponent) > 100


UNARY = {
    "neg": "-a", "pos": "+a", "invert": "~a", "not_": "not a", "abs_": "abs(a)",
    "int_": "int(a)", "float_": "float(a)", "bool_": "bool(a)", "round_": "round(a)",
}  # fmt: skip
LIBRARY = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "degrees",
    "erf", "erfc", "exp", "exp2", "expm1", "fabs", "floor", "frexp", "isfinite", "isinf",
    "isnan", "isqrt", "factorial", "log", "log10", "log1p", "log2", "modf", "radians", "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc", "ulp",
]  # fmt: skip
LIBRARY_BINARY = [
    "math.atan2", "math.copysign", "math.fmod", "math.nextafter", "math.remainder", "math.pow",
    "math.log", "math.isclose", "math.gcd", "math.ldexp",
    "math.lcm", "math.comb", "math.perm", "divmod", "min", "max", "pow",
]  # fmt: skip


@pytest.fixture(scope="module")
def unary() -> Program:
    calls = UNARY | {f"m_{name}": f"math.{name}(a)" for name in LIBRARY}
    return Program(
        "\n".join(
            f"def {name}_{kind}(a: {kind}) -> float:\n    return {text}\n"
            for name, text in calls.items()
            for kind in VALUES
        )
    )


@pytest.mark.parametrize("name", [*UNARY, *(f"m_{name}" for name in LIBRARY)])
def test_unary(unary: Program, name: str) -> None:
    ran = 0
    for kind, values in VALUES.items():
        if f"m.{name}_{kind}" in unary.functions:
            small = [a for a in values if not ("factorial" in name and abs(a) > 1000)]
            ran += unary.check_all(f"{name}_{kind}", [(a,) for a in small])
    assert ran > 0


# What CPython would take hours for.
SLOW = {
    "pow": is_huge,
    "math.comb": lambda n, k: abs(n) > 100 and abs(k) > 100,
    "math.perm": lambda n, k: abs(n) > 100 and abs(k) > 100,
}


@pytest.fixture(scope="module")
def library() -> Program:
    return Program(
        "\n".join(
            f"def f{number}_{left}_{right}(a: {left}, b: {right}) -> float:\n"
            f"    return {name}(a, b)\n"
            for number, name in enumerate(LIBRARY_BINARY)
            for left, right in itertools.product(VALUES, VALUES)
        )
    )


@pytest.mark.parametrize("number", range(len(LIBRARY_BINARY)), ids=LIBRARY_BINARY)
def test_library_of_two(library: Program, number: int) -> None:
    ran = 0
    for left, right in itertools.product(VALUES, VALUES):
        function = f"f{number}_{left}_{right}"
        if f"m.{function}" in library.functions:
            pairs = itertools.product(VALUES[left], VALUES[right])
            slow = SLOW.get(LIBRARY_BINARY[number])
            calls = [(a, b) for a, b in pairs if not (slow and slow(a, b))]
            ran += library.check_all(function, calls)
    assert ran > 0


def test_libm_gives_python_the_same_bits(unary: Program) -> None:
    points = [
        math.ldexp(math.sin(n * 12.9898) * 43758.5453 % 1.0, n % 20 - 8) for n in range(500)
    ]
    for name in LIBRARY:
        if f"m.m_{name}_float" in unary.functions:
            unary.check_all(f"m_{name}_float", [(a,) for a in points])
            unary.check_all(f"m_{name}_float", [(-a,) for a in points])


def test_constants_are_what_python_computes() -> None:
    program = Program(
        "BIG = 2**62 + 1\n".replace("2**62 + 1", str(2**62 + 1))
        + "def f() -> float:\n    return math.sin(0.7) + math.exp(0.3) * math.pow(1.1, 2.0)\n"
        "def g() -> tuple[int, float, float]:\n    return -9223372036854775808, 1 / 3, -0.0\n"
        "def h(x: int) -> int:\n    return BIG + x * (100000 * 100000)\n"
    )
    assert program.remarks == ()
    assert program.check("f")
    assert program.check("g")
    assert program.check("h", 5)
