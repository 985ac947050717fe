"""C names of Python names: one for each."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ppybuild.emit.names import mangle

PARTS = st.lists(st.text("aZ_1\u00e9", min_size=1, max_size=4), min_size=1, max_size=4)
JOINS = st.sampled_from((".", ".<locals>."))


@settings(deadline=None)
@given(PARTS, JOINS, PARTS, JOINS)
def test_two_names_never_become_one(
    one: list[str], join: str, two: list[str], other: str
) -> None:
    first, second = join.join(one), other.join(two)
    assert (mangle(first) == mangle(second)) == (first == second)


def test_an_underscore_beside_a_dot() -> None:
    names = ["a_.b", "a._b", "a_._b", "a.__b", "a__.b", "a_b", "a_.<locals>.b", "a.<locals>._b"]
    assert len({mangle(name) for name in names}) == len(names)
    assert mangle("app._scale") == "app___scale"


@settings(deadline=None)
@given(PARTS)
def test_a_name_is_an_identifier_of_c(parts: list[str]) -> None:
    assert re.fullmatch(r"\w+", "k_" + mangle(".".join(parts)), re.ASCII)
