"""Arrays and lists that functions make, natively and under CPython."""

from __future__ import annotations

import math
from array import array

import pytest

from tests.emit.loops.lower_compare import Program

SOURCE = """
import array


def moving(values: Buffer[float], window: int) -> Buffer[float]:
    out = array.array("d")
    total = 0.0
    for i in range(len(values)):
        total += values[i]
        if i >= window:
            total -= values[i - window]
        out.append(total / min(i + 1, window))
    return out


def histogram(values: Buffer[float], bins: int, low: float, high: float) -> Buffer[int]:
    counts = array.array("q", [0] * bins)
    width = (high - low) / bins
    for v in values:
        if low <= v < high:
            counts[int((v - low) / width)] += 1
    return counts


def standard(values: Buffer[float]) -> Buffer[float]:
    mean = sum(values, 0.0) / len(values)
    spread = 0.0
    for v in values:
        spread += (v - mean) ** 2
    deviation = math.sqrt(spread / len(values))
    return array.array("d", [(v - mean) / deviation for v in values])


def primes(n: int) -> list[int]:
    sieve = [True] * (n + 1)
    sieve[0] = sieve[1] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            for j in range(i * i, n + 1, i):
                sieve[j] = False
    return [i for i, prime in enumerate(sieve) if prime]


def flags(values: Buffer[float], least: float) -> list[bool]:
    return [v >= least for v in values]


def several(n: int) -> tuple[list[float], int, Buffer[f32]]:
    xs = [i * 0.1 for i in range(n)]
    return xs, len(xs), array.array("f", [x * x for x in xs])


def shadowed(n: int) -> tuple[int, int]:
    i = 7
    xs = [i for i in range(n)]
    return i, sum(xs)


def stack(n: int) -> int:
    todo = [n]
    seen = 0
    while todo:
        x = todo.pop()
        seen += 1
        if x > 1:
            todo.append(x // 2)
            todo.append(x - 1)
    return seen


def rows(n: int, m: int) -> float:
    total = 0.0
    for i in range(n):
        row = [0.5] * m
        for j in range(m):
            row[j] += i * j
        total += sum(row, 0.0)
    return total


def of_previous(n: int) -> list[int]:
    xs = [n]
    for turn in range(3):
        xs = [xs[0] + turn, turn]
    return xs


def alias(n: int) -> tuple[int, int]:
    a = [1, 2]
    b = a
    b.append(n)
    a[0] = 9
    return sum(b), len(a)


def doubled(n: int) -> list[int]:
    xs = [n]
    for i in range(70):
        xs.append(xs[i] + xs[i])
    return xs


def minus_zero(n: int) -> list[float]:
    return [-0.0] * n


def copies(values: Buffer[int], n: int) -> tuple[list[int], list[int], Buffer[float]]:
    return list(values), list(range(2, n)), array.array("d", values)


def repeated(n: int) -> tuple[Buffer[float], Buffer[i8]]:
    return array.array("d", [1.5]) * n, n * array.array("b", [3])


def small(values: Buffer[int]) -> Buffer[i8]:
    return array.array("b", [v for v in values])


def emptied(n: int) -> list[float]:
    xs = [1.0] * n
    xs.clear()
    xs.append(2.5)
    return xs


def popped(n: int) -> tuple[float, int]:
    xs = [0.5] * n
    return xs.pop() + xs.pop(), len(xs)


def filled(out: Buffer[float], n: int) -> int:
    out[0] += 1.0
    scratch = [0.0] * n
    for i in range(n):
        scratch[i] = out[i] * 2.0
    for i in range(n):
        out[i] = scratch[n - 1 - i]
    return n // (len(out) - 3)


def sliced(n: int) -> tuple[int, int]:
    xs = [i * i for i in range(n)]
    part = xs[1 : n - 1]
    return sum(part), len(part)


def norm(xs: Buffer[float]) -> float:
    total = 0.0
    for x in xs:
        total += x * x
    return total


def through(n: int) -> float:
    found = 0.0
    for i in range(n):
        xs = array.array("d", [0.5 * i] * (i % 7))
        found += norm(xs)
    return found


def recursive(n: int) -> int:
    xs = [n] * n
    return sum(xs) + (recursive(n - 1) if n > 0 else 0)


def nested(n: int) -> list[int]:
    return [sum([i * j for j in range(i)]) for i in range(n)]


def chosen(n: int) -> list[int]:
    return [x for x in [y * 3 for y in range(n)] if x % 2 == 0]


def edit_distance(a: Buffer[u8], b: Buffer[u8]) -> int:
    previous = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        current = [i]
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost))
        previous = current
    return previous[-1]


def exchanged(n: int) -> tuple[list[int], int]:
    old = [1] * 5
    new = [0] * 5
    for turn in range(n):
        for i in range(5):
            new[i] = old[i] + old[i - 1] * turn
        old, new = new, old
    return old, sum(new)


def best_row(values: Buffer[float], width: int) -> list[float]:
    best = [0.0] * width
    for start in range(0, len(values), width):
        row = [values[start + i] for i in range(width)]
        if sum(row, 0.0) > sum(best, 0.0):
            best = row
    return best


def first_row(n: int) -> float:
    last = [0.0]
    for i in range(n):
        row = [float(i)] * 2
        if i == 0:
            last = row
    return last[0]


def one_behind(n: int) -> int:
    kept = 0
    row = [0]
    for i in range(n):
        old = row
        row = [i]
        kept += old[0] * (i + 1)
    return kept


def mapped(n: int) -> list[int]:
    xs = [n]
    for turn in range(4):
        xs = [x * 2 + turn for x in xs]
        xs.append(turn)
    return xs


def warp(x: Buffer[float], y: Buffer[float]) -> float:
    n, m = len(x), len(y)
    table = ppy.grid("d", [[math.inf] * (m + 1) for _ in range(n + 1)])
    table[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(x[i - 1] - y[j - 1])
            table[i][j] = cost + min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
    return table[n][m]


def boxes(n: int, m: int) -> tuple[int, int, int]:
    found = 0
    for turn in range(3):
        counts = ppy.grid("q", [[turn] * m for _ in range(1, n)])
        for row in counts:
            for i in range(len(row)):
                row[i] += i
            found += sum(row)
    return found, len(counts), len(counts[0])


def blur(image: Buffer[float], width: int, height: int) -> Buffer[float]:
    out = array.array("d", [0.0] * (width * height))
    for y in range(height):
        for x in range(width):
            total = 0.0
            for dy in (-1, 0, 1):
                for dx in [1, 0, -1]:
                    yy, xx = y + dy, x + dx
                    if 0 <= yy < height and 0 <= xx < width:
                        total += image[yy * width + xx]
            out[y * width + x] = total
    return out


def neighbours(n: int, by: int) -> tuple[int, float]:
    found, weighed = 0, 0.0
    for i, (dx, dy) in enumerate(((0, by), (by, 0), (0, -1), (-1, n))):
        if dx * n + dy == 7:
            continue
        found = found * 10 + dx * n + dy + i
    for weight in (0.5, 0.25, float(n)):
        weighed = weighed * 2.0 + weight
        if weighed > 100.0:
            break
    else:
        weighed -= 1.0
    for _ in ():
        found = -1
    return found, weighed


def last_rows(n: int) -> float:
    total = 0.0
    for i in range(n):
        grid = ppy.grid("d", [[i * 0.5] * i for _ in range(2)])
        for row in grid:
            for j in range(len(row)):
                row[j] += j
        last = grid[1]
        total = total * 2.0 + sum(last, 0.0)
    return total


def fails_late(out: Buffer[int], n: int) -> list[int]:
    xs = [1]
    for i in range(n):
        out[i] += 1
        xs.append(xs[i] * 3)
    return xs
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(SOURCE)


def doubles(*values: float) -> array[float]:
    return array("d", values)


CALLS = {
    "moving": [(doubles(1.0, 2.5, -3.0, 4.0, math.nan), 2), (doubles(), 3)],
    "histogram": [(doubles(0.5, 1.5, 9.9, -1.0), 4, 0.0, 2.0)],
    "standard": [(doubles(1.0, 2.0, 4.0),), (doubles(math.inf, 1.0),)],
    "primes": [(n,) for n in (1, 2, 30, 1000)],
    "flags": [(doubles(1.0, math.nan, -0.0), 0.0), (doubles(), 1.0)],
    "several": [(0,), (5,), (-3,)],
    "shadowed": [(0,), (5,)],
    "stack": [(0,), (9,)],
    "rows": [(3, 4), (0, 2), (2, 0), (50, 3)],
    "of_previous": [(5,)],
    "alias": [(3,)],
    "minus_zero": [(3,), (0,), (-1,)],
    "copies": [(array("q", [3, 4, 2**52]), 6), (array("q"), 0)],
    "repeated": [(3,), (-3,)],
    "small": [(array("q", [1, -128, 127]),)],
    "emptied": [(0,), (4,)],
    "popped": [(2,), (5,)],
    "filled": [(doubles(1.0, 2.0, 3.0, 4.0), 4), (doubles(1.0, 2.0), 0)],
    "sliced": [(0,), (1,), (2,), (9,)],
    "through": [(0,), (100,)],
    "recursive": [(0,), (30,)],
    "nested": [(0,), (12,)],
    "chosen": [(0,), (12,)],
    "edit_distance": [
        (array("B", b"kitten sitting"), array("B", b"sitting kitten")),
        (array("B"), array("B", b"ab")),
        (array("B", b"ab"), array("B")),
    ],
    "exchanged": [(0,), (1,), (2,), (7,)],
    "best_row": [(doubles(1.0, 2.0, 5.0, -1.0, 0.5, 0.5), 2), (doubles(), 3)],
    "first_row": [(0,), (1,), (5,)],
    "one_behind": [(0,), (1,), (6,)],
    "mapped": [(3,)],
    "warp": [(doubles(1.0, 3.0, 2.0), doubles(1.5, 2.5)), (doubles(), doubles())],
    "boxes": [(3, 4), (2, 0), (5, -1)],
    "blur": [(doubles(*(i * 0.5 for i in range(12))), 4, 3), (doubles(), 0, 0)],
    "neighbours": [(0, 1), (7, 3), (200, -5)],
    "last_rows": [(0,), (6,)],
    "fails_late": [(array("q", [0] * 4), 4)],
}


@pytest.mark.parametrize("name", CALLS)
def test_they_are_what_python_makes(program: Program, name: str) -> None:
    assert program.check_all(name, CALLS[name]) == len(CALLS[name])


FAILING = {
    "moving": [(doubles(1.0), 0)],
    "histogram": [(doubles(0.5), 0, 0.0, 2.0), (doubles(0.5), -3, 0.0, 2.0)],
    "standard": [(doubles(),), (doubles(1.0, 1.0),)],
    "primes": [(0,), (-5,)],
    "boxes": [(1, 4), (-3, 2), (2**62, 2**62)],
    "warp": [(doubles(math.nan), doubles(1.0))],
    "doubled": [(1,), (0x7FFFFFFFFFFFFFFF,)],
    "copies": [(array("q", [2**53 + 1]), 0)],
    "small": [(array("q", [1, 128]),)],
    "popped": [(1,), (0,)],
    "filled": [(doubles(1.0, 2.0, 3.0), 3), (doubles(1.0, 2.0), 3), (doubles(), 0)],
    "fails_late": [(array("q", [5] * 3), 60), (array("q", [5] * 70), 60)],
}


@pytest.mark.parametrize("name", FAILING)
def test_where_they_fail_python_starts_again(program: Program, name: str) -> None:
    program.check_all(name, FAILING[name])


def test_no_memory_is_pythons_to_say(program: Program) -> None:
    for n in (2**62, 2**60 - 5):
        assert not program.check("minus_zero", n)


STAYS = {
    "a float in a list of ints": "xs = [0] * n\n    xs[0] = 1.5\n    return sum(xs)",
    "longer or shorter": (
        "xs = [1, 2]\n    for x in xs:\n        if x < n:\n            xs.append(x + n)\n"
        "    return len(xs)"
    ),
    "`sort` of an array or list": "xs = [n, 1]\n    xs.sort()\n    return xs[0]",
    "one array twice": "xs = [n]\n    return xs, xs",
    "another type on another way": (
        "kept = 0\n    row = [0]\n    for i in range(n):\n        old = row\n"
        "        if i > 2:\n            row = [i]\n        kept += row[0] + old[0]\n"
        "    return kept"
    ),
    "several arrays bound at once": (
        "a, b, c = [1], [2], [3]\n    for i in range(n):\n        a, b, c = b, c, a\n"
        "    return a[0]"
    ),
    "used after a store": (
        "xs = [n, 1]\n    part = xs[0:1]\n    xs.append(5)\n    return part[0]"
    ),
    "a loop over `ys`": (
        "xs = [1, 2]\n    ys = xs\n    for y in ys:\n        if y < n:\n"
        "            xs.append(y + n)\n        ys = (1, 2)\n        continue\n"
        "    return len(xs)"
    ),
    "a loop over `pair[0]`": (
        "xs = [1, 2]\n    pair = (xs, n)\n    for x in pair[0]:\n        if x < n:\n"
        "            xs.append(x + n)\n    return len(xs)"
    ),
    "`a` has another type on another way": (
        "total = 0\n    a = [1]\n    b = [2]\n    for i in range(n):\n        c = a\n"
        "        a, b = b, a\n        total = total * 3 + c[0]\n    return total"
    ),
    "`first` has another type on another way": (
        "total = 0.0\n    for i in range(n):\n"
        '        g = ppy.grid("d", [[i * 0.5] * 2 for _ in range(2)])\n'
        "        if i == 0:\n            first = g[0]\n        total += first[0]\n"
        "    return total"
    ),
    "an item that changes by what makes": (
        "xs = [1, 2, n]\n    xs[-1] += xs.pop()\n    return xs"
    ),
}


@pytest.mark.parametrize("reason", STAYS)
def test_what_stays_in_python(reason: str) -> None:
    program = Program(f"def f(n: int):\n    {STAYS[reason]}\n")
    assert not program.functions
    assert reason in program.remarks[0].message


def test_an_array_of_bytes_is_their_memory() -> None:
    program = Program(
        "import array\n\ndef f(x: Buffer[u8]):\n    return array.array('i', x[1:])\n"
    )
    assert not program.functions
    assert "an array of what may be bytes" in program.remarks[0].message
    items = (
        "import array\n\ndef f(x: Buffer[u8]):\n    return array.array('i', [i for i in x])\n"
    )
    assert Program(items).check("f", array("B", b"abcd"))
