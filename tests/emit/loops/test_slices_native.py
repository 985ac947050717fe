"""Slices of buffers, natively and under CPython."""

from __future__ import annotations

import itertools
from array import array
from pathlib import Path

import pytest

from tests.differential import Built, View, build, differences
from tests.emit.loops.lower_compare import Program

SOURCE = """
def between(x: Buffer[int], a: int, b: int) -> tuple[int, int, int]:
    part = x[a:b]
    total = 0
    for value in part:
        total = total * 3 + value
    return len(part), total, part[-1]


def from_the_start(x: Buffer[int], b: int) -> tuple[int, int]:
    return len(x[:b]), sum(x[:b])


def to_the_end(x: Buffer[int], a: int) -> tuple[int, int, int]:
    part = x[a:None:1]
    return len(part), min(part), max(x[a:])


def whole(x: Buffer[int]) -> int:
    copy = x[:]
    return sum(copy) + len(copy) if copy else -1


def of_a_slice(x: Buffer[int], a: int, b: int, c: int) -> tuple[int, int]:
    part = x[a:]
    inner = part[b:c]
    total = 0
    for i in range(len(inner)):
        total = total * 5 + inner[i] + inner[-i - 1]
    return len(inner), total


def shrinking(x: Buffer[int], n: int) -> int:
    part = x[:]
    total = 0
    while part:
        total = total * 3 + part[0] + len(part)
        part = part[n:]
        n = abs(n) + 1
    return total


def first_of(x: Buffer[float], at: int) -> float:
    return x[at]


def squares(x: Buffer[float]) -> float:
    total = 0.0
    for value in x:
        total += value * value
    return total


def passed(x: Buffer[float], a: int, b: int) -> tuple[float, float]:
    return squares(x[a:b]), first_of(x[a:][:b], 1)


def passed_on(x: Buffer[float], depth: int) -> float:
    if depth == 0:
        return squares(x)
    return squares(x[1:]) + passed_on(x[depth:], depth - 1)


def exact(x: Buffer[float], a: int, b: int) -> float:
    return math.fsum(x[a:b]) + math.prod(x[a:b])


def joined(x: Buffer[int], y: Buffer[int], a: int) -> int:
    total = 0
    for i, (one, other) in enumerate(zip(x[a:], reversed(y[:a]))):
        total = total * 3 + i * one + other
    return total


def rebound(x: Buffer[int], a: int) -> int:
    total = 0
    part = x[a:]
    for value in part:
        part = x[:1]
        total = total * 3 + value + len(part)
    return total


def latest(x: Buffer[int], n: int) -> int:
    total = 0
    last = x[:0]
    for i in range(n):
        part = x[i : 2 * i]
        total = total * 3 + len(last) + sum(part) + sum(last)
        last = part
    return total


def either(x: Buffer[int], a: int) -> int:
    if a > 0:
        part = x[a:]
    else:
        part = x[:a]
    return sum(part)


def paired(x: Buffer[int], a: int, b: int) -> tuple[int, int]:
    parts = x[a:b], b, x[b:]
    one, middle, other = parts
    one, other = other, one
    return sum(one) * middle, len(parts[0]) + len(other)


def again(x: Buffer[int], a: int) -> int:
    x_part = x
    if len(x_part := x[a:]) > 2:
        return x_part[len(x_part[1:])]
    return len(x_part)


def in_place(x: Buffer[float], rows: int, cols: int) -> None:
    for r in range(rows):
        row = x[r * cols : (r + 1) * cols]
        total = 0.0
        for value in row:
            total += value
        for j in range(cols):
            x[r * cols + j] -= total


def scale(x: Buffer[float], by: float) -> None:
    for i in range(len(x)):
        x[i] *= by


def between_calls(x: Buffer[float], by: float) -> float:
    first = squares(x[1:])
    scale(x, by)
    return first - squares(x[1:])


def into_another(x: Buffer[float], out: Buffer[float], n: int) -> None:
    for r in range(len(out)):
        row = x[r * n : r * n + n]
        out[r] = 0.0
        for value in row:
            out[r] += value


def add_into(row: Buffer[float], out: Buffer[float]) -> None:
    for i in range(len(row)):
        out[i] += row[i]


def summed(x: Buffer[float], out: Buffer[float], n: int) -> None:
    for at in range(0, len(x), n):
        add_into(x[at : at + n], out)


def bytes_of(x: Buffer[u8], a: int, b: int) -> tuple[int, int]:
    part = x[a:b]
    return sum(part), len(part)


def by_truth(x: Buffer[i32], a: bool) -> int:
    return sum(x[a:])


def strided(x: Buffer[int], a: int, b: int, step: int) -> tuple[int, int]:
    total = 0
    for value in x[a:b:step]:
        total = total * 3 + value
    return total, len(x[a:b:step])


def without_bounds(x: Buffer[int], a: int, step: int) -> int:
    total = len(x[::step]) * 5 + sum(x[a::step]) + 7 * sum(x[:a:step])
    for i, value in enumerate(reversed(x[::step])):
        total = total * 3 + i * value
    return total


def by_constants(x: Buffer[int], a: int) -> tuple[int, int, int, int, int]:
    down = x[::-1]
    total = 0
    for i in range(len(down)):
        total = total * 3 + down[i] - down[-1]
    return total, sum(x[a::2]), sum(x[1:a:3]), sum(x[a::-2]), sum(x[: a : -(2**62) - 2**62])


def of_part(x: Buffer[int], a: int, step: int) -> list[int]:
    part = x[a:]
    return list(part[::step])


def in_turn(x: Buffer[int], n: int) -> int:
    total = 0
    part = x[::1]
    for step in range(-n, n):
        part = x[:: step or 1]
        total = total * 3 + sum(part) + len(part)
    return total


def no_step(x: Buffer[int]) -> int:
    return sum(x[::0])


def turned(values: Buffer[float]) -> list[float]:
    copy = [value * 2.0 for value in values]
    return [value + 1.0 for value in copy[::-1]]


def letters(text: str, step: int) -> int:
    total = 0
    for ch in text[::step]:
        total = total * 3 + ord(ch)
    return total


def strided_stores(x: Buffer[float], out: Buffer[float], step: int) -> None:
    part = x[::step]
    for i in range(len(part)):
        out[i] = part[i] - out[i]
"""
EDGES = (-(2**63), -9, -5, -4, -1, 0, 1, 2, 4, 5, 6, 2**63 - 1)
SMALL = (-6, -3, -1, 0, 1, 2, 5, 7)


@pytest.fixture(scope="module")
def program() -> Program:
    program = Program(SOURCE)
    assert program.remarks == ()
    return program


def ints(n: int) -> array[int]:
    return array("q", [3, -1, 4, 1, -5][:n])


def floats(n: int) -> array[float]:
    return array("d", [0.1, -2.5, 3.0, 1e9, -0.0, 7.5, 0.25][:n])


@pytest.mark.parametrize("length", [0, 1, 5])
def test_bounds_are_clamped(program: Program, length: int) -> None:
    x = ints(length)
    for a, b in itertools.product(EDGES, EDGES):
        some = range(length)[a:b]
        assert program.check("between", x, a, b) == bool(some)
    assert program.check_all("from_the_start", [(x, b) for b in EDGES]) == len(EDGES)
    for a in EDGES:
        assert program.check("to_the_end", x, a) == bool(range(length)[a:])
        assert program.check("by_truth", array("i", x), a > 0)
        assert program.check("again", x, a)
    assert program.check("whole", x)


def test_slices_of_slices(program: Program) -> None:
    for a, b, c in itertools.product(SMALL, SMALL, SMALL):
        assert program.check("of_a_slice", ints(5), a, b, c)
    for n in (1, 2, 5, 2**62):
        assert program.check("shrinking", ints(5), n)


def test_slices_are_passed(program: Program) -> None:
    for a, b in itertools.product(SMALL, SMALL):
        for length in (0, 1, 7):
            enough = len(floats(length)[a:][:b]) > 1
            assert program.check("passed", floats(length), a, b) == enough
            program.check("exact", floats(length), a, b)
    for depth in range(5):
        assert program.check("passed_on", floats(7), depth)


def test_slices_in_variables(program: Program) -> None:
    for a in SMALL:
        assert program.check("joined", ints(5), ints(4), a)
        assert program.check("rebound", ints(5), a)
        assert program.check("latest", ints(5), a)
        assert program.check("either", ints(5), a)
        for b in SMALL:
            assert program.check("paired", ints(5), a, b)
            assert program.check("bytes_of", array("B", b"\x00\xff7\x80"), a, b)


def test_steps(program: Program) -> None:
    for a, b, step in itertools.product(EDGES, EDGES, (*EDGES, -2, -3)):
        assert program.check("strided", ints(5), a, b, step) == (step != 0)
    for n, a, step in itertools.product((0, 1, 2, 5), EDGES, (*EDGES, -2, -3)):
        assert program.check("without_bounds", ints(n), a, step) == (step != 0)
        assert program.check("of_part", ints(n), a, step) == (step != 0)
        program.check("by_constants", ints(n), a)
    assert program.check_all("by_constants", [(ints(5), a) for a in SMALL]) == len(SMALL)
    for n in range(5):
        assert program.check("in_turn", ints(5), n)
    assert not program.check("no_step", ints(5))
    assert not program.check("strided_stores", *[floats(3)] * 2, 2)
    assert program.check("strided_stores", floats(7), array("d", [1.0] * 4), -2)


def test_stores_between_slices(program: Program) -> None:
    for rows, cols in itertools.product(range(-1, 4), range(-1, 4)):
        inside = rows * cols <= 7 or cols < 0 or rows < 0
        assert program.check("in_place", floats(7), rows, cols) == inside
        assert program.check("into_another", floats(7), array("d", [1.0] * 3), cols)
    assert program.check("between_calls", floats(7), 0.5)
    assert program.check("summed", floats(6), array("d", [1.0] * 3), 3)
    assert not program.check("summed", floats(7), array("d", [1.0] * 2), 3)


def test_memory_that_is_shared_is_pythons(program: Program) -> None:
    for name in ("into_another", "summed"):
        shared = floats(6)
        assert not program.check(name, shared, shared, 2)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    prelude = "import math\nfrom ppy import Buffer, i32, u8\n"
    folder: Path = tmp_path_factory.mktemp("slices")
    return build(prelude + SOURCE, folder)


def test_views_of_one_memory(built: Built) -> None:
    """A slice of a memoryview is no copy under CPython either."""
    assert {"into_another", "summed", "in_place", "between_calls"} <= built.bound
    memory = floats(7).tobytes()
    views = [View(memory, "d", first, length) for first in (0, 1, 3) for length in (0, 2, 4)]
    pairs = [[one, other, n] for one in views for other in views for n in (1, 2)]
    for name in ("into_another", "summed"):
        assert differences(built, name, pairs) == []
    assert differences(built, "in_place", [[view, 2, 2] for view in views]) == []
    assert differences(built, "between_calls", [[view, 0.5] for view in views]) == []
    assert differences(built, "bytes_of", [[b"\x01\x02\xff", -2, 9]]) == []
    shared = floats(6)
    assert differences(built, "into_another", [[shared, shared, 2]]) == []


def test_optimised(built: Built) -> None:
    """The same with every pass applied."""
    triples = list(itertools.product(SMALL, SMALL, SMALL))
    inputs: dict[str, list[list[object]]] = {
        "between": [[ints(n), a, b] for n in (0, 1, 5) for a in EDGES for b in EDGES],
        "to_the_end": [[ints(5), a] for a in EDGES],
        "of_a_slice": [[ints(5), a, b, c] for a, b, c in triples],
        "shrinking": [[ints(5), n] for n in EDGES],
        "latest": [[ints(5), n] for n in range(9)],
        "rebound": [[ints(5), a] for a in EDGES],
        "passed": [[floats(7), a, b] for a in SMALL for b in SMALL],
        "in_place": [[floats(7), rows, cols] for rows in range(9) for cols in range(-1, 4)],
        "strided": [
            [ints(n), a, b, step]
            for n in (0, 1, 5)
            for a, b, step in itertools.product(EDGES, EDGES, (*EDGES, -2, -3))
        ],
        "without_bounds": [[ints(5), a, step] for a in EDGES for step in EDGES],
        "by_constants": [[ints(5), a] for a in EDGES],
        "of_part": [[ints(5), a, step] for a in EDGES for step in EDGES],
        "in_turn": [[ints(5), n] for n in range(6)],
        "no_step": [[ints(5)]],
        "turned": [[floats(n)] for n in (0, 1, 5)],
        "letters": [[text, step] for text in ("", "aé\u0101") for step in EDGES],
        "strided_stores": [[floats(7), floats(4), step] for step in EDGES],
        "into_another": [
            [floats(7), array("d", [1.0] * n), cols] for n in range(9) for cols in range(-1, 4)
        ],
    }
    for name, calls in inputs.items():
        assert name in built.bound
        assert differences(built, name, calls) == []
