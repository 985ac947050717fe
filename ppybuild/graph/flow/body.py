"""What is gathered over the whole program, and the slots that one body of code sees."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import count

from ppybuild.graph.flow.records import Classes, Element, Flow, Slot, Use
from ppybuild.graph.lattice import members_of
from ppybuild.graph.program import Facts, Function, Module
from ppybuild.graph.scopes import parameters_of, scope_of
from ppybuild.graph.types import (
    Array,
    Buffer,
    Class,
    Collection,
    Dictionary,
    Instance,
    Literal,
    Method,
    Scalar,
    Tensor,
    Tuple,
    Type,
)
from ppybuild.graph.types import Function as FunctionType
from ppybuild.graph.types import Module as ModuleType

NO_LIST = Scalar | Literal | Tensor | Class | ModuleType | FunctionType | Method
"""Types that neither are nor hold a list."""

NO_PROJECT_FIELD = NO_LIST | Tuple | Collection | Dictionary | Array | Buffer
"""Types whose attributes are not fields of the project's classes."""


def may_be_list(found: Type | None) -> bool:
    """False where the value is certainly no list."""
    return found is None or not all(isinstance(each, NO_LIST) for each in members_of(found))


class Gathered:
    """What accumulates over the whole program."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.classes = Classes()
        self.uses: dict[Slot, list[Use]] = {}
        self.elements: dict[Slot, list[Element]] = {}
        self.producers: dict[Slot, list[Element]] = {}
        self.passes: dict[Slot, list[Slot]] = {}
        self.entered: dict[Slot, list[ast.expr]] = {}
        self.called: set[str] = set()
        """Functions that a call or an attribute of the program reaches."""
        self.loose: dict[str, Use] = {}
        """Attribute names that are used on objects of unknown type."""
        self.open: Use | None = None
        self._numbers = count()
        functions = facts.program.functions
        self.names = {id(found.node): name for name, found in functions.items()}
        self.class_names = {
            id(found.node): name for name, found in facts.program.classes.items()
        }
        scopes = {
            name: scope_of(found.node.body, expressions=True)
            for name, found in functions.items()
        }
        self.bound = {
            name: frozenset(
                scopes[name].bound | {found.arg for found in parameters_of(function.node)}
            )
            for name, function in functions.items()
        }
        self.globals = {name: frozenset(scope.globals) for name, scope in scopes.items()}

    def temporary(self) -> Slot:
        return Slot("temporary", name=str(next(self._numbers)))

    def use(self, slot: Slot, use: Use) -> None:
        self.classes.find(slot)
        self.uses.setdefault(slot, []).append(use)

    def leak(self, function: str, use: Use) -> None:
        """The function may be called with anything, and its results used in any way."""
        for parameter in parameters_of(self.facts.program.functions[function].node):
            self.use(Slot("variable", function, parameter.arg), use)
        self.use(Slot("result", function), use)

    def result(self) -> Flow:
        return Flow(
            self.classes,
            {slot: tuple(found) for slot, found in self.uses.items()},
            {slot: tuple(found) for slot, found in self.elements.items()},
            {slot: tuple(found) for slot, found in self.producers.items()},
            {slot: tuple(found) for slot, found in self.passes.items()},
            {slot: tuple(found) for slot, found in self.entered.items()},
            self.open,
        )

    def ancestors(self, name: str) -> Iterator[str]:
        """The class and its bases, their bases too; those of libraries by name only."""
        pending, seen = [name], set[str]()
        while pending:
            found = pending.pop(0)
            if found in seen:
                continue
            seen.add(found)
            yield found
            if found in self.facts.program.classes:
                pending.extend(self.facts.program.classes[found].bases)

    def method(self, owner: str, name: str) -> str | None:
        """The project's function that `owner.name` is."""
        for ancestor in self.ancestors(owner):
            if f"{ancestor}.{name}" in self.facts.program.functions:
                return f"{ancestor}.{name}"
        return None


class Body(ABC):
    """One function's body, or a module's top level, and what is said about its slots."""

    def __init__(self, gathered: Gathered, module: Module, function: Function | None) -> None:
        self.gathered = gathered
        self.classes = gathered.classes
        self.facts = gathered.facts
        self.module = module
        self.function = function
        self.inside: str | None = None
        """The class whose body is walked."""

    @abstractmethod
    def value(self, node: ast.expr) -> Slot | None:
        """The slot of an expression's value; None where it is not followed."""

    def variable(self, name: str) -> Slot:
        """The slot of a name as this body sees it."""
        if self.inside is not None and name in self.facts.fields.get(self.inside, {}):
            return Slot("field", self.inside, name)
        owner = self.function.name if self.function else ""
        while owner:
            if name in self.gathered.globals.get(owner, ()):
                break
            if name in self.gathered.bound.get(owner, ()):
                return Slot("variable", owner, name)
            owner = owner.rpartition(".<locals>.")[0]
        return Slot("variable", self.module.name, name)

    def use(self, slot: Slot | None, what: str, node: ast.AST, detail: str = "") -> None:
        if slot is not None:
            self.gathered.use(slot, Use(what, node, self.module.name, detail))

    def annotated(self, slot: Slot | None, annotation: ast.expr | None) -> None:
        if annotation is None:
            return
        text = ast.unparse(annotation)
        is_buffer = text.removeprefix("ppy.") in ("Buffer[float]", "Buffer[int]")
        self.use(slot, "buffer" if is_buffer else "annotated", annotation, text)

    def join(self, left: Slot | None, right: Slot | None) -> None:
        if left is not None and right is not None:
            self.classes.join(left, right)

    def enter(self, target: Slot, slot: Slot | None, node: ast.expr) -> None:
        """`node`, whose slot is `slot`, becomes the value of `target`."""
        self.classes.find(target)
        if slot is not None:
            self.join(target, slot)
            return
        self.gathered.entered.setdefault(target, []).append(node)
        if may_be_list(self.facts.types.get(node)):
            self.use(target, "source", node, ast.unparse(node))

    def put(
        self,
        holder: Slot,
        value: Slot | None,
        node: ast.expr | ast.AugAssign,
        *,
        spread: bool = False,
    ) -> None:
        """`node`, whose slot is `value`, becomes an element of `holder`."""
        self.classes.find(holder)
        found = self.gathered.elements.setdefault(holder, [])
        found.append(Element(node, self.module.name, spread))
        if value is not None:
            self.join(self.classes.item(holder), value)
        elif isinstance(node, ast.expr) and may_be_list(self.facts.types.get(node)):
            self.use(self.classes.item(holder), "source", node, ast.unparse(node))

    def produce(self, node: ast.expr) -> Slot:
        """A new list, made by `node`."""
        slot = self.gathered.temporary()
        self.use(slot, "made", node)
        self.gathered.producers[slot] = [Element(node, self.module.name)]
        return slot

    def produce_all(self, node: ast.expr) -> Slot:
        """A new list, and where that is one of lists, those."""
        slot = self.produce(node)
        found = self.type_of(node)
        if isinstance(found, Collection) and isinstance(found.item, Collection):
            held = self.classes.item(slot)
            self.use(held, "made", node)
            made = Element(node, self.module.name, within=True)
            self.gathered.producers.setdefault(held, []).append(made)
        return slot

    def escape(self, slot: Slot | None, node: ast.AST, detail: str) -> None:
        self.use(slot, "escape", node, detail)

    def loosely(self, name: str, node: ast.AST) -> None:
        """An attribute of this name is used on an object of unknown type."""
        self.gathered.loose.setdefault(
            name, Use("escape", node, self.module.name, f"`.{name}`")
        )

    def type_of(self, node: ast.expr) -> Type | None:
        return self.facts.types.get(node)

    def is_list(self, node: ast.expr) -> bool:
        found = self.type_of(node)
        return isinstance(found, Collection) and found.kind == "list"

    def field(self, base: Type, name: str) -> Slot | None:
        """The slot of an attribute of an object or class of the project."""
        if not isinstance(base, Instance | Class):
            return None
        if base.name not in self.facts.program.classes:
            return None
        method = self.gathered.method(base.name, name)
        if method is None:
            return Slot("field", base.name, name)
        self.gathered.called.add(method)
        if _is_property(self.facts.program.functions[method]):
            return Slot("result", method)
        return None


def _is_property(function: Function) -> bool:
    names = (ast.unparse(found).rpartition(".")[2] for found in function.node.decorator_list)
    return any(name in ("property", "cached_property") for name in names)
