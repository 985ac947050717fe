"""Generated functions give natively what they give under CPython."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential import build, differences
from tests.fuzz.programs import modules, values

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
            types = [str(found) for found in function.__annotations__.values()][:-1]
            spelled = [signature_type(found) for found in types]
            inputs = [[data.draw(values(type)) for type in spelled] for _ in range(INPUTS)]
            inputs += [aliased(arguments) for arguments in inputs[:3]]
            found = differences(built, name, inputs)
            assert not found, source + "\n\n" + "\n".join(found)


def signature_type(annotation: str) -> str:
    """The text of an annotation as the strategies name it."""
    for name in ("Buffer[float]", "Buffer[int]", "int", "float", "bool"):
        if annotation in (name, f"<class '{name}'>") or annotation.endswith(name):
            return name
    raise AssertionError(annotation)


def aliased(arguments: list[object]) -> list[object]:
    """The same arguments with every buffer of one type being one object."""
    first: dict[str, object] = {}
    return [
        first.setdefault(value.typecode, value) if hasattr(value, "typecode") else value
        for value in arguments
    ]
