"""Which installed libraries a program needs, as `full` sees it."""

from __future__ import annotations

import ast

import pytest

from ppybuild.targets.package import needed

REQUIRED = {"web": ["Zip>=1", 'json2; python_version < "4"', 'colour; extra == "colour"']}
GIVEN = {
    "web": ["web"],
    "zip": ["zip"],
    "json2": ["json2"],
    "colour": ["colour"],
    "arrays": ["arrays"],
    "both": ["zip", "colour"],
    "loop_a": ["loop-A"],
    "loop_b": ["loop_B"],
    "ppy": ["ppybuild"],
    "torch": ["torch"],
    "numpy": ["numpy"],
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    required = REQUIRED | {"loop-a": ["loop.b"], "loop-b": ["Loop_A"], "ppybuild": ["torch"]}
    monkeypatch.setattr(needed.metadata, "packages_distributions", lambda: GIVEN)
    monkeypatch.setattr(needed.metadata, "requires", required.get)


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("import os", set()),
        ("import ppy", set()),
        ("import web", {"web", "zip", "json2", "both"}),
        ("from web.server import serve", {"web", "zip", "json2", "both"}),
        ("def f(x):\n    return x.arrays()", {"arrays"}),
        ("def f(x):\n    return make.from_arrays(x)", {"arrays"}),
        ("import importlib\nimportlib.import_module('arrays.linear')", {"arrays"}),
        ("'''Text that names arrays in passing.'''", set()),
        ("import loop_a", {"loop_a", "loop_b"}),
        ("import torch", {"torch", "numpy"}),
    ],
)
def test_unneeded(source: str, kept: set[str]) -> None:
    unneeded = set(needed.unneeded_modules([ast.parse(source)]))
    assert set(GIVEN) - unneeded - {"ppy"} == kept
