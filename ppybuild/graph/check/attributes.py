"""E1202: attributes that a known type does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic, nearest
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.libraries import public
from ppybuild.graph.check.objects import attributes_of, lacks
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.lattice import show
from ppybuild.graph.types import (
    NONE,
    Array,
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

CONCRETE = frozenset({"list", "tuple", "set", "frozenset", "range", "dict"})


def check_attribute(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """An attribute that is read, of a module or of a value whose class is sure."""
    assert isinstance(node, ast.Attribute)
    name = node.attr
    if not isinstance(node.ctx, ast.Load) or name.startswith("__"):
        return
    if place.conditional or is_caught(place, "AttributeError"):
        return
    owner = context.type(node.value)
    if name in context.stored_attributes or not context.reached(node.value):
        return
    if isinstance(owner, Module):
        yield from module_attribute(context, place, node, owner)
    elif is_concrete(owner):
        known = context.library.member(owner, name) is not None
        if not known and context.sure(place, node.value):
            yield missing(context, place, node, f"`{show(owner)}`", owner)
    elif isinstance(owner, Instance) and lacks(context, place, node):
        close = nearest(name, attributes_of(context, owner))
        yield report(context, place, node, f"`{show(owner)}`", close)


def module_attribute(
    context: Context, place: Place, node: ast.Attribute, owner: Module
) -> Iterator[Diagnostic]:
    modules = context.facts.program.modules
    if not context.sure(place, node.value):
        return
    if owner.name in modules:
        if not context.exports.has(owner.name, node.attr):
            close = nearest(node.attr, context.exports.names(owner.name))
            yield report(context, place, node, f"module `{owner.name}`", close)
    elif not context.provides(owner.name) and owner.name.partition(".")[0] not in modules:
        if owner.name.partition(".")[0] == "ppy":
            return
        if context.library.member(owner, node.attr) is None:
            yield missing(context, place, node, f"module `{owner.name}`", owner)


def is_concrete(kind: Type) -> bool:
    """True for a built-in value or tensor, whose class nothing adds to."""
    match kind:
        case Collection(kind=name) | Dictionary(kind=name):
            return name in CONCRETE
        case Scalar() | Literal() | Tuple() | Array() | Tensor():
            return kind != NONE
        case _:
            return False


def missing(
    context: Context, place: Place, node: ast.Attribute, owner: str, kind: Type
) -> Diagnostic:
    close = nearest(node.attr, public(context.library.names(kind)))
    return report(context, place, node, owner, close)


def report(
    context: Context, place: Place, node: ast.Attribute, owner: str, close: str | None
) -> Diagnostic:
    return context.report(
        "E1202",
        f"{owner} has no attribute `{node.attr}`",
        place,
        node,
        help=f"did you mean `{close}`?" if close else "",
        label=show(context.type(node.value)) if "module" not in owner else "",
    )
