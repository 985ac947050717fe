"""Rows of numbers side by side in one memory: what a list of equally long lists becomes."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, which would cost half of this package's import
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable
    from typing import Any


def grid(typecode: Any, rows: Iterable[Iterable[float]], /) -> tuple[memoryview[Any], ...]:
    """The rows as a tuple of views of one array, which holds them one after another.

    `typecode` is "d" for floats or "q" for ints; the rows are equally long, else ValueError.
    `grid[i][j]` reads and stores as in a list of lists.
    """
    if typecode not in ("d", "q"):
        raise ValueError('the typecode of a grid is "d" or "q"')
    from array import array  # here: importing ppy is to cost next to nothing

    numbers: array[Any] = array(typecode)
    lengths: set[int] = set()
    count = 0
    for row in rows:
        before = len(numbers)
        numbers.extend(array(typecode, row))
        lengths.add(len(numbers) - before)
        count += 1
    if len(lengths) > 1:
        raise ValueError("the rows of a grid are equally long")
    width = max(lengths, default=0)
    memory = memoryview(numbers)
    return tuple(memory[at * width : (at + 1) * width] for at in range(count))
