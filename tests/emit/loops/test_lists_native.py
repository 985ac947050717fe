"""Lists as parameters: copied where a function goes through them, natively and in CPython."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.differential import Built, build, outcome

SOURCE = """
import math
from collections.abc import Sequence

from ppy import Buffer


def mean(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def above(values: Sequence[float], least: float) -> list[float]:
    return [value for value in values if value > least]


def dot(a: list[float], b: list[float]) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    for _ in b:
        total += 0.0
    return total


def largest(values: list[int]) -> int:
    n = len(values)
    best = values[0]
    for i in range(1, n):
        best = max(best, values[i])
    return best * 2


def count(flags: list[bool]) -> tuple[int, bool]:
    found = 0
    last = False
    for flag in flags:
        found += 1 if flag else 0
        last = flag
    return found, last


def exact(values: list[float]) -> float:
    return math.fsum(values)


def into(values: list[float], out: Buffer[float]) -> None:
    for i, value in enumerate(values):
        out[i] += value


def chained(values: list[float]) -> float:
    squares = [value * value for value in values]
    return sum(squares, 0.0) + values[-1]
"""

CALLS: dict[str, list[tuple[object, ...]]] = {
    "mean": [
        ([1.0, 2.5],),
        ([],),
        ([1, 2.0],),
        ((1.0, 2.0),),
        ([True, 1.0],),
        ("ab",),
        (None,),
    ],
    "above": [
        ([1.0, math.nan, -0.0, 5.0], 0.5),
        ((2.0,), 1.0),
        ([], 0.0),
        (array("d", [3.0]), 1.0),
    ],
    "dot": [([1.0, 2.0], [3.0, 4.0]), ([1.0, 2.0], [3.0]), ([], [])],
    "largest": [([3, -5, 2**62],), ([2**62, 2**63],), ([2**63 - 1],), ([],), ([1, True],)],
    "count": [([True, False, True],), ([],), ([1, 0],)],
    "exact": [([1e308, 1.0, -1e308],), ([],), ([math.inf, -math.inf],)],
    "into": [([1.0, 2.0], array("d", [0.5, 0.5])), ([1.0, 2.0], array("d", [0.5]))],
    "chained": [([1.0, 2.0],), ([],)],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(SOURCE, tmp_path_factory.mktemp("lists"))


@pytest.mark.parametrize("name", CALLS)
def test_they_give_what_python_gives(built: Built, name: str) -> None:
    assert name in built.bound
    for arguments in CALLS[name]:
        native: Callable[..., object] = getattr(built.native, name)
        assert outcome(native, arguments) == outcome(getattr(built.python, name), arguments)


STAYS = {
    "does not always go through": [
        "return values[i]",
        "n = len(values)\n    n = min(n, 1)\n    for k in range(n):\n"
        "        i += k\n    return i",
        "for v in values:\n        if v > i:\n            return v\n    return 0.0",
        "if i > 3:\n        return 0.0\n    return sum(values, 0.0) if i else 1.0",
        "for v in values:\n        if v > i:\n            break\n    return 0.0",
    ],
    "passed in and changed": [
        "for k in range(len(values)):\n        values[k] = 0.0\n    return 0.0"
    ],
    "a call of `list.append`": ["values.append(1.0)\n    return sum(values, 0.0)"],
    "not the function's own": ["for v in values:\n        i += 1\n    return values"],
}


@pytest.mark.parametrize("reason", STAYS)
def test_what_stays_in_python(reason: str, tmp_path: Path) -> None:
    for number, body in enumerate(STAYS[reason]):
        source = f"def f(values: list[float], i: int):\n    {body}\n"
        found = build(source, tmp_path / str(number))
        assert not found.bound
        assert reason in found.remarks[0].message
