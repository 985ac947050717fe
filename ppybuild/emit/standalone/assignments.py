"""Assignments: to names, items, fields and slices; in place; `del`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.standalone.body import Body, has_effects
from ppybuild.emit.standalone.classes import class_form
from ppybuild.emit.standalone.entries import (
    as_key,
    delete_entry,
    dict_of,
    load_entry,
    store_entry,
)
from ppybuild.emit.standalone.items import (
    checked_index,
    index_value,
    item,
    put,
    splice,
    store_item,
)
from ppybuild.emit.standalone.kinds import (
    TEXT,
    ArrayOf,
    DictOf,
    Kind,
    ListOf,
    ObjectOf,
    Reference,
    SetOf,
    TupleOf,
    show,
)
from ppybuild.emit.standalone.objects import fields_of, form_of, load_field, store_field
from ppybuild.emit.standalone.operators import SETS, lower_binary
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value


def kind_of_target(body: Body, target: ast.expr) -> Kind | None:
    match target:
        case ast.Name(id=name):
            return body.kind_of_name(target, name)
        case ast.Attribute(value=owner, attr=name):
            kind = body.kind_at(owner)
            if isinstance(kind, ObjectOf) and kind.name in body.whole.facts.program.classes:
                return class_form(body.whole, kind.name, target).fields.get(name)
            return None
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
        case ObjectOf() if form_of(body, node, value).is_tuple:
            fields = fields_of(body, node, value)
            if len(fields) != len(parts):
                raise Refused(node, f"unpacking {len(fields)} fields")
            kept = tuple(map(body.keep, fields))
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


def augment(body: Body, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Subscript):
        _augment_item(body, node, target)
        return
    if isinstance(target, ast.Attribute):
        _augment_field(body, node, target)
        return
    left = body.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
    if isinstance(left.kind, SetOf | DictOf | ListOf | ArrayOf):
        left = _change(body, node, left)
        if has_effects(node.value):
            body.assign(node, target.id, left)
        return
    binds = any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.value))
    adds = isinstance(node.op, ast.Add) and not binds
    if left.kind == TEXT and adds and target.id in body.places:
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
    if isinstance(left.kind, SetOf | DictOf | ListOf | ArrayOf):
        value = _change(body, node, left)
    else:
        left = body.keep(left) if has_effects(node.value) else left
        value = lower_binary(body, node, node.op, left, body.value(node.value))
    store_field(body, target, where, value)


def _change(body: Body, node: ast.AugAssign, left: Value) -> Value:
    """Change what was there before the value, which may put another in its place."""
    if has_effects(node.value):
        left = body.keep(left)
    if isinstance(left.kind, ListOf | ArrayOf):
        _extend(body, node, left)
    else:
        _augment_table(body, node, left, body.value(node.value))
    return left


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


def delete(body: Body, target: ast.expr) -> None:
    if not isinstance(target, ast.Subscript):
        raise Refused(target, f"`del {ast.unparse(target)}`")
    where = body.value(target.value)
    if has_effects(target.slice):
        where = body.keep(where)
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
