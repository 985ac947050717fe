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
    """Something done with the value of a slot; `what` is a key of `USES`, and `detail`
    names the function or method where `what` alone does not tell."""

    what: str
    node: ast.AST
    module: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    """A number put into a list by `node`; the slot it is put into is the key."""

    node: ast.expr | ast.AugAssign
    module: str


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
        if position != "*" and "*" in held:
            position = "*"
        if position not in held:
            held[position] = Slot("item", name=position, holder=root)
        if position == "*":
            for other in [held.pop(key) for key in sorted(held) if key != "*"]:
                self.join(held["*"], other)
        return held.get(position) or self.item(slot, position)

    def join(self, left: Slot, right: Slot) -> None:
        left, right = self.find(left), self.find(right)
        if left == right:
            return
        self.parents[right] = left
        for position, slot in self.items.pop(right, {}).items():
            self.join(self.item(left, position), slot)


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

    def members(self) -> Iterator[tuple[Slot, tuple[Slot, ...]]]:
        """Each class: its root, and its slots in the order they were met."""
        grouped: dict[Slot, list[Slot]] = {}
        for slot in list(self.classes.parents):
            grouped.setdefault(self.classes.find(slot), []).append(slot)
        for root, slots in grouped.items():
            yield root, tuple(slots)
