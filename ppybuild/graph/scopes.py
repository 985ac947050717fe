"""Which names a body of statements binds, read off its statements alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ppybuild.graph.program import FunctionNode
from ppybuild.graph.syntax import children, walk


@dataclass(slots=True)
class Scope:
    """The names of one module, class or function body, nested bodies left out."""

    bound: set[str] = field(default_factory=set)
    """Bound here: assigned, imported, defined, deleted, a loop's target; not the parameters."""
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    stars: list[ast.ImportFrom] = field(default_factory=list)
    """`from m import *`"""
    yields: bool = False


def scope_of(body: Sequence[ast.stmt], *, expressions: bool) -> Scope:
    """The scope of a body. `expressions`: look for `:=` and `yield` inside expressions too
    (needed only where the text has them, and slower)."""
    scope = Scope()
    for statement in statements_of(body):
        _bind(statement, scope)
        if expressions:
            _scan_expressions(statement, scope)
    scope.bound -= scope.globals | scope.nonlocals
    return scope


def assigned_in(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that a body binds by anything but a `def`."""
    scope = Scope()
    for statement in statements_of(body):
        if isinstance(statement, FunctionNode):
            continue
        if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
            _bind(statement, scope)
    return frozenset(scope.bound)


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a body in order, without those of nested functions and classes."""
    for statement in body:
        yield statement
        if type(statement) in _COMPOUND:
            for inner in blocks_of(statement):
                yield from statements_of(inner)


_COMPOUND = frozenset(
    {
        ast.If,
        ast.For,
        ast.AsyncFor,
        ast.While,
        ast.With,
        ast.AsyncWith,
        ast.Try,
        ast.TryStar,
        ast.Match,
    }
)
"""Statements with blocks inside that belong to the same scope."""


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks inside one compound statement, in order."""
    match statement:
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
            yield statement.body
            yield statement.orelse
        case ast.With() | ast.AsyncWith():
            yield statement.body
        case ast.Try() | ast.TryStar():
            yield statement.body
            for handler in statement.handlers:
                yield handler.body
            yield statement.orelse
            yield statement.finalbody
        case ast.Match():
            for case in statement.cases:
                yield case.body


def target_names(target: ast.expr) -> Iterator[str]:
    """The names that an assignment target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from target_names(item)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)


def _bind(statement: ast.stmt, scope: Scope) -> None:
    targets: Iterable[ast.expr] = ()
    match statement:
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
            targets = (statement.target,)
        case ast.Delete():
            targets = statement.targets
        case ast.With() | ast.AsyncWith():
            targets = [item.optional_vars for item in statement.items if item.optional_vars]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            scope.bound.add(statement.name)
        case ast.Import():
            for alias in statement.names:
                scope.bound.add(alias.asname or alias.name.partition(".")[0])
        case ast.ImportFrom():
            for alias in statement.names:
                if alias.name == "*":
                    scope.stars.append(statement)
                else:
                    scope.bound.add(alias.asname or alias.name)
        case ast.Global():
            scope.globals.update(statement.names)
        case ast.Nonlocal():
            scope.nonlocals.update(statement.names)
        case ast.Try() | ast.TryStar():
            scope.bound.update(found.name for found in statement.handlers if found.name)
        case ast.Match():
            for case in statement.cases:
                scope.bound.update(pattern_names(case.pattern))
    for target in targets:
        scope.bound.update(target_names(target))


def pattern_names(pattern: ast.pattern) -> Iterator[str]:
    """The names that a `case` pattern captures."""
    for node in walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def _scan_expressions(statement: ast.stmt, scope: Scope) -> None:
    pending: list[ast.AST] = [
        child for child in children(statement) if not isinstance(child, ast.stmt)
    ]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.NamedExpr):
            scope.bound.update(target_names(node.target))
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            scope.yields = True
        if not isinstance(node, ast.Lambda | ast.stmt):
            pending.extend(children(node))


def parameters_of(node: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """A function's parameters as they stand."""
    arguments = node.args
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        found.append(arguments.vararg)
    found.extend(arguments.kwonlyargs)
    if arguments.kwarg:
        found.append(arguments.kwarg)
    return found
