"""Statements: how types flow from one to the next."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ppybuild.graph.infer.binding import (
    assign,
    run_annotated,
    run_assign,
    run_augmented,
    run_delete,
)
from ppybuild.graph.infer.containers import element_of
from ppybuild.graph.infer.definitions import run_function, run_import, run_import_from
from ppybuild.graph.infer.loading import settle_parts, turn_of
from ppybuild.graph.infer.narrow import branch
from ppybuild.graph.infer.patterns import match_case
from ppybuild.graph.infer.visit import Env, Visit, join_envs
from ppybuild.graph.lattice import join, members_of, widened
from ppybuild.graph.types import (
    NEVER,
    NONE,
    UNKNOWN,
    Class,
    Instance,
    Tuple,
    Type,
    Unknown,
)

MAX_TURNS = 10
"""How often a loop's body is inferred before what still changes is given up."""


def run(visit: Visit, body: Sequence[ast.stmt]) -> None:
    """Infers statements in order, as far as control arrives."""
    for statement in body:
        if visit.env is None:
            return
        if visit.caught:
            visit.caught[-1].append(dict(visit.env))
        STATEMENTS[type(statement)](visit, statement)
    if visit.caught and visit.env is not None:
        visit.caught[-1].append(dict(visit.env))


# Choosing and repeating


def run_if(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.If)
    true, false = branch(visit, node.test)
    visit.env = None if true is None else dict(true)
    run(visit, node.body)
    after = visit.env
    visit.env = None if false is None else dict(false)
    run(visit, node.orelse)
    visit.env = join_envs(after, visit.env)


def _turns(visit: Visit, turn: Callable[[], tuple[Env | None, Env | None]]) -> Env | None:
    """Runs a loop's body until what holds at its head holds for every turn.

    `turn` gives what holds after the body, and where the loop is left without `break`.
    """
    entry = visit.env
    head = entry
    visit.breaks.append([])
    left: Env | None = None
    for count in range(MAX_TURNS + 1):
        visit.env = None if head is None else dict(head)
        visit.breaks[-1].clear()
        visit.continues.append([])
        unbound, visit.unbound = visit.unbound, set()
        after, left = turn()
        for each in visit.continues.pop():
            after = join_envs(after, each)
        again = join_envs(head, after)
        asked, visit.unbound = visit.unbound, unbound | visit.unbound
        if head is None or again is None or _same(head, again, asked):
            break
        if count >= MAX_TURNS - 1:
            again = {
                name: found if head.get(name, found) == found else UNKNOWN
                for name, found in again.items()
            }
        head = again
    visit.env = left
    return left


def _same(head: Env, again: Env, asked: set[str]) -> bool:
    """True where another turn would find nothing new: variables that are only bound inside
    the body, and not read before that, do not matter."""
    for name, found in again.items():
        if name in head:
            if head[name] is not found and head[name] != found:
                return False
        elif name in asked:
            return False
    return len(again.keys() & head.keys()) == len(head)


def _leave(visit: Visit, orelse: Sequence[ast.stmt]) -> None:
    """Runs a loop's `else`, and joins what its `break`s bring."""
    run(visit, orelse)
    for each in visit.breaks.pop():
        visit.env = join_envs(visit.env, each)


def run_for(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.For | ast.AsyncFor)
    iterable = visit.infer(node.iter)
    is_async = isinstance(node, ast.AsyncFor)

    def turn() -> tuple[Env | None, Env | None]:
        head = None if visit.env is None else dict(visit.env)
        item = UNKNOWN if is_async else turn_of(visit, node.iter, iterable, node.target)
        assign(visit, node.target, item)
        settle_parts(visit, node.iter, iterable, node.target)
        run(visit, node.body)
        after = visit.env
        for each in visit.continues[-1]:
            after = join_envs(after, each)
        return visit.env, join_envs(head, after)

    _turns(visit, turn)
    _leave(visit, node.orelse)


def run_while(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.While)

    def turn() -> tuple[Env | None, Env | None]:
        true, false = branch(visit, node.test)
        visit.env = None if true is None else dict(true)
        run(visit, node.body)
        return visit.env, None if false is None else dict(false)

    _turns(visit, turn)
    _leave(visit, node.orelse)


def run_break(visit: Visit, node: ast.stmt) -> None:
    if visit.breaks and visit.env is not None:
        visit.breaks[-1].append(visit.env)
    visit.env = None


def run_continue(visit: Visit, node: ast.stmt) -> None:
    if visit.continues and visit.env is not None:
        visit.continues[-1].append(visit.env)
    visit.env = None


# Leaving


def run_return(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Return)
    found = visit.infer(node.value) if node.value is not None else NONE
    if isinstance(found, Tuple):
        found = widened(found)
    visit.returned = join(visit.returned, found)
    visit.env = None


def run_raise(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Raise)
    for part in (node.exc, node.cause):
        if part is not None:
            visit.infer(part)
    visit.env = None


def run_assert(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assert)
    true, false = branch(visit, node.test)
    if node.msg is not None:
        visit.env = false
        if false is not None:
            visit.infer(node.msg)
    visit.env = None if true is None else dict(true)


def run_try(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Try | ast.TryStar)
    before = visit.env
    visit.caught.append([] if before is None else [dict(before)])
    run(visit, node.body)
    run_env = visit.env
    raised: Env | None = None
    for each in visit.caught.pop():
        raised = join_envs(raised, each)
    run(visit, node.orelse)
    after = visit.env if node.orelse else run_env
    for handler in node.handlers:
        visit.env = None if raised is None else dict(raised)
        if handler.type is not None:
            classes = visit.infer(handler.type)
            if handler.name:
                visit.bind(handler.name, _exception(visit, classes, node))
        run(visit, handler.body)
        if handler.name and visit.env is not None:
            visit.env.pop(handler.name, None)
        after = join_envs(after, visit.env)
    if node.finalbody:
        _run_finally(visit, node.finalbody, after, raised)
    else:
        visit.env = after


def _run_finally(
    visit: Visit, body: Sequence[ast.stmt], after: Env | None, raised: Env | None
) -> None:
    """Runs `finally` for every way that leads there; control goes on only from `after`."""
    visit.env = None if after is None else dict(after)
    run(visit, body)
    going = visit.env
    visit.env = join_envs(after, raised)
    if visit.env is not None:
        visit.env = dict(visit.env)
    run(visit, body)
    visit.env = going


def _exception(visit: Visit, classes: Type, node: ast.AST) -> Type:
    if isinstance(node, ast.TryStar):
        return Instance("builtins.ExceptionGroup")
    if isinstance(classes, Class):
        return Instance(classes.name)
    found = element_of(visit, classes) if not isinstance(classes, Unknown) else UNKNOWN
    result: Type = NEVER
    for member in members_of(found):
        result = join(result, Instance(member.name) if isinstance(member, Class) else UNKNOWN)
    return UNKNOWN if result is NEVER else result


def run_with(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.With | ast.AsyncWith)
    suppresses = False
    for item in node.items:
        manager = visit.infer(item.context_expr)
        suppresses = suppresses or _may_suppress(visit, manager)
        if item.optional_vars is not None:
            assign(visit, item.optional_vars, _entered(visit, manager, node))
        else:
            _entered(visit, manager, node)
    before = visit.env
    if suppresses:
        visit.caught.append([] if before is None else [dict(before)])
    run(visit, node.body)
    if suppresses:
        for each in visit.caught.pop():
            visit.env = join_envs(visit.env, each)


def _may_suppress(visit: Visit, manager: Type) -> bool:
    if isinstance(manager, Unknown):
        return True
    if isinstance(manager, Instance):
        return manager.name in visit.engine.program.classes or "suppress" in manager.name
    return False


def _entered(visit: Visit, manager: Type, node: ast.stmt) -> Type:
    if isinstance(node, ast.AsyncWith) or isinstance(manager, Unknown):
        return UNKNOWN
    found: Type = NEVER
    for member in members_of(manager):
        answer: Type | None
        if isinstance(member, Instance) and member.name in visit.engine.program.classes:
            answer = visit.special(member, "__enter__", [])
            visit.special(member, "__exit__", [UNKNOWN, UNKNOWN, UNKNOWN])
        else:
            answer = visit.engine.library.enter(visit.resolved(member))
        found = join(found, UNKNOWN if answer is None else answer)
    return found


def run_class(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.ClassDef)
    name = visit.engine.owner_of(node)
    for part in (*node.decorator_list, *node.bases, *(each.value for each in node.keywords)):
        visit.infer(part)
    outer_env, outer_class = visit.env, visit.class_name
    visit.env = dict(visit.here())
    visit.class_name = name
    run(visit, node.body)
    visit.env, visit.class_name = outer_env, outer_class
    visit.bind(node.name, Class(name))


def run_expression(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Expr)
    visit.infer(node.value)


def run_match(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Match)
    subject = visit.infer(node.subject)
    after: Env | None = None
    for case in node.cases:
        before = visit.env
        if before is None:
            break
        visit.env = dict(before)
        rest = match_case(visit, node.subject, subject, case.pattern)
        if case.guard is not None and visit.env is not None:
            true, _ = branch(visit, case.guard)
            visit.env = None if true is None else dict(true)
            rest = before
        run(visit, case.body)
        after = join_envs(after, visit.env)
        visit.env = rest
    visit.env = join_envs(after, visit.env)


def run_nothing(visit: Visit, node: ast.stmt) -> None:
    """`pass`, `global`, `nonlocal`"""


STATEMENTS: Mapping[type[ast.stmt], Callable[[Visit, ast.stmt], None]] = MappingProxyType(
    {
        ast.Assign: run_assign,
        ast.AnnAssign: run_annotated,
        ast.AugAssign: run_augmented,
        ast.Delete: run_delete,
        ast.If: run_if,
        ast.For: run_for,
        ast.AsyncFor: run_for,
        ast.While: run_while,
        ast.Break: run_break,
        ast.Continue: run_continue,
        ast.Return: run_return,
        ast.Raise: run_raise,
        ast.Assert: run_assert,
        ast.Try: run_try,
        ast.TryStar: run_try,
        ast.With: run_with,
        ast.AsyncWith: run_with,
        ast.FunctionDef: run_function,
        ast.AsyncFunctionDef: run_function,
        ast.ClassDef: run_class,
        ast.Import: run_import,
        ast.ImportFrom: run_import_from,
        ast.Expr: run_expression,
        ast.Match: run_match,
        ast.Pass: run_nothing,
        ast.Global: run_nothing,
        ast.Nonlocal: run_nothing,
    }
)
