"""What puts values in order: `sorted`, `sort`, `min`, `max`, and the keys they go by."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ppybuild.emit.standalone.applied import apply
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.items import item
from ppybuild.emit.standalone.kinds import (
    ArrayOf,
    ListOf,
    has_order,
    show,
)
from ppybuild.emit.standalone.lists import append, create_at, gathered, listed
from ppybuild.emit.standalone.operators import compare
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value

Rule = Callable[[Body, ast.Call], Value]


def lower_sorted(body: Body, node: ast.Call) -> Value:
    """`sorted(iterable, key=…, reverse=…)`"""
    if len(node.args) != 1:
        raise Refused(node, "these arguments of `sorted`")
    (values,) = node.args
    made = (
        gathered(body, values) if isinstance(values, ast.GeneratorExp) else listed(body, values)
    )
    sort(body, node, made)
    return made


def sort(body: Body, node: ast.Call, where: Value) -> None:
    """Sort a list in place, as the keywords of the call say."""
    assert isinstance(where.kind, ListOf)
    named = {each.arg: each.value for each in node.keywords}
    if set(named) - {"key", "reverse"}:
        raise Refused(node, f"these arguments of `{ast.unparse(node.func)}`")
    key = named.get("key")
    backwards = body.truth(body.value(named["reverse"])) if "reverse" in named else "false"
    if key is None or (isinstance(key, ast.Constant) and key.value is None):
        if not has_order(where.kind.item):
            raise Refused(node, f"sorting {show(where.kind)}")
        body.at(node)
        body.line(f"ppy_list_sort({where.c}, {backwards});")
        return
    keys = keys_of(body, node, where, key)
    body.at(node)
    body.line(f"ppy_list_sort_by({where.c}, {keys.c}, {backwards});")


def keys_of(body: Body, node: ast.AST, where: Value, key: ast.expr) -> Value:
    """What a key gives for each item, as a list."""
    assert isinstance(where.kind, ListOf | ArrayOf)
    body.at(node)
    keys = body.root(where.kind, "NULL")
    start = len(body.lines)
    at = body.counter("0")
    with body.block(f"for (; {at} < {where.c}->length; {at}++)"), body.statement():
        value = apply(body, key, item(where.kind, where.c, at))
        kind = ListOf(value.kind)
        if not has_order(kind):
            raise Refused(key, f"a key that is {show(value.kind)}")
        keys = Value(kind, keys.c, fixed=True)
        append(body, node, keys, value)
    create_at(body, start, keys)
    return keys


# The least and the greatest


def extreme(is_max: bool) -> Rule:
    """`max` or `min`"""
    name, op = ("max", ast.Gt()) if is_max else ("min", ast.Lt())

    def apply_rule(body: Body, node: ast.Call) -> Value:
        named = {each.arg: each.value for each in node.keywords}
        if set(named) - {"key", "default"} or any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            raise Refused(node, f"these arguments of `{name}`")
        if len(node.args) == 1:
            return _of_items(body, node, name, op, named)
        if not node.args or named:
            raise Refused(node, f"these arguments of `{name}`")
        args = [body.keep(arg) for arg in body.values(*node.args)]
        kind = args[0].kind
        if any(arg.kind != kind for arg in args):
            raise Refused(node, f"`{name}` of values of several types", "make them one type")
        if not has_order(kind):
            raise Refused(node, f"`{name}` of {show(kind)}")
        best = body.variable(kind)
        body.set(best, args[0])
        for arg in args[1:]:
            with body.block(f"if ({compare(body, node, op, arg, best)})"):
                body.set(best, arg)
        return best

    return apply_rule


def _of_items(
    body: Body, node: ast.Call, name: str, op: ast.cmpop, named: dict[str | None, ast.expr]
) -> Value:
    found = gathered(body, node.args[0])
    assert isinstance(found.kind, ListOf | ArrayOf)
    keys = keys_of(body, node, found, named["key"]) if "key" in named else found
    assert isinstance(keys.kind, ListOf | ArrayOf)
    if not has_order(keys.kind.item):
        raise Refused(node, f"`{name}` of {show(found.kind)}")
    best = body.variable(found.kind.item)
    if "default" in named:
        default = body.value_for(named["default"], best.kind)
        if default.kind != best.kind:
            raise Refused(node, f"a default that is {show(default.kind)}")
        body.set(best, default)
    else:
        message = f'ppy_raise_ascii(PPY_ValueError, "{name}() arg is an empty sequence")'
        body.fail(node, f"{found.c}->length == 0", message)
    first, at = body.counter("0"), body.counter("1")
    each, least = item(keys.kind, keys.c, at), item(keys.kind, keys.c, first)
    with body.block(f"for (; {at} < {keys.c}->length; {at}++)"):
        body.line(f"if ({compare(body, node, op, each, least)}) {first} = {at};")
    with body.block(f"if ({found.c}->length)"):
        body.set(best, item(found.kind, found.c, first))
    return best
