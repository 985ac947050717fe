"""E1305, E1301, E1401, E1402: calls that cannot succeed; of the program's own here."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.arguments import Taker, check_arguments
from ppybuild.graph.check.constructors import constructor_of
from ppybuild.graph.check.context import Context, text_of
from ppybuild.graph.check.functions import is_bound_once, is_placeholder, overridden
from ppybuild.graph.check.library_calls import check_library
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.lattice import members_of, show
from ppybuild.graph.program import Function
from ppybuild.graph.types import (
    NONE,
    Array,
    Class,
    Collection,
    Dictionary,
    Instance,
    Literal,
    Module,
    Scalar,
    Tensor,
    Tuple,
    Type,
)

TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "pure", "export", "no_grad", "inference_mode", "lru_cache",
     "cache"}
)  # fmt: skip
"""Decorators after which a function takes what its definition says."""


def check_call(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    assert isinstance(node, ast.Call)
    if place.conditional or is_caught(place, "TypeError"):
        return
    callee = context.facts.callees.get(node)
    if not context.reached(node.func):
        return
    if callee is None:
        yield from check_callable(context, place, node)
        return
    if callee.kind == "project":
        yield from check_own(context, place, node, callee.name)
    elif callee.kind == "class":
        taker = constructor_of(context, place, node, callee.name)
        if taker is not None:
            yield from check_arguments(context, place, node, taker)
    elif callee.kind in ("external", "method"):
        yield from check_library(context, place, node)


VALUES = Scalar | Literal | Tuple | Array | Tensor | Collection | Dictionary
"""Types of values that cannot be called."""


def is_value(context: Context, kind: Type) -> bool:
    """True for what cannot be called; a module where its text is known."""
    if isinstance(kind, Module):
        own = kind.name in context.facts.program.modules
        return own or bool(context.library.names(kind))
    return isinstance(kind, VALUES) and kind != NONE


def check_callable(context: Context, place: Place, node: ast.Call) -> Iterator[Diagnostic]:
    """A call of a value that is no function."""
    found = context.type(node.func)
    kinds = members_of(found)
    if not kinds or not all(is_value(context, each) for each in kinds):
        return
    if context.sure(place, node.func):
        yield context.report(
            "E1305",
            f"`{text_of(node.func)}` is no function, and cannot be called",
            place,
            node,
            label=show(found),
        )


def check_own(
    context: Context, place: Place, node: ast.Call, name: str
) -> Iterator[Diagnostic]:
    """A call of one of the program's functions."""
    function = context.facts.program.functions.get(name)
    signature = context.facts.signatures.get(name)
    if function is None or signature is None or not is_plain(context, function, node):
        return
    parameters = signature.parameters
    of_object = isinstance(context.type(node.func), Instance)
    if of_object and not context.sure(place, node.func):
        return
    if of_object or (function.owner is not None and not isinstance(node.func, ast.Name)):
        parameters = parameters if is_static(function) else parameters[1:]
    yield from check_arguments(
        context, place, node, Taker(function.node.name, parameters, declared(function))
    )


def is_plain(context: Context, function: Function, node: ast.Call) -> bool:
    """True where the call is sure to reach this very definition."""
    for decorator in function.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name not in TRANSPARENT:
            return False
    if "#" in function.name or "<locals>" in function.name:
        return False
    if function.node.name in context.stored_attributes:
        return False
    if function.name + "#2" in context.facts.program.functions:
        return False
    if function.owner is None:
        through = node.func.value if isinstance(node.func, ast.Attribute) else None
        if through is not None and not isinstance(context.type(through), Module):
            return False  # a function that a class took over as a method
        return is_bound_once(context, function)
    if isinstance(context.type(node.func), Instance):
        return not overridden(context, function)  # an object, by `__call__` or `forward`
    if not isinstance(node.func, ast.Attribute) or is_super(node.func.value):
        return False
    if isinstance(context.type(node.func.value), Class):
        return False
    return not overridden(context, function) and not is_placeholder(function)


def is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


def is_static(function: Function) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
        for decorator in function.node.decorator_list
    )


def declared(function: Function) -> str:
    return f"it is declared as `{function.node.name}({ast.unparse(function.node.args)})`"
