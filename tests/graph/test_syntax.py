"""Walking syntax trees visits what `ast` visits, in its order, without operators."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ppybuild.graph.syntax import children, walk

NO_PLACE = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)

ODD = """
global g
def f(a, /, b: int = 1, *args, c, d=2, **rest) -> None:
    global x, y
    def inner():
        nonlocal a
    return lambda q=1: (yield)
class C(B, metaclass=M):
    x: int
    y: str = "text"
async def g():
    async with a as b, c: pass
    async for i in range(3): await i
    return [i async for i in j if k if l]
match v:
    case {"k": 1, **rest} | [1, *_, None] | P(1, x=2) as name if guard: pass
    case True: pass
    case _: pass
try: pass
except* E as e: raise X from None
finally: pass
from . import name as other
import a.b
del a[1:2, ...], a.b
f"{x!r:>{width}}"
{**a, "b": 1}
f(*a, **b)
x = y = z if not a and b or c < d <= -e else (w := 1)
x += 1; assert x, "no"
"""
SOURCES = [
    path.read_text()
    for path in sorted((Path(__file__).parents[2] / "ppybuild").rglob("*.py"))[:40]
]


@pytest.mark.parametrize("text", [ODD, "", *SOURCES], ids=lambda text: text[:20])
def test_the_same_nodes_in_the_same_order(text: str) -> None:
    tree = ast.parse(text)
    assert list(walk(tree)) == [
        node for node in ast.walk(tree) if not isinstance(node, NO_PLACE)
    ]
    for node in walk(tree):
        assert children(node) == [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, NO_PLACE)
        ]
