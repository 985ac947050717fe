"""Lists that are made: displays, comprehensions, and generators that are used at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.entries import fit
from ppybuild.emit.standalone.items import fitting, new_list, put
from ppybuild.emit.standalone.iteration import bind_target, looping, plan_source, turns
from ppybuild.emit.standalone.kinds import (
    NONE,
    ArrayOf,
    Kind,
    ListOf,
    TupleOf,
    is_flat,
    kind_of,
    list_layout,
    may_be_item,
    show,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value
from ppybuild.graph.lattice import show as show_type


def lower_list(body: Body, node: ast.List) -> Value:
    """`[a, b, c]`"""
    if any(isinstance(each, ast.Starred) for each in node.elts):
        raise Refused(node, "a starred item")
    values = _alike(body, node)
    kind = _declared(body, node, values)
    made = new_list(body, node, kind, str(len(values)))
    for at, value in enumerate(values):
        put(body, node, kind, made.c, str(at), value)
    return made


def _alike(body: Body, node: ast.List) -> list[Value]:
    """The items in order; the first tells what those are that are empty themselves."""
    known = body.kind_at(node)
    if isinstance(known, ListOf):
        body.hint(node, known)
    values: list[Value] = []
    for each in node.elts:
        if values:
            body.hint(each, values[0].kind)
        value = body.keep(body.value(each))
        values.append(body.suit(value, known.item) if isinstance(known, ListOf) else value)
    return values


def _declared(body: Body, node: ast.expr, values: Sequence[Value]) -> ListOf:
    if values:
        kind = values[0].kind
        if not may_be_item(kind):
            raise Refused(node, f"a list of {show(kind)}")
        return ListOf(kind)
    type_ = body.whole.facts.types.get(node)
    found = body.kind_at(node)
    if not isinstance(found, ListOf):
        said = show_type(type_) if type_ is not None else "unknown"
        raise Refused(node, f"a list whose items are not known ({said})", "annotate it")
    return found


def append(body: Body, node: ast.AST, where: Value, value: Value) -> None:
    """`where.append(value)`"""
    kind = where.kind
    assert isinstance(kind, ListOf | ArrayOf)
    body.at(node)
    if isinstance(kind, ArrayOf):
        value = fitting(body, node, kind, value)
    else:
        value = fit(body, node, value, kind.item, show(kind))
    value = body.keep(value) if not is_flat(value.kind) else value
    body.line(f"ppy_list_append({where.c});")
    put(body, node, kind, where.c, f"{where.c}->length - 1", value)


Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def generate(
    body: Body,
    node: Comprehension,
    use: Callable[[], None],
    generators: Sequence[ast.comprehension] | None = None,
) -> None:
    """Write the loops of a comprehension around what `use` does with each element."""
    generators = node.generators if generators is None else generators
    if not generators:
        use()
        return
    first, *rest = generators
    if first.is_async:
        raise Refused(node, "an async comprehension")
    source = plan_source(body, first.iter)
    with turns(body, node, source) as value:
        shadowed = dict(body.inner)
        bind_target(body, first.target, value)
        _tested(body, node, use, first.ifs, rest)
        body.inner = shadowed


def _tested(
    body: Body,
    node: Comprehension,
    use: Callable[[], None],
    tests: Sequence[ast.expr],
    rest: Sequence[ast.comprehension],
) -> None:
    if not tests:
        generate(body, node, use, rest)
        return
    with body.block(f"if ({body.condition(tests[0])})"), body.statement():
        _tested(body, node, use, tests[1:], rest)


def lower_comprehension(body: Body, node: ast.ListComp) -> Value:
    """`[element for …]`"""
    kind = body.kind_at(node)
    if not isinstance(kind, ListOf):
        raise Refused(node, "a list whose items are not of one type")
    made = new_list(body, node, kind)
    generate(body, node, lambda: append(body, node, made, body.value(node.elt)))
    return made


def each_of(body: Body, node: ast.expr, use: Callable[[Value], None]) -> None:
    """Do something with every item of an iterable."""
    if isinstance(node, ast.GeneratorExp):
        generate(body, node, lambda: use(body.value(node.elt)))
        return
    source = plan_source(body, node)
    with turns(body, node, source) as value:
        use(value)


def gathered(body: Body, node: ast.expr) -> Value:
    """What a generator gives, or another iterable, as a list."""
    if isinstance(node, ast.GeneratorExp):
        from ppybuild.graph import types

        found = body.whole.facts.types.get(node)
        item: Kind | None = None
        match found:
            case types.Collection(_, inner):
                item = kind_of(inner)
        if item is None:
            item = kind_of(body.whole.facts.types.get(node.elt))
        if item is None:
            raise Refused(node, "a generator whose items are not of one type")
        made = new_list(body, node, ListOf(item))
        generate(body, node, lambda: append(body, node, made, body.value(node.elt)))
        return made
    if not isinstance(kind_of(body.whole.facts.types.get(node)), ListOf | ArrayOf):
        return listed(body, node)
    value = body.value(node)
    return value if value.fixed else body.root(value.kind, value.c)


def listed(body: Body, node: ast.expr, most: int | None = None) -> Value:
    """The items of an iterable as a new list; of more than `most`, one more than that."""
    source = plan_source(body, node)
    body.at(node)
    made = body.root(NONE, "NULL")
    start = len(body.lines)
    with looping(body, node, source), body.statement():
        if most is not None:
            body.line(f"if ({made.c}->length > {most}) break;")
        value = source.given(body)
        if not may_be_item(value.kind):
            raise Refused(node, f"going through {show(value.kind)} here", "make it a list")
        made = Value(ListOf(value.kind), made.c, fixed=True)
        append(body, node, made, value)
    create_at(body, start, made)
    return made


def create_at(body: Body, start: int, made: Value) -> None:
    """Make a list before the line from which on it is filled, which tells its kind."""
    assert isinstance(made.kind, ListOf)
    if isinstance(made.kind.item, TupleOf):
        body.whole.tuples.add(made.kind.item)
    line = f"{made.c} = ppy_list_new({list_layout(made.kind)}, 0);"
    body.lines.insert(start, "    " * body.depth + line)
