"""Temporaries of lowering are written where they are used; the rest stays where it is."""

from __future__ import annotations

import pytest

from ppybuild.emit.loops.dump import dump
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import inline, optimise
from ppybuild.emit.loops.verify import verify
from tests.emit.loops.small_facts import small_facts


def inlined(source: str) -> str:
    """The body of `f` after every pass."""
    facts = small_facts(source)
    functions, remarks = lower(facts, facts.program.functions)
    assert remarks == ()
    functions = optimise(functions)
    for function in functions.values():
        verify(function, functions)
        assert inline.run(function) == function
    lines = dump(functions["m.f"]).splitlines()
    return "\n".join(line for line in lines[1:] if not line.startswith("  local"))


def test_an_index_is_written_where_it_is_used() -> None:
    text = inlined(
        "def f(a: Buffer[float], rows: int, cols: int) -> float:\n"
        "    s = 0.0\n"
        "    for row in range(rows):\n"
        "        for i in range(cols):\n"
        "            s += a[row * cols + i]\n"
        "    return s\n"
    )
    assert "s = add.f64(s, a[add.i64(mul.i64(row, cols), i)])" in text


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        # Read twice.
        ("    return a[n % 3 + 1] * a[n % 3 + 1]\n", "a[index.t1]"),
        # What it reads changes before the place.
        (
            "    x = a[0]\n    y = x * 2 // 3\n    a[0] = 5.0\n    return y + a[0] // 7.0\n",
            "y = floordiv.f64(mul.f64(x, 2.0), 3.0)\n  a[index.t1] = 5.0",
        ),
        # In a loop it would be done again at each turn.
        (
            "    s = 0.0\n    k = n % 5\n    for i in range(7):\n        s += k * 0.5\n"
            "    return s\n",
            "k = ",
        ),
    ],
)
def test_what_stays(body: str, kept: str) -> None:
    assert kept in inlined(f"def f(a: Buffer[float], n: int) -> float:\n{body}")


def test_values_move_over_no_store() -> None:
    text = inlined(
        "def f(a: Buffer[int], b: Buffer[int]) -> int:\n"
        "    x, y = a[0] + 1, b[0]\n"
        "    b[0] = 7\n"
        "    a[0] = 9\n"
        "    return x * 10 + y\n"
    )
    assert text.index("= b[index") < text.index("b[index.t2] = 7")


def test_a_name_of_the_program_is_kept() -> None:
    text = inlined("def f(x: float) -> float:\n    half = x * 0.5\n    return half + 1.0\n")
    assert "half = mul.f64(x, 0.5)" in text
