"""What dicts and sets hold by its hash: found, read, stored and taken away."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.kinds import (
    BOOL,
    FLOAT,
    INT,
    NUMBERS,
    DictOf,
    Kind,
    SetOf,
    TupleOf,
    c_type,
    layout,
    number_help,
    show,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, as_struct


def fit(body: Body, node: ast.AST, value: Value, kind: Kind, where: str) -> Value:
    """What is put in, which has to be of the kind of all the others."""
    value = body.suit(value, kind)
    if value.kind != kind:
        raise Refused(node, f"{show(value.kind)} as an item of {where}", number_help(kind))
    return value


def dict_of(where: Value) -> DictOf:
    assert isinstance(where.kind, DictOf)
    return where.kind


def as_key(body: Body, node: ast.AST, kind: Kind, key: Value) -> Value:
    """A key to look for: True and 1.0 are 1."""
    if key.kind == kind:
        return key
    if kind == INT and key.kind == BOOL:
        return Value(INT, f"((int64_t){key.c})", fixed=key.fixed)
    exact = isinstance(key.literal, int) and abs(key.literal) <= 2**53
    if kind == FLOAT and key.kind in NUMBERS and exact:
        return Value(FLOAT, f"((double){key.c})", fixed=True)
    raise Refused(node, f"{show(key.kind)} looked for where keys are {show(kind)}")


def address(body: Body, key: Value) -> str:
    """C for a pointer to a key."""
    if isinstance(key.kind, TupleOf):
        body.whole.tuples.add(key.kind)
    name = body.fresh()
    body.line(f"const {c_type(key.kind)} {name} = {as_struct(key)};")
    return f"&{name}"


def find(body: Body, node: ast.AST, where: Value, key: Value) -> tuple[str, str]:
    """C for the entry's place, or -1; and for the key's address."""
    key = as_key(body, node, dict_of(where).key, key)
    body.at(node)
    pointer, at = address(body, key), body.fresh()
    body.line(f"const int64_t {at} = ppy_dict_find({where.c}, {pointer});")
    return at, pointer


def entry_value(where: Value, at: str) -> Value:
    """The value at a place, as it is now."""
    kind = dict_of(where)
    return Value(kind.value, f"PPY_ITEMS({c_type(kind.entry)}, {where.c})[{at}].p1")


def load_entry(body: Body, node: ast.AST, where: Value, key: Value) -> Value:
    """`where[key]`"""
    at = found_entry(body, node, where, key)
    return body.keep(entry_value(where, at))


def found_entry(body: Body, node: ast.AST, where: Value, key: Value) -> str:
    at, pointer = find(body, node, where, key)
    body.fail(node, f"{at} < 0", f"ppy_why_key({layout(dict_of(where).key)}, {pointer})")
    return at


def store_entry(body: Body, node: ast.AST, where: Value, key: Value, value: Value) -> None:
    """`where[key] = value`"""
    kind = dict_of(where)
    key = fit(body, node, key, kind.key, f"{show(kind)}, as a key")
    value = body.keep(fit(body, node, value, kind.value, show(kind)))
    body.at(node)
    pointer, at = address(body, key), body.fresh()
    body.line(f"const int64_t {at} = ppy_dict_place({where.c}, {pointer});")
    body.store(entry_value(where, at), value)


def delete_entry(body: Body, node: ast.AST, where: Value, key: Value) -> None:
    """`del where[key]`"""
    at = found_entry(body, node, where, key)
    body.line(f"ppy_dict_delete({where.c}, {at});")


def set_of(where: Value) -> SetOf:
    assert isinstance(where.kind, SetOf)
    return where.kind


def is_in(body: Body, node: ast.AST, value: Value, where: Value) -> str:
    """C for `value in where`"""
    body.at(node)
    key = as_key(body, node, set_of(where).item, value)
    return f"(ppy_set_find({where.c}, {address(body, key)}) >= 0)"
