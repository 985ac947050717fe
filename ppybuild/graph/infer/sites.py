"""Containers by the place that makes them.

While inference runs, a list, set or dict is an `Instance` of a class of its own, named after
the expression that made it (`#list:7`), so that whoever adds to it, wherever that is, adds
to what every holder of it sees. Such names never leave inference: `resolved` puts the type
with the contents in their place.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ppybuild.graph.infer.state import Slot, Unit
from ppybuild.graph.lattice import join_all, map_parts, members_of, parts_of
from ppybuild.graph.types import NEVER, UNKNOWN, Collection, Dictionary, Instance, Type

MAX_SITES = 12
"""A union of more containers than this is replaced by one type of what they hold."""


@dataclass(slots=True, eq=False)
class Site:
    """A container, by the expression that makes it. `item` is a dict's values."""

    kind: str
    type: Instance
    item: Slot = field(default_factory=Slot)
    key: Slot = field(default_factory=Slot)
    hint: Type = NEVER
    """The type that it is declared to be where it is bound; used where nothing fills it."""


class Sites:
    """All containers that the program makes."""

    def __init__(self) -> None:
        self._by_node: dict[ast.AST, Site] = {}
        self._by_name: dict[str, Site] = {}

    def at(self, node: ast.AST, kind: str) -> Site:
        """The container that an expression makes."""
        site = self._by_node.get(node)
        if site is None:
            site = Site(kind, Instance(f"#{kind}:{len(self._by_node)}"))
            self._by_node[node] = site
            self._by_name[site.type.name] = site
        return site

    def of(self, found: Type) -> Site | None:
        """The container behind a type."""
        if isinstance(found, Instance) and found.name[0] == "#":
            return self._by_name[found.name]
        return None

    def resolved(self, found: Type, reader: Unit | None = None) -> Type:
        """The type with every container's contents in it; the reader is told of changes."""
        return self._resolve(found, reader, ())

    def _resolve(self, found: Type, reader: Unit | None, inside: tuple[Site, ...]) -> Type:
        if isinstance(found, Instance):
            site = self.of(found)
            if site is None:
                return found
            if site in inside or len(inside) > 5:
                return UNKNOWN
            if reader is not None:
                site.item.readers[reader] = None
                site.key.readers[reader] = None
            return self._contents(site, reader, (*inside, site))
        if not parts_of(found):
            return found
        return map_parts(found, lambda part: self._resolve(part, reader, inside))

    def _contents(self, site: Site, reader: Unit | None, inside: tuple[Site, ...]) -> Type:
        item = self._resolve(site.item.type, reader, inside)
        if site.kind == "dict":
            key = self._resolve(site.key.type, reader, inside)
            if item is NEVER and isinstance(site.hint, Dictionary):
                return Dictionary("dict", site.hint.key, site.hint.value)
            return Dictionary("dict", key, item)
        if item is NEVER and isinstance(site.hint, Collection):
            item = site.hint.item
        return Collection(site.kind, item)

    def narrowed(self, found: Type, reader: Unit | None = None) -> Type:
        """The type with too long a union of containers replaced by what they hold."""
        members = members_of(found)
        if len(members) <= MAX_SITES:
            return found
        sites = [member for member in members if self.of(member)]
        if len(sites) <= MAX_SITES:
            return found
        rest = [member for member in members if not self.of(member)]
        return join_all([*rest, *(self.resolved(site, reader) for site in sites)])
