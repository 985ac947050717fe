"""Functions that are passed on: what `key=` and `map` are given."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value

_ITEM = "<item>"


def apply(body: Body, function: ast.expr, value: Value) -> Value:
    """`function(value)` of a lambda, or of a function by its name."""
    shadowed = dict(body.inner)
    try:
        if isinstance(function, ast.Lambda):
            return _lambda(body, function, value)
        body.inner[_ITEM] = body.keep(value)
        argument = ast.copy_location(ast.Name(_ITEM, ast.Load()), function)
        call = ast.copy_location(ast.Call(function, [argument], []), function)
        return body.call_named(body, call, body.whole.facts.types.get(function))
    finally:
        body.inner = shadowed


def _lambda(body: Body, node: ast.Lambda, value: Value) -> Value:
    arguments = node.args
    if len(arguments.args) != 1 or arguments.posonlyargs or arguments.kwonlyargs:
        raise Refused(node, "a lambda of other than one argument")
    if arguments.vararg or arguments.kwarg or arguments.defaults:
        raise Refused(node, "these arguments of a lambda")
    body.inner[arguments.args[0].arg] = body.keep(value)
    return body.value(node.body)
