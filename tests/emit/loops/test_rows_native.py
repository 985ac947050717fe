"""Lists of lists that a function makes, natively and under CPython."""

from __future__ import annotations

from array import array

import pytest

from tests.differential import FLAGS, Built, build, differences
from tests.emit.loops.native import SANITIZED, SANITIZERS

SOURCE = """
from collections.abc import Sequence
from ppy import Buffer


def common(a: str, b: str) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


def fold(n: int, m: int, x: float) -> float:
    grid = [[x for _ in range(m)] for _ in range(n)]
    for i, row in enumerate(grid):
        row[0] += i
        for j in range(1, len(row)):
            row[j] = row[j - 1] * 0.5 + grid[i - 1][j]
    return sum(sum(row) for row in grid) + max(grid[0]) + len(grid)


def walls(n: int, steps: int) -> int:
    seen = [[False] * n for _ in range(n)]
    i, j, count = 0, 0, 0
    for _ in range(steps):
        if not seen[i][j]:
            seen[i][j] = True
            count += 1
        i, j = (i + j + 1) % n, (j * 3 + i) % n
    return count + sum(1 for row in seen if all(x for x in row))


def anew(n: int) -> int:
    total = 0
    for size in range(n):
        square = [[size] * size for _ in range(size)]
        for i in range(size):
            square[i][i] = -1
        total = total * 3 + sum(sum(row) for row in square) + len(square)
    return total


def total(values: list[int]) -> int:
    return sum(values)


def passed(n: int) -> int:
    table = [[n] * 3 for _ in range(4)]
    table[2][1] = 7
    return total(table[2]) + total(table[0][1:])


def big(n: int) -> int:
    table = [[1] * 2 for _ in range(2)]
    table[0][0] = n
    table[1][1] = table[0][0] * n
    return table[1][1]


def whole(n: int) -> float:
    grid = [[0.0] * 2 for _ in range(2)]
    grid[0][0] = n
    return grid[0][0]


def escapes(n: int) -> list[list[int]]:
    grid = [[0] * n for _ in range(n)]
    return grid


def longer(n: int) -> int:
    grid = [[0] * n for _ in range(n)]
    grid.append([1])
    return len(grid)


def replaced(n: int) -> int:
    grid = [[0] * n for _ in range(n)]
    grid[0] = [1, 2]
    return grid[0][1]


def one_row(n: int) -> int:
    grid = [[0] * n] * n
    grid[0][0] = 1
    return grid[-1][0]


def uneven(n: int) -> int:
    grid = [[0] * i for i in range(n)]
    return len(grid[-1])


def scale(rows: Sequence[Buffer[float]], n: int) -> None:
    rows[0][0] = n


def converted(n: int) -> float:
    grid = [[0.0] * n for _ in range(n)]
    scale(grid, n)
    return grid[0][0]
"""
STAYS = {
    "whole", "escapes", "longer", "replaced", "one_row", "uneven", "converted",
}  # fmt: skip
NAMES = {line[4 : line.index("(")] for line in SOURCE.splitlines() if line.startswith("def ")}
SIZES = (-1, 0, 1, 2, 5)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    flags = (*FLAGS, *SANITIZERS) if SANITIZED else FLAGS
    found = build(SOURCE, tmp_path_factory.mktemp("rows"), flags)
    assert found.bound == NAMES - STAYS, [each.message for each in found.remarks]
    return found


def test_rows(built: Built) -> None:
    words = ("", "a", "abcab", "aé\u0101b", "ba")
    calls: dict[str, list[list[object]]] = {
        "common": [[a, b] for a in words for b in words],
        "fold": [[n, m, x] for n in SIZES for m in SIZES for x in (0.0, -0.0, 1.5, 2**0.5)],
        "walls": [[n, steps] for n in SIZES for steps in (0, 1, 9, 30)],
        "anew": [[n] for n in SIZES],
        "big": [[n] for n in (3, 2**40, 2**63)],
        "scale": [[(array("d", [1.0]),), 3]],
        **{name: [[n] for n in SIZES] for name in sorted(STAYS)},
    }
    for name, inputs in calls.items():
        assert differences(built, name, inputs) == [], name
