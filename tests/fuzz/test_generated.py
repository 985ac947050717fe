"""Generated functions give natively what they give under CPython."""

from __future__ import annotations

import array
import os
import tempfile
import warnings
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential import View, build, differences
from tests.fuzz.programs import modules
from tests.fuzz.values import TYPECODES, Draw, values

EXAMPLES = int(os.environ.get("PPY_FUZZ_EXAMPLES", "12"))
"""Modules to generate; `make fuzz` asks for many more."""
INPUTS = 12


@settings(
    max_examples=EXAMPLES,
    derandomize="PPY_FUZZ_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(modules(), st.data())
def test_generated_functions_agree(source: str, data: st.DataObject) -> None:
    warnings.simplefilter("ignore", SyntaxWarning)
    with tempfile.TemporaryDirectory() as folder:
        built = build(source, Path(folder))
        for name in sorted(built.bound):
            function = getattr(built.python, name)
            kinds = [str(found) for found in function.__annotations__.values()][:-1]
            inputs = [[data.draw(values(type)) for type in kinds] for _ in range(INPUTS)]
            inputs += [aliased(arguments) for arguments in inputs[:3]]
            inputs += [overlapping(data.draw, kinds, arguments) for arguments in inputs[:3]]
            found = differences(built, name, inputs)
            assert not found, source + "\n\n" + "\n".join(found)


def aliased(arguments: list[object]) -> list[object]:
    """The same arguments with every buffer of one type being one object."""
    first: dict[str, object] = {}
    return [
        first.setdefault(value.typecode, value) if isinstance(value, array.array) else value
        for value in arguments
    ]


MEMORY = 80  # bytes


def overlapping(draw: Draw, kinds: list[str], arguments: list[object]) -> list[object]:
    """The same arguments with every buffer being a view of one memory."""
    memory = draw(st.binary(min_size=MEMORY, max_size=MEMORY))
    return [
        draw(views(memory, TYPECODES[type])) if type in TYPECODES else argument
        for type, argument in zip(kinds, arguments, strict=True)
    ]


@st.composite
def views(draw: Draw, memory: bytes, code: str) -> View:
    size = array.array(code).itemsize
    first = draw(st.integers(0, MEMORY // size))
    return View(memory, code, first, draw(st.integers(0, MEMORY // size - first)))
