"""Rows that lie in one memory, natively and under CPython."""

from __future__ import annotations

import itertools
from array import array
from pathlib import Path
from typing import Any

import pytest

import ppy
from ppybuild.emit.driver import emit
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import optimise
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from tests.differential import (
    Built,
    Rows,
    build,
    compile_extension,
    differences,
    load_extension,
)
from tests.emit.loops.native import Abandoned, Kernels

SOURCE = """
import math
from collections.abc import Sequence
from ppy import Buffer


def at(m: Sequence[Buffer[float]], i: int, j: int) -> float:
    return m[i][j]


def put(m: Sequence[Buffer[int]], i: int, j: int, value: int) -> int:
    m[i][j] = value
    m[i][j] += m[j][i]
    return m[-1][-1]


def sizes(m: Sequence[Buffer[int]], i: int) -> tuple[int, int, bool]:
    return len(m), len(m[i]), True if m else False


def multiply(
    a: Sequence[Buffer[float]], b: Sequence[Buffer[float]], out: Sequence[Buffer[float]]
) -> None:
    for i in range(len(a)):
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += a[i][k] * b[k][j]
            out[i][j] = total


def over_rows(m: Sequence[Buffer[int]]) -> tuple[int, int]:
    total = 0
    for number, row in enumerate(m):
        for value in row:
            total = total * 3 + value * number
        row[0] = total
    last = 0
    for row, other in zip(m, reversed(m)):
        last = last * 5 + row[0] - other[-1] + max(row) + len(row)
    return total, last


def by_row(m: Sequence[Buffer[float]], i: int, j: int) -> float:
    row, other = m[i], m[j]
    row[0] = 4.0
    part = other[1:]
    row = m[j]
    return other[0] + sum(part) + row[0]


def fill(x: Buffer[float], value: float) -> None:
    for i in range(len(x)):
        x[i] += value


def filled(m: Sequence[Buffer[float]], i: int) -> float:
    before = m[i]
    fill(m[i], 2.0)
    fill(before, m[-1][0])
    inner(m, i)
    return before[0]


def inner(grid: Sequence[Buffer[float]], i: int) -> None:
    for j in range(len(grid[i])):
        grid[i][j] *= 0.5


def shifted(m: Sequence[Buffer[float]], out: Buffer[float]) -> None:
    for i in range(len(m)):
        part = m[i][1:]
        out[i] = 0.0
        for value in part:
            out[i] += value


def moved(m: Sequence[Buffer[int]]) -> int:
    row = m[0]
    row[len(row) - 1] += (row := m[1])[0]
    return row[0]
"""
PLACES = (-4, -3, -1, 0, 1, 2, 3)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    built = build(SOURCE, tmp_path_factory.mktemp("grids"))
    assert built.remarks == ()
    return built


def floats(rows: int, cols: int) -> Rows:
    return Rows("d", tuple(tuple(r * 1.5 - c for c in range(cols)) for r in range(rows)))


def ints(rows: int, cols: int) -> Rows:
    return Rows("q", tuple(tuple(r * 7 - c * 3 for c in range(cols)) for r in range(rows)))


def calls(name: str) -> list[list[Any]]:
    shapes = [(0, 0), (1, 0), (3, 0), (1, 1), (2, 3), (3, 2)]
    pairs = list(itertools.product(PLACES, PLACES))
    match name:
        case "at" | "by_row":
            return [[floats(*shape), i, j] for shape in shapes for i, j in pairs]
        case "put":
            return [[ints(*shape), i, j, 9] for shape in shapes for i, j in pairs]
        case "sizes":
            return [[ints(*shape), i] for shape in shapes for i in PLACES]
        case "filled":
            return [[floats(*shape), i] for shape in shapes for i in PLACES]
        case "over_rows" | "moved":
            return [[ints(*shape)] for shape in shapes]
        case "shifted":
            return [[floats(*shape), array("d", [1.0] * n)] for shape in shapes for n in (2, 3)]
    sides = [floats(2, 3), floats(3, 2), floats(3, 3), floats(9, 9), floats(0, 0)]
    return [list(three) for three in itertools.product(sides, repeat=3)]


@pytest.mark.parametrize(
    "name",
    ["at", "put", "sizes", "multiply", "over_rows", "by_row", "filled", "shifted", "moved"],
)
def test_grids(built: Built, name: str) -> None:
    assert name in built.bound
    assert differences(built, name, calls(name)) == []


def test_one_grid_twice(built: Built) -> None:
    shared = floats(5, 5)
    assert differences(built, "multiply", [[shared, shared, shared]]) == []


def test_only_rows_side_by_side_are_a_grid(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE)
    emission = emit(analyse(read_sources([tmp_path])), ["module"])
    (extension,) = emission.extensions
    compiled = load_extension(compile_extension(extension, tmp_path), extension.name)

    def body(m: object, i: object, j: object) -> str:
        return "python"

    at = getattr(compiled, emission.bindings["module.at"][1])(body)
    memory = memoryview(array("d", range(8)))
    released = ppy.grid("d", [[1.0], [2.0]])
    released[1].release()
    assert at((memory[0:2], memory[2:4], memory[4:6]), 2, 1) == 5.0
    assert at(ppy.grid("d", [[1.0, 2.0]]), 0, -1) == 2.0
    for rows in (
        [memory[0:2], memory[2:4]],
        (memory[0:2], memory[4:6]),
        (memory[0:2], memory[2:5]),
        (memory[0:2], memory[2:4].toreadonly()),
        (memory[0:2].toreadonly(), memory[2:4]),
        (memory[0:2], memory[0:2]),
        (memory[0:4:2], memory[1:4:2]),
        (memory[0:2], memory[2:4].cast("B").cast("q")),
        (memory[0:2], array("d", [1.0, 2.0])),
        (array("d", [1.0, 2.0]), memory[0:2]),
        (memory[0:2], 3),
        [[1.0, 2.0], [3.0, 4.0]],
        released,
        ppy.grid("q", [[1, 2], [3, 4]]),
    ):
        assert at(rows, 0, 0) == "python"
    assert at((), 0, 0) == "python"


def test_kernels_alone(tmp_path: Path) -> None:
    """The kernels themselves, which `test_sanitized` builds with checks of memory."""
    (tmp_path / "module.py").write_text(SOURCE)
    facts = analyse(read_sources([tmp_path]))
    kernels = Kernels(optimise(lower(facts, facts.program.functions)[0]))
    for rows, cols in ((1, 1), (2, 3), (3, 2)):
        numbers = array("d", range(rows * cols))
        for i, j in itertools.product(PLACES, PLACES):
            if -rows <= i < rows and -cols <= j < cols:
                expected = numbers[i % rows * cols + j % cols]
                assert kernels.call("module.at", (numbers, rows, cols), i, j) == expected
            else:
                with pytest.raises(Abandoned):
                    kernels.call("module.at", (numbers, rows, cols), i, j)
    a, b = array("d", range(6)), array("d", range(12))
    out = array("d", [0.0] * 8)
    kernels.call("module.multiply", (a, 2, 3), (b, 3, 4), (out, 2, 4))
    assert list(out) == [20.0, 23.0, 26.0, 29.0, 56.0, 68.0, 80.0, 92.0]
    with pytest.raises(Abandoned):
        kernels.call("module.multiply", (a, 2, 3), (b, 3, 4), (out, 4, 2))
    assert kernels.call("module.filled", (a, 2, 3), 1) == 5.0
