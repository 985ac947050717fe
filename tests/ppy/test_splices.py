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


PARTLY = """
def last(values, kept):
    for value in values:
        kept.append(
            (value * 2).bit_length())
    return value - 1
"""
VALUE = {
    "line": 4,
    "column": 8,
    "count": 0,
    "takes": ["value"],
    "gives": [],
    "renews": [],
    "value": [5, 13, 5, 22],
}
RETURNED = {**VALUE, "line": 6, "column": 4, "value": [6, 11, 6, 20]}


def partly(native: Any, splice: Any) -> Any:
    tree = ast.parse(PARTLY)
    constants = insert(tree, "program.py", [(splice, native)])
    space: dict[str, Any] = {}
    exec(_replace(compile(tree, "program.py", "exec"), constants), space)
    return space["last"]


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        (lambda function: lambda value: (value * 1000,), [10, 11]),
        (lambda function: lambda value: None, [2, 3]),
        (lambda function: function, [2, 3]),
    ],
)
def test_an_expression_of_the_next_statement(native: Any, expected: list[int]) -> None:
    kept: list[int] = []
    assert partly(native, VALUE)([1, 2], kept) == 1
    assert kept == expected


def test_an_expression_that_is_returned() -> None:
    assert partly(lambda function: lambda value: ("native",), RETURNED)([4], []) == "native"
    assert partly(lambda function: lambda value: None, RETURNED)([4], []) == 3


def test_what_follows_the_expression_fails_where_it_stands() -> None:
    last = partly(lambda function: lambda value: ("text",), VALUE)
    with pytest.raises(AttributeError) as raised:
        last([1], [])
    frame = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (frame.name, frame.lineno) == ("last", 5)


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_several_in_one_place(first: bool, second: bool) -> None:
    tree = ast.parse(PARTLY)
    makes = [
        lambda function: lambda value: (1000,) if first else None,
        lambda function: lambda value: (1001,) if second else None,
    ]
    constants = insert(tree, "program.py", [(VALUE, make) for make in makes])
    space: dict[str, Any] = {}
    exec(_replace(compile(tree, "program.py", "exec"), constants), space)
    kept: list[int] = []
    space["last"]([3, 3], kept)
    expected = (1000).bit_length() if first or second else (6).bit_length()
    assert kept == [expected] * 2
