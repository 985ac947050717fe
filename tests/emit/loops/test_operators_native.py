"""Every operator and library function on hand-picked values, natively and under CPython."""

from __future__ import annotations

import functools
import itertools
import math
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    "gamma", "isnan", "isqrt", "factorial", "lgamma", "log", "log10", "log1p", "log2", "modf",
    "perm", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "ulp",
]  # fmt: skip
LIBRARY_BINARY = [
    "math.atan2", "math.copysign", "math.fmod", "math.nextafter", "math.remainder", "math.pow",
    "math.log", "math.isclose", "math.gcd", "math.ldexp",
    "math.lcm", "math.comb", "math.perm", "math.hypot", "divmod", "min", "max", "pow", "round",
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
    large = name.endswith(("factorial", "perm"))
    for kind, values in VALUES.items():
        if f"m.{name}_{kind}" in unary.functions:
            small = [a for a in values if not (large and abs(a) > 1000)]
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
    of_ints = {"isqrt", "factorial", "perm"}
    for name in LIBRARY:
        assert (f"m.m_{name}_float" in unary.functions) == (name not in of_ints), name
        if name not in of_ints:
            calls = [(a,) for a in (*points, *(-a for a in points))]
            # Nearly half of the points at the least are in a domain, but for these.
            least = {"acos": 350, "asin": 350, "acosh": 250, "atanh": 350}
            assert unary.check_all(f"m_{name}_float", calls) >= least.get(name, 490), name


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


NAMED = """
def close(a: float, b: float, rel: float, tiny: float) -> bool:
    return math.isclose(a, b, rel_tol=rel, abs_tol=tiny)


def close_by_name(a: float, b: float) -> bool:
    return math.isclose(b=b, a=a, abs_tol=0.25)


def digits(x: float, n: int) -> tuple[float, float, float]:
    return round(x, 2), round(number=x, ndigits=n), round(x, -1)


def whole(n: int) -> tuple[int, int]:
    return round(n, 3), round(n, ndigits=0)


def power(x: float, y: float) -> float:
    return pow(exp=y, base=x)


def lengths(x: float, y: float, n: int) -> tuple[float, float, float, float]:
    return math.hypot(), math.hypot(x), math.hypot(x, y, n), math.hypot(x, y, x, y, True)


def apart(p: tuple[float, float], x: float, n: int) -> float:
    return math.dist(p, (x, n)) + math.dist((n,), (x,))


def sums(x: float, y: float, n: int) -> tuple[float, float, int]:
    return math.fsum((x, y, n, x)), math.fsum((y,)), sum((n, 2, n))


def extremes(x: float, y: float, n: int) -> tuple[float, float, int]:
    return min((x, y)), max((x, y, 1.5)), max((n, 2))


def products(x: float, y: float, n: int) -> tuple[float, int, float]:
    return math.prod((x, n, y)), math.prod((n, n), start=3), math.prod((n, 2), start=x)
"""


@pytest.fixture(scope="module")
def named() -> Program:
    program = Program(NAMED)
    assert program.remarks == ()
    return program


SOME = [0.0, -0.0, 1.0, -1.5, 0.1, 2.675, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan]


def test_keywords_and_defaults(named: Program) -> None:
    pairs = list(itertools.product(SOME, SOME))
    assert named.check_all("close_by_name", pairs) == len(pairs)
    assert named.check_all("power", pairs) > 90
    for rel, tiny in [(1e-9, 0.0), (0.5, 0.0), (0.0, 1.0), (math.nan, math.inf), (1.0, -0.0)]:
        assert named.check_all("close", [(*pair, rel, tiny) for pair in pairs]) == len(pairs)
    assert named.check_all("close", [(1.0, 1.0, -0.1, 0.0), (1.0, 1.0, 0.0, -0.1)]) == 0


def test_rounding_to_digits(named: Program) -> None:
    counts = [0, 1, 2, 15, 17, 323, 400, -1, -5, -308, -400, 2**63 - 1, -(2**63)]
    calls = list(itertools.product([*FLOATS, 2.675, 0.5, 25.0, 12345.6789], counts))
    assert named.check_all("digits", calls) > 350
    assert not named.check("digits", math.nextafter(math.inf, 0.0), -308)
    assert named.check_all("whole", [(n,) for n in INTS]) == len(INTS)


def test_several_numbers_at_once(named: Program) -> None:
    triples = list(itertools.product(SOME, SOME, (0, -3, 2**53 + 1)))
    for name in ("lengths", "extremes"):
        assert named.check_all(name, triples) == len(triples)
    assert named.check_all("apart", [((x, y), y, n) for x, y, n in triples]) == len(triples)
    assert named.check_all("products", [(x, y, n) for x, y, n in triples if n < 5]) == 288
    assert named.check_all("sums", triples) > 100


BUFFERS = """
def exact(x: Buffer[float]) -> float:
    return math.fsum(x)


def exact_narrow(x: Buffer[f32]) -> float:
    return math.fsum(x)


def exact_ints(x: Buffer[int]) -> float:
    return math.fsum(x)


def exact_bytes(x: Buffer[u8]) -> float:
    return math.fsum(x)


def product(x: Buffer[float], start: float) -> tuple[float, float]:
    return math.prod(x), math.prod(x, start=start)


def product_of_ints(x: Buffer[int], start: float, first: int) -> tuple[int, float, int]:
    return math.prod(x), math.prod(x, start=start), math.prod(x, start=first)


def written(x: Buffer[float]) -> float:
    first = math.fsum(x)
    x[0] = 2.0
    return first - math.fsum(x)
"""


@functools.cache
def buffer_program() -> Program:
    program = Program(BUFFERS)
    assert program.remarks == ()
    return program


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40))
def test_exact_sums(values: list[float]) -> None:
    program = buffer_program()
    program.check("exact", array("d", values))
    near = [math.ldexp(value, -20) for value in values]
    for some in (
        near,
        [*near, *(-value for value in near)],
        [value * 1e-300 for value in near],
    ):
        fine = all(map(math.isfinite, some)) and (any(some) or not some)
        assert program.check("exact", array("d", some)) or not fine


def test_exact_sums_at_the_edges() -> None:
    program = buffer_program()
    most = math.nextafter(math.inf, 0.0)
    tiny = 5e-324
    cases: list[list[float]] = [
        [], [tiny], [tiny] * 3, [-tiny, tiny], [2.0**53, 1.0], [2.0**53, 1.0, tiny],
        [2.0**53, 1.0, -tiny], [1.0, 2.0**-53], [1.0, 2.0**-53, tiny], [1e16, 1.0, -1e16],
        [most / 8, most / 8, -most / 8], [-1.0, 2.0**-54], [0.1] * 10,
        [4.450147717014403e-308, -tiny], [2.2250738585072014e-308], [1e100, 1.0, -1e100, -1.0],
    ]  # fmt: skip
    for case in cases:
        assert program.check("exact", array("d", case)), case
    beyond = [[most, most], [most, most, -most], [math.inf], [math.nan], [-0.0], [0.0, -0.0]]
    for case in [*beyond, [math.inf, -math.inf]]:
        assert not program.check("exact", array("d", case)), case
    assert program.check("exact_narrow", array("f", [0.1, 1e30, -1e30, 1e-40]))
    assert program.check("exact_ints", array("q", [2**63 - 1, -(2**63), 2**53 + 1, 7]))
    assert program.check("exact_bytes", array("B", [255] * 9))
    assert program.check("written", array("d", [1.0, 3.0]))


def test_products_of_buffers() -> None:
    buffers = buffer_program()
    for case in ([1.5, -0.0, 3.0], [1e200, 1e200], [math.inf, 0.0], [0.1] * 7):
        assert buffers.check("product", array("d", case), -2.5)
    assert not buffers.check("product", array("d", []), 1.0)
    assert buffers.check("product_of_ints", array("q", [3, -4, 2**40]), 0.5, 5)
    assert buffers.check("product_of_ints", array("q", []), 0.5, 5)
    assert not buffers.check("product_of_ints", array("q", [2**40, 2**40]), 0.5, 5)
    assert buffers.check("product_of_ints", array("q", [2**53 + 1, 1]), 1.0, 1)
