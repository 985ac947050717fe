"""Programs written to break the compiler: each was wrong once, or is where one would be."""

from __future__ import annotations

import itertools
import math
from array import array as A

import pytest

from tests.differential import Built, View, build, differences

SOURCE = """
import math
from ppy import Buffer


def shifted_sum(a: Buffer[float], n: int, k: int) -> float:
    s = 0.0
    for i in range(n):
        s += a[i + k]
    return s


def rows(a: Buffer[float], o: Buffer[float], rows: int, cols: int) -> float:
    t = 0.0
    for r in range(rows):
        s = 0.0
        for c in range(cols):
            s += a[r * cols + c]
        for c in range(cols):
            o[r * cols + c] = a[r * cols + c] - s
            t += o[r * cols + c]
    return t


def changes_its_bound(n: int) -> int:
    t = 0
    for i in range(n, 0, -3):
        t += i
        n = n - 1
        if t > 50:
            break
    else:
        t = -t
    return t * 100 + n


def last(a: int, b: int, c: int) -> int:
    i = -77
    for i in range(a, b, c):
        pass
    return i


def extremes(x: float, y: float) -> tuple[float, float, float, float]:
    return min(x, y), max(x, y), min(y, x, 0.0), max(0.0, x, y)


def mixed(i: int, x: float) -> tuple[bool, bool, bool, bool, bool, bool]:
    return i < x, i <= x, i > x, i >= x, i == x, i != x


def grows(a: Buffer[int], k: int) -> int:
    a[0] += 1
    a[k] += 10
    a[1] *= 4611686018427387904
    return a[0]


def step(a: Buffer[int], k: int) -> None:
    a[k] += 5
    a[k + 1] += 7


def recursive_writes(a: Buffer[int], n: int) -> int:
    if n == 0:
        return 0
    step(a, n - 1)
    r = recursive_writes(a, n - 1)
    return r + a[n]


def zip_stores(a: Buffer[float], b: Buffer[float]) -> float:
    for a[0], b[1] in zip(b, a):
        a[1] += 1.0
    return a[0]


def enumerate_stores(x: Buffer[float], o: Buffer[float]) -> float:
    s = 0.0
    for i, o[i] in enumerate(x):
        s += o[i]
    return s


def far_index(a: Buffer[int], n: int) -> int:
    i = 0
    while i < n:
        a[-9223372036854775808] ^= 1
        i += 1
    return i


def compared_comparisons(a: int, b: int, c: int) -> bool:
    return ((a < b) != (b < c)) != (a == c) and (a < b) == (a != c)


def bools(b: bool, c: bool) -> tuple[bool, int, bool, int, int]:
    return b and c, b + c, b | c, -b, ~c


def shifts(n: int, k: int) -> tuple[int, int]:
    return n << k, n >> k


def inplace_reversal(a: Buffer[float], n: int) -> None:
    for i in range(n):
        a[i] = a[n - 1 - i]


def raises_on_its_way(a: Buffer[int], n: int) -> int:
    for i in range(n):
        a[i] = i * i
        if i == 5:
            raise ValueError("five")
        assert a[i] < 16
    return a[0]
"""

TOP = 2**63 - 1
FLOATS = (math.nan, 0.0, -0.0, 1.0, math.inf, -math.inf)


def doubles(*values: float) -> A[float]:
    return A("d", values)


def ints(*values: int) -> A[int]:
    return A("q", values)


def overlapping(first: int, second: int, length: int) -> list[View]:
    memory = doubles(*range(1, 31)).tobytes()
    return [View(memory, "d", first, length), View(memory, "d", second, length)]


NUMBERS = doubles(*range(1, 31))
INPUTS: dict[str, list[list[object]]] = {
    "shifted_sum": [
        [doubles(1, 2, 3), n, k]
        for n, k in ((0, 10**18), (3, 0), (2, 1), (2, 2), (2, -2), (2, TOP), (-5, 3))
    ],
    "rows": [
        *([NUMBERS, NUMBERS[:], r, c] for r, c in ((6, 5), (5, 6), (30, 1), (1, 30), (7, 4))),
        *([NUMBERS, NUMBERS[:29], r, c] for r, c in ((6, 5), (5, 6), (-1, -1), (2**40, 2**40))),
        *([*overlapping(one, two, 24), 6, 4] for one, two in ((0, 0), (0, 1), (3, 0), (0, 6))),
        [doubles(), doubles(), 2**10, 0],
    ],
    "changes_its_bound": [[n] for n in (*range(-3, 30), -TOP - 1, TOP)],
    "last": [
        [0, 10, 3], [0, -10, -3], [TOP - 9, TOP, 5], [-TOP - 1, TOP, TOP],
        [TOP, -TOP - 1, -TOP - 1], [TOP - 5, TOP, 1], [-TOP + 5, -TOP - 1, -1], [3, 3, -1],
        [0, 1, 0], [2**63, 2**63 + 5, 1],
    ],
    "extremes": [list(pair) for pair in itertools.product(FLOATS, FLOATS)],
    "mixed": [
        [i, x]
        for i in (2**53, 2**53 + 1, TOP, -TOP - 1, 0, -1)
        for x in (2.0**53, 2.0**63, -(2.0**63), 2.0**53 + 2, *FLOATS)
    ],
    "grows": [[ints(1, 1, 1), 1], [ints(1, 3, 1), -5], [ints(1, 3, 1), 2], [ints(1), 0]],
    "recursive_writes": [[ints(*range(5)), n] for n in (3, 4, 5, 6, 2000, -1)],
    "zip_stores": [[doubles(1, 2), doubles(4, 5, 6)], [doubles(1, 2, 3), doubles(4)]],
    "enumerate_stores": [[doubles(1, 2), doubles(4, 5, 6)], [doubles(1, 2, 3), doubles(4)]],
    "far_index": [[ints(1, 2), n] for n in (0, 1)],
    "compared_comparisons": [list(each) for each in itertools.product((1, 2), repeat=3)],
    "bools": [list(each) for each in itertools.product((False, True), repeat=2)],
    "shifts": [
        [n, k] for n in (0, 1, -5, TOP, -TOP - 1) for k in (0, 1, 62, 63, 64, -1, TOP, -TOP - 1)
    ],
    "inplace_reversal": [[doubles(1, 2, 3, 4), n] for n in (4, 3, 5, 0, -3)],
    "raises_on_its_way": [
        [ints(*[9] * size), n] for size, n in ((8, 3), (8, 5), (8, 8), (8, 0), (2, 8))
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(SOURCE, tmp_path_factory.mktemp("adversarial"))


@pytest.mark.parametrize("name", INPUTS)
def test_agrees_with_python(built: Built, name: str) -> None:
    assert name in built.bound
    inputs = INPUTS[name]
    assert not differences(built, name, inputs)
    for arguments in inputs:
        first: dict[str, object] = {}
        shared = [first.setdefault(x.typecode, x) if isinstance(x, A) else x for x in arguments]
        assert not differences(built, name, [shared])
