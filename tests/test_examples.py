"""The typed examples are what conversion writes from their untyped sources.

`make update` writes them again, for a person to review.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.convert.convert import convert
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize(
    "name", sorted(found.parent.name for found in EXAMPLES.glob("*/untyped"))
)
def test_typed_source_is_the_converted_one(name: str, request: pytest.FixtureRequest) -> None:
    untyped = EXAMPLES / name / "untyped"
    program = read_sources([untyped], [])
    result = convert(analyse(program), list(program.modules), promote=True, partial=False)
    assert [found.code for found in result.diagnostics if found.code[0] == "E"] == []
    for file in result.files:
        typed = EXAMPLES / name / file.target.relative_to(untyped)
        if request.config.getoption("--update"):
            typed.parent.mkdir(parents=True, exist_ok=True)
            typed.write_text(file.text)
        assert typed.read_text() == file.text, (
            f"{typed.relative_to(EXAMPLES)}: run `make update`"
        )
