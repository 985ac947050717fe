"""Expressions, by the kind of their node."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.calls import lower_call
from ppybuild.emit.standalone.dicts import lower_dict, lower_dict_comprehension
from ppybuild.emit.standalone.imports import lower_attribute
from ppybuild.emit.standalone.items import lower_subscript
from ppybuild.emit.standalone.kinds import NONE, show
from ppybuild.emit.standalone.lists import lower_comprehension, lower_list
from ppybuild.emit.standalone.operators import (
    lower_binary,
    lower_compare,
    lower_unary,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.sets import lower_set, lower_set_comprehension
from ppybuild.emit.standalone.texts import lower_joined, lower_percent
from ppybuild.emit.standalone.values import NOTHING, Value, constant, tuple_of
from ppybuild.graph.program import Constant
from ppybuild.graph.types import Function


def lower_expression(body: Body, node: ast.expr) -> Value:
    """C that gives what the expression gives; what may fail is a statement before it."""
    match node:
        case ast.Constant(value=value):
            return _constant(node, value)
        case ast.Name(id=name):
            return _name(body, node, name)
        case ast.Attribute():
            return lower_attribute(body, node)
        case ast.Tuple(elts=elements):
            if any(isinstance(each, ast.Starred) for each in elements):
                raise Refused(node, "a starred item")
            return tuple_of(tuple(body.values(*elements)))
        case ast.List():
            return lower_list(body, node)
        case ast.ListComp():
            return lower_comprehension(body, node)
        case ast.Dict():
            return lower_dict(body, node)
        case ast.DictComp():
            return lower_dict_comprehension(body, node)
        case ast.Set():
            return lower_set(body, node)
        case ast.SetComp():
            return lower_set_comprehension(body, node)
        case ast.UnaryOp():
            return lower_unary(body, node)
        case ast.BinOp(left=ast.Constant(value=str(template)), op=ast.Mod()):
            return lower_percent(body, node, template)
        case ast.BinOp(left=left, op=op, right=right):
            return lower_binary(body, node, op, *body.values(left, right))
        case ast.Compare():
            return lower_compare(body, node)
        case ast.BoolOp():
            return _bool_op(body, node)
        case ast.IfExp():
            return _if_exp(body, node)
        case ast.Call():
            return lower_call(body, node)
        case ast.Subscript():
            return lower_subscript(body, node)
        case ast.JoinedStr():
            return lower_joined(body, node)
        case ast.NamedExpr(target=ast.Name(id=name), value=inner):
            kept = body.keep(body.value(inner))
            body.assign(node, name, kept)
            return kept
        case _:
            raise Refused(node, f"{_WHAT.get(type(node).__name__, type(node).__name__)}")


_WHAT = {
    "GeneratorExp": "a generator that is kept",
    "Lambda": "a lambda",
    "Await": "`await`",
    "Yield": "a generator",
    "YieldFrom": "a generator",
    "Starred": "a starred item",
    "Slice": "a slice that is kept",
}


def _constant(node: ast.AST, value: object) -> Value:
    match value:
        case None:
            return NOTHING
        case bool() | float() | str():
            return constant(value)
        case int() if -(2**63) <= value < 2**63:
            return constant(value)
        case int():
            raise Refused(node, "an integer of more than 64 bits")
        case _:
            raise Refused(node, f"a constant of type {type(value).__name__}")


def _name(body: Body, node: ast.Name, name: str) -> Value:
    facts = body.whole.facts
    local = name in body.inner or name in body.locals
    if not local and name == "__name__":
        main = body.module.name == body.whole.main
        return constant("__main__" if main else body.module.name)
    known: Constant | None = facts.constants.get(node)
    if not local and known is not None and body.whole.is_settled(body.module.name, name, node):
        return _constant(node, known)
    if not local and isinstance(facts.types.get(node), Function):
        raise Refused(node, f"the function `{name}` as a value")
    return body.read(node, name)


def _bool_op(body: Body, node: ast.BoolOp) -> Value:
    """`a and b`, `a or b`: the first that decides, else the last."""
    is_and = isinstance(node.op, ast.And)
    first = body.value(node.values[0])
    kind = first.kind
    place = body.variable(kind)
    body.set(place, first)
    test = body.truth(place)
    with body.perhaps():
        for each in node.values[1:]:
            with body.block(f"if ({test if is_and else f'!{test}'})"):
                value = body.value(each)
                if value.kind != kind:
                    name = "and" if is_and else "or"
                    raise Refused(node, f"`{name}` of {show(kind)} and {show(value.kind)}")
                body.set(place, value)
    return place


def _if_exp(body: Body, node: ast.IfExp) -> Value:
    name = body.fresh()
    body.line(f"const bool {name} = {body.test(node.test)};")
    bound = set(body.bound or ())
    # The kind is known once a side is written: its line is moved up.
    kinds = []
    place: Value | None = None
    for branch, head in ((node.body, f"if ({name})"), (node.orelse, "else")):
        start = len(body.lines)
        body.depth += 1
        body.said_line = 0
        body.bound = set(bound)
        value = body.value(branch)
        body.depth -= 1
        lines = body.lines[start:]
        del body.lines[start:]
        if place is None:
            place = body.variable(value.kind)
        kinds.append(value.kind)
        body.line(f"{head} {{")
        body.lines += lines
        if value.kind == place.kind:
            body.depth += 1
            body.set(place, value)
            body.depth -= 1
        body.line("}")
        body.said_line = 0
    body.bound = bound
    if kinds[0] != kinds[1] or kinds[0] == NONE or place is None:
        raise Refused(node, f"`if` of {show(kinds[0])} and {show(kinds[1])}")
    return place
