"""What buffer promotion and the flow of lists mean for the types that are written."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ppybuild.convert.annotations import ELEMENTS
from ppybuild.graph.flow import Flow, Slot
from ppybuild.graph.flow.mutation import mutated_parameters
from ppybuild.graph.lattice import join_all
from ppybuild.graph.promote import Promotion
from ppybuild.graph.types import Buffer, Collection, Dictionary, Tuple, Type, Union


class Promoted:
    """Types as they are after promotion."""

    def __init__(self, flow: Flow, promotion: Promotion | None) -> None:
        self.flow = flow
        self.slots: Mapping[Slot, str] = promotion.slots if promotion else {}
        self.producers: Mapping[ast.expr, str] = promotion.producers if promotion else {}
        self.grids: Mapping[Slot, str] = promotion.grids if promotion else {}
        self.grid_producers: Mapping[ast.expr, str] = (
            promotion.grid_producers if promotion else {}
        )
        self.mutated = mutated_parameters(flow)

    def is_mutated(self, slot: Slot) -> bool:
        """Whether the list in a variable may change, or be kept by somebody."""
        return slot in self.mutated

    def type_of(self, slot: Slot, type: Type) -> Type:
        """The type of what a slot holds, its lists that became buffers written as such."""
        return self._changed(slot, type, 0) if self.slots else type

    def _changed(self, slot: Slot | None, type: Type, depth: int) -> Type:
        if slot is None or depth > 6:
            return type
        match type:
            case Collection("list" | "Sequence"):
                typecode = self._typecode(self.slots, slot)
                if typecode is not None:
                    return Buffer(ELEMENTS[typecode])
                typecode = self._typecode(self.grids, slot)
                if typecode is not None:
                    return Collection("Sequence", Buffer(ELEMENTS[typecode]))
                return Collection(
                    type.kind, self._changed(self._held(slot), type.item, depth + 1)
                )
            case Collection():
                return Collection(
                    type.kind, self._changed(self._held(slot), type.item, depth + 1)
                )
            case Dictionary():
                value = self._changed(self._held(slot), type.value, depth + 1)
                return Dictionary(type.kind, type.key, value)
            case Tuple():
                return Tuple(
                    tuple(
                        self._changed(self._held(slot, str(place)), item, depth + 1)
                        for place, item in enumerate(type.items)
                    )
                )
            case Union():
                return join_all(self._changed(slot, each, depth + 1) for each in type.members)
        return type

    def _typecode(self, slots: Mapping[Slot, str], slot: Slot) -> str | None:
        return slots.get(slot) or slots.get(self.flow.classes.find(slot))

    def _held(self, slot: Slot, position: str = "*") -> Slot | None:
        return self.flow.classes.held(slot, position)
