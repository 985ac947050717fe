"""What stands in the place of statements: an attempt, and the statements themselves."""

from __future__ import annotations

import ast
import traceback
from types import FunctionType
from typing import Any

import pytest

from ppy.loader import _replace
from ppy.splices import insert

SOURCE = """
def go(values, index):
    kept = 0
    total = "old"
    for value in values:
        doubled = value * 2
        total = doubled + values[index]
        kept += 1
    return total, kept, sorted(locals())
"""
SPLICE = {
    "line": 6,
    "column": 8,
    "count": 2,
    "takes": ["value", "values[index]", "values", "index"],
    "gives": ["total"],
    "renews": ["doubled", "total"],
}


def spliced(native: Any) -> Any:
    """`go`, where `native(function)` makes what is called in the place of the statements."""
    tree = ast.parse(SOURCE)
    constants = insert(tree, "program.py", [(SPLICE, native)])
    space: dict[str, Any] = {}
    exec(_replace(compile(tree, "program.py", "exec"), constants), space)
    return space["go"]


def test_the_native_answer_is_bound() -> None:
    go = spliced(lambda function: lambda value, item, *rest: (value * 100 + item,))
    total, kept, names = go([1, 2], 0)
    assert (total, kept) == (201, 2)
    assert names == ["doubled", "index", "kept", "total", "value", "values"]


def test_the_function_has_the_statements() -> None:
    assert spliced(lambda function: function)([1, 2], 0)[:2] == (5, 2)


def test_where_it_gives_none_the_statements_run() -> None:
    seen: list[tuple[object, ...]] = []

    def bind(function: FunctionType) -> object:
        return lambda *arguments: seen.append(arguments)

    assert spliced(bind)([1, 2], 0)[:2] == (5, 2)
    assert seen == [(1, 1, [1, 2], 0), (2, 1, [1, 2], 0)]


def test_what_cannot_be_taken_fails_where_it_is_read() -> None:
    go = spliced(lambda function: pytest.fail)
    with pytest.raises(IndexError) as raised:
        go([1, 2], 7)
    frame = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (frame.name, frame.lineno) == ("go", 7)
    assert raised.value.__context__ is None
