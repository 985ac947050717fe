"""What a `for` goes through, in statements and comprehensions alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ppybuild.emit.standalone.applied import apply
from ppybuild.emit.standalone.body import FRAME, Body
from ppybuild.emit.standalone.items import item, new_list, put
from ppybuild.emit.standalone.kinds import (
    INT,
    TEXT,
    ArrayOf,
    DictOf,
    ListOf,
    Reference,
    SetOf,
    TupleOf,
    c_type,
    kind_of,
    show,
)
from ppybuild.emit.standalone.operators import to_int
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, constant, tuple_of


@dataclass(frozen=True, slots=True)
class Source:
    """An iterable as C: `first` before the loop, a test before each turn, a step after."""

    test: str
    step: str
    value: Value
    before: tuple[str, ...] = ()
    """Statements at the start of a turn."""
    function: ast.expr | None = None
    """What `map` does with each item."""

    def given(self, body: Body) -> Value:
        """The item of a turn; its statements are written here."""
        return self.value if self.function is None else apply(body, self.function, self.value)


def plan_source(body: Body, node: ast.expr) -> Source:
    """Lower the iterable; its own statements come before the loop."""
    callee = body.whole.facts.callees.get(node) if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and callee is not None and callee.kind == "external":
        match callee.name:
            case "builtins.range":
                return _range(body, node)
            case "builtins.enumerate":
                return _enumerate(body, node)
            case "builtins.zip":
                return _zip(body, node)
            case "builtins.map":
                return _map(body, node)
            case "builtins.reversed":
                return _reversed(body, node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        receiver = body.whole.facts.types.get(node.func.value)
        if node.func.attr in VIEWS and isinstance(kind_of(receiver), DictOf) and not node.args:
            value = _held(body, node, body.value(node.func.value))
            return _entries(body, node, value, VIEWS[node.func.attr])
    if ast.unparse(node) == "sys.stdin":
        line = body.fresh()
        body.line(f"ppy_text {line} = {{0}};")
        body.at(node)
        return Source(f"ppy_read_line(&{line})", "", Value(TEXT, line))
    if isinstance(node, ast.Set):
        from ppybuild.emit.standalone.sets import lower_set

        return _entries(body, node, lower_set(body, node, frozen=True), 0)
    value = body.value(node)
    if not (isinstance(value.kind, ListOf | ArrayOf) and value.fixed):
        value = _held(body, node, value)
    return _through(body, node, value)


def _held(body: Body, node: ast.AST, value: Value) -> Value:
    if isinstance(value.kind, Reference):
        return body.root(value.kind, value.c)
    return body.keep(value)


VIEWS = {"keys": 0, "values": 1, "items": -1}
"""What a dict can be gone through as, by method, and the part of its entries that is given."""


def _entries(body: Body, node: ast.AST, value: Value, part: int) -> Source:
    """The keys of a dict (0), its values (1), or its entries (-1); of a set, its items."""
    kind = value.kind
    assert isinstance(kind, DictOf | SetOf)
    name, item = ("dict", kind.entry) if isinstance(kind, DictOf) else ("set", kind.item)
    if isinstance(item, TupleOf):
        body.whole.tuples.add(item)
    used, at = body.fresh(), body.counter("0")
    body.line(f"const int64_t {used} = ppy_{name}_length({value.c});")
    found = Value(item, f"PPY_ITEMS({c_type(item)}, {value.c})[{at}]")
    if isinstance(kind, DictOf) and part >= 0:
        found = found.items()[part]
    line = getattr(node, "lineno", 0)
    following = f"{at} = ppy_{name}_next({value.c}, {at}, {used})"
    test = f"({FRAME}.line = {line}, {following}) < {value.c}->length"
    return Source(test, f"{at}++", found)


def _through(body: Body, node: ast.AST, value: Value) -> Source:
    match value.kind:
        case ListOf() | ArrayOf():
            at = body.counter("0")
            return Source(f"{at} < {value.c}->length", f"{at}++", item(value.kind, value.c, at))
        case DictOf() | SetOf():
            return _entries(body, node, value, 0)
        case TupleOf(items) if items and all(each == items[0] for each in items):
            made = new_list(body, node, ListOf(items[0]), str(len(items)))
            for place, part in enumerate(value.items()):
                put(body, node, ListOf(items[0]), made.c, str(place), part)
            return _through(body, node, made)
        case kind if kind == TEXT:
            name, at = body.fresh(), body.counter("0")
            start = (
                f"int64_t {name}_end = {at};",
                f"(void)ppy_next({value.c}, &{name}_end);",
                f"const ppy_text {name} = {{{value.c}.data + {at}, {name}_end - {at}, 1}};",
                f"{at} = {name}_end;",
            )
            return Source(
                f"{at} < {value.c}.bytes", "", Value(TEXT, name, fixed=True), before=start
            )
        case kind:
            raise Refused(node, f"going through {show(kind)}")


def _range(body: Body, node: ast.Call) -> Source:
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise Refused(node, "these arguments of `range`")
    given = [to_int(value) for value in body.values(*node.args)]
    if any(value.kind != INT for value in given):
        raise Refused(node, "a range of what are no ints")
    if len(given) == 1:
        given.insert(0, constant(0))
    if len(given) == 2:
        given.append(constant(1))
    start, stop, step = map(body.keep, given)
    if step.literal is None:
        body.fail(
            node,
            f"{step.c} == 0",
            'ppy_raise_ascii(PPY_ValueError, "range() arg 3 must not be zero")',
        )
    if step.literal == 1:
        at = body.counter(start.c)
        return Source(f"{at} < {stop.c}", f"{at}++", Value(INT, at))
    turns = body.fresh()
    body.line(f"const uint64_t {turns} = ppy_range_length({start.c}, {stop.c}, {step.c});")
    at = body.counter("0", "uint64_t")
    value = Value(INT, f"ppy_range_at({start.c}, {step.c}, {at})")
    return Source(f"{at} < {turns}", f"{at}++", value)


def _enumerate(body: Body, node: ast.Call) -> Source:
    starts = [*node.args[1:], *(each.value for each in node.keywords if each.arg == "start")]
    if not node.args or len(starts) > 1 or len(node.args) + len(node.keywords) > 2:
        raise Refused(node, "these arguments of `enumerate`")
    inner = plan_source(body, node.args[0])
    _no_function(node, inner)
    first = "0"
    if starts:
        value = to_int(body.value(starts[0]))
        if value.kind != INT:
            raise Refused(node, "`enumerate` from what is no int")
        first = value.c
    name = body.counter(first)
    step = f"{inner.step}, {name}++" if inner.step else f"{name}++"
    return Source(inner.test, step, tuple_of((Value(INT, name), inner.value)), inner.before)


def _map(body: Body, node: ast.Call) -> Source:
    if node.keywords or len(node.args) != 2:
        raise Refused(node, "these arguments of `map`")
    inner = plan_source(body, node.args[1])
    _no_function(node, inner)
    return replace(inner, function=node.args[0])


def _no_function(node: ast.Call, *sources: Source) -> None:
    if any(each.function is not None for each in sources):
        raise Refused(node, "what `map` gives, gone through by another function", "use a loop")


def _zip(body: Body, node: ast.Call) -> Source:
    if node.keywords or not node.args:
        raise Refused(node, "these arguments of `zip`")
    inner = [plan_source(body, arg) for arg in node.args]
    _no_function(node, *inner)
    return Source(
        " && ".join(each.test for each in inner),
        ", ".join(each.step for each in inner if each.step),
        tuple_of(tuple(each.value for each in inner)),
        tuple(line for each in inner for line in each.before),
    )


def _reversed(body: Body, node: ast.Call) -> Source:
    if node.keywords or len(node.args) != 1:
        raise Refused(node, "these arguments of `reversed`")
    inner = node.args[0]
    callee = body.whole.facts.callees.get(inner) if isinstance(inner, ast.Call) else None
    if isinstance(inner, ast.Call) and callee is not None and callee.name == "builtins.range":
        given = [to_int(value) for value in body.values(*inner.args)]
        if any(value.kind != INT for value in given) or not 1 <= len(given) <= 3:
            raise Refused(node, "a range of what are no ints")
        if len(given) == 1:
            given.insert(0, constant(0))
        step = given[2].c if len(given) == 3 else "1"
        if len(given) == 3 and not given[2].literal:
            raise Refused(node, "`reversed` of a range whose step is no constant")
        start, stop = body.keep(given[0]), body.keep(given[1])
        at = body.counter(f"ppy_range_length({start.c}, {stop.c}, {step})", "uint64_t")
        value = Value(INT, f"ppy_range_at({start.c}, {step}, {at})")
        return Source(f"{at}-- > 0", "", value)
    value = _held(body, node, body.value(inner))
    if not isinstance(value.kind, ListOf):
        raise Refused(node, f"`reversed` of {show(value.kind)}")
    at = body.counter(f"{value.c}->length - 1")
    # CPython's iterator ends for good where the list has become too short.
    return Source(
        f"{at} >= 0 && {at} < {value.c}->length", f"{at}--", item(value.kind, value.c, at)
    )


@contextmanager
def turns(body: Body, node: ast.AST, source: Source) -> Iterator[Value]:
    """A C loop over a source whose body is one statement; gives the item of a turn."""
    with looping(body, node, source), body.statement():
        yield source.given(body)


@contextmanager
def looping(body: Body, node: ast.AST, source: Source) -> Iterator[None]:
    """A C loop over a source."""
    with body.block(f"for (; {source.test}; {source.step})"):
        for line in source.before:
            body.line(line)
        look_at_signals(body, node)
        yield


def look_at_signals(body: Body, node: ast.AST) -> None:
    """Ctrl-C is seen once a turn."""
    body.fail(node, "ppy_interrupted", "ppy_raise_interrupt()")


def bind_target(body: Body, target: ast.expr, value: Value) -> None:
    """`target = value` for a comprehension: the variables are its own."""
    match target:
        case ast.Name(id=name):
            body.inner[name] = body.keep(value)
        case ast.Tuple(elts=parts) if isinstance(value.kind, TupleOf):
            items = value.items()
            if len(items) != len(parts):
                raise Refused(target, "a tuple of another length")
            for part, each in zip(parts, items, strict=True):
                bind_target(body, part, each)
        case _:
            raise Refused(target, "this target of a comprehension")
