"""CPython's own functions, asked by kernels through the boundary."""

from __future__ import annotations

import gc
import itertools
import math
import sys
from array import array
from pathlib import Path

import pytest

from tests.differential import Built, build, differences

SOURCE = """
import math
from math import dist as apart, gamma, hypot as length
from ppy import Buffer


def special(x: float) -> float:
    return gamma(x) + math.lgamma(x)


def lengths(x: float, y: float, n: int) -> float:
    return length(x, y, n) * apart((x, y), (n, 1.5))


def rounded(x: float, n: int) -> float:
    return round(x, n)


def fill(out: Buffer[float], x: float) -> None:
    for i in range(len(out)):
        out[i] += math.gamma(x + i)


def many(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += round(math.hypot(i, 1.5), 3) + apart((i, 0.5), (1.0, i))
    return total


def deep(n: int, x: float) -> float:
    return math.lgamma(x) if n == 0 else deep(n - 1, x)


def root(n: int, x: float) -> float:
    return math.sqrt(x) if n == 0 else root(n - 1, x)


def by_a_call(n: int, x: float) -> float:
    return leaf(x) if n == 0 else by_a_call(n - 1, x)


def leaf(x: float) -> float:
    return math.sqrt(x)
"""
DEEP = ("deep", "root", "by_a_call", "leaf")
FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    -1.0,
    2.0,
    2.675,
    171.7,
    1e308,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    built = build(SOURCE, tmp_path_factory.mktemp("asked"))
    assert built.bound == {"special", "lengths", "rounded", "fill", "many", *DEEP}
    return built


def test_same_answers(built: Built) -> None:
    assert not differences(built, "special", [(x,) for x in FLOATS])
    triples = list(itertools.product(FLOATS, FLOATS, (0, 2**53 + 1)))
    assert not differences(built, "lengths", triples)
    digits = (0, 2, 17, -3, 400, -400, 2**63 - 1, -(2**63))
    assert not differences(built, "rounded", list(itertools.product(FLOATS, digits)))
    assert not differences(built, "many", [(50,)])


def test_a_failure_takes_the_writes_back(built: Built) -> None:
    inputs = [(array("d", [1.0, 2.0, 3.0]), x) for x in (1.0, -1.0, -2.5, 170.5)]
    assert not differences(built, "fill", inputs)


@pytest.mark.parametrize("name", DEEP[:3])
def test_where_python_has_little_room_left(built: Built, name: str) -> None:
    limit = sys.getrecursionlimit()
    depths = [(n, 2.5) for n in range(limit - 120, limit + 3)]
    assert not differences(built, name, depths)


def test_nothing_is_left_behind(built: Built) -> None:
    built.native.many(100)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(20):
        built.native.many(100)
        with pytest.raises(ValueError, match="math domain error"):
            built.native.special(-1.0)
    gc.collect()
    assert sys.getallocatedblocks() - before < 50


def test_another_function_under_the_name(tmp_path: Path) -> None:
    built = build(SOURCE, tmp_path, name="asked_otherwise")
    original = math.lgamma
    try:
        for module in (built.python, built.native):
            module.gamma = lambda x: x + 1.0
        math.lgamma = lambda x: x * 2.0
        assert built.native.special(3.0) == built.python.special(3.0) == 10.0
    finally:
        math.lgamma = original
    assert not differences(built, "special", [(x,) for x in FLOATS])
