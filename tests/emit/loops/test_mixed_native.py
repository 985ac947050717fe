"""Numbers that are a float or an int, whichever it came from, natively and under CPython."""

from __future__ import annotations

import itertools
import math
from array import array

import pytest

from tests.emit.loops.lower_compare import Program

SOURCE = """
def relu(x: float) -> float:
    return max(x, 0) * 1.5


def relu_other_way(x: float) -> float:
    return max(0, x) * -2.0


def clamp(x: float, scale: float) -> float:
    y = min(max(x, -1), 1)
    return y / scale


def powers(x: float, y: float) -> tuple[float, float, float]:
    z = max(x, 0)
    return z ** y, y ** z, z % (y * y + 1.0)


def whole(x: float) -> tuple[int, int, int]:
    return int(max(x, 2)), math.floor(min(x, 3)), round(min(max(x, -5), 9))


def compare(x: float, y: float, n: int) -> tuple[bool, bool, bool, bool]:
    z = max(x, 0)
    return z < y, z == n, -1 < z <= y, bool(z)


def choose(x: float, n: int) -> float:
    best = 0.0
    for i in range(n):
        best = max(best - 0.25, 0) if i % 2 else min(best + x, 7)
    return math.sqrt(abs(best) + 1.0) + (x or 0) * 0.5 + (0 if x > 1.0 else x) * 2.0


def stored(out: Buffer[float], narrow: Buffer[f32], x: float) -> None:
    out[0] = max(x, 0)
    narrow[0] = min(x, 3)
    out[0] += max(x, 1)


def mathematics(x: float) -> tuple[float, float, bool]:
    z = max(x, 0)
    return math.exp(-1.0 * z), math.copysign(z, x), math.isclose(z, 1)
"""


@pytest.fixture(scope="module")
def program() -> Program:
    program = Program(SOURCE)
    assert program.remarks == ()
    return program


FLOATS = [
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.0,
    2.0,
    2.5,
    -7.25,
    1e300,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
]


@pytest.mark.parametrize("name", ["relu", "relu_other_way", "whole", "mathematics"])
def test_of_one(program: Program, name: str) -> None:
    assert program.check_all(name, [(x,) for x in FLOATS]) >= 9


@pytest.mark.parametrize("name", ["clamp", "powers"])
def test_of_two(program: Program, name: str) -> None:
    assert program.check_all(name, list(itertools.product(FLOATS, FLOATS))) > 80


def test_comparisons_and_loops(program: Program) -> None:
    for n in (0, 1, -3, 2**53 + 1):
        calls = [(*pair, n) for pair in itertools.product(FLOATS, FLOATS)]
        assert program.check_all("compare", calls) == len(calls)
    for x, n in itertools.product(FLOATS, range(7)):
        program.check("choose", x, n)


def test_stores(program: Program) -> None:
    for x in FLOATS:
        assert program.check("stored", array("d", [9.0]), array("f", [9.0]), x)


@pytest.mark.parametrize(
    "text",
    [
        "return max(x, 0)",  # which it is shows
        "return max(x, 0) * max(x, 0)",  # 0 * -1 is 0, 0.0 * -1.0 is not
        "return -max(x, 0) * 1.0",
        "return max(x, 0) * 2 + 0.5",
        "return max(x, n) * 1.0",
        "return max(x, 9007199254740993) * 1.0",
        "y = (max(x, 0), 1.0)\n    return y",
        "return callee(max(x, 0))",
    ],
)
def test_what_shows_which_it_is(text: str) -> None:
    program = Program(
        "def callee(x: float) -> float:\n    return x\n\n\n"
        f"def f(x: float, n: int) -> float:\n    {text}\n"
    )
    assert [remark.code for remark in program.remarks] == ["R3004"]
