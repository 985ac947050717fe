import pytest

import ppy


def test_a_grid_is_as_the_list_of_lists_was() -> None:
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    grid = ppy.grid("d", rows)
    grid[1][2] = rows[1][2] = 9.0
    grid[-1][-2] += 1.0
    rows[-1][-2] += 1.0
    assert [row.tolist() for row in grid] == rows
    assert (len(grid), len(grid[0])) == (2, 3)
    assert [value for row in grid for value in row] == [*rows[0], *rows[1]]
    for i, j in ((2, 0), (0, 3), (-3, 0), (0, -4)):
        for each in (grid, rows):
            with pytest.raises(IndexError):
                each[i][j]


def test_rows_lie_side_by_side() -> None:
    first, second = ppy.grid("q", ([n, n + 1] for n in range(2)))
    assert first.obj is second.obj
    assert first.obj.tolist() == [0, 1, 1, 2]


def test_grids_without_numbers() -> None:
    assert ppy.grid("d", []) == ()
    assert [len(row) for row in ppy.grid("d", [[], []])] == [0, 0]


def test_what_is_no_grid() -> None:
    with pytest.raises(ValueError, match="equally long"):
        ppy.grid("d", [[1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match="typecode"):
        ppy.grid("u", ["a"])  # type: ignore[call-overload]
    with pytest.raises(OverflowError):
        ppy.grid("q", [[2**63]])
