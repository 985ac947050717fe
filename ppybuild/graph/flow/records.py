"""What the value-flow analysis finds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that holds values.

    variable: `owner` is a function or module, `name` the variable. result: of the
    function `owner`. field: of the class `owner`. temporary: an expression's value,
    `name` its number in the walk. item: what the list in `holder` holds, or the tuple at
    position `name`.
    """

    kind: Literal["variable", "result", "field", "temporary", "item"]
    owner: str = ""
    name: str = ""
    holder: Slot | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Something done with the value of a slot; `detail` names the function or method where
    `what` alone does not tell."""

    what: str
    node: ast.AST
    module: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    """A number put into a list by `node`, or where `spread` everything that `node` yields;
    the slot it is put into is the key."""

    node: ast.expr | ast.AugAssign
    module: str
    spread: bool = False
    within: bool = False
    """Of an expression that makes a list: it makes several, inside another one."""


@dataclass(slots=True)
class Classes:
    """Union-find over slots; joining two slots joins what they hold."""

    parents: dict[Slot, Slot] = field(default_factory=dict)
    items: dict[Slot, dict[str, Slot]] = field(default_factory=dict)

    def find(self, slot: Slot) -> Slot:
        root = slot
        while (parent := self.parents.get(root, root)) != root:
            root = parent
        while (parent := self.parents.get(slot, slot)) != root:
            self.parents[slot] = root
            slot = parent
        self.parents.setdefault(root, root)
        return root

    def item(self, slot: Slot, position: str = "*") -> Slot:
        """What `slot` holds at a position; positions are joined once one is not known."""
        root = self.find(slot)
        held = self.items.setdefault(root, {})
        if "*" in held:
            return held["*"]
        if position in held:
            return held[position]
        found = Slot("item", name=position, holder=root)
        others = list(held.values()) if position == "*" else []
        if others:
            held.clear()
        held[position] = found
        self.find(found)
        for other in others:
            self.join(found, other)
        return found

    def held(self, slot: Slot, position: str = "*") -> Slot | None:
        """As `item`, without making one: None where nothing was put in or taken out."""
        held = self.items.get(self.find(slot), {})
        return held.get("*", held.get(position))

    def join(self, left: Slot, right: Slot) -> None:
        pending = [(left, right)]
        while pending:
            left, right = map(self.find, pending.pop())
            if left == right:
                continue
            self.parents[right] = left
            theirs = self.items.pop(right, None)
            if theirs:
                ours = self.items.setdefault(left, {})
                pending.extend(_merge(ours, theirs))


def _merge(ours: dict[str, Slot], theirs: dict[str, Slot]) -> list[tuple[Slot, Slot]]:
    """Take over what another slot holds; gives the pairs that have to be joined for it."""
    pairs: list[tuple[Slot, Slot]] = []
    if "*" in theirs or "*" in ours:
        everything = [*ours.values(), *theirs.values()]
        ours.clear()
        ours["*"] = everything[0]
        return [(everything[0], other) for other in everything[1:]]
    for position, slot in theirs.items():
        if position in ours:
            pairs.append((ours[position], slot))
        else:
            ours[position] = slot
    return pairs


@dataclass(frozen=True, slots=True)
class Flow:
    """The result of `trace`. Keys of `uses`, `elements` and `producers` are slots as they
    were met; `classes` tells which of them hold the same values."""

    classes: Classes
    uses: Mapping[Slot, tuple[Use, ...]]
    elements: Mapping[Slot, tuple[Element, ...]]
    producers: Mapping[Slot, tuple[Element, ...]]
    """Expressions that make a new list."""
    passes: Mapping[Slot, tuple[Slot, ...]]
    """From an argument's slot to the parameters it is passed to."""
    entered: Mapping[Slot, tuple[ast.expr, ...]]
    """Expressions without a slot of their own that become a slot's value: numbers mostly."""
    open: Use | None
    """Something that can reach any variable or field of the program."""

    def members(self) -> Iterator[tuple[Slot, tuple[Slot, ...]]]:
        """Each class: its root, and its slots in the order they were met."""
        grouped: dict[Slot, list[Slot]] = {}
        for slot in list(self.classes.parents):
            grouped.setdefault(self.classes.find(slot), []).append(slot)
        for root, slots in grouped.items():
            yield root, tuple(slots)
