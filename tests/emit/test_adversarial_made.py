"""Functions that make arrays and lists, through the whole compiler and its boundary: what
their variables stand for, lengths that change, results, and what failing leaves."""

from __future__ import annotations

import math
from array import array

import pytest

from tests.differential import Built, Rows, build, differences

SOURCE = """
import array
import math
from collections.abc import Sequence
import ppy
from ppy import Buffer, f32, i8, u8


def order(n: int) -> list[int]:
    xs = [5, 4, 3, 2, 1, n]
    xs.append(xs.pop() + xs.pop() * 10 + len(xs) * 100)
    y = xs[xs[len(xs) - 1 - xs.pop() % 2] % 2] - xs.pop()
    xs.append(y)
    xs[xs.pop() % len(xs)] = len(xs) + xs.pop()
    return xs


def targets(n: int) -> list[int]:
    xs = [i for i in range(n)]
    for i in range(len(xs) - 1):
        xs[i], xs[i + 1] = xs[i + 1], xs[i] * 2
    for i, xs[0] in enumerate(xs):
        xs[i] = xs[i] + xs[0] * 10
    xs[0], m = len(xs), xs[0]
    xs[m % n] = m = 3
    xs.append(m)
    return xs


def heap_sorted(n: int) -> list[int]:
    heap = [0]
    heap.clear()
    for k in range(n):
        heap.append((k * 7919) % 101)
        i = len(heap) - 1
        while i > 0 and heap[(i - 1) // 2] > heap[i]:
            p = (i - 1) // 2
            heap[p], heap[i] = heap[i], heap[p]
            i = p
    out = [0] * 0
    while heap:
        out.append(heap[0])
        last = heap.pop()
        if heap:
            heap[0] = last
            i = 0
            while 2 * i + 1 < len(heap):
                c = 2 * i + 1
                if c + 1 < len(heap) and heap[c + 1] < heap[c]:
                    c += 1
                if heap[i] <= heap[c]:
                    break
                heap[i], heap[c] = heap[c], heap[i]
                i = c
    return out


def kept(n: int) -> tuple[list[int], int]:
    best = [0]
    t = 0
    for i in range(n):
        row = [i, t]
        for j in range(5):
            if j == i:
                best = row
                break
            row.append(j)
        else:
            t += 1
            continue
        if i == 3:
            break
    return best, t


def exchanged(n: int) -> tuple[list[float], Buffer[float]]:
    old = array.array("d", [1.0] * n)
    new = array.array("d", [0.0] * n)
    xs = [0.5]
    for t in range(n):
        for i in range(n):
            new[i] = old[(i + 1) % n] * 0.5 + t
        old, new = new, old
        ys = [v for v in old]
        if t % 2:
            xs = ys
            xs.append(old[0])
        new.append(1.0)
        if len(new) > n + 2:
            new.pop()
            old, new = new, old
    return xs, old


def returned_early(x: Buffer[float], n: int) -> tuple[list[float], int]:
    acc = [0.0] * 0
    for i in range(n):
        for j, v in enumerate(x):
            if v < 0.0:
                return acc, i * 100 + j
            acc.append(v / (i - 3))
            x[j] = v - 1.0
    return acc, -1


def recursive(n: int, memo: Buffer[int]) -> int:
    if n < 2:
        return n
    local = [recursive(n - 1, memo), recursive(n - 2, memo)]
    memo[n] += 1
    return local[0] + local[1]


def lists(xs: list[float], ys: list[bool]) -> list[float]:
    out = []
    for x in xs:
        out.append(1.0 / x)
    for y in ys:
        out.append(2.0 if y else 0.0)
    return out


def kinds(n: int) -> tuple[tuple[list[int], list[bool]], Buffer[f32], Buffer[i8], list[float]]:
    wide = array.array("f", [0.1])
    wide.append(1e300)
    return ([n] * n, [i > 1 for i in range(n)]), wide, array.array("b", [n]) * 2, [-0.0] * n


def transposed(a: Sequence[Buffer[float]], n: int) -> Buffer[float]:
    m = len(a)
    h = ppy.grid("d", [[0.0] * m for _ in range(n)])
    for i, row in enumerate(a):
        for j, v in enumerate(row):
            h[j][i] = v
            row[j] = 1.0 / v
    out = array.array("d")
    for row in h:
        for v in row:
            out.append(v)
    return out


def names(run: int, swapped: int, made: int, result: int) -> tuple[list[int], int]:
    made_before = [run] * made
    ppy_count = swapped
    ppy_data = [i for i in range(ppy_count)]
    data = [0]
    length = data
    length.append(result)
    for i in range(3):
        ppy_wanted = [run, i]
        made_before = ppy_wanted
    return made_before, length[1] + len(ppy_data)
"""


def doubles(*values: float) -> array[float]:
    return array("d", values)


CALLS: dict[str, list[list[object]]] = {
    "order": [[0], [7]],
    "targets": [[0], [1], [6]],
    "heap_sorted": [[0], [40]],
    "kept": [[0], [3], [9]],
    "exchanged": [[0], [1], [5], [8]],
    "returned_early": [[doubles(2.5, 1.5), 3], [doubles(2.5), 9], [doubles(5.5), 5]],
    "recursive": [[10, array("q", [0] * 11)], [10, array("q", [0] * 8)]],
    "lists": [
        [[1.0, math.nan, 4.0], [True, False]],
        [(1.0,), ()],
        [[1.0, 0.0], [True]],
        [[1.0, 1], [True]],
        [[1.0], [1]],
        [doubles(1.0), [True]],
    ],
    "kinds": [[3], [-4], [200]],
    "transposed": [
        [Rows("d", ((1.0, 2.0), (3.0, 4.0))), 2],
        [Rows("d", ((1.0, 2.0), (3.0, 0.0))), 2],
        [Rows("d", ((1.0, 2.0), (3.0, 4.0))), 1],
        [Rows("d", ()), 2],
    ],
    "names": [[3, 4, 5, 6]],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(SOURCE, tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("name", CALLS)
def test_agrees_with_python(built: Built, name: str) -> None:
    assert name in built.bound, built.remarks
    assert differences(built, name, CALLS[name]) == []


def test_one_number_again_and_again_is_one_object(built: Built) -> None:
    numbers = built.native.kinds(100)[3]
    assert all(each is numbers[0] for each in numbers)
