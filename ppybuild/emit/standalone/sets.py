"""Sets: made, asked and changed, as rows of methods and operators."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ppybuild.emit.standalone.arguments import positional
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.entries import address, as_key, dict_of, fit, set_of
from ppybuild.emit.standalone.items import item
from ppybuild.emit.standalone.kinds import (
    BOOL,
    DictOf,
    ListOf,
    SetOf,
    TupleOf,
    c_type,
    layout,
    may_be_key,
    show,
)
from ppybuild.emit.standalone.lists import each_of, generate, listed
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import NOTHING, Value
from ppybuild.graph.lattice import show as show_type


def new_set(body: Body, node: ast.AST, kind: SetOf) -> Value:
    body.at(node)
    if isinstance(kind.item, TupleOf):
        body.whole.tuples.add(kind.item)
    return body.root(kind, f"ppy_set_new({layout(kind.item)})")


def _declared(body: Body, node: ast.expr) -> SetOf:
    type_ = body.whole.facts.types.get(node)
    kind = body.kind_at(node)
    if not isinstance(kind, SetOf):
        said = show_type(type_) if type_ is not None else "unknown"
        raise Refused(node, f"a set whose items are not known ({said})", "annotate it")
    return kind


def lower_set(body: Body, node: ast.Set, *, frozen: bool = False) -> Value:
    """`{a, b, c}`; `frozen` where it is gone through at once."""
    if any(isinstance(each, ast.Starred) for each in node.elts):
        raise Refused(node, "a starred item")
    values = [body.keep(value) for value in body.values(*node.elts)]
    if not may_be_key(values[0].kind):
        raise Refused(node, f"a set of {show(values[0].kind)}")
    made = new_set(body, node, SetOf(values[0].kind))
    for value in values:
        add(body, node, made, value)
    if not is_constant(node) or (len(values) < 3 and not frozen):
        return made
    body.at(node)
    again = body.root(made.kind, f"ppy_set_again({made.c})")
    return again if frozen else body.root(made.kind, f"ppy_set_copy({again.c})")


_FOLDED = (ast.Set, ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop,
           ast.expr_context)  # fmt: skip


def is_constant(node: ast.Set) -> bool:
    """Whether CPython's compiler makes one frozenset of it: another order, since that is built
    twice, and then merged into a new set where it is not gone through at once."""
    return all(isinstance(each, _FOLDED) for each in ast.walk(node))


def lower_set_comprehension(body: Body, node: ast.SetComp) -> Value:
    """`{item for …}`"""
    made = new_set(body, node, _declared(body, node))
    generate(body, node, lambda: add(body, node, made, body.value(node.elt)))
    return made


def lower_set_call(body: Body, node: ast.Call) -> Value:
    """`set()`, `set(iterable)`"""
    if node.keywords or len(node.args) > 1:
        raise Refused(node, "these arguments of `set`")
    if not node.args or isinstance(node.args[0], ast.GeneratorExp):
        made = new_set(body, node, _declared(body, node))
        for arg in node.args:
            _add_all(body, arg, made)
        return made
    if isinstance(body.kind_at(node.args[0]), SetOf | DictOf):
        return _set_from(body, node, body.keep(body.value(node.args[0])))
    values = listed(body, node.args[0])
    assert isinstance(values.kind, ListOf)
    if not may_be_key(values.kind.item):
        raise Refused(node, f"a set of {show(values.kind.item)}")
    made = new_set(body, node, SetOf(values.kind.item))
    at = body.counter("0")
    with body.block(f"for (; {at} < {values.c}->length; {at}++)"), body.statement():
        add(body, node, made, item(values.kind, values.c, at))
    return made


def _set_from(body: Body, node: ast.Call, more: Value) -> Value:
    """What has its hashes at hand: CPython makes room for all of it first."""
    if isinstance(more.kind, SetOf):
        body.at(node)
        return body.root(more.kind, f"ppy_set_copy({more.c})")
    made = new_set(body, node, SetOf(dict_of(more).key))
    body.line(f"ppy_set_update_keys({made.c}, {more.c});")
    return made


def _add_all(body: Body, node: ast.expr, where: Value) -> None:
    kind = body.kind_at(node)
    update = "ppy_set_update" if kind == where.kind else ""
    if isinstance(kind, DictOf) and kind.key == set_of(where).item:
        update = "ppy_set_update_keys"
    if update and not isinstance(node, ast.GeneratorExp):
        more = body.value(node)
        body.at(node)
        body.line(f"{update}({where.c}, {more.c});")
        return
    each_of(body, node, lambda value: add(body, node, where, value))


def add(body: Body, node: ast.AST, where: Value, value: Value) -> None:
    """`where.add(value)`"""
    value = fit(body, node, value, set_of(where).item, show(where.kind))
    body.at(node)
    body.line(f"ppy_set_add({where.c}, {address(body, value)});")


# Methods


def _add(body: Body, node: ast.Call, where: Value) -> Value:
    (value,) = positional(body, node, 1, 1)
    add(body, node, where, value)
    return NOTHING


def _discard(body: Body, node: ast.Call, where: Value) -> Value:
    (value,) = positional(body, node, 1, 1)
    key = as_key(body, node, set_of(where).item, value)
    body.line(f"(void)ppy_set_discard({where.c}, {address(body, key)});")
    return NOTHING


def _remove(body: Body, node: ast.Call, where: Value) -> Value:
    (value,) = positional(body, node, 1, 1)
    item = set_of(where).item
    pointer = address(body, as_key(body, node, item, value))
    missing = f"!ppy_set_discard({where.c}, {pointer})"
    body.fail(node, missing, f"ppy_why_key({layout(item)}, {pointer})")
    return NOTHING


def _pop(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    item, at = set_of(where).item, body.fresh()
    body.line(f"const int64_t {at} = ppy_set_pop({where.c});")
    body.fail(
        node, f"{at} < 0", "ppy_raise(PPY_KeyError, PPY_TEXT(\"'pop from an empty set'\"))"
    )
    found = body.keep(Value(item, f"PPY_ITEMS({c_type(item)}, {where.c})[{at}]"))
    body.line(f"ppy_set_take({where.c}, {at});")
    return found


def _changed(c: str) -> Callable[[Body, ast.Call, Value], Value]:
    def apply(body: Body, node: ast.Call, where: Value) -> Value:
        (more,) = positional(body, node, 1, 1)
        _must_match(node, where, more)
        body.at(node)
        body.line(f"{c}({where.c}, {more.c});")
        return NOTHING

    return apply


def _made(c: str) -> Callable[[Body, ast.Call, Value], Value]:
    def apply(body: Body, node: ast.Call, where: Value) -> Value:
        (more,) = positional(body, node, 1, 1)
        _must_match(node, where, more)
        body.at(node)
        return body.root(where.kind, f"{c}({where.c}, {more.c})")

    return apply


def _asked(c: str, swapped: bool = False) -> Callable[[Body, ast.Call, Value], Value]:
    def apply(body: Body, node: ast.Call, where: Value) -> Value:
        (more,) = positional(body, node, 1, 1)
        _must_match(node, where, more)
        first, second = (more, where) if swapped else (where, more)
        return Value(BOOL, f"{c}({first.c}, {second.c})")

    return apply


def _must_match(node: ast.Call, where: Value, more: Value) -> None:
    if more.kind != where.kind:
        raise Refused(node, f"{show(where.kind)} with {show(more.kind)}", "make it a set")


def _update(body: Body, node: ast.Call, where: Value) -> Value:
    if len(node.args) != 1 or node.keywords:
        raise Refused(node, "these arguments of `update`")
    _add_all(body, node.args[0], where)
    return NOTHING


def _clear(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    body.line(f"ppy_set_clear({where.c});")
    return NOTHING


def _copy(body: Body, node: ast.Call, where: Value) -> Value:
    positional(body, node, 0, 0)
    body.at(node)
    return body.root(where.kind, f"ppy_set_copy({where.c})")


METHODS: dict[str, Callable[[Body, ast.Call, Value], Value]] = {
    "add": _add,
    "discard": _discard,
    "remove": _remove,
    "pop": _pop,
    "clear": _clear,
    "copy": _copy,
    "update": _update,
    "union": _made("ppy_set_union"),
    "intersection": _made("ppy_set_intersection"),
    "difference": _made("ppy_set_difference"),
    "symmetric_difference": _made("ppy_set_symmetric"),
    "difference_update": _changed("ppy_set_remove_all"),
    "intersection_update": _changed("ppy_set_keep_common"),
    "symmetric_difference_update": _changed("ppy_set_flip"),
    "issubset": _asked("ppy_set_within"),
    "issuperset": _asked("ppy_set_within", swapped=True),
    "isdisjoint": _asked("ppy_set_apart"),
}
