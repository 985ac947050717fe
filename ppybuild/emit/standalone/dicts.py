"""Dicts: made, asked and changed, as rows of methods."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ppybuild.emit.standalone.arguments import positional
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.entries import (
    as_key,
    dict_of,
    entry_value,
    find,
    fit,
    found_entry,
    store_entry,
)
from ppybuild.emit.standalone.items import item
from ppybuild.emit.standalone.kinds import (
    DictOf,
    ListOf,
    TupleOf,
    c_type,
    kind_of,
    layout,
    may_be_item,
    may_be_key,
    show,
)
from ppybuild.emit.standalone.lists import gathered, generate
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import NOTHING, Value
from ppybuild.graph.lattice import show as show_type

# Made


def new_dict(body: Body, node: ast.AST, kind: DictOf) -> Value:
    body.at(node)
    body.whole.tuples.add(kind.entry)
    return body.root(kind, f"ppy_dict_new({layout(kind.entry)})")


def declared_dict(body: Body, node: ast.expr) -> DictOf:
    """What a dict is, as the types of the program say."""
    type_ = body.whole.facts.types.get(node)
    kind = body.kind_at(node)
    if not isinstance(kind, DictOf):
        said = show_type(type_) if type_ is not None else "unknown"
        raise Refused(node, f"a dict whose items are not known ({said})", "annotate it")
    return kind


def lower_dict(body: Body, node: ast.Dict) -> Value:
    """`{a: b, **c}`"""
    if not node.keys:
        return new_dict(body, node, declared_dict(body, node))
    made: Value | None = None
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            more = body.value(value)
            if not isinstance(more.kind, DictOf):
                raise Refused(value, f"`**` of {show(more.kind)}")
            made = made or new_dict(body, node, more.kind)
            _update(body, value, made, more)
            continue
        if made is not None:
            body.hint(value, dict_of(made).value)
        first, second = (body.keep(each) for each in body.values(key, value))
        known = body.kind_at(node)
        if isinstance(known, DictOf):
            second = body.suit(second, known.value)
        if made is None:
            if not may_be_key(first.kind) or not may_be_item(second.kind):
                raise Refused(node, f"a dict of {show(first.kind)} and {show(second.kind)}")
            made = new_dict(body, node, DictOf(first.kind, second.kind))
        store_entry(body, node, made, first, second)
    assert made is not None
    return made


def lower_dict_comprehension(body: Body, node: ast.DictComp) -> Value:
    """`{key: value for …}`"""
    made = new_dict(body, node, declared_dict(body, node))

    def put() -> None:
        key, value = (body.keep(each) for each in body.values(node.key, node.value))
        store_entry(body, node, made, key, value)

    generate(body, node, put)
    return made


def lower_dict_call(body: Body, node: ast.Call) -> Value:
    """`dict()`, `dict(other)`, `dict(pairs)`, `dict(name=value)`"""
    if len(node.args) > 1 or any(each.arg is None for each in node.keywords):
        raise Refused(node, "these arguments of `dict`")
    made = _dict_from(body, node.args[0]) if node.args else None
    made = made or new_dict(body, node, declared_dict(body, node))
    for keyword in node.keywords:
        name = body.value(ast.copy_location(ast.Constant(keyword.arg), keyword))
        store_entry(body, node, made, name, body.keep(body.value(keyword.value)))
    return made


def _dict_from(body: Body, node: ast.expr) -> Value:
    """Another dict's entries, or pairs."""
    if isinstance(kind_of(body.whole.facts.types.get(node)), DictOf):
        other = body.value(node)
        body.at(node)
        return body.root(other.kind, f"ppy_dict_copy({other.c})")
    pairs = gathered(body, node)
    assert isinstance(pairs.kind, ListOf)
    kind = pairs.kind.item
    if not isinstance(kind, TupleOf) or len(kind.items) != 2 or not may_be_key(kind.items[0]):
        raise Refused(node, f"a dict of {show(kind)}")
    made = new_dict(body, node, DictOf(*kind.items))
    _put_pairs(body, node, pairs, made)
    return made


def _put_pairs(body: Body, node: ast.expr, pairs: Value, made: Value) -> None:
    assert isinstance(pairs.kind, ListOf)
    at = body.counter("0")
    with body.block(f"for (; {at} < {pairs.c}->length; {at}++)"), body.statement():
        key, value = body.keep(item(pairs.kind, pairs.c, at)).items()
        store_entry(body, node, made, key, value)


def _put_all(body: Body, node: ast.expr, made: Value) -> None:
    """The entries of a dict, or the pairs of another iterable, into one that there is."""
    if isinstance(kind_of(body.whole.facts.types.get(node)), DictOf):
        _update(body, node, made, body.value(node))
        return
    pairs = gathered(body, node)
    if pairs.kind != ListOf(dict_of(made).entry):
        raise Refused(node, f"{show(made.kind)} updated by {show(pairs.kind)}")
    _put_pairs(body, node, pairs, made)


def _update(body: Body, node: ast.AST, where: Value, more: Value) -> None:
    if more.kind != where.kind:
        raise Refused(node, f"{show(where.kind)} updated by {show(more.kind)}")
    body.at(node)
    body.line(f"ppy_dict_update({where.c}, {more.c});")


# Methods


def _default(body: Body, node: ast.Call, where: Value, value: Value) -> Value:
    return body.keep(fit(body, node, value, dict_of(where).value, show(where.kind)))


def _get(body: Body, node: ast.Call, where: Value) -> Value:
    if len(node.args) == 2:
        body.hint(node.args[1], dict_of(where).value)
    key, *rest = positional(body, node, 1, 2)
    if not rest:
        raise Refused(node, "`get` that may give None", "give it a default")
    default = _default(body, node, where, rest[0])
    at, _ = find(body, node, where, key)
    place = body.variable(default.kind)
    with body.block(f"if ({at} < 0)"):
        body.set(place, default)
    with body.block("else"):
        body.set(place, entry_value(where, at))
    return place


def _pop(body: Body, node: ast.Call, where: Value) -> Value:
    key, *rest = positional(body, node, 1, 2)
    place = body.variable(dict_of(where).value)
    if rest:
        default = _default(body, node, where, rest[0])
        at, _ = find(body, node, where, key)
        body.set(place, default)
    else:
        at = found_entry(body, node, where, key)
    with body.block(f"if ({at} >= 0)"):
        body.set(place, entry_value(where, at))
        body.line(f"ppy_dict_delete({where.c}, {at});")
    return place


def _popitem(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    at = body.fresh()
    body.line(f"const int64_t {at} = ppy_dict_last({where.c});")
    body.fail(
        node,
        f"{at} < 0",
        "ppy_raise(PPY_KeyError, PPY_TEXT(\"'popitem(): dictionary is empty'\"))",
    )
    kind = dict_of(where)
    entry = Value(kind.entry, f"PPY_ITEMS({c_type(kind.entry)}, {where.c})[{at}]")
    found = body.keep(entry)
    body.line(f"ppy_dict_delete({where.c}, {at});")
    body.line(f"{where.c}->length = {at};")
    return found


def _setdefault(body: Body, node: ast.Call, where: Value) -> Value:
    if len(node.args) == 2:
        body.hint(node.args[1], dict_of(where).value)
    key, default = positional(body, node, 2, 2)
    default = _default(body, node, where, default)
    key = body.keep(as_key(body, node, dict_of(where).key, key))
    at, _ = find(body, node, where, key)
    place = body.variable(default.kind)
    with body.block(f"if ({at} < 0)"):
        store_entry(body, node, where, key, default)
        body.set(place, default)
    with body.block("else"):
        body.set(place, entry_value(where, at))
    return place


def _clear(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    body.line(f"ppy_dict_clear({where.c});")
    return NOTHING


def _copy(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    body.at(node)
    return body.root(where.kind, f"ppy_dict_copy({where.c})")


def _update_method(body: Body, node: ast.Call, where: Value) -> Value:
    if len(node.args) != 1 or node.keywords:
        raise Refused(node, "these arguments of `update`")
    _put_all(body, node.args[0], where)
    return NOTHING


METHODS: dict[str, Callable[[Body, ast.Call, Value], Value]] = {
    "get": _get,
    "pop": _pop,
    "popitem": _popitem,
    "setdefault": _setdefault,
    "clear": _clear,
    "copy": _copy,
    "update": _update_method,
}
