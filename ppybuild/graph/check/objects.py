"""Attributes that objects lack: of the program's classes, and of a library's that the program
makes itself.

An object may have what its class, one that it derives from, or one that derives from it
defines, and what anything in the program sets on any object. A library's class may have
every word that its source holds.
"""

from __future__ import annotations

import ast

from ppybuild.graph.check.context import Context
from ppybuild.graph.check.libraries import public
from ppybuild.graph.check.place import Place
from ppybuild.graph.scopes import parameters_of, scope_of
from ppybuild.graph.types import Class, Instance

TRANSPARENT = frozenset({"dataclass", "final", "total_ordering"})
"""Decorators that give a class nothing but special methods."""
DYNAMIC = frozenset({"__getattr__", "__getattribute__"})
"""Methods by which a class computes attributes."""


def lacks(context: Context, place: Place, node: ast.Attribute) -> bool:
    """True where `node` reads an attribute that its object is certain not to have."""
    owner = context.type(node.value)
    if (
        not isinstance(owner, Instance)
        or context.objects_are_open
        or node.attr in context.texts
    ):
        return False
    if owner.name not in context.facts.program.classes:
        made = is_made_here(context, place, node.value, owner)
        return made and library_lacks(context, owner.name, node.attr)
    known = is_own_self(place, node.value, owner) or context.sure(place, node.value)
    return known and own_lacks(context, owner.name, node.attr)


def is_own_self(place: Place, node: ast.expr, owner: Instance) -> bool:
    """True for `self` in a method."""
    function = place.function
    if function is None or function.owner != owner.name or not isinstance(node, ast.Name):
        return False
    parameters = parameters_of(function.node)
    decorators = {ast.unparse(each) for each in function.node.decorator_list}
    return (
        not place.nested
        and bool(parameters)
        and parameters[0].arg == node.id
        and decorators <= {"property", "torch.no_grad()", "ppy.pure"}
    )


def own_lacks(context: Context, name: str, attribute: str) -> bool:
    """As `lacks`, of a class of the program that it makes objects of."""
    hierarchy = context.hierarchy
    kinds = (name, *hierarchy.subclasses(name))
    if context.constructed.isdisjoint(kinds):
        return False
    related = {each for kind in kinds for each in hierarchy.order(kind)}
    bases = {base for kind in kinds for base in hierarchy.library_bases(kind)}
    return all(is_plain_class(context, each) for each in related) and not (
        any(attribute in names_in_class(context, each) for each in related)
        or any(not library_lacks(context, base, attribute) for base in bases)
    )


def is_plain_class(context: Context, name: str) -> bool:
    """True where nothing but its body and its methods gives the class attributes."""
    node = context.facts.program.classes[name].node
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(target).rpartition(".")[2] not in TRANSPARENT:
            return False
    computes = not DYNAMIC.isdisjoint(names_in_class(context, name))
    return not node.keywords and not computes and "#" not in name


def names_in_class(context: Context, name: str) -> frozenset[str]:
    """What the body binds, and what is known to be set."""
    node = context.facts.program.classes[name].node
    bound = scope_of(node.body, expressions=False).bound
    return frozenset(bound) | context.facts.fields.get(name, {}).keys()


def library_lacks(context: Context, name: str, attribute: str) -> bool:
    """True where no source of a library's class, or of what it derives from, has the word."""
    return not context.library.may_have(name, attribute)


def is_made_here(context: Context, place: Place, node: ast.expr, owner: Instance) -> bool:
    """True where the object is of this very class: the program calls the class for it."""
    match node:
        case ast.Call(func=function):
            found = context.type(function)
            return isinstance(found, Class) and context.library.canonical(
                found.name
            ) == context.library.canonical(owner.name)
        case ast.Name(id=name):
            if not context.sure(place, node):
                return False
            body = place.module.tree if place.function is None else place.function.node
            sources = context.certainty.bindings_of(body).get(name, [])
            return bool(sources) and all(
                source is not None and is_made_here(context, place, source, owner)
                for source in sources
            )
    return False


def attributes_of(context: Context, owner: Instance) -> frozenset[str]:
    """What an object is known to have, to suggest one."""
    hierarchy = context.hierarchy
    classes = hierarchy.order(owner.name)
    libraries = hierarchy.library_bases(owner.name) if classes else (owner.name,)
    found = {name for each in classes for name in names_in_class(context, each)}
    for base in libraries:
        found |= context.library.names(Instance(base))
    return public(frozenset(found))
