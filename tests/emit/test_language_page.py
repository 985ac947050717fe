"""What docs/language.md shows as native is, and what it shows as Python stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.differential import build

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
BLOCKS = re.findall(r"```python\n# (native|stays)\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize(("kind", "source"), BLOCKS)
def test_examples_are_what_they_say(kind: str, source: str, tmp_path: Path) -> None:
    functions = set(re.findall(r"^def (\w+)", source, re.MULTILINE))
    built = build(source, tmp_path)
    assert built.bound == (functions if kind == "native" else set())
    assert len(built.remarks) == (0 if kind == "native" else len(functions))


def test_there_are_examples_of_both() -> None:
    assert {kind for kind, _ in BLOCKS} == {"native", "stays"}
