"""Statements: where the values that names, fields and items are given come from."""

from __future__ import annotations

import ast
from collections.abc import Callable as Turn
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppybuild.graph.effects.calls import operator, special
from ppybuild.graph.effects.summary import NOWHERE, Env, Roots, may_share
from ppybuild.graph.lattice import members_of
from ppybuild.graph.scopes import blocks_of
from ppybuild.graph.syntax import children
from ppybuild.graph.types import Class, Module, Type, Unknown

if TYPE_CHECKING:
    from ppybuild.graph.effects.walk import Walk


def block(walk: Walk, body: Sequence[ast.stmt]) -> None:
    """Walks statements in order."""
    for each in body:
        _statement(walk, each)


def _statement(walk: Walk, node: ast.stmt) -> None:
    """Walks one statement."""
    match node:
        case ast.Assign():
            found = walk.roots(node.value)
            for target in node.targets:
                assign(walk, target, found, node.value)
        case ast.AnnAssign():
            if node.value is not None:
                assign(walk, node.target, walk.roots(node.value), node.value)
        case ast.AugAssign():
            _augmented(walk, node)
        case ast.Return():
            if node.value is not None:
                found = walk.roots(node.value)
                if may_share(walk.type_of(node.value)):
                    inside = walk.inside(found)
                    walk.summary.returned |= {each for each in inside if each[0] != "#"}
        case ast.For() | ast.AsyncFor():
            _for(walk, node)
        case ast.While():
            walk.roots(node.test)
            _repeat(walk, lambda: _turn(walk, node))
            block(walk, node.orelse)
        case ast.If():
            walk.roots(node.test)
            _branches(walk, (node.body, node.orelse))
        case ast.Try() | ast.TryStar():
            walk.weak += 1
            _branches(walk, list(blocks_of(node)))
            walk.weak -= 1
        case ast.With() | ast.AsyncWith():
            _with(walk, node)
        case ast.Delete():
            for target in node.targets:
                if isinstance(target, ast.Attribute | ast.Subscript):
                    walk.write(walk.roots(target.value))
                elif isinstance(target, ast.Name) and target.id in walk.scope.globals:
                    assign(walk, target, NOWHERE, target)
        case ast.Match():
            walk.roots(node.subject)
            walk.weak += 1
            for case in node.cases:
                if case.guard is not None:
                    walk.roots(case.guard)
            _branches(walk, [case.body for case in node.cases])
            walk.weak -= 1
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            _definition(walk, node)
        case ast.Import() | ast.ImportFrom():
            _import(walk, node)
        case _:
            for child in children(node):
                if isinstance(child, ast.expr):
                    walk.roots(child)


def _turn(walk: Walk, node: ast.While) -> None:
    block(walk, node.body)
    walk.roots(node.test)


def _definition(walk: Walk, node: ast.stmt) -> None:
    if isinstance(node, ast.ClassDef):
        walk.summary.unknown = True
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for each in (*node.decorator_list, *node.args.defaults):
            walk.roots(each)


def _import(walk: Walk, node: ast.Import | ast.ImportFrom) -> None:
    names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
    source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    own = isinstance(node, ast.ImportFrom) and node.level > 0
    if own or any(name in walk.facts.program.modules for name in (*names, source)):
        walk.summary.io = True


def _branches(walk: Walk, bodies: Sequence[Sequence[ast.stmt]]) -> None:
    before = walk.env
    joined: Env = {}
    for body in bodies:
        walk.env = dict(before)
        block(walk, body)
        joined = _join(joined, walk.env)
    walk.env = _join(joined, before) if walk.weak else joined


def _repeat(walk: Walk, turn: Turn[[], None]) -> None:
    """Walks a loop's body, weakly, until the roots at its head settle."""
    walk.weak += 1
    while True:
        before = dict(walk.env)
        turn()
        walk.env = _join(before, walk.env)
        if walk.env == before:
            break
    walk.weak -= 1


def _for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    found = walk.roots(node.iter)
    special(walk, node.iter, "__iter__", found)
    if isinstance(node, ast.AsyncFor):
        walk.summary.unknown = True

    def turn() -> None:
        assign(walk, node.target, walk.inside(found), None)
        block(walk, node.body)

    _repeat(walk, turn)
    block(walk, node.orelse)


def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    if isinstance(node, ast.AsyncWith):
        walk.summary.unknown = True
    for item in node.items:
        found = walk.roots(item.context_expr)
        special(walk, item.context_expr, "__enter__", found)
        special(walk, item.context_expr, "__exit__", found)
        if item.optional_vars is not None:
            assign(walk, item.optional_vars, found, None)
    block(walk, node.body)


def _augmented(walk: Walk, node: ast.AugAssign) -> None:
    target = node.target
    value = walk.roots(node.value)
    found = walk.type_of(target)
    mutable = any(map(_changes_in_place, members_of(found)))
    if isinstance(target, ast.Name):
        if mutable:
            here = walk.roots(target)
            walk.write(here)
            walk.hold(here, value)
        elif target.id in walk.scope.globals | walk.scope.nonlocals:
            assign(walk, target, NOWHERE, target)
        return
    assert isinstance(target, ast.Attribute | ast.Subscript)
    owner = walk.roots(target.value)
    if mutable:
        walk.write(walk.inside(owner))
    _store(walk, target, owner, value)
    operator(walk, node.value, target)


def assign(walk: Walk, target: ast.expr, found: Roots, value: ast.expr | None) -> None:
    """A target gets a value with these roots."""
    match target:
        case ast.Name():
            _bind(walk, target, found)
        case ast.Tuple() | ast.List():
            parts: Sequence[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(parts):
                parts = value.elts
            for each, part in zip(target.elts, parts, strict=True):
                plain = part is not None and not isinstance(part, ast.Starred)
                roots = walk.roots(part) if plain and part is not None else found
                assign(walk, each, walk.inside(roots), part)
        case ast.Starred():
            assign(walk, target.value, found, None)
        case ast.Attribute() | ast.Subscript():
            _store(walk, target, walk.roots(target.value), found)


def _bind(walk: Walk, target: ast.Name, found: Roots) -> None:
    name = target.id
    if not may_share(walk.type_of(target)):
        found = NOWHERE
    if name in walk.scope.globals:
        walk.summary.writes_globals.add(f"{walk.function.module}.{name}")
        walk.hold(frozenset({f"@{walk.function.module}.{name}"}), found)
    elif name in walk.scope.nonlocals:
        walk.write(frozenset({f"^{name}"}))
        walk.hold(frozenset({f"^{name}"}), found)
    else:
        walk.env[name] = walk.env.get(name, NOWHERE) | found if walk.weak else found


def _store(
    walk: Walk, target: ast.Attribute | ast.Subscript, owner: Roots, found: Roots
) -> None:
    if isinstance(target, ast.Subscript):
        walk.roots(target.slice)
        special(walk, target.value, "__setitem__", owner)
    kind = walk.type_of(target.value)
    if isinstance(kind, Module) and isinstance(target, ast.Attribute):
        walk.summary.writes_globals.add(f"{kind.name}.{target.attr}")
        return
    if isinstance(kind, Class):
        walk.summary.writes_globals.add(kind.name)
        return
    if isinstance(kind, Unknown) and target in walk.facts.types:
        walk.summary.unknown = True
    walk.write(owner)
    walk.hold(owner, found)


def _join(left: Env, right: Env) -> Env:
    joined = dict(left)
    for name, roots in right.items():
        joined[name] = joined.get(name, NOWHERE) | roots
    return joined


def _changes_in_place(member: Type) -> bool:
    return may_share(member) or isinstance(member, Unknown)
