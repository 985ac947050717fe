"""Subscripts: items and slices, read and stored."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body, has_effects
from ppybuild.emit.standalone.entries import fit, load_entry, store_entry
from ppybuild.emit.standalone.kinds import (
    INT,
    NUMBERS,
    TEXT,
    ArrayOf,
    DictOf,
    ListOf,
    TupleOf,
    c_item,
    c_type,
    list_layout,
    show,
)
from ppybuild.emit.standalone.operators import to_float, to_int
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, tuple_of

_FITS = {"i": ("INT32_MIN", "INT32_MAX", "i32"), "B": ("0", "UINT8_MAX", "u8"),
         "b": ("INT8_MIN", "INT8_MAX", "i8")}  # fmt: skip


def lower_subscript(body: Body, node: ast.Subscript) -> Value:
    """`value[index]`, `value[start:stop:step]`"""
    value = body.value(node.value)
    if has_effects(node.slice):
        value = body.keep(value)
    if isinstance(node.slice, ast.Slice):
        return _slice(body, node, value, node.slice)
    if isinstance(value.kind, DictOf):
        return load_entry(body, node, value, body.value(node.slice))
    index = index_value(body, node.slice)
    match value.kind:
        case TupleOf():
            return _tuple_item(body, node, value, index)
        case ListOf() | ArrayOf():
            return load(body, node, value, index)
        case kind if kind == TEXT:
            body.at(node)
            return body.temporary(TEXT, f"ppy_at({value.c}, {index.c})")
        case kind:
            raise Refused(node, f"an item of {show(kind)}")


def index_value(body: Body, node: ast.expr) -> Value:
    value = to_int(body.value(node))
    if value.kind != INT:
        raise Refused(node, f"an index that is {show(value.kind)}")
    return value


def _tuple_item(body: Body, node: ast.AST, value: Value, index: Value) -> Value:
    items = value.items()
    if isinstance(index.literal, int) and -len(items) <= index.literal < len(items):
        return items[index.literal]
    if not items or any(item.kind != items[0].kind for item in items):
        raise Refused(node, "an index into a tuple that is no constant")
    kept = [body.keep(item) for item in items]
    at = checked_index(body, node, index, str(len(items)), "tuple_index")
    place = body.variable(items[0].kind)
    for number, item in enumerate(kept):
        with body.block(f"if ({at} == {number})"):
            body.set(place, item)
    return place


def checked_index(body: Body, node: ast.AST, index: Value, length: str, why: str) -> str:
    """The index counted from the start, in the range."""
    name = body.fresh()
    body.line(f"int64_t {name};")
    body.fail(node, f"!ppy_checked_index({index.c}, {length}, &{name})", f"ppy_why_{why}()")
    return name


def new_list(body: Body, node: ast.AST, kind: ListOf | ArrayOf, length: str = "0") -> Value:
    """A list of so many items that are zero bytes."""
    body.at(node)
    if isinstance(kind.item, TupleOf):
        body.whole.tuples.add(kind.item)
    return body.root(kind, f"ppy_list_new({list_layout(kind)}, {length})")


def item(kind: ListOf | ArrayOf, where: str, at: str) -> Value:
    """The item at an index that is in the range."""
    c = f"PPY_ITEMS({c_item(kind)}, {where})[{at}]"
    if isinstance(kind, ArrayOf) and c_item(kind) != c_type(kind.item):
        c = f"(({c_type(kind.item)}){c})"
    return Value(kind.item, c)


def load(body: Body, node: ast.AST, where: Value, index: Value) -> Value:
    """An item of a list, as it is now."""
    kind = where.kind
    assert isinstance(kind, ListOf | ArrayOf)
    why = "list_index" if isinstance(kind, ListOf) else "array_index"
    at = checked_index(body, node, index, f"{where.c}->length", why)
    return body.keep(item(kind, where.c, at))


def store_item(body: Body, node: ast.Subscript, value: Value) -> None:
    """`target[index] = value`"""
    value = body.keep(value) if has_effects(node.value) or has_effects(node.slice) else value
    where = body.value(node.value)
    if has_effects(node.slice):
        where = body.keep(where)
    if isinstance(node.slice, ast.Slice):
        if value.kind != where.kind:
            raise Refused(node, f"{show(value.kind)} assigned to a slice of {show(where.kind)}")
        splice(body, node, where, node.slice, value.c)
        return
    if isinstance(where.kind, DictOf):
        store_entry(body, node, where, body.value(node.slice), value)
        return
    index = index_value(body, node.slice)
    kind = where.kind
    if not isinstance(kind, ListOf | ArrayOf):
        raise Refused(node, f"an assignment to an item of {show(kind)}")
    why = "list_store" if isinstance(kind, ListOf) else "array_store"
    if isinstance(kind, ArrayOf):
        value = fitting(body, node, kind, value)
    at = checked_index(body, node, index, f"{where.c}->length", why)
    put(body, node, kind, where.c, at, value)


def put(
    body: Body, node: ast.AST, kind: ListOf | ArrayOf, where: str, at: str, value: Value
) -> None:
    """Store an item at an index that is in the range."""
    if isinstance(kind, ArrayOf):
        value = fitting(body, node, kind, value)
        body.line(f"PPY_ITEMS({c_item(kind)}, {where})[{at}] = ({c_item(kind)}){value.c};")
        return
    value = fit(body, node, value, kind.item, show(kind))
    body.store(item(kind, where, at), value)


def fitting(body: Body, node: ast.AST, kind: ArrayOf, value: Value) -> Value:
    """A number as an array takes it; OverflowError where it does not fit."""
    if value.kind not in NUMBERS:
        raise Refused(node, f"{show(value.kind)} in an array")
    if kind.typecode in "df":
        return to_float(value)
    value = to_int(value)
    if value.kind != INT:
        raise Refused(node, f"a float in {show(kind)}")
    if kind.typecode in _FITS:
        least, most, name = _FITS[kind.typecode]
        body.fail(
            node,
            f"{value.c} < {least} || {value.c} > {most}",
            f"ppy_why_fits_{name}({value.c})",
        )
    return value


def splice(body: Body, node: ast.AST, where: Value, part: ast.Slice, more: str) -> None:
    """`where[start:stop] = more`, and `del where[start:stop]`, for which it is NULL."""
    if part.step is not None or not isinstance(where.kind, ListOf | ArrayOf):
        raise Refused(node, f"this change of a slice of {show(where.kind)}", "use a loop")
    first, last = _bounds(body, part.lower, part.upper)
    body.at(node)
    body.line(f"ppy_list_splice({where.c}, {first}, {last}, {more});")


def _bounds(body: Body, *limits: ast.expr | None) -> list[str]:
    bounds = []
    for each in limits:
        absent = each is None or (isinstance(each, ast.Constant) and each.value is None)
        bounds.append("PPY_ABSENT" if absent or each is None else index_value(body, each).c)
    return bounds


def _slice(body: Body, node: ast.AST, value: Value, part: ast.Slice) -> Value:
    limits = (part.lower, part.upper, part.step)
    words = ", ".join((value.c, *_bounds(body, *limits)))
    body.at(node)
    match value.kind:
        case ListOf() | ArrayOf():
            return body.root(value.kind, f"ppy_list_slice({words})")
        case kind if kind == TEXT:
            return body.temporary(TEXT, f"ppy_slice({words})")
        case TupleOf() if all(isinstance(each, ast.Constant | None) for each in limits):
            first, last, step = map(_limit, limits)
            return tuple_of(value.items()[first:last:step])
        case kind:
            raise Refused(node, f"a slice of {show(kind)}")


def _limit(node: ast.expr | None) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) else None
