"""Which parameters' lists may be changed, kept or handed on to someone who may."""

from __future__ import annotations

from ppybuild.graph.flow.calls import READ_ONLY
from ppybuild.graph.flow.records import Flow, Slot


def mutated_parameters(flow: Flow) -> frozenset[Slot]:
    """Slots of parameters and variables through which a list may change.

    A parameter that is not here can be declared as a `Sequence`: its function, and
    whatever it passes the list on to, only reads it, and by what a `Sequence` has.
    """
    changed: set[Slot] = set()
    owners: dict[Slot, list[Slot]] = {}
    for _, members in flow.members():
        kept = any(slot.kind in ("field", "item", "result") for slot in members)
        loose = any(_changes(flow, slot) for slot in members if slot.kind == "temporary")
        by_owner: dict[str, list[Slot]] = {}
        for slot in members:
            if slot.kind == "variable":
                by_owner.setdefault(slot.owner, []).append(slot)
        for slots in by_owner.values():
            owners.update((slot, slots) for slot in slots)
            if kept or loose or any(_changes(flow, slot) for slot in slots):
                changed.update(slots)
    return frozenset(_spread(flow, owners, changed))


def _changes(flow: Flow, slot: Slot) -> bool:
    return any(
        use.what not in READ_ONLY and use.what not in ("source", "annotated")
        for use in flow.uses.get(slot, ())
    )


def _spread(flow: Flow, owners: dict[Slot, list[Slot]], changed: set[Slot]) -> set[Slot]:
    """Add whoever passes a list on to a parameter that changes it."""
    passers: dict[Slot, list[Slot]] = {}
    for source, targets in flow.passes.items():
        for target in targets:
            passers.setdefault(target, []).append(source)
    pending = list(changed)
    while pending:
        for source in passers.get(pending.pop(), ()):
            for slot in owners.get(source, [source]):
                if slot not in changed:
                    changed.add(slot)
                    pending.append(slot)
    return changed
