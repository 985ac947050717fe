"""Buffer promotion: which lists of numbers can be `array.array`, decided program-wide.

A class of slots (`graph.flow`) is promoted when every place that makes one of its lists can
make an array instead, every number put into it is of one type that an array keeps as it is,
and nothing done with it could tell an array from a list.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.flow import Flow, Slot
from ppybuild.graph.flow.records import Classes
from ppybuild.graph.grids import Grids, find_grids
from ppybuild.graph.judge import Group, Judge, groups_of
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts
from ppybuild.graph.types import FLOAT, INT, Scalar
from ppybuild.places import by_place

TYPECODES: dict[Scalar, str] = {FLOAT: "d", INT: "q"}


@dataclass(frozen=True, slots=True)
class Promotion:
    """What buffer promotion decided."""

    slots: Mapping[Slot, str]
    """Typecode by slot, for every promoted slot."""
    producers: Mapping[ast.expr, str]
    """Expressions to wrap in `array.array(typecode, ...)`."""
    grids: Mapping[Slot, str]
    """Typecode by slot, for every slot that holds a grid; its rows are in `slots`."""
    grid_producers: Mapping[ast.expr, str]
    """Expressions to wrap in `ppy.grid(typecode, ...)`."""
    remarks: tuple[Diagnostic, ...]
    """R3002 for what was promoted, R3003 for what was not, in order of place."""

    def promoted(self, classes: Classes, slot: Slot) -> str | None:
        """The typecode of what a slot holds; None where it is no buffer."""
        return self.slots.get(slot) or self.slots.get(classes.find(slot))


def promote_buffers(facts: Facts, flow: Flow) -> Promotion:
    """Decide for every class of slots that holds lists of numbers."""
    typecodes: dict[Slot, str] = {}
    remarks: list[Diagnostic] = []
    judge = Judge(facts, flow)
    groups = {group.root: group for group in groups_of(flow)}
    for group in groups.values():
        if not group.producers or any(use.what == "array" for use in group.uses):
            continue
        numbers = judge.numbers(group)
        if not numbers or not numbers <= {FLOAT, INT}:
            continue
        blocked = judge.objection(group, numbers)
        if blocked is not None:
            remarks += [] if _is_passing(group) else [blocked]
            continue
        typecodes[group.root] = TYPECODES[numbers.pop()]
    grids = find_grids(judge, groups, typecodes)
    while stranded := _stranded(groups, typecodes, grids):
        remarks += [each for each in grids.remarks if each.code == "R3003"]
        for root in stranded:
            del typecodes[root]
        grids = find_grids(judge, groups, typecodes)
    remarks = list(dict.fromkeys((*remarks, *grids.remarks)))
    for root, typecode in typecodes.items():
        if root not in grids.rows:
            remarks.append(_promoted(facts, groups[root], typecode))
    remarks.sort(key=by_place)
    producers = _producers(groups, typecodes)
    return Promotion(
        _by_slot(groups, typecodes),
        {node: code for node, code in producers.items() if node not in grids.made},
        _by_slot(groups, grids.typecodes),
        _producers(groups, grids.typecodes),
        tuple(remarks),
    )


def _is_passing(group: Group) -> bool:
    """A list that is written out where it is used, and has no name: nothing to remark on."""
    written = all(isinstance(made.node, ast.List) for made in group.producers)
    return written and all(slot.kind == "temporary" for slot in group.slots)


def _stranded(
    groups: Mapping[Slot, Group], typecodes: Mapping[Slot, str], grids: Grids
) -> list[Slot]:
    """Classes with lists that some expression makes inside another one, where that one does
    not become a grid: nothing could make them arrays."""
    return [
        root
        for root in typecodes
        if any(made.within and made.node not in grids.made for made in groups[root].producers)
    ]


def _by_slot(groups: Mapping[Slot, Group], typecodes: Mapping[Slot, str]) -> dict[Slot, str]:
    return {slot: code for root, code in typecodes.items() for slot in groups[root].slots}


def _producers(
    groups: Mapping[Slot, Group], typecodes: Mapping[Slot, str]
) -> dict[ast.expr, str]:
    return {
        made.node: code
        for root, code in typecodes.items()
        for made in groups[root].producers
        if isinstance(made.node, ast.expr)
    }


def _promoted(facts: Facts, group: Group, typecode: str) -> Diagnostic:
    made = group.producers[0]
    module = facts.program.modules[made.module]
    done = sorted({use.what for use in group.uses if use.what not in ("identity", "made")})
    word = "float" if typecode == "d" else "int"
    why = f"an array does the same for {', '.join(done)}" if done else "nothing is done with it"
    message = f"`{group.name}` becomes a buffer of {word}: {why}"
    return Diagnostic("R3002", message, locate(module, made.node))
