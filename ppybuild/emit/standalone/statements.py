"""Statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.standalone.body import FRAME, Body, Loop, has_effects
from ppybuild.emit.standalone.calls import form_flag, lower_exit
from ppybuild.emit.standalone.classes import class_form
from ppybuild.emit.standalone.entries import (
    as_key,
    delete_entry,
    dict_of,
    load_entry,
    store_entry,
)
from ppybuild.emit.standalone.exceptions import RAISED
from ppybuild.emit.standalone.imports import lower_import
from ppybuild.emit.standalone.items import (
    checked_index,
    index_value,
    item,
    put,
    splice,
    store_item,
)
from ppybuild.emit.standalone.iteration import look_at_signals, looping, plan_source
from ppybuild.emit.standalone.kinds import (
    NONE,
    TEXT,
    ArrayOf,
    DictOf,
    Kind,
    ListOf,
    ObjectOf,
    Reference,
    SetOf,
    TupleOf,
    c_type,
    has_text,
    show,
)
from ppybuild.emit.standalone.objects import load_field, store_field
from ppybuild.emit.standalone.operators import SETS, lower_binary
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.texts import repr_of, str_of
from ppybuild.emit.standalone.tries import leave_tries, lower_try
from ppybuild.emit.standalone.values import NOTHING, Value, as_struct
from ppybuild.graph.scopes import scope_of


def lower_block(body: Body, statements: Sequence[ast.stmt]) -> None:
    """Statements in order; those that no run reaches are left out."""
    for statement in statements:
        if body.bound is None:
            return
        try:
            _statement(body, statement)
        except Refused as refused:
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
            given = body.value_for(value, _kind_of_target(body, targets[0]))
            if len(targets) > 1 or not isinstance(targets[0], ast.Name):
                given = body.keep(given)
            for target in targets:
                assign(body, target, given)
        case ast.AnnAssign(value=None):
            pass
        case ast.AnnAssign(target=target, value=value) if value is not None:
            assign(body, target, body.value_for(value, _kind_of_target(body, target)))
        case ast.AugAssign():
            _augment(body, node)
        case ast.Return():
            _return(body, node)
        case ast.Raise():
            _raise(body, node)
        case ast.Assert():
            _assert(body, node)
        case ast.Import() | ast.ImportFrom():
            lower_import(body, node)
        case ast.Delete(targets=targets):
            for target in targets:
                _delete(body, target)
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


# Assignments


def _kind_of_target(body: Body, target: ast.expr) -> Kind | None:
    match target:
        case ast.Name(id=name):
            return body.kind_of_name(target, name)
        case ast.Attribute():
            return body.kind_at(target)
        case ast.Subscript(value=where, slice=ast.Slice()):
            return body.kind_at(where)
        case ast.Subscript(value=where):
            kind = body.kind_at(where)
            if isinstance(kind, DictOf):
                return kind.value
            return kind.item if isinstance(kind, ListOf) else None
    return None


def assign(body: Body, target: ast.expr, value: Value) -> None:
    """`target = value`; the value is kept where there are several targets."""
    match target:
        case ast.Name(id=name):
            body.assign(target, name, value)
        case ast.Subscript():
            store_item(body, target, value)
        case ast.Attribute(value=owner):
            value = body.keep(value) if has_effects(owner) else value
            where = body.value(owner)
            if not isinstance(where.kind, ObjectOf):
                raise Refused(target, f"an assignment to `{ast.unparse(target)}`")
            store_field(body, target, where, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(body, target, parts, value)
        case _:
            raise Refused(target, f"an assignment to `{ast.unparse(target)}`")


def _unpack(body: Body, node: ast.expr, parts: Sequence[ast.expr], value: Value) -> None:
    if any(isinstance(part, ast.Starred) for part in parts):
        raise Refused(node, "a starred target")
    match value.kind:
        case TupleOf(items):
            if len(items) != len(parts):
                body.fail(node, "true", f"ppy_why_unpack({len(parts)}, {len(items)})")
                return
            kept = body.keep(value).items()
            for part, each in zip(parts, kept, strict=True):
                assign(body, part, each)
        case ListOf() | ArrayOf():
            count = len(parts)
            why = f"ppy_why_unpack({count}, {value.c}->length)"
            body.fail(node, f"{value.c}->length != {count}", why)
            found = [body.keep(item(value.kind, value.c, str(at))) for at in range(count)]
            for part, each in zip(parts, found, strict=True):
                assign(body, part, each)
        case kind:
            raise Refused(node, f"unpacking {show(kind)}")


def _augment(body: Body, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Subscript):
        _augment_item(body, node, target)
        return
    if isinstance(target, ast.Attribute):
        _augment_field(body, node, target)
        return
    left = body.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
    if isinstance(left.kind, SetOf | DictOf):
        _augment_table(body, node, left, body.value(node.value))
        return
    if isinstance(left.kind, ListOf | ArrayOf):
        _extend(body, node, left)
        return
    if left.kind == TEXT and isinstance(node.op, ast.Add) and target.id in body.places:
        right = body.value(node.value)
        if right.kind == TEXT:
            body.line(f"ppy_keep_more(&{left.c}, {right.c});")
            return
    if has_effects(node.value):
        left = body.keep(left)
    right = body.value(node.value)
    body.assign(node, target.id, lower_binary(body, node, node.op, left, right))


def _augment_field(body: Body, node: ast.AugAssign, target: ast.Attribute) -> None:
    where = body.keep(body.value(target.value))
    if not isinstance(where.kind, ObjectOf):
        raise Refused(node, f"an assignment to `{ast.unparse(target)}`")
    left = load_field(body, target, where)
    if isinstance(left.kind, ListOf | ArrayOf):
        _extend(body, node, left)
    elif isinstance(left.kind, SetOf | DictOf):
        _augment_table(body, node, left, body.value(node.value))
    else:
        left = body.keep(left) if has_effects(node.value) else left
        value = lower_binary(body, node, node.op, left, body.value(node.value))
        store_field(body, target, where, value)


def _extend(body: Body, node: ast.AugAssign, left: Value) -> None:
    right = body.value_for(node.value, left.kind)
    if not isinstance(node.op, ast.Add) or right.kind != left.kind:
        raise Refused(node, f"this change of {show(left.kind)} in its place")
    body.at(node)
    body.line(f"ppy_list_extend({left.c}, {right.c});")


def _augment_table(body: Body, node: ast.AugAssign, left: Value, right: Value) -> None:
    change = SETS[type(node.op)][1] if type(node.op) in SETS else ""
    if isinstance(left.kind, DictOf) and isinstance(node.op, ast.BitOr):
        change = "ppy_dict_update"
    if not change or left.kind != right.kind:
        raise Refused(node, f"this change of {show(left.kind)} in its place")
    body.at(node)
    body.line(f"{change}({left.c}, {right.c});")


def _augment_entry(body: Body, node: ast.AugAssign, where: Value, key: Value) -> None:
    key = body.keep(key)
    left = load_entry(body, node.target, where, key)
    if isinstance(left.kind, Reference):
        raise Refused(node, f"this change of {show(left.kind)} in its place")
    value = lower_binary(body, node, node.op, left, body.value(node.value))
    store_entry(body, node, where, as_key(body, node, dict_of(where).key, key), value)


def _augment_item(body: Body, node: ast.AugAssign, target: ast.Subscript) -> None:
    where = body.value(target.value)
    if has_effects(target.slice) or has_effects(node.value):
        where = body.keep(where)
    kind = where.kind
    if isinstance(kind, DictOf):
        _augment_entry(body, node, where, body.value(target.slice))
        return
    if isinstance(target.slice, ast.Slice) or not isinstance(kind, ListOf | ArrayOf):
        raise Refused(node, f"this change of {show(kind)} in its place")
    index = body.keep(index_value(body, target.slice))
    why = "list_index" if isinstance(kind, ListOf) else "array_index"
    at = checked_index(body, target, index, f"{where.c}->length", why)
    left = body.keep(item(kind, where.c, at))
    if isinstance(left.kind, ListOf | ArrayOf):
        raise Refused(node, f"this change of {show(left.kind)} in its place")
    right = body.value(node.value)
    value = lower_binary(body, node, node.op, left, right)
    if has_effects(node.value):
        store = "list_store" if isinstance(kind, ListOf) else "array_store"
        at = checked_index(body, node, index, f"{where.c}->length", store)
    put(body, node, kind, where.c, at, value)


def _delete(body: Body, target: ast.expr) -> None:
    if not isinstance(target, ast.Subscript):
        raise Refused(target, f"`del {ast.unparse(target)}`")
    where = body.value(target.value)
    if isinstance(target.slice, ast.Slice):
        splice(body, target, where, target.slice, "NULL")
        return
    if isinstance(where.kind, DictOf):
        delete_entry(body, target, where, body.value(target.slice))
        return
    index = index_value(body, target.slice)
    if not isinstance(where.kind, ListOf | ArrayOf):
        raise Refused(target, f"`del` of an item of {show(where.kind)}")
    why = "list_store" if isinstance(where.kind, ListOf) else "array_store"
    at = checked_index(body, target, index, f"{where.c}->length", why)
    body.line(f"ppy_list_remove({where.c}, {at});")


# Ways out


def _return(body: Body, node: ast.Return) -> None:
    if body.function is None:
        raise Refused(node, "`return` outside a function")
    value = body.value_for(node.value, body.result) if node.value is not None else None
    value = body.suit(value or NOTHING, body.result)
    kind = value.kind
    if kind != body.result:
        raise Refused(node, f"the function returns {show(body.result)}, and here {show(kind)}")
    leave_tries(body)
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


def _raise(body: Body, node: ast.Raise) -> None:
    if node.exc is None:
        if not body.handlers:
            raise Refused(node, "`raise` alone outside a handler")
        body.line("ppy_reraise();")
        body.bound = None
        return
    if node.cause is not None and not (
        isinstance(node.cause, ast.Constant) and node.cause.value is None
    ):
        raise Refused(node, "`raise … from …`")
    call = node.exc if isinstance(node.exc, ast.Call) else None
    name = ast.unparse(call.func if call else node.exc)
    if name not in RAISED:
        raise Refused(node, f"raising `{name}`", "raise a built-in exception")
    if name == "SystemExit":
        lower_exit(body, call or ast.Call(node.exc, [], []))
    else:
        message = "(ppy_text){0}"
        if call is not None and (call.keywords or len(call.args) > 1):
            raise Refused(node, "an exception of several arguments")
        if call is not None and call.args:
            value = body.value(call.args[0])
            if name == "KeyError":
                message = repr_of(body, node, value).c
            elif name in ("OSError", "UnicodeError", "StopIteration") and value.kind != TEXT:
                raise Refused(node, f"a `{name}` of {show(value.kind)}")
            else:
                message = str_of(body, node, value).c
        body.at(node)
        body.line(f"ppy_raise(PPY_{name}, {message});")
    body.bound = None


def _assert(body: Body, node: ast.Assert) -> None:
    test = body.test(node.test)
    with body.block(f"if (PPY_UNLIKELY(!{test}))"):
        message = "(ppy_text){0}"
        if node.msg is not None:
            message = str_of(body, node, body.value(node.msg)).c
        body.line(f"{FRAME}.line = {node.lineno};")
        body.line(f"ppy_raise(PPY_AssertionError, {message});")


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
    class_form(body.whole, name, node)
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
    loop = Loop(f"{body.fresh()}_done", len(body.tries), len(body.handlers))
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
        with looping(body, node, source) as value:
            with body.statement():
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
    leave_tries(body, loop.tries, loop.handlers)
    for mark in body.handlers[loop.handlers : loop.handlers + 1]:
        body.line(f"ppy_arena_release({mark});")
    if isinstance(node, ast.Break):
        loop.broken = True
        loop.bound.append(set(body.bound or ()))
        body.line(f"goto {loop.done};")
    else:
        body.line("continue;")
    body.bound = None
