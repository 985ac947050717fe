"""`sum`, `any`, `all`, `min` and `max` of generator expressions, natively and under CPython."""

from __future__ import annotations

import itertools
from array import array

import pytest

from tests.differential import FLAGS, Built, build, differences
from tests.emit.loops.native import SANITIZED, SANITIZERS

SOURCE = """
import math
from collections.abc import Sequence
from ppy import Buffer


def squares(xs: Buffer[float]) -> float:
    return sum(x * x for x in xs)


def above(xs: Buffer[float], least: float) -> float:
    return sum(x for x in xs if x > least)


def from_half(xs: Buffer[float]) -> float:
    return sum((x for x in xs if x == x), 0.5)


def counted(xs: Buffer[int], a: int, b: int, step: int) -> int:
    return sum(1 for x in xs if x > 1) * 3 + sum(i * i for i in range(a, b, step))


def halves(a: int, b: int, step: int) -> float:
    return sum(i * 0.5 for i in range(a, b, step))


def differ(a: str, b: str) -> int:
    return sum(one != other for one, other in zip(a, b))


def quantified(xs: Buffer[int], n: int) -> tuple[bool, bool, bool, bool]:
    return (
        any(x == n for x in xs),
        all(x < n for x in xs),
        any(10 // x == n for x in xs if x != 3),
        all(i for i in range(n)),
    )


def extremes(xs: Buffer[float], n: int) -> tuple[float, float, int]:
    greatest = max(x for x in xs if x != 1.0)
    return min(x * x for x in xs), greatest, max(n % i for i in range(1, 4))


def nested(xs: Buffer[float], n: int) -> float:
    total = 0.0
    x = 3.0
    for i in range(n):
        total += sum(sum(x * y for y in xs) + x for x in xs) * x + i
    return total


def columns(table: Sequence[Buffer[float]], out: Buffer[float]) -> None:
    rows, cols = len(table), len(table[0])
    for c in range(cols):
        mean = sum(table[r][c] for r in range(rows)) / rows
        spread = sum((table[r][c] - mean) ** 2 for r in range(rows)) / rows
        out[c] += mean / (math.sqrt(spread) or 1.0)


def made(n: int) -> list[int]:
    return [sum(i * j for j in range(i)) for i in range(n) if any(i % k == 0 for k in (2, 3))]


def of_buffers(xs: Buffer[float], n: int) -> tuple[bool, bool, bool, bool]:
    flags = [x > n for x in xs]
    return any(xs), all(xs[n:]), any(flags), all(flags[::2])


def overflow(xs: Buffer[int], out: Buffer[int]) -> int:
    out[0] = 5
    return sum(x * x for x in xs)
"""
NAMES = {line[4 : line.index("(")] for line in SOURCE.splitlines() if line.startswith("def ")}
NAN = float("nan")
FLOATS: list[list[float]] = [
    [],
    [1.0],
    [-0.0],
    [0.1, -2.5, 1.0, 1e308, -0.0],
    [NAN, 1.0, 2.0],
    [1.0, NAN, -3.0],
    [1e308, 1e308, -1e308],
]
INTS = [[], [3], [3, -1, 4, 10], [0, 3], [3, 3, 5, 2**62], [2**62, 2**62]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    flags = (*FLAGS, *SANITIZERS) if SANITIZED else FLAGS
    found = build(SOURCE, tmp_path_factory.mktemp("folding"), flags)
    assert found.remarks == ()
    assert found.bound == NAMES
    return found


def test_folds(built: Built) -> None:
    floats = [array("d", items) for items in FLOATS]
    ints = [array("q", items) for items in INTS]
    some = (-3, 0, 1, 2, 10, 2**62)
    ranges = [list(each) for each in itertools.product((-2, 0, 3), (0, 5), (1, 2, -1, 0))]
    calls: dict[str, list[list[object]]] = {
        "squares": [[x] for x in floats],
        "above": [[x, least] for x in floats for least in (-9.0, 0.0, 2e308, NAN)],
        "from_half": [[x] for x in floats],
        "counted": [[x, *each] for x in ints for each in ranges],
        "halves": [*ranges],
        "differ": [["", "a"], ["abcé", "aXc\u0101z"]],
        "quantified": [[x, n] for x in ints for n in some[:-1]],
        "extremes": [[x, n] for x in floats for n in some],
        "nested": [[x, n] for x in floats for n in (0, 1, 3)],
        "made": [[n] for n in range(9)],
        "of_buffers": [[x, n] for x in floats for n in some[:-1]],
        "overflow": [[x, array("q", [7])] for x in ints],
    }
    for name, inputs in calls.items():
        assert differences(built, name, inputs) == [], name
