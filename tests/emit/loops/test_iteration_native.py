"""What loops go over, natively and under CPython."""

from __future__ import annotations

import itertools
from array import array

import pytest

from tests.emit.loops.lower_compare import Program

SOURCE = """
def backwards(n: int) -> int:
    total = i = 7
    for i in reversed(range(n)):
        total = total * 3 + i
    return total * 5 + i


def backwards_between(a: int, b: int) -> int:
    total = 0
    for i in reversed(range(a, b)):
        total = total * 3 ^ i
        if i == a + 1:
            break
    else:
        total += 1
    return total


def backwards_by(a: int, b: int) -> tuple[int, int, int]:
    by_three = down = by_four = 0
    for i in reversed(range(a, b, 3)):
        by_three = by_three * 3 ^ i
    for i in reversed(range(b, a, -1)):
        down = down * 3 ^ i
    for i in reversed(range(b, a, -4)):
        by_four = by_four * 3 ^ i
    return by_three, down, by_four


def buffer_backwards(x: Buffer[float]) -> float:
    total = 0.0
    for value in reversed(x):
        total = total * 0.5 + value
    return total


def written_meanwhile(x: Buffer[int]) -> int:
    total = 0
    for i, value in enumerate(reversed(x)):
        x[i] = value + total
        total = total * 3 + value
    return total


def together(x: Buffer[int], a: int, b: int) -> int:
    total = 0
    for i, j, value in zip(range(a, b), range(b, a, -2), x):
        total = total * 3 + i * 5 + j * 7 + value
        a = b = 0
    return total


def nested(x: Buffer[int], y: Buffer[int], n: int) -> int:
    total = 0
    for i, (value, (j, other)) in enumerate(zip(x, enumerate(y, n)), 1 - n):
        total = total * 3 + i * value + j * other
    return total


def counted(n: int, m: int) -> int:
    total = 0
    for i, value in enumerate(range(m, n, 2), start=m):
        total = total * 3 + i + value * 5
    for i, in zip(reversed(range(n))):
        total = total * 3 + i
    return total


def by_zero(n: int) -> int:
    for i in reversed(range(0, n, 0)):
        n += i
    return n
"""
EDGES = (-(2**63), -(2**63) + 1, -3, -1, 0, 1, 2, 5, 9, 2**63 - 2, 2**63 - 1)
SMALL = range(-4, 9)


@pytest.fixture(scope="module")
def program() -> Program:
    program = Program(SOURCE)
    assert program.remarks == ()
    return program


def test_ranges_backwards(program: Program) -> None:
    assert program.check_all("backwards", [(n,) for n in SMALL]) == len(SMALL)
    pairs = list(itertools.product(SMALL, SMALL))
    for name in ("backwards_between", "backwards_by"):
        assert program.check_all(name, pairs) == len(pairs)
    near = [
        (a, b) for a, b in itertools.product(EDGES, EDGES) if max(b - a, a - b) < 20 or a > b
    ]
    assert program.check_all("backwards_between", near) > 20
    near = [(a, b) for a, b in near if max(b - a, a - b) < 20]
    assert program.check_all("backwards_by", near) > 10
    assert not program.check("by_zero", 3)


def ints(*values: int) -> array[int]:
    return array("q", values)


def test_buffers_backwards(program: Program) -> None:
    for n in range(5):
        assert program.check("buffer_backwards", array("d", [0.1, -2.5, 3.0, 1e9][:n]))
        assert program.check("written_meanwhile", ints(*range(1, n + 1)))


def test_joined_and_counted(program: Program) -> None:
    for a, b in itertools.product(SMALL, SMALL):
        assert program.check("together", ints(4, 5, 6), a, b)
        assert program.check("nested", ints(4, 5, 6, 7), ints(*range(b)), a)
        assert program.check("counted", a, b)
    assert program.check("nested", ints(), ints(), 2**63 - 1)
    assert not program.check("nested", ints(1, 2), ints(1, 2), 2**63 - 1)
    for a, b in itertools.product(EDGES, EDGES):
        if b - a < 20:
            program.check("together", ints(1, 2, 3), a, b)
