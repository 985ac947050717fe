"""Walking syntax trees: `ast.walk` and `ast.iter_child_nodes`, several times as fast.

Operators and contexts (`ast.Add()`, `ast.Load()`), which are no places in the source, are
left out.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator

_PLAIN = frozenset(
    {
        "arg",
        "asname",
        "attr",
        "conversion",
        "ctx",
        "id",
        "is_async",
        "kind",
        "kwd_attrs",
        "level",
        "module",
        "op",
        "ops",
        "simple",
        "type_comment",
        "type_ignores",
    }
)
"""Fields that hold no place in the source, whatever node they belong to."""


def _node_classes(base: type[ast.AST]) -> Iterator[type[ast.AST]]:
    yield base
    for inner in base.__subclasses__():
        yield from _node_classes(inner)


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    each: tuple(name for name in each._fields if name not in _PLAIN)
    for each in _node_classes(ast.AST)
} | {ast.Constant: (), ast.Global: (), ast.Nonlocal: ()}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below one, in order of their fields."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            for each in value:
                if isinstance(each, ast.AST):
                    found.append(each)
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, level by level."""
    pending = deque((node,))
    take, put = pending.popleft, pending.append
    fields = _FIELDS
    while pending:
        current = take()
        yield current
        for name in fields[type(current)]:
            value = getattr(current, name, None)
            if type(value) is list:
                for each in value:
                    if isinstance(each, ast.AST):
                        put(each)
            elif isinstance(value, ast.AST):
                put(value)
