"""The wrappers as a person reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.emit.boundary.wrappers import emit_extension, emit_wrapper, emit_wrappers
from ppybuild.emit.loops.ir import Function, Location
from tests.emit.boundary.conftest import FUNCTIONS
from tests.golden import Case, Golden, read_cases

CASES = read_cases(Path(__file__).parent / "cases" / "wrappers.txt")
BY_NAME = {function.name.removeprefix("m."): function for function in FUNCTIONS}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrapper(case: Case, golden: Golden) -> None:
    golden(case, c=emit_wrapper(BY_NAME[case.name]) + "\n")


def test_table_and_listing() -> None:
    function = Function("app.step_1", (), None, (), (), Location(3, 1))
    assert emit_wrappers("app", [function]).endswith(
        """
const ppy_entry ppy_entries_app[] = {
    {"app_step__1", w_app_step__1, 0, 0, NULL},
    {NULL, NULL, 0, 0, NULL},
};
"""
    )
    assert emit_extension("loops", ["app", "app.m"]) == (
        """#include "ppy_boundary.h"

extern const ppy_entry ppy_entries_app[];
extern const ppy_entry ppy_entries_app_m[];

PPY_EXTENSION(loops, ppy_entries_app, ppy_entries_app_m)
"""
    )


def test_the_same_bytes_each_time() -> None:
    assert emit_wrappers("m", FUNCTIONS) == emit_wrappers("m", list(FUNCTIONS))
