"""The functions of `heapq`, as rows."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.entries import address, fit
from ppybuild.emit.standalone.items import item, put
from ppybuild.emit.standalone.kinds import INT, ListOf, has_order, show
from ppybuild.emit.standalone.lists import append
from ppybuild.emit.standalone.operators import to_int
from ppybuild.emit.standalone.ordering import lower_sorted
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import NOTHING, Value


def _arguments(body: Body, node: ast.Call, count: int) -> list[Value]:
    """The heap, and an item that is kept where there is one."""
    if node.keywords or len(node.args) != count:
        raise Refused(node, f"these arguments of `{ast.unparse(node.func)}`")
    heap, *rest = body.values(*node.args)
    if not isinstance(heap.kind, ListOf) or not has_order(heap.kind.item):
        raise Refused(node, f"a heap that is {show(heap.kind)}")
    fitting = (fit(body, node, each, heap.kind.item, show(heap.kind)) for each in rest)
    return [heap, *map(body.keep, fitting)]


def _item(heap: Value) -> Value:
    assert isinstance(heap.kind, ListOf)
    return item(heap.kind, heap.c, "0")


def _need_item(body: Body, node: ast.Call, heap: Value) -> None:
    message = 'ppy_raise_ascii(PPY_IndexError, "index out of range")'
    body.fail(node, f"{heap.c}->length == 0", message)


def _replace_first(body: Body, node: ast.Call, heap: Value, value: Value) -> None:
    assert isinstance(heap.kind, ListOf)
    put(body, node, heap.kind, heap.c, "0", value)
    body.line(f"ppy_heap_replaced({heap.c});")


def _push(body: Body, node: ast.Call) -> Value:
    heap, value = _arguments(body, node, 2)
    append(body, node, heap, value)
    body.line(f"ppy_heap_pushed({heap.c});")
    return NOTHING


def _pop(body: Body, node: ast.Call) -> Value:
    (heap,) = _arguments(body, node, 1)
    _need_item(body, node, heap)
    found = body.keep(_item(heap))
    body.line(f"ppy_heap_drop_first({heap.c});")
    return found


def _replace(body: Body, node: ast.Call) -> Value:
    heap, value = _arguments(body, node, 2)
    _need_item(body, node, heap)
    found = body.keep(_item(heap))
    _replace_first(body, node, heap, value)
    return found


def _push_pop(body: Body, node: ast.Call) -> Value:
    heap, value = _arguments(body, node, 2)
    place = body.variable(value.kind)
    body.set(place, value)
    with body.block(f"if (ppy_heap_first_less({heap.c}, {address(body, value)}))"):
        body.set(place, _item(heap))
        _replace_first(body, node, heap, value)
    return place


def _heapify(body: Body, node: ast.Call) -> Value:
    (heap,) = _arguments(body, node, 1)
    body.at(node)
    body.line(f"ppy_heapify({heap.c});")
    return NOTHING


def _some(reverse: bool) -> Callable[[Body, ast.Call], Value]:
    """`nsmallest`, `nlargest`: the first of what `sorted` gives."""

    def apply(body: Body, node: ast.Call) -> Value:
        if len(node.args) not in (2, 3) or {each.arg for each in node.keywords} - {"key"}:
            raise Refused(node, f"these arguments of `{ast.unparse(node.func)}`")
        count = body.keep(to_int(body.value(node.args[0])))
        if count.kind != INT:
            raise Refused(node, f"{show(count.kind)} as how many")
        backwards = ast.keyword("reverse", ast.copy_location(ast.Constant(reverse), node))
        keys = [ast.keyword("key", each) for each in node.args[2:]]
        call = ast.Call(node.func, node.args[1:2], [*keys, *node.keywords, backwards])
        made = lower_sorted(body, ast.copy_location(call, node))
        stop = f"({count.c} > 0 ? {count.c} : 0)"
        body.at(node)
        return body.root(made.kind, f"ppy_list_slice({made.c}, PPY_ABSENT, {stop}, PPY_ABSENT)")

    return apply


FUNCTIONS: dict[str, Callable[[Body, ast.Call], Value]] = {
    "heappush": _push,
    "heappop": _pop,
    "heapreplace": _replace,
    "heappushpop": _push_pop,
    "heapify": _heapify,
    "nsmallest": _some(reverse=False),
    "nlargest": _some(reverse=True),
}
