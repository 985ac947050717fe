"""Statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.standalone.around import Loop
from ppybuild.emit.standalone.assignments import assign, augment, delete, kind_of_target
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.calls import form_flag
from ppybuild.emit.standalone.classes import class_form
from ppybuild.emit.standalone.exceptions import (
    is_exception,
    own_exception,
)
from ppybuild.emit.standalone.imports import lower_import
from ppybuild.emit.standalone.iteration import look_at_signals, looping, plan_source
from ppybuild.emit.standalone.kinds import (
    NONE,
    TEXT,
    TupleOf,
    c_type,
    has_text,
    show,
)
from ppybuild.emit.standalone.lists import listed
from ppybuild.emit.standalone.raising import lower_assert, lower_raise
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.tries import has_final, leave_around, lower_try
from ppybuild.emit.standalone.values import NOTHING, Value, as_struct
from ppybuild.graph.scopes import scope_of


def lower_block(body: Body, statements: Sequence[ast.stmt]) -> None:
    """Statements in order; those that no run reaches are left out."""
    for statement in statements:
        if body.bound is None:
            return
        inner, around, loops = dict(body.inner), list(body.around), list(body.loops)
        depth = body.depth
        try:
            _statement(body, statement)
        except Refused as refused:
            body.inner, body.around, body.loops, body.depth = inner, around, loops, depth
            body.whole.refuse(body.module, refused, statement)
            if isinstance(statement, ast.Return | ast.Raise):
                body.bound = None
            if body.bound is not None:
                body.bound |= scope_of([statement], expressions=False).bound


def _statement(body: Body, node: ast.stmt) -> None:
    match node:
        case ast.If():
            _if(body, node)
        case ast.While():
            _while(body, node)
        case ast.For():
            _for(body, node)
        case ast.Try():
            lower_try(body, node, lower_block)
        case ast.Break() | ast.Continue():
            _leave_loop(body, node)
        case ast.FunctionDef():
            _def(body, node)
        case ast.ClassDef():
            _class(body, node)
        case ast.Pass() | ast.Global() | ast.Expr(value=ast.Constant()):
            pass
        case _:
            with body.statement():
                _simple(body, node)


def _simple(body: Body, node: ast.stmt) -> None:
    match node:
        case ast.Expr(value=value):
            given = body.value(value)
            if given.c and given.parts is None:
                body.line(f"(void){given.c};")
            if isinstance(value, ast.Call) and _is_exit(body, value):
                body.line("__builtin_unreachable();")
                body.bound = None
        case ast.Assign(targets=[ast.Name()], value=ast.Subscript(value=ast.Name(id=name))) if (
            name in ("tuple", "list", "dict", "set")
            and name not in body.whole.stores(body.module.name)
        ):
            pass  # a name for a type, which annotations alone read
        case ast.Assign(targets=targets, value=value):
            given = _assigned(body, targets, value)
            if len(targets) > 1 or not isinstance(targets[0], ast.Name):
                given = body.keep(given)
            for target in targets:
                assign(body, target, given)
        case ast.AnnAssign(value=None):
            pass
        case ast.AnnAssign(target=target, value=value) if value is not None:
            assign(body, target, body.value_for(value, kind_of_target(body, target)))
        case ast.AugAssign():
            augment(body, node)
        case ast.Return():
            _return(body, node)
        case ast.Raise():
            lower_raise(body, node)
        case ast.Assert():
            lower_assert(body, node)
        case ast.Import() | ast.ImportFrom():
            lower_import(body, node)
        case ast.Delete(targets=targets):
            for target in targets:
                delete(body, target)
        case _:
            raise Refused(node, _WHAT.get(type(node).__name__, type(node).__name__))


_WHAT = {
    "With": "`with`",
    "AsyncWith": "`async with`",
    "AsyncFor": "`async for`",
    "AsyncFunctionDef": "an async function",
    "Match": "`match`",
    "TryStar": "`except*`",
    "Nonlocal": "`nonlocal`",
}


def _is_exit(body: Body, node: ast.Call) -> bool:
    callee = body.whole.facts.callees.get(node)
    return callee is not None and callee.name == "sys.exit"


def _assigned(body: Body, targets: Sequence[ast.expr], value: ast.expr) -> Value:
    callee = body.whole.facts.callees.get(value) if isinstance(value, ast.Call) else None
    if callee is not None and callee.name == "builtins.map" and len(targets) == 1:
        target = targets[0]
        if isinstance(target, ast.Tuple | ast.List):
            return listed(body, value, len(target.elts))
    return body.value_for(value, kind_of_target(body, targets[0]))


# Ways out


def _return(body: Body, node: ast.Return) -> None:
    if body.function is None:
        raise Refused(node, "`return` outside a function")
    value = body.value_for(node.value, body.result) if node.value is not None else None
    value = body.suit(value or NOTHING, body.result)
    kind = value.kind
    if kind != body.result:
        raise Refused(node, f"the function returns {show(body.result)}, and here {show(kind)}")
    if has_final(body):
        value = body.keep(value)
    leave_around(body, lower_block)
    if body.bound is None:
        return
    body.needs_entry = body.needs_entry or body.uses_arena or has_text(kind)
    body.uses_arena = False
    leave(body, value)
    body.bound = None


def leave(body: Body, value: Value | None) -> None:
    """The way out of a function."""
    if value is None or value.kind == NONE:
        body.raw("@leave")
        body.line("return;")
        return
    if value.kind == TEXT:
        c = f"ppy_arena_return(ppy_entry, {value.c})"
        body.line(f"const ppy_text ppy_result = {c};")
    else:
        if isinstance(value.kind, TupleOf):
            body.whole.tuples.add(value.kind)
            if has_text(value.kind):
                # Slots go with the frame; the caller's statement gives the arena back.
                value = body.keep(value)
        body.line(f"{c_type(value.kind)} const ppy_result = {as_struct(value)};")
    body.raw("@leave text" if has_text(value.kind) else "@leave")
    body.line("return ppy_result;")


def _def(body: Body, node: ast.FunctionDef) -> None:
    if body.function is not None:
        raise Refused(node, "a function in a function", "move it out")
    name = f"{body.module.name}.{node.name}"
    body.line(f"@defined {form_flag(name)} {name}")
    if body.bound is not None:
        body.bound.add(node.name)


def _class(body: Body, node: ast.ClassDef) -> None:
    if body.function is not None:
        raise Refused(node, "a class in a function", "move it out")
    name = f"{body.module.name}.{node.name}"
    if not is_exception(body.whole, name):
        class_form(body.whole, name, node)
    else:
        own_exception(body.whole, name, node)
    body.line(f"@defined {form_flag(name)} {name}")
    if body.bound is not None:
        body.bound.add(node.name)


# Branches and loops


def _if(body: Body, node: ast.If) -> None:
    known = _known_test(body, node.test)
    if known is not None:
        lower_block(body, node.body if known else node.orelse)
        return
    test = body.condition(node.test)
    before = set(body.bound or ())
    with body.block(f"if ({test})"):
        lower_block(body, node.body)
    after = body.bound
    body.bound = before
    if node.orelse:
        body.lines.pop()
        with body.block("} else"):
            lower_block(body, node.orelse)
    body.bound = joined(after, body.bound)


def joined(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    """What is bound where two ways meet."""
    if one is None or other is None:
        return one if other is None else other
    return one & other


def _known_test(body: Body, node: ast.expr) -> bool | None:
    """`__name__ == "__main__"` and `TYPE_CHECKING` are known."""
    match node:
        case ast.Compare(
            left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value=name)]
        ):
            return name == (
                "__main__" if body.module.name == body.whole.main else body.module.name
            )
    if isinstance(node, ast.Name) and node.id == "TYPE_CHECKING":
        return False
    return None


def _enter(body: Body) -> Loop:
    loop = Loop(f"{body.fresh()}_done", len(body.around))
    body.loops.append(loop)
    return loop


def _after(body: Body, loop: Loop, orelse: Sequence[ast.stmt], ends: bool) -> None:
    """`else`, and where `break` goes. `ends`: the loop may end without one."""
    body.loops.pop()
    if not ends:
        body.bound = None
    if body.bound is not None:
        lower_block(body, orelse)
    if loop.broken:
        body.line(f"{loop.done}:;")
        for bound in loop.bound:
            body.bound = joined(body.bound, bound)
    body.said_line = 0


def _while(body: Body, node: ast.While) -> None:
    loop = _enter(body)
    forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
    bound: set[str] | None = set(body.bound or ())
    with body.block("for (;;)"):
        look_at_signals(body, node)
        if not forever:
            test = body.condition(node.test)
            bound = set(body.bound or ())
            body.line(f"if (!({test})) break;")
        lower_block(body, node.body)
    body.bound = bound
    _after(body, loop, node.orelse, ends=not forever)


def _for(body: Body, node: ast.For) -> None:
    start, outer = len(body.lines), body.uses_arena
    body.uses_arena = False
    with body.block(""):
        loop = _enter(body)
        source = plan_source(body, node.iter)
        held = body.uses_arena
        bound = set(body.bound or ())
        with looping(body, node, source):
            with body.statement():
                value = source.given(body)
                assign(body, node.target, body.keep(value) if value.parts else value)
            lower_block(body, node.body)
        body.bound = bound
        _after(body, loop, node.orelse, ends=True)
        if held and body.bound is not None:
            body.line("ppy_arena_release(ppy_loop_mark);")
    if held:
        mark = "    " * (body.depth + 1) + "const ppy_mark ppy_loop_mark = ppy_arena_mark();"
        body.lines.insert(start + 1, mark)
    body.uses_arena = outer or body.uses_arena or held


def _leave_loop(body: Body, node: ast.Break | ast.Continue) -> None:
    loop = body.loops[-1]
    leave_around(body, lower_block, loop.around, release=True)
    if body.bound is None:
        return
    if isinstance(node, ast.Break):
        loop.broken = True
        loop.bound.append(set(body.bound or ()))
        body.line(f"goto {loop.done};")
    else:
        body.line("continue;")
    body.bound = None
