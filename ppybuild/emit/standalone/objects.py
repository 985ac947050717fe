"""Objects: made, and their fields, properties and methods."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.classes import ClassForm, class_form, is_plain
from ppybuild.emit.standalone.invoke import invoke, invoke_method
from ppybuild.emit.standalone.items import new_list
from ppybuild.emit.standalone.kinds import (
    TEXT,
    DictOf,
    Kind,
    ListOf,
    ObjectOf,
    SetOf,
    TupleOf,
    layout,
    number_help,
    show,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, c_string, constant

# Made


def make_object(body: Body, node: ast.Call, name: str) -> Value:
    """`Class(…)`"""
    form = class_form(body.whole, name, node)
    made = f"ppy_object_new(&{form.table})"
    if form.is_dataclass and "__init__" not in form.methods:
        return _dataclass(body, node, form, made)
    init = form.method("__init__")
    if init is None:
        if node.args or node.keywords:
            raise Refused(node, f"arguments of `{form.simple}`")
        body.at(node)
        return body.root(ObjectOf(name), made)
    given = body.arguments(node, init, skip_first=True)
    body.at(node)
    created = body.root(ObjectOf(name), made)
    own = next(iter(body.whole.form(init, node).parameters))
    invoke(body, node, init, {own: created, **given})
    return created


def _dataclass(body: Body, node: ast.Call, form: ClassForm, made: str) -> Value:
    defaults = {
        each.target.id: each.value
        for each in form.node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value
    }
    given = dict(zip(form.fields, node.args, strict=False))
    if len(node.args) > len(form.fields) or any(isinstance(a, ast.Starred) for a in node.args):
        raise Refused(node, f"these arguments of `{form.simple}`")
    for keyword in node.keywords:
        if keyword.arg not in form.fields or keyword.arg in given or keyword.arg is None:
            raise Refused(node, f"the argument `{keyword.arg}` of `{form.simple}`")
        given[keyword.arg] = keyword.value
    for name, arg in given.items():
        body.hint(arg, form.fields[name])
    values = dict(zip(given, map(body.keep, body.values(*given.values())), strict=True))
    body.at(node)
    created = body.root(ObjectOf(form.name), made)
    for name, kind in form.fields.items():
        if name in values:
            value = values[name]
        elif name in defaults:
            value = _default(body, defaults[name], kind)
        else:
            raise Refused(node, f"the argument `{name}` of `{form.simple}` is missing")
        body.store(_place(form, created, name), _fitting(body, node, form, name, value))
    after = form.method("__post_init__")
    if after is not None:
        invoke_method(body, node, after, created)
    return created


_EMPTY = {"list": ListOf, "dict": DictOf, "set": SetOf}


def _default(body: Body, node: ast.expr, kind: Kind) -> Value:
    match node:
        case plain if is_plain(plain):
            return body.value(plain)
        case ast.Call(
            func=function, args=[], keywords=[ast.keyword(arg="default", value=inner)]
        ):
            if ast.unparse(function) in ("field", "dataclasses.field"):
                return _default(body, inner, kind)
        case ast.Call(
            func=function, args=[], keywords=[ast.keyword("default_factory", factory)]
        ):
            empty = _EMPTY.get(ast.unparse(factory))
            if empty is not None and isinstance(kind, empty):
                return _empty(body, node, kind)
    raise Refused(
        node, "a default that is no number or str", "write `field(default_factory=list)`"
    )


def _empty(body: Body, node: ast.AST, kind: Kind) -> Value:
    body.at(node)
    match kind:
        case ListOf():
            return new_list(body, node, kind)
        case DictOf():
            body.whole.tuples.add(kind.entry)
            return body.root(kind, f"ppy_dict_new({layout(kind.entry)})")
        case SetOf(item):
            if isinstance(item, TupleOf):
                body.whole.tuples.add(item)
            return body.root(kind, f"ppy_set_new({layout(item)})")
    raise Refused(node, f"an empty {show(kind)}")


# Fields


def _place(form: ClassForm, where: Value, name: str) -> Value:
    c = f"PPY_FIELDS({form.struct}, {where.c})->f_{form.c_fields[name]}"
    return Value(form.fields[name], c)


def _fitting(body: Body, node: ast.AST, form: ClassForm, name: str, value: Value) -> Value:
    kind = form.fields[name]
    value = body.suit(value, kind)
    if value.kind != kind:
        raise Refused(
            node,
            f"`{name}` of `{form.simple}` is {show(kind)}, and what is assigned is "
            f"{show(value.kind)}",
            number_help(kind),
        )
    return value


def form_of(body: Body, node: ast.AST, where: Value) -> ClassForm:
    assert isinstance(where.kind, ObjectOf)
    return class_form(body.whole, where.kind.name, node)


def check_none(
    body: Body, node: ast.AST, owner: ast.expr | None, where: Value, name: str
) -> None:
    own = isinstance(owner, ast.Name) and owner.id == body.own
    if not own:
        body.fail(node, f"!{where.c}", f"ppy_why_none({c_string(name)})")


def load_field(body: Body, node: ast.Attribute, where: Value) -> Value:
    """`where.name`"""
    form, name = form_of(body, node, where), node.attr
    check_none(body, node, node.value, where, name)
    if name in form.methods:
        if form.kind_of_method(name) != "property":
            raise Refused(node, f"the method `{name}` as a value")
        return invoke_method(body, node, f"{form.name}.{name}", where)
    if name in form.constants:
        return body.value(form.constants[name])
    if name not in form.fields:
        raise Refused(node, f"`{name}` of `{form.simple}`")
    if not form.is_dataclass:
        has = f"PPY_FIELDS({form.struct}, {where.c})->h_{form.c_fields[name]}"
        why = f"ppy_why_attribute({c_string(form.simple)}, {c_string(name)})"
        body.fail(node, f"!{has}", why)
    return _place(form, where, name)


def fields_of(body: Body, node: ast.AST, where: Value) -> list[Value]:
    """Of a named tuple, in order."""
    form = form_of(body, node, where)
    where = body.keep(where)
    body.fail(node, f"!{where.c}", "ppy_why_not_iterable()")
    return [_place(form, where, name) for name in form.fields]


def store_field(body: Body, node: ast.Attribute, where: Value, value: Value) -> None:
    """`where.name = value`"""
    form, name = form_of(body, node, where), node.attr
    if form.frozen or name not in form.fields:
        raise Refused(node, f"an assignment to `{name}` of `{form.simple}`")
    check_none(body, node, node.value, where, name)
    body.store(_place(form, where, name), _fitting(body, node, form, name, value))
    if not form.is_dataclass:
        body.line(f"PPY_FIELDS({form.struct}, {where.c})->h_{form.c_fields[name]} = true;")


# Shown


def text_of_object(body: Body, node: ast.AST, value: Value, *, shown: bool) -> Value:
    """`str(value)`, or `repr(value)` where it is `shown`."""
    form = form_of(body, node, value)
    need_repr(body, node, value.kind)
    text = None if shown else form.method("__str__")
    text = text or form.method("__repr__")
    place = body.variable(TEXT)
    with body.block(f"if ({value.c})"):
        if text is None:
            body.at(node)
            body.set(place, body.temporary(TEXT, f"ppy_object_repr({value.c})"))
        else:
            body.set(place, invoke_method(body, node, text, value))
    with body.block("else"):
        body.set(place, constant("None"))
    return place


def need_repr(
    body: Body, node: ast.AST, kind: Kind, seen: frozenset[Kind] = frozenset()
) -> None:
    """Refuse what is shown by an address; have the methods written that show it."""
    match kind:
        case TupleOf(items):
            for item in items:
                need_repr(body, node, item, seen)
        case ListOf(item) | SetOf(item):
            need_repr(body, node, item, seen)
        case DictOf(key, value):
            need_repr(body, node, key, seen)
            need_repr(body, node, value, seen)
        case ObjectOf(name) if kind not in seen:
            form = class_form(body.whole, name, node)
            method = form.method("__repr__")
            if method is not None:
                body.whole.form(method, node)
            elif form.is_dataclass:
                for each in form.fields.values():
                    need_repr(body, node, each, seen | {kind})
            elif not form.method("__str__") or seen:
                raise Refused(node, f"a `{form.simple}` shown by its address")
