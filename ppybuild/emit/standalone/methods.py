"""Methods of str, list and array, and the streams of `sys`, as rows."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ppybuild.emit.standalone import dicts, sets
from ppybuild.emit.standalone.arguments import positional
from ppybuild.emit.standalone.body import Body, has_effects
from ppybuild.emit.standalone.items import fitting, item, put
from ppybuild.emit.standalone.iteration import VIEWS
from ppybuild.emit.standalone.kinds import (
    INT,
    TEXT,
    ArrayOf,
    DictOf,
    ListOf,
    SetOf,
    show,
)
from ppybuild.emit.standalone.lists import append, gathered
from ppybuild.emit.standalone.operators import index_of, lower_binary, to_int
from ppybuild.emit.standalone.ordering import sort
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.text_methods import lower_text_method
from ppybuild.emit.standalone.texts import lower_format_method, repr_of
from ppybuild.emit.standalone.values import NOTHING, Value, constant


def lower_method(body: Body, node: ast.Call, name: str) -> Value:
    """`value.method(…)` of a built-in type."""
    assert isinstance(node.func, ast.Attribute)
    method = node.func.attr
    said = ast.unparse(node.func.value)
    if said in ("sys.stdout", "sys.stderr"):
        return _stream(body, node, said, method)
    if said == "sys.stdin" and method in _INPUT and not node.args and not node.keywords:
        body.at(node)
        return body.temporary(TEXT, f"{_INPUT[method]}()")
    template = node.func.value
    if (
        method == "format"
        and isinstance(template, ast.Constant)
        and isinstance(template.value, str)
    ):
        return lower_format_method(body, node, template.value)
    value = body.value(node.func.value)
    if any(map(has_effects, node.args)):
        value = body.keep(value)
    if value.kind == TEXT:
        return lower_text_method(body, node, value, method)
    for kinds, rules in _RULES:
        if isinstance(value.kind, kinds) and method in rules:
            return rules[method](body, node, value)
    if isinstance(value.kind, DictOf) and method in VIEWS:
        raise Refused(node, "a view of a dict that is kept", "make it a list")
    raise Refused(node, f"`{name}`")


def _stream(body: Body, node: ast.Call, said: str, method: str) -> Value:
    stream = "PPY_STDERR" if said.endswith("stderr") else "PPY_STDOUT"
    if method == "flush" and not node.args:
        body.at(node)
        body.line(f"ppy_flush({stream});")
        return NOTHING
    if method == "write" and len(node.args) == 1:
        value = body.value(node.args[0])
        if value.kind == TEXT:
            body.at(node)
            body.line(f"ppy_write({stream}, {value.c});")
            return Value(INT, f"{value.c}.length", fixed=value.fixed)
    raise Refused(node, f"`{said}.{method}`")


_INPUT = {"read": "ppy_read_all", "readline": "ppy_read_one_line"}

# list and array


def _item_kind(value: Value) -> ListOf | ArrayOf:
    assert isinstance(value.kind, ListOf | ArrayOf)
    return value.kind


def _append(body: Body, node: ast.Call, where: Value) -> Value:
    if len(node.args) == 1 and isinstance(where.kind, ListOf):
        body.hint(node.args[0], where.kind.item)
    (value,) = positional(body, node, 1, 1)
    append(body, node, where, value)
    return NOTHING


def _extend(body: Body, node: ast.Call, where: Value) -> Value:
    if len(node.args) != 1 or node.keywords:
        raise Refused(node, "these arguments of `extend`")
    more = gathered(body, node.args[0])
    if more.kind != where.kind:
        raise Refused(node, f"{show(where.kind)} extended by {show(more.kind)}")
    body.at(node)
    body.line(f"ppy_list_extend({where.c}, {more.c});")
    return NOTHING


def _pop(body: Body, node: ast.Call, where: Value) -> Value:
    kind = _item_kind(where)
    args = positional(body, node, 0, 1)
    what = "list" if isinstance(kind, ListOf) else "array"
    index = to_int(args[0]).c if args else "-1"
    at = body.fresh()
    body.line(f"int64_t {at};")
    body.fail(
        node,
        f"!ppy_checked_index({index}, {where.c}->length, &{at})",
        f'ppy_why_pop("{what}", {where.c}->length)',
    )
    found = body.keep(item(kind, where.c, at))
    body.line(f"ppy_list_remove({where.c}, {at});")
    return found


def _insert(body: Body, node: ast.Call, where: Value) -> Value:
    kind = _item_kind(where)
    index, value = positional(body, node, 2, 2)
    value = fitting(body, node, kind, value) if isinstance(kind, ArrayOf) else value
    if value.kind != kind.item:
        raise Refused(node, f"{show(value.kind)} as an item of {show(kind)}")
    value = body.keep(value)
    at = body.fresh()
    body.at(node)
    body.line(f"const int64_t {at} = ppy_list_insert({where.c}, {to_int(index).c});")
    put(body, node, kind, where.c, at, value)
    return NOTHING


def _remove(body: Body, node: ast.Call, where: Value) -> Value:
    (value,) = positional(body, node, 1, 1)
    at = index_of(body, node, value, where)
    what = "list.remove(x): x not in list"
    if isinstance(where.kind, ArrayOf):
        what = "array.remove(x): x not in array"
    body.fail(node, f"{at.c} < 0", f'ppy_raise_ascii(PPY_ValueError, "{what}")')
    body.line(f"ppy_list_remove({where.c}, {at.c});")
    return NOTHING


def _index(body: Body, node: ast.Call, where: Value) -> Value:
    (value,) = positional(body, node, 1, 1)
    value = body.keep(value)
    at = index_of(body, node, value, where)
    with body.block(f"if (PPY_UNLIKELY({at.c} < 0))"):
        body.at(node)
        if isinstance(where.kind, ArrayOf):
            what = "array.index(x): x not in array"
            body.line(f'ppy_raise_ascii(PPY_ValueError, "{what}");')
        else:
            said = lower_binary(
                body, node, ast.Add(), repr_of(body, node, value), constant(" is not in list")
            )
            body.line(f"ppy_raise(PPY_ValueError, {said.c});")
    return at


def _plain(c: str) -> Callable[[Body, ast.Call, Value], Value]:
    def apply(body: Body, node: ast.Call, where: Value) -> Value:
        positional(body, node, 0, 0)
        body.line(f"{c}({where.c});")
        return NOTHING

    return apply


def _copy(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    body.at(node)
    return body.root(
        where.kind, f"ppy_list_slice({where.c}, PPY_ABSENT, PPY_ABSENT, PPY_ABSENT)"
    )


def _sort(body: Body, node: ast.Call, where: Value) -> Value:
    if node.args or not isinstance(where.kind, ListOf):
        raise Refused(node, "these arguments of `sort`")
    sort(body, node, where)
    return NOTHING


_LISTS: dict[str, Callable[[Body, ast.Call, Value], Value]] = {
    "append": _append,
    "extend": _extend,
    "pop": _pop,
    "insert": _insert,
    "remove": _remove,
    "index": _index,
    "clear": _plain("ppy_list_clear"),
    "reverse": _plain("ppy_list_reverse"),
    "copy": _copy,
    "sort": _sort,
}
_RULES = (
    ((ListOf, ArrayOf), _LISTS),
    ((DictOf,), dicts.METHODS),
    ((SetOf,), sets.METHODS),
)
