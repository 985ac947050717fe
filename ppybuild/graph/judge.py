"""What speaks against holding a class of lists as something else than lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.bounds import FITS, bits, counters, grows_slowly, range_bits
from ppybuild.graph.exact import certainly_float, doubtful_float
from ppybuild.graph.failures import shown_failures
from ppybuild.graph.flow import Flow, Slot, Use
from ppybuild.graph.flow.calls import FOLLOWED
from ppybuild.graph.flow.records import Element
from ppybuild.graph.lattice import base_scalar, join_all, members_of
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts, FunctionNode
from ppybuild.graph.types import (
    BOOL,
    FLOAT,
    INT,
    NEVER,
    UNKNOWN,
    Array,
    Buffer,
    Collection,
    Scalar,
    Tuple,
    Type,
)

BLOCKED: dict[str, tuple[str, str]] = {
    "tuple": ("a tuple comes here too", "pass a list, or leave it"),
    "source": ("`{detail}` comes here too, which is made elsewhere", "copy it: `list(...)`"),
    "annotated": ("it is annotated as `{detail}`", "remove the annotation, or write Buffer"),
    "text": ("its text is shown here, and an array's differs", "show `list(...)` of it"),
    "compare": ("it is compared here, and no array equals a list", "compare `list(...)` of it"),
    "type test": ("its type is asked for here", "ask for what it does, not for its type"),
    "method": ("`{detail}` differs for an array, or it has none", "use a new list for that"),
    "operand": ("an array cannot be this operand", "use a new list for that"),
    "escape": ("it goes where its uses are not known: {detail}", "pass `list(...)` of it"),
    "search of anything": (
        "a list finds the same object where an array compares: a NaN",
        "search for an int, or for a number that is written there",
    ),
}
"""Use → why it blocks, and what to do instead. Other uses do not tell array from list."""

FAILING = frozenset({"index", "store", "remove", "delete", "search"})
"""Uses that can raise an exception whose text names lists."""

OTHER = Scalar("other")
"""Stands for whatever is no int or float."""


@dataclass(frozen=True, slots=True)
class Group:
    """A class of slots with everything known about it."""

    root: Slot
    slots: tuple[Slot, ...]
    uses: tuple[Use, ...]
    elements: tuple[Element, ...]
    producers: tuple[Element, ...]

    @property
    def name(self) -> str:
        """What to call it in a remark: its first variable."""
        named = (slot.name for slot in self.slots if slot.kind in ("variable", "field"))
        return next(named, "a list")


def groups_of(flow: Flow) -> Iterator[Group]:
    """Every class of slots."""
    members = dict(flow.members())
    uses = {root: dict.fromkeys(use for slot in slots for use in flow.uses.get(slot, ()))
            for root, slots in members.items()}  # fmt: skip
    for root in members:
        _spread(flow, root, uses)
    for root, slots in members.items():
        yield Group(
            root,
            slots,
            tuple(uses[root]),
            tuple(found for slot in slots for found in flow.elements.get(slot, ())),
            tuple(found for slot in slots for found in flow.producers.get(slot, ())),
        )


def _spread(flow: Flow, root: Slot, uses: dict[Slot, dict[Use, None]]) -> None:
    """Add a holder's telling uses to what it holds, at any depth; each goes on once."""
    pending = [(root, tuple(uses.get(root, ())))]
    while pending:
        holder, arrived = pending.pop()
        telling = [use for use in arrived if use.what not in FOLLOWED]
        for item in flow.classes.items.get(holder, {}).values() if telling else ():
            held = flow.classes.find(item)
            known = uses.setdefault(held, {})
            if fresh := tuple(use for use in telling if use not in known):
                known |= dict.fromkeys(fresh)
                pending.append((held, fresh))


class Judge:
    """Decides about one class of slots after another."""

    def __init__(self, facts: Facts, flow: Flow) -> None:
        self.facts = facts
        self.flow = flow
        self.counters: dict[str, Mapping[str, int]] = {}
        self.doubtful = doubtful_float(facts, flow)
        self.shown = shown_failures(facts)
        self.functions: dict[str, dict[ast.AST, FunctionNode]] = {}

    def numbers(self, group: Group) -> set[Scalar]:
        """The types of what is put in; anything that is not a number is there too."""
        found: set[Scalar] = set()
        for made in group.producers:
            type = self.facts.types.get(made.node) if isinstance(made.node, ast.expr) else None
            if made.within and isinstance(type, Collection):
                type = type.item
            item = type.item if isinstance(type, Collection) else None
            if item is not NEVER and item is not UNKNOWN:
                found.update(_scalars(item))
        for element in group.elements:
            if isinstance(element.node, ast.AugAssign):
                found.update(self.augmented(element.node, found))
                continue
            type = self.facts.types.get(element.node)
            if element.spread:
                type = _item(type)
            found.update(_scalars(type))
        return found

    def augmented(self, node: ast.AugAssign, others: set[Scalar]) -> set[Scalar]:
        """The type of `x[i] op value` where `x` holds `others`."""
        values = _scalars(self.facts.types.get(node.value))
        if isinstance(node.op, ast.Pow) or not values <= {INT, FLOAT, BOOL}:
            return {OTHER}
        if isinstance(node.op, ast.Div) or values == {FLOAT}:
            return {FLOAT}
        if FLOAT in values:
            return {FLOAT, INT} if INT in others else {FLOAT}
        return {FLOAT} if others == {FLOAT} else {INT}

    def objection(self, group: Group, numbers: set[Scalar]) -> Diagnostic | None:
        """The first reason against, as a remark."""
        for use in (*group.uses, *filter(None, [self.flow.open])):
            if use.what in BLOCKED:
                why, instead = BLOCKED[use.what]
                if use.what == "search of anything" and numbers == {INT}:
                    continue
                return self.against(group, use, why.format(detail=use.detail), instead)
            if use.what == "buffer" and ("float" in use.detail) != (numbers == {FLOAT}):
                why = f"it is annotated as `{use.detail}`, and holds other numbers"
                return self.against(group, use, why, "put in what the annotation says")
        if len(numbers) > 1:
            why = "it holds ints and floats, which an array would make one"
            return self.against(group, group.producers[0], why, "write `0.0` for `0`")
        if numbers == {FLOAT}:
            return self.inexact(group)
        return self.too_large(group) or self.shows_failure(group)

    def inexact(self, group: Group) -> Diagnostic | None:
        """A parameter annotated `float` takes an int, which an array would make a float."""
        for element in group.elements if self.doubtful is not None else ():
            if not isinstance(element.node, ast.AugAssign) and not certainly_float(
                self.facts, element.node
            ):
                why = "this may be an int, as something annotated `float` takes one"
                return self.against(group, element, why, "convert it: `float(...)`")
        return self.shows_failure(group)

    def too_large(self, group: Group) -> Diagnostic | None:
        for element in group.elements:
            if not self.fits(element):
                why = "this number may not fit 64 bits"
                help = "keep it small with `%` or `&`, or leave the list"
                return self.against(group, element, why, help)
        return None

    def fits(self, element: Element) -> bool:
        if element.module not in self.counters:
            self.counters[element.module] = counters(self.facts, element.module)
        counted = self.counters[element.module]

        def known(node: ast.expr) -> int | None:
            if isinstance(node, ast.Name):
                return counted.get(node.id)
            return None

        if isinstance(element.node, ast.AugAssign):
            return grows_slowly(self.facts, element.node, known)
        if element.spread:
            return range_bits(self.facts, element.node) is not None
        size = bits(self.facts, element.node, known)
        return size is not None and size <= FITS

    def shows_failure(self, group: Group) -> Diagnostic | None:
        """The text of an IndexError names the type: `list index out of range`."""
        for use in group.uses:
            handler = self.shown.at(use.node) if use.what in FAILING else None
            if handler is not None:
                why = "the text of an exception that names lists may be shown here"
                where = Use("shown", handler.node, handler.module)
                return self.against(group, where, why, "show a text of your own")
        return None

    def against(
        self, group: Group, at: Use | Element, why: str, help: str, what: str = "a list"
    ) -> Diagnostic:
        place = locate(self.facts.program.modules[at.module], at.node)
        return Diagnostic("R3003", f"`{group.name}` stays {what}: {why}", place, help)

    def around(self, made: Element) -> FunctionNode | None:
        """The function whose body an expression stands in; None at a module's top level."""
        found = self.functions.get(made.module)
        if found is None:
            found = self.functions[made.module] = {}
            every = self.facts.program.functions.values()
            inside = [each for each in every if each.module == made.module]
            for function in sorted(inside, key=lambda each: len(each.name)):  # inner ones last
                for statement in function.node.body:
                    found |= dict.fromkeys(ast.walk(statement), function.node)
        return found.get(made.node)


def _item(found: Type | None) -> Type | None:
    if isinstance(found, Collection):
        return found.item
    if isinstance(found, Buffer | Array):
        return FLOAT if _is_float(found) else INT
    return join_all(found.items) if isinstance(found, Tuple) else None


def _is_float(found: Buffer | Array) -> bool:
    if isinstance(found, Buffer):
        return found.element.startswith("f")
    return found.typecode in "fd"


def _scalars(type: Type | None) -> set[Scalar]:
    """The number types that a type is made of, and `OTHER` for anything else."""
    if type is None:
        return {OTHER}
    found = {base_scalar(each) or OTHER for each in members_of(type)}
    return found if found <= {INT, FLOAT} else {OTHER, *found}
