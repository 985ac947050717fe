"""E1206: values that are declared as possibly None, used as if they were not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context, text_of
from ppybuild.graph.check.functions import is_bound_once, is_placeholder, overridden
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.check.settled import may_be_settled
from ppybuild.graph.check.values import is_generator
from ppybuild.graph.lattice import base_scalar, is_optional, show
from ppybuild.graph.scopes import parameters_of
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import BYTES, NONE, STR, Instance, Tensor

TENSOR_ATTRIBUTES = frozenset({"grad", "grad_fn"})
"""Attributes of a tensor that are None until something is computed."""


def check_optional(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """A use that None does not allow, of an operand that may be None."""
    if place.conditional or is_caught(place, "TypeError", "AttributeError"):
        return
    for operand in operands(context, node):
        if context.type(operand) == NONE:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                return  # a type: `list[int] | None`
            yield from report_nothing(context, place, operand)
            continue
        if not is_optional(context.type(operand)) or not is_declared(context, place, operand):
            continue
        function = place.function.node if place.function is not None else None
        if may_be_settled(place.module, function, operand):
            continue
        text = text_of(operand)
        yield context.report(
            "E1206",
            f"`{text}` may be None here",
            place,
            operand,
            label=show(context.type(operand)),
            help=advice(context, place, operand, text),
        )
        return


def report_nothing(context: Context, place: Place, node: ast.expr) -> Iterator[Diagnostic]:
    """A value that is None in every run that gets here."""
    if is_nothing(context, place, node):
        yield context.report(
            "E1206",
            f"`{text_of(node)}` is None here",
            place,
            node,
            label="None",
            help=how_to_give(context, place, node),
        )


def is_nothing(context: Context, place: Place, node: ast.expr) -> bool:
    match node:
        case ast.Call():
            callee = context.facts.callees.get(node)
            if callee is None:
                return False
            if callee.kind == "project":
                return gives_nothing(context, callee.name)
            return context.sure(place, node)
        case ast.Name(id=name):
            function = place.function
            if function is None or place.nested:
                return False
            sources = context.certainty.bindings_of(function.node).get(name)
            parameters = {parameter.arg for parameter in parameters_of(function.node)}
            return (
                bool(sources)
                and name not in parameters
                and all(
                    source is not None
                    and (
                        is_nothing(context, place, source)
                        if context.type(source) == NONE
                        else context.sure(place, source)
                    )
                    for source in sources or ()
                )
            )
        case ast.Constant(value=None):
            return True
        case _:
            return False


def gives_nothing(context: Context, name: str) -> bool:
    """True where every call of a function of the program gives None."""
    function = context.facts.program.functions.get(name)
    signature = context.facts.signatures.get(name)
    if function is None or signature is None or signature.result_declared:
        return False
    node = function.node
    return (
        signature.result == NONE
        and isinstance(node, ast.FunctionDef)
        and not node.decorator_list
        and not is_generator(node)
        and not is_placeholder(function)
        and not overridden(context, function)
        and not context.certainty.is_overloaded(name)
        and node.name not in context.stored_attributes
        and (function.owner is not None or is_bound_once(context, function))
    )


def how_to_give(context: Context, place: Place, node: ast.expr) -> str:
    """What was most likely meant instead of a value that is None."""
    call = node
    if isinstance(node, ast.Name) and place.function is not None:
        sources = context.certainty.bindings_of(place.function.node).get(node.id) or [None]
        call = sources[-1] or node
    callee = context.facts.callees.get(call) if isinstance(call, ast.Call) else None
    if callee is None:
        return f"give `{text_of(node)}` a value before this line"
    name = callee.name.rpartition(".")[2]
    if callee.kind == "project":
        return f"`{name}` gives nothing back: end it with `return ...`"
    return f"`{name}` gives None: it changes what it is called on, so use that afterwards"


def operands(context: Context, node: ast.AST) -> tuple[ast.expr, ...]:
    """The parts that must not be None."""
    match node:
        case ast.Attribute(value=value, attr=name):
            return () if name.startswith("__") else (value,)
        case ast.Subscript(value=value) | ast.For(iter=value):
            return (value,)
        case ast.Call(func=function):
            return (function,)
        case ast.BinOp(left=left, op=operator, right=right):
            return both(context, left, operator, right)
        case ast.AugAssign(target=target, op=operator, value=value):
            found = both(context, target, operator, value)
            return found if isinstance(target, ast.Name) else found[1:]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return (operand,)
        case _:
            return ()


def both(
    context: Context, left: ast.expr, operator: ast.operator, right: ast.expr
) -> tuple[ast.expr, ...]:
    """The operands that an operator refuses when they are None: `text % None` is a text, and
    a class of the program may take it."""
    first, second = context.type(left), context.type(right)
    if isinstance(operator, ast.Mod) and base_scalar(first) in (STR, BYTES):
        return (left,)
    if isinstance(first, Instance):
        return (left,)
    return (right,) if isinstance(second, Instance) else (left, right)


def is_declared(context: Context, place: Place, node: ast.expr) -> bool:
    """True where None comes from a declaration, not from what was seen to be assigned: a
    tensor's gradient, an annotated parameter, a call of a function that says so."""
    match node:
        case ast.Attribute(value=owner, attr=name):
            return name in TENSOR_ATTRIBUTES and isinstance(context.type(owner), Tensor)
        case ast.Call():
            return declared_result(context, node)
        case ast.Name(id=name):
            return declared_name(context, place, name)
        case ast.NamedExpr(value=value):
            return is_declared(context, place, value)
        case _:
            return False


def declared_result(context: Context, node: ast.Call) -> bool:
    callee = context.facts.callees.get(node)
    if callee is None or callee.kind != "project":
        return False
    signature = context.facts.signatures.get(callee.name)
    if signature is None or context.certainty.is_overloaded(callee.name):
        return False
    return signature.result_declared and is_optional(signature.result)


def declared_name(context: Context, place: Place, name: str) -> bool:
    """A local that only holds such values, or an annotated parameter that is not rebound."""
    function = place.function
    if function is None or place.nested:
        return False
    sources = context.certainty.bindings_of(function.node).get(name)
    if name in {parameter.arg for parameter in parameters_of(function.node)}:
        if sources is not None:
            return False
        signature = context.facts.signatures.get(function.name)
        return signature is not None and any(
            parameter.name == name and parameter.annotated and is_optional(parameter.type)
            for parameter in signature.parameters
        )
    return bool(sources) and all(
        source is not None
        and not isinstance(source, ast.Name)
        and is_declared(context, place, source)
        for source in sources or ()
    )


def advice(context: Context, place: Place, node: ast.expr, text: str) -> str:
    """The test that is missing, in the form that fits the place."""
    name = node.target.id if isinstance(node, ast.NamedExpr) else text
    if isinstance(node, ast.Call):
        return f"keep it in a variable and test that: `if value is not None:` (from `{text}`)"
    return f"test it first: `if {name} is None: {leave(context, place, node)}`"


def leave(context: Context, place: Place, node: ast.expr) -> str:
    """`continue` in a loop, `return` in a function, else `raise`."""
    function = place.function
    body = function.node if function is not None else place.module.tree
    for loop in walk(body):
        if isinstance(loop, ast.For | ast.While) and any(
            inner is node for statement in loop.body for inner in walk(statement)
        ):
            return "continue"
    return "return" if function is not None else "raise ..."
