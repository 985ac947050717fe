"""The format mini-language of executables against CPython's, every option of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emit.standalone.building import Builder, run_native

_PROGRAM = """\
import sys


def formatted(kind: str, value: str, spec: str) -> str:
    if kind == "int":
        return format(int(value), spec)
    if kind == "float":
        return format(float(value), spec)
    if kind == "bool":
        return f"{value == 'True':{spec}}"
    return f"{value:{spec}}"


for line in sys.stdin:
    kind, value, spec = line[:-1].split("\\x1f")
    try:
        print(repr(formatted(kind, value, spec)))
    except (ValueError, OverflowError) as error:
        print(type(error).__name__, error)
"""

_LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\x1f\n")
_TEXTS = st.text(_LETTERS, max_size=12)
_VALUES = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.integers(-1000, 0x110000),
    st.floats(),
    st.booleans(),
    _TEXTS,
)
_FILLED = st.tuples(_LETTERS | st.sampled_from("0 {}é€😀"), st.sampled_from("<>=^"))
_SPECS = st.tuples(
    st.one_of(st.just(""), st.sampled_from("<>=^"), _FILLED.map("".join)),
    st.sampled_from(["", "", "+", "-", " "]),
    st.sampled_from(["", "", "", "z"]),
    st.sampled_from(["", "", "#"]),
    st.sampled_from(["", "", "0"]),
    st.one_of(st.just(""), st.integers(0, 60).map(str)),
    st.sampled_from(["", "", ",", "_", ",_"]),
    st.one_of(st.just(""), st.integers(0, 40).map(".{}".format), st.just(".")),
    st.sampled_from(["", *"bcdeEfFgGnosxX%", "q", "s"]),
).map("".join)


def _said(value: int | float | str, spec: str) -> str:
    try:
        return repr(format(value, spec))
    except (ValueError, OverflowError) as error:
        return f"{type(error).__name__} {error}"


@pytest.fixture(scope="module")
def program(builder: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builder.build(tmp_path_factory.mktemp("formats"), {"main.py": _PROGRAM})


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases=st.lists(st.tuples(_VALUES, _SPECS), min_size=20, max_size=60))
def test_formats(program: Path, cases: list[tuple[int | float | str, str]]) -> None:
    lines = [f"{type(value).__name__}\x1f{value}\x1f{spec}\n" for value, spec in cases]
    done = run_native(program, given="".join(lines))
    found = done.output.splitlines()
    assert (done.status, done.last) == (0, "")
    expected = [_said(value, spec) for value, spec in cases]
    for case, one, other in zip(cases, found, expected, strict=True):
        assert one == other, case
