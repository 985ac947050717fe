"""What a statement works out first, so that it may as well be worked out before it.

    correct += (model(x).argmax(1) == y).sum().item()    →    all of the right side; of that
                                                              what `.item` is read from; the
                                                              comparison; `model(x).argmax(1)`;
                                                              `model(x)`

Before each of these only names, attributes of names and constants are read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator


def leading(statement: ast.stmt, computed: frozenset[str]) -> Iterator[ast.expr]:
    """Such expressions, from the outermost in. `computed`: attributes that may run code."""
    match statement:
        case (
            ast.Assign(value=value)
            | ast.Return(value=ast.expr() as value)
            | ast.Expr(value=value)
            | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
            | ast.AugAssign(target=ast.Name(), value=value)
        ):
            node: ast.expr | None = value
            while node is not None:
                if isinstance(node, ast.Call | ast.BinOp | ast.Compare | ast.Subscript):
                    yield node
                parts = (part for part in _in_order(node) if not _is_plain(part, computed))
                node = next(parts, None)
        case _:
            pass


def _in_order(node: ast.expr) -> list[ast.expr]:
    """The parts of an expression that are surely worked out, in that order."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            return [func, *args, *(keyword.value for keyword in keywords)]
        case ast.Attribute(value=value) | ast.Starred(value=value):
            return [value]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right, *_]):
            return [left, right]
        case ast.Subscript(value=value, slice=index):
            return [value, index]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return items
        case ast.IfExp(test=test):
            return [test]
        case ast.BoolOp(values=[first, *_]):
            return [first]
        case _:
            return []


def _is_plain(node: ast.expr, computed: frozenset[str]) -> bool:
    """Whether reading it runs nothing that others can tell."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=ast.Name(), attr=name):
            return name not in computed and "__getattr__" not in computed
        case _:
            return False
