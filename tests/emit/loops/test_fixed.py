"""Kernels with a copy for the sizes that the program's calls pass."""

from __future__ import annotations

import array
from pathlib import Path

import pytest

from ppybuild.emit.driver import emit
from ppybuild.emit.loops.fixed import fixed_sizes
from ppybuild.emit.loops.lower import lower
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from ppybuild.graph.regions.seeds import Seeds
from tests.differential import build, outcome

ROWS = """
from ppy import Buffer

WIDTH = 4

def sums(values: Buffer[float], out: Buffer[float], rows: int, width: int) -> float:
    total: float = 0.0
    for row in range(rows):
        found: float = 0.0
        for i in range(width):
            found += values[row * width + i] / (i + 1)
        out[row] = found
        total += found
    return total
"""

CALLS = {
    "literal": ("def main() -> None:\n    sums(A, B, 3, 4)\n", {"width": 4}),
    "constant": ("def main() -> None:\n    sums(A, B, 3, WIDTH)\n", {"width": 4}),
    "keyword": ("def main() -> None:\n    sums(A, B, width=4, rows=3)\n", {"width": 4}),
    "local": (
        "def main() -> None:\n    w: int = 2 * WIDTH\n    sums(A, B, 3, w)\n",
        {"width": 8},
    ),
    "several calls": (
        "def main() -> None:\n    sums(A, B, 3, 4)\n    sums(A, B, 9, 4)\n",
        {"width": 4},
    ),
    "through a caller": (
        "def outer(w: int) -> None:\n    sums(A, B, 3, w)\n"
        "def main() -> None:\n    outer(4)\n    outer(w=4)\n",
        {"width": 4},
    ),
    "disagreeing": ("def main() -> None:\n    sums(A, B, 3, 4)\n    sums(A, B, 3, 5)\n", {}),
    "assigned twice": (
        "def main() -> None:\n    w: int = 4\n    w = 5\n    sums(A, B, 3, w)\n",
        {},
    ),
    "counted": ("def main() -> None:\n    for w in range(4):\n        sums(A, B, 3, w)\n", {}),
    "long": ("def main() -> None:\n    sums(A, B, 3, 100000)\n", {}),
    "recursive": (
        "def outer(w: int, n: int) -> None:\n    sums(A, B, n, w)\n    outer(w, n)\n"
        "def main() -> None:\n    outer(4, 3)\n",
        {},
    ),
    "no calls": ("", {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_calls_fix(name: str, tmp_path: Path) -> None:
    calls, expected = CALLS[name]
    buffers = "import array\nA = array.array('d')\nB = array.array('d')\n"
    (tmp_path / "m.py").write_text(buffers + ROWS + calls)
    facts = analyse(read_sources([tmp_path], []))
    functions, _ = lower(facts, ["m.sums"])
    assert fixed_sizes(Seeds(facts), functions).get("m.sums", {}) == expected


def test_other_sizes_are_as_right(tmp_path: Path) -> None:
    built = build(ROWS + CALLS["constant"][0].replace("A, B", "(), ()"), tmp_path)
    assert "sums" in built.bound
    for rows, width in [(3, 4), (3, 3), (0, 4), (3, 0), (2, 8), (5, 4), (3, -4), (2**62, 4)]:
        values = array.array("d", [0.5, -0.0, 1e300, 3.0] * 4)
        arguments = (values, array.array("d", [0.0] * 4), rows, width)
        assert outcome(built.native.sums, arguments) == outcome(built.python.sums, arguments)


def test_both_copies_are_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(ROWS + CALLS["constant"][0].replace("A, B", "(), ()"))
    emission = emit(analyse(read_sources([tmp_path], [])), ["m"])
    text = next(
        s.text for e in emission.extensions for s in e.sources if s.path.name == "m.py.c"
    )
    assert "if (width == 4) return k_m_sums_body(run, values, out, rows, 4, result);" in text
    assert "return k_m_sums_body(run, values, out, rows, width, result);" in text
