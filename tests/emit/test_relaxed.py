"""`fp = "relaxed"` reorders sums; it changes neither guards nor the rest of the process."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

from ppybuild.targets.flags import FP
from tests.differential import build, differences

SOURCE = """
import math
from ppy import Buffer


def total(a: Buffer[float]) -> float:
    s = 0.0
    for x in a:
        s += x
    return s


def whole(x: float) -> int:
    return int(x)


def kinds(x: float) -> tuple[bool, bool, bool, bool]:
    return math.isnan(x), math.isinf(x), math.isfinite(x), x != x


def root(x: float) -> float:
    return math.sqrt(x)


def half(x: float) -> float:
    return x * 0.5
"""


def test_guards_and_subnormals_stay(tmp_path: Path) -> None:
    flags = ("-O3", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", *FP["relaxed"])
    built = build(SOURCE, tmp_path, flags)
    assert built.bound == {"total", "whole", "kinds", "root", "half"}
    special = [[x] for x in (math.nan, math.inf, -math.inf, -1.0, 2.5, 1e300)]
    for name in ("whole", "kinds", "root"):
        assert not differences(built, name, special)
    tenths = array("d", [0.1] * 1000)
    assert math.isclose(built.native.total(tenths), built.python.total(tenths))
    assert differences(built, "half", [[5e-308], [-5e-308]]) == []
    assert 5e-308 * 0.5 != 0.0, "subnormals of the whole process"
