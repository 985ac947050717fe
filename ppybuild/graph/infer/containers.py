"""Lists, sets, dicts and what else holds items: making, reading, filling."""

from __future__ import annotations

import ast

from ppybuild.graph.infer.indexing import indexed
from ppybuild.graph.infer.sites import Site
from ppybuild.graph.infer.values import argument, known_value
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import (
    ARRAY_ELEMENTS,
    BUFFER_ELEMENTS,
    anonymous,
    base_scalar,
    iterated,
    join,
    join_all,
    members_of,
    widened,
)
from ppybuild.graph.types import (
    BYTES,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Array,
    Buffer,
    Class,
    Collection,
    Dictionary,
    Instance,
    Tensor,
    Tuple,
    Type,
    Unknown,
)


def fill(visit: Visit, site: Site, item: Type, key: Type = NEVER) -> None:
    """Adds to what a container may hold."""
    visit.write(site.item, widened(item))
    if key is not NEVER:
        visit.write(site.key, widened(key))


def fresh(visit: Visit, node: ast.AST, found: Type) -> Type:
    """A new list, set or dict that `node` makes with contents of a known type."""
    if isinstance(found, Collection) and found.kind in ("list", "set"):
        site = visit.engine.sites.at(node, found.kind)
        fill(visit, site, found.item)
        return site.type
    if isinstance(found, Dictionary) and found.kind == "dict":
        site = visit.engine.sites.at(node, "dict")
        fill(visit, site, found.value, found.key)
        return site.type
    return found


def infer_display(visit: Visit, node: ast.expr) -> Type:
    """`[a, b]` and `{a, b}`"""
    assert isinstance(node, ast.List | ast.Set)
    site = visit.engine.sites.at(node, "list" if isinstance(node, ast.List) else "set")
    for item in node.elts:
        found = visit.infer(item)
        if isinstance(item, ast.Starred):
            found = element_of(visit, found)
        fill(visit, site, found)
    return site.type


def infer_dict(visit: Visit, node: ast.expr) -> Type:
    """`{key: value, **other}`"""
    assert isinstance(node, ast.Dict)
    site = visit.engine.sites.at(node, "dict")
    for key, item in zip(node.keys, node.values, strict=True):
        if key is None:
            other = visit.infer(item)
            fill(visit, site, value_of(visit, other), element_of(visit, other))
        else:
            found = visit.infer(key)
            fill(visit, site, visit.infer(item), found)
    return site.type


def store_comprehension(visit: Visit, node: ast.expr, key: Type, item: Type) -> Type:
    """The container that a comprehension makes."""
    if isinstance(node, ast.GeneratorExp):
        return Collection("Iterator", widened(item))
    kinds = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict"}
    site = visit.engine.sites.at(node, kinds[type(node)])
    fill(visit, site, item, key)
    return site.type


def join_lists(
    visit: Visit, node: ast.AST, symbol: str, left: Type, right: Type
) -> Type | None:
    """`list + list`, `list * int` and `dict | dict`; None for any other operands."""
    first, second = _kind(visit, left), _kind(visit, right)
    if symbol == "+" and first == second == "list":
        item = join(element_of(visit, left), element_of(visit, right))
    elif symbol == "*" and first == "list" and base_scalar(right) is not None:
        item = element_of(visit, left)
    elif symbol == "*" and second == "list" and base_scalar(left) is not None:
        item = element_of(visit, right)
    elif symbol in "|&-^" and first in ("set", "frozenset") and second in ("set", "frozenset"):
        item = element_of(visit, left)
        if symbol in "|^":
            item = join(item, element_of(visit, right))
        if first == "frozenset":
            return Collection("frozenset", item)
        site = visit.engine.sites.at(node, "set")
        fill(visit, site, item)
        return site.type
    elif symbol == "|" and first == second == "dict":
        site = visit.engine.sites.at(node, "dict")
        for part in (left, right):
            fill(visit, site, value_of(visit, part), element_of(visit, part))
        return site.type
    else:
        return None
    site = visit.engine.sites.at(node, "list")
    fill(visit, site, item)
    return site.type


def _kind(visit: Visit, found: Type) -> str:
    site = visit.engine.sites.of(found)
    if site is not None:
        return site.kind
    return found.kind if isinstance(found, Collection | Dictionary) else ""


def element_of(visit: Visit, found: Type) -> Type:
    """What iterating over a value gives."""
    if isinstance(found, Unknown):
        return UNKNOWN
    return join_all(_element(visit, member) for member in members_of(found) if member != NONE)


def _element(visit: Visit, found: Type) -> Type:
    site = visit.engine.sites.of(found)
    if site is not None:
        return visit.read(site.key if site.kind == "dict" else site.item)
    match found:
        case Collection():
            return iterated(found)
        case Dictionary():
            return found.key
        case Tuple():
            return join_all(map(widened, found.items))
        case Array():
            return ARRAY_ELEMENTS.get(found.typecode, UNKNOWN)
        case Buffer():
            return BUFFER_ELEMENTS[found.element]
    if base_scalar(found) == STR:
        return STR
    if found == BYTES:
        return INT
    if isinstance(found, Instance) and found.name in visit.engine.program.classes:
        iterator = visit.special(found, "__iter__", [])
        if iterator is None:
            return UNKNOWN
        item = visit.special(iterator, "__next__", [])
        return (
            element_of(visit, iterator)
            if item is None and iterator != found
            else item or UNKNOWN
        )
    if isinstance(found, Class) and found.name in visit.engine.program.classes:
        return Instance(found.name)
    answer = visit.engine.library.iterate(visit.resolved(found))
    return NEVER if answer is None else anonymous(answer)


def value_of(visit: Visit, found: Type) -> Type:
    """The values of a mapping."""
    site = visit.engine.sites.of(found)
    if site is not None:
        return visit.read(site.item)
    return found.value if isinstance(found, Dictionary) else UNKNOWN


def item_of(visit: Visit, owner: Type, index: Type, node: ast.expr) -> Type:
    """The type of `owner[index]`."""
    members = members_of(owner)
    return join_all(
        _item(visit, member, index, node)
        for member in members
        if member != NONE or len(members) == 1
    )


def _item(visit: Visit, owner: Type, index: Type, node: ast.expr) -> Type:
    engine = visit.engine
    sliced = isinstance(index, Instance) and index.name == "builtins.slice"
    site = engine.sites.of(owner)
    if site is not None:
        item = visit.read(site.item)
        return Collection("list", item) if sliced and site.kind == "list" else item
    match owner:
        case Unknown():
            return UNKNOWN
        case Tuple():
            return _tuple_item(visit, owner, index, node)
        case Collection() if owner.kind in ("list", "tuple", "range", "Sequence"):
            return owner if sliced else owner.item
        case Dictionary():
            return owner.value
        case Array():
            return owner if sliced else ARRAY_ELEMENTS.get(owner.typecode, UNKNOWN)
        case Buffer():
            return owner if sliced else BUFFER_ELEMENTS[owner.element]
    if base_scalar(owner) == STR:
        return STR
    if owner == BYTES:
        return BYTES if sliced else INT
    if isinstance(owner, Instance) and owner.name in engine.program.classes:
        found = visit.special(owner, "__getitem__", [index])
        return UNKNOWN if found is None else found
    if isinstance(owner, Class):
        return owner
    known = visit.resolved(owner)
    if isinstance(known, Tensor):
        return indexed(visit, known, node)
    answer = engine.library.item(known, argument(visit, node, index))
    return NEVER if answer is None else anonymous(answer)


def _tuple_item(visit: Visit, owner: Tuple, index: Type, node: ast.expr) -> Type:
    if isinstance(node, ast.Slice):
        bounds: list[int | None] = []
        for part in (node.lower, node.upper, node.step):
            value = None if part is None else known_value(visit, part)
            if value is not None and not isinstance(value, int):
                return Collection("tuple", join_all(owner.items))
            bounds.append(value)
        if bounds[2] == 0:
            return NEVER
        return Tuple(owner.items[slice(*bounds)])
    place = known_value(visit, node)
    if isinstance(place, int):
        inside = -len(owner.items) <= place < len(owner.items)
        return owner.items[place] if inside else NEVER
    return join_all(map(widened, owner.items))


def store_item(visit: Visit, owner: Type, index: Type, found: Type) -> None:
    """`owner[index] = found`"""
    for member in members_of(owner):
        site = visit.engine.sites.of(member)
        if site is not None:
            sliced = isinstance(index, Instance) and index.name == "builtins.slice"
            fill(
                visit,
                site,
                element_of(visit, found) if sliced else found,
                index if site.kind == "dict" else NEVER,
            )
        elif isinstance(member, Instance) and member.name in visit.engine.program.classes:
            visit.special(member, "__setitem__", [index, found])


ADDING = {
    ("list", "append"): 0,
    ("list", "insert"): 1,
    ("set", "add"): 0,
}
"""Methods that add one item: the place of the argument that is it."""

POURING = frozenset(
    {("list", "extend"), ("set", "update"), ("set", "symmetric_difference_update")}
)
"""Methods that add every item of each argument."""

EMPTYING = frozenset({"clear", "sort", "reverse", "remove", "discard"})


def call_container(
    visit: Visit, node: ast.AST, site: Site, name: str, arguments: list[Type]
) -> Type | None:
    """A call of a container's own method; None for one that is the library's to answer."""
    adding = ADDING.get((site.kind, name))
    if adding is not None and len(arguments) > adding:
        fill(visit, site, arguments[adding])
        return NONE
    if (site.kind, name) in POURING:
        for each in arguments:
            fill(visit, site, element_of(visit, each))
        return NONE
    if site.kind == "list":
        if name == "pop":
            return visit.read(site.item)
        if name == "copy":
            return fresh(visit, node, Collection("list", visit.read(site.item)))
    if site.kind == "dict":
        return _call_dict(visit, node, site, name, arguments)
    return NONE if name in EMPTYING else None


def _call_dict(
    visit: Visit, node: ast.AST, site: Site, name: str, arguments: list[Type]
) -> Type | None:
    item = visit.read(site.item)
    key = visit.read(site.key)
    if name == "setdefault" and arguments:
        given = arguments[1] if len(arguments) > 1 else NONE
        fill(visit, site, given, arguments[0])
        return join(item, given)
    if name == "update":
        for each in arguments:
            fill(visit, site, value_of(visit, each), element_of(visit, each))
        return NONE
    if name in ("get", "pop") and arguments:
        missing = NONE if name == "get" else NEVER
        return join(item, arguments[1] if len(arguments) > 1 else missing)
    if name == "copy":
        return fresh(visit, node, Dictionary("dict", key, item))
    if name == "items":
        return Collection("Iterable", Tuple((key, item)))
    if name == "keys":
        return Collection("Iterable", key)
    if name == "values":
        return Collection("Iterable", item)
    if name == "popitem":
        return Tuple((key, item))
    return NONE if name == "clear" else None


def hint(visit: Visit, found: Type, declared: Type) -> None:
    """Tells a container how it is declared where it is bound."""
    site = visit.engine.sites.of(found)
    if site is None:
        return
    for member in members_of(declared):
        if isinstance(member, Collection | Dictionary):
            site.hint = join(site.hint, member)
