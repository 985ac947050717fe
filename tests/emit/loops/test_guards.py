"""The checks that `ppybuild explain` lists."""

from __future__ import annotations

from pathlib import Path

from ppybuild.emit.loops.guards import RemainingGuard, remaining_guards
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import optimise
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources


def guards_of(source: str, name: str, folder: Path) -> tuple[RemainingGuard, ...]:
    (folder / "m.py").write_text(source)
    facts = analyse(read_sources([folder], []))
    lowered, _ = lower(facts, list(facts.program.functions))
    return remaining_guards(optimise(lowered)[f"m.{name}"])


def test_a_check_outside_loops_is_made_on_every_run(tmp_path: Path) -> None:
    source = "def half(a: int, b: int) -> int:\n    return a // b\n"
    [guard] = guards_of(source, "half", tmp_path)
    assert guard == RemainingGuard(2, "`//`: zero divisor, or leaves 64 bits", "")


def test_a_hoisted_check_names_its_condition_as_python_would(tmp_path: Path) -> None:
    source = (
        "from ppy import Buffer\n"
        "def clear(x: Buffer[float], n: int) -> None:\n"
        "    for i in range(n):\n"
        "        x[i] = 0.0\n"
    )
    guards = guards_of(source, "clear", tmp_path)
    assert [(guard.line, guard.what) for guard in guards] == [(4, "index out of range")]
    assert guards[0].unless == "n >= 0 and n < 1 + len(x)"


def test_a_function_in_which_nothing_can_fail_has_none(tmp_path: Path) -> None:
    source = "def twice(x: float) -> float:\n    return x * 2.0\n"
    assert guards_of(source, "twice", tmp_path) == ()


def test_sizes_of_grids_are_named_as_python_asks_them(tmp_path: Path) -> None:
    source = (
        "from collections.abc import Sequence\n"
        "from ppy import Buffer\n"
        "def clear(m: Sequence[Buffer[float]], n: int) -> None:\n"
        "    for i in range(n):\n"
        "        for j in range(n):\n"
        "            m[i][j] = 0.0\n"
        "def all(m: Sequence[Buffer[float]]) -> None:\n"
        "    for i in range(len(m)):\n"
        "        for j in range(len(m[0])):\n"
        "            m[i][j] = 0.0\n"
    )
    guards = guards_of(source, "clear", tmp_path)
    assert {guard.what for guard in guards} == {"index out of range"}
    expected = "n >= 0 and n < 1 + len(m) and n < 1 + len(m[0])"
    assert {guard.unless for guard in guards} == {expected}
    assert guards_of(source, "all", tmp_path) == ()
