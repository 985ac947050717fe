"""What is known in one branch must not be used outside of it."""

from __future__ import annotations

import array
from pathlib import Path

import pytest

from tests.differential import build, differences

MODULE = """
from ppy import Buffer


def smaller(a: Buffer[float], n: int, m: int) -> float:
    s = 0.0
    if n >= 0:
        if m >= 0:
            k = min(n, m)
            if k < len(a):
                s += a[k]
    j = min(n, m)
    if j < len(a):
        s += a[j]
    return s


def larger(a: Buffer[float], n: int, m: int) -> float:
    s = 0.0
    if n < 4:
        if m < 4:
            k = max(n, m)
            if k >= 0:
                s += a[k]
    j = max(n, m)
    if j >= 0:
        s += a[j]
    return s
"""


@pytest.mark.parametrize("name", ["smaller", "larger"])
def test_bounds_of_min_and_max_hold_where_they_were_found(name: str, tmp_path: Path) -> None:
    built = build(MODULE, tmp_path)
    assert name in built.bound
    data = array.array("d", [1.0, 2.0, 3.0, 4.0])
    places = (-5, -4, -2, 0, 3, 4, 9)
    inputs = [(data, n, m) for n in places for m in places]
    found = differences(built, name, inputs)
    assert not found, "\n".join(found)
