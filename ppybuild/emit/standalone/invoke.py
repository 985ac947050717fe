"""Calls of the program's functions with values."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.kinds import NONE, TupleOf, number_help, show
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import NOTHING, Value, as_struct


def invoke(body: Body, node: ast.AST, name: str, given: Mapping[str, Value]) -> Value:
    """A call with a value for each parameter."""
    whole = body.whole
    form = whole.form(name, node)
    words = []
    for parameter, kind in form.parameters.items():
        value = body.suit(given[parameter], kind)
        if value.kind != kind:
            simple, given_kind = name.rpartition(".")[2], show(value.kind)
            said = f"`{parameter}` of `{simple}` is {show(kind)}, and {given_kind} is passed"
            raise Refused(node, said, number_help(kind))
        if isinstance(kind, TupleOf):
            whole.tuples.add(kind)
        words.append(as_struct(value))
    body.at(node)
    call = f"{form.c}({', '.join(words)})"
    if form.result == NONE:
        body.line(f"{call};")
        return NOTHING
    return body.temporary(form.result, call)


def invoke_method(body: Body, node: ast.AST, name: str, *values: Value) -> Value:
    """A method of which the parameters have these values, `self` too."""
    form = body.whole.form(name, node)
    if len(values) != len(form.parameters):
        raise Refused(node, f"these arguments of `{name}`")
    return invoke(body, node, name, dict(zip(form.parameters, values, strict=True)))
