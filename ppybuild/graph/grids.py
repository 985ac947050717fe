"""Which lists of rows become one buffer with its width: `ppy.grid`.

A class of slots that holds buffers (`graph.promote`) becomes a grid where every expression
that makes one of its lists makes rows of one length (`graph.rows`), and neither the list nor
its rows are used in a way that would tell them from a tuple of memoryviews.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.flow import Slot
from ppybuild.graph.judge import BLOCKED, Group, Judge
from ppybuild.graph.locations import locate
from ppybuild.graph.rows import ELSEWHERE, Doubt, rows_of

ROW_USES = frozenset({"made", "index", "store", "len", "iterate", "truth", "identity"})
"""Uses of a row that a memoryview has, with a list's meaning."""
USES = ROW_USES - {"store"}
"""Uses of the list of rows that a tuple has."""
OTHER_USE = (
    "rows that lie in one buffer allow no {what} here",
    "use `m[i][j]`, `len` and loops alone, or new lists",
)
WHAT = "a list of rows"


@dataclass(slots=True)
class Grids:
    """What was found."""

    typecodes: dict[Slot, str] = field(default_factory=dict)
    """By the root of the class that holds the rows."""
    rows: set[Slot] = field(default_factory=set)
    """Roots of the classes that the rows are in."""
    made: set[ast.AST] = field(default_factory=set)
    """Expressions that make rows inside those that make grids."""
    remarks: list[Diagnostic] = field(default_factory=list)


def find_grids(
    judge: Judge, groups: Mapping[Slot, Group], buffers: Mapping[Slot, str]
) -> Grids:
    """Decide for every class of slots that holds lists which become `buffers`."""
    grids = Grids()
    for root, group in groups.items():
        held = judge.flow.classes.held(root)
        inner = None if held is None else judge.flow.classes.find(held)
        if inner is None or inner not in buffers or not group.producers:
            continue
        rows: set[ast.AST] = set()
        objection = _objection(judge, group, groups[inner], rows)
        if objection is not None:
            grids.remarks.append(objection)
            continue
        grids.typecodes[root] = buffers[inner]
        grids.rows.add(inner)
        grids.made |= rows
        grids.remarks.append(_promoted(judge, group, buffers[inner]))
    return grids


def _objection(
    judge: Judge, group: Group, inner: Group, rows: set[ast.AST]
) -> Diagnostic | None:
    """The first reason against a grid; adds the expressions that make its rows."""
    for uses, allowed in ((group.uses, USES), (inner.uses, ROW_USES)):
        for use in uses:
            if use.what not in allowed:
                why, instead = BLOCKED.get(use.what, OTHER_USE)
                why = why.format(detail=use.detail, what=use.what)
                return judge.against(group, use, why, instead, WHAT)
    for made in group.producers:
        found = rows_of(judge.facts, made.node, judge.around(made))
        if isinstance(found, Doubt):
            return judge.against(group, made, found.why, found.instead, WHAT)
        rows.update(found)
    for element in group.elements:
        if element.node not in rows:
            return judge.against(group, element, ELSEWHERE.why, ELSEWHERE.instead, WHAT)
    return judge.shows_failure(group)


def _promoted(judge: Judge, group: Group, typecode: str) -> Diagnostic:
    made = group.producers[0]
    word = "float" if typecode == "d" else "int"
    message = f"`{group.name}` becomes a grid of {word}: its rows are equally long, and used "
    message += "by index, `len` and loops alone"
    module = judge.facts.program.modules[made.module]
    return Diagnostic("R3002", message, locate(module, made.node))
