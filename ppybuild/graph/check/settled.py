"""Tests that may settle a value by ways that types do not follow.

    if name in table: name.upper()        if is_given(name): name.upper()
    missing = x is None                   if scale is None and shift is None: return
    if not missing: x + 1                 if scale is None: shift + 1

A value that is tested so, and found to be None by its type alone, is not sure to be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.graph.program import FunctionNode, Module
from ppybuild.graph.scopes import parameters_of
from ppybuild.graph.syntax import children, walk


def may_be_settled(module: Module, function: FunctionNode | None, node: ast.expr) -> bool:
    """True where the function around tests the value of `node` in other ways than by a plain
    `if`, or where a test beside `node` may speak of it."""
    root = module.tree if function is None else function
    path = ast.unparse(node.target if isinstance(node, ast.NamedExpr) else node)
    around = list(_tests_around(root, node) or ())
    if any(_tells(test, path) for test in _tests(root)):
        return True
    tested = any(_mentions(test, path) for test in _tests(root))
    others = [test for test in around if not _mentions(test, path)]
    if others and tested:
        return True
    names = set() if function is None else {each.arg for each in parameters_of(function)}
    return path in names and any(_names(test) & names for test in others)


def _tests(root: ast.AST) -> Iterator[ast.expr]:
    """Every condition, and every comparison that is kept as a value."""
    for node in walk(root):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield test
            case ast.IfExp(test=test):
                yield test
            case ast.Assign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
                if isinstance(value, ast.Compare | ast.BoolOp | ast.UnaryOp):
                    yield ast.BoolOp(ast.And(), [value, value])
            case ast.comprehension(ifs=tests):
                yield from tests


def _tells(test: ast.expr, path: str) -> bool:
    """True where a test says something of the value that narrowing does not take from it."""
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return _tells(test.operand, path)
        case ast.BoolOp(values=parts):
            about = [part for part in parts if _mentions(part, path)]
            return bool(about) and (
                len(about) < len(parts) or any(_tells(part, path) for part in about)
            )
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return isinstance(test.left, ast.Call) and _tells(test.left, path)
        case _:
            return ast.unparse(test) != path and _mentions(test, path)


def _mentions(test: ast.AST, path: str) -> bool:
    return any(isinstance(node, ast.expr) and ast.unparse(node) == path for node in walk(test))


def _names(test: ast.AST) -> set[str]:
    return {node.id for node in walk(test) if isinstance(node, ast.Name)}


def _tests_around(root: ast.AST, wanted: ast.AST) -> list[ast.expr] | None:
    """The conditions under which `wanted` is evaluated; None where it is not below `root`."""
    if root is wanted:
        return []
    for child in children(root):
        found = _tests_around(child, wanted)
        if found is None:
            continue
        match root:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                return found if child is test else [test, *found]
            case ast.BoolOp(values=values):
                return [*values[: values.index(child)], *found]  # type: ignore[arg-type]
        return found
    return None
