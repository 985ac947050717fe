"""Golden cases of effects: a program in, each function's effects out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.graph.analyse import analyse
from ppybuild.graph.library import Library
from ppybuild.graph.load import read_sources
from ppybuild.graph.program import Effects
from tests.golden import Case, Golden, cases

CASES = Path(__file__).parent / "cases" / "effects.txt"


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def describe(found: Effects) -> str:
    """The effects that are there, in words."""
    parts = ["pure"] if found.pure else []
    for title, names in (
        ("writes", found.writes),
        ("reads globals", found.reads_globals),
        ("writes globals", found.writes_globals),
        ("returns", found.returned),
    ):
        if names:
            parts.append(f"{title} {' '.join(sorted(names))}")
    if found.performs_io:
        parts.append("io")
    if found.calls_unknown:
        parts.append("unknown")
    return ", ".join(parts)


@cases(CASES)
def test_effects(case: Case, golden: Golden, tmp_path: Path, library: Library) -> None:
    (tmp_path / "m.py").write_text(case.source)
    facts = analyse(read_sources([tmp_path]), library)
    lines = [f"{name}: {describe(found)}" for name, found in facts.effects.items()]
    golden(case, effects="\n".join(lines))


def test_library_functions_that_write_are_not_pure(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import json, operator, struct\n"
        "from collections.abc import Iterator\n\n\n"
        "def save(x: list[int], file) -> None:\n    json.dump(x, file)\n\n\n"
        "def pack(b: bytearray) -> None:\n    struct.pack_into('i', b, 0, 1)\n\n\n"
        "def join(a: list[int]) -> None:\n    operator.iconcat(a, [1])\n\n\n"
        "def total(it: Iterator[int]) -> int:\n    return sum(it)\n\n\n"
        "def plain(a: list[int]) -> int:\n    return sum(a)\n"
    )
    effects = analyse(read_sources([tmp_path])).effects
    pure = {name.removeprefix("m."): found.pure for name, found in effects.items()}
    assert pure == {
        "save": False,
        "pack": False,
        "join": False,
        "total": False,
        "plain": True,
    }
