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
MAX_DEPTH = 6
"""Containers inside each other that a type spells out."""
MAX_RESOLVED = 200
"""Containers that one type spells out; with more, which hold each other, two deep alone."""


class _Knotted(Exception):
    """A type holds so many containers that hold each other that it cannot be spelled out."""


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
        self._knotted: set[Type] = set()
        self._left = 0

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
        if found not in self._knotted:
            self._left = MAX_RESOLVED
            try:
                return self._resolve(found, reader, (), MAX_DEPTH)
            except _Knotted:
                self._knotted.add(found)
        self._left = -1  # which never comes to nothing
        return self._resolve(found, reader, (), 2)

    def _resolve(
        self, found: Type, reader: Unit | None, inside: tuple[Site, ...], depth: int
    ) -> Type:
        if isinstance(found, Instance):
            site = self.of(found)
            if site is None:
                return found
            if site in inside or len(inside) >= depth:
                return UNKNOWN
            if self._left == 0:
                raise _Knotted
            self._left -= 1
            if reader is not None:
                site.item.readers[reader] = None
                site.key.readers[reader] = None
            return self._contents(site, reader, (*inside, site), depth)
        if not parts_of(found):
            return found
        return map_parts(found, lambda part: self._resolve(part, reader, inside, depth))

    def _contents(
        self, site: Site, reader: Unit | None, inside: tuple[Site, ...], depth: int
    ) -> Type:
        item = self._resolve(site.item.type, reader, inside, depth)
        if site.kind == "dict":
            key = self._resolve(site.key.type, reader, inside, depth)
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
