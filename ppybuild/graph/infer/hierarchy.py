"""Which class derives from which, and where an attribute of an instance is defined."""

from __future__ import annotations

import ast
from functools import cached_property

from ppybuild.graph.index import bindings_of
from ppybuild.graph.library import Library
from ppybuild.graph.program import Class, Function, Program
from ppybuild.graph.scopes import assigned_in


class Hierarchy:
    """The classes of the project, with what they derive from."""

    def __init__(self, program: Program, library: Library) -> None:
        self._program = program
        self._library = library
        self._orders: dict[str, tuple[str, ...]] = {}
        self._assigned: dict[str, frozenset[str]] = {}
        self._methods: dict[str, dict[str, Function]] = {name: {} for name in program.classes}
        for function in program.functions.values():
            if function.owner is not None:
                self._methods[function.owner][function.node.name] = function

    def order(self, name: str) -> tuple[str, ...]:
        """A class, then the project's classes that it derives from, in the order in which
        attributes are looked up (depth first, the last of duplicates kept)."""
        if name not in self._program.classes:
            return ()
        found = self._orders.get(name)
        if found is None:
            self._orders[name] = (name,)
            seen: dict[str, None] = {name: None}
            for base in self.resolved_bases(name):
                for ancestor in self.order(base) if base in self._program.classes else ():
                    seen.pop(ancestor, None)
                    seen[ancestor] = None
            found = self._orders[name] = (name, *(each for each in seen if each != name))
        return found

    def resolved_bases(self, name: str) -> tuple[str, ...]:
        """The direct bases; names of the project's classes are followed to where they are."""
        bases = []
        found = self._program.classes[name]
        for base in found.bases:
            bases.append(self._follow(base, found))
        return tuple(bases)

    def _follow(self, base: str, found: Class) -> str:
        if base in self._program.classes:
            return base
        prefix = found.name.rpartition(".")[0]
        while prefix:
            if f"{prefix}.{base}" in self._program.classes:
                return f"{prefix}.{base}"
            prefix = prefix.rpartition(".")[0]
        module, _, last = base.rpartition(".")
        if module in self._program.modules:
            target = bindings_of(self._program.modules[module]).get(last)
            if target is not None and target != base:
                return self._follow(target, found)
        return base

    def library_bases(self, name: str) -> tuple[str, ...]:
        """What a class derives from outside the project."""
        return tuple(
            base
            for ancestor in self.order(name)
            for base in self.resolved_bases(ancestor)
            if base not in self._program.classes and base not in ("object", "builtins.object")
        )

    def method(self, owner: str, name: str) -> Function | None:
        """The function that `instance.name` finds among the project's classes."""
        for ancestor in self.order(owner):
            found = self._methods[ancestor].get(name)
            if found is not None:
                return found
        return None

    def is_rebound(self, owner: str, name: str) -> bool:
        """True where the body of a class also assigns the name of a method, as in
        `f = staticmethod(f)`: the attribute is then not the method that was defined."""
        assigned = self._assigned.get(owner)
        if assigned is None:
            body = self._program.classes[owner].node.body
            assigned = self._assigned[owner] = assigned_in(body)
        return name in assigned

    def overriding(self, owner: str, name: str) -> tuple[Function, ...]:
        """What subclasses define under the name of a method."""
        found = (self._methods[each].get(name) for each in self._subclasses.get(owner, ()))
        return tuple(each for each in found if each is not None)

    def derives(self, name: str, ancestor: str) -> bool:
        """True where a class of the project is, or derives from, another class."""
        return ancestor in self.order(name) or ancestor in self.library_bases(name)

    def is_dataclass(self, name: str) -> bool:
        """True for a class that `@dataclass` decorates."""
        node = self._program.classes[name].node
        return any("dataclass" in ast.unparse(each) for each in node.decorator_list)

    def subclasses(self, name: str) -> tuple[str, ...]:
        """Every class of the project that derives from one, itself left out."""
        return self._subclasses.get(name, ())

    @cached_property
    def _subclasses(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for name in self._program.classes:
            for ancestor in self.order(name)[1:]:
                found.setdefault(ancestor, []).append(name)
        return {name: tuple(below) for name, below in found.items()}
