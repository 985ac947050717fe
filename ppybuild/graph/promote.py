"""Buffer promotion: which lists of numbers can be `array.array`, decided program-wide.

A class of slots (`graph.flow`) is promoted when every place that makes one of its lists can
make an array instead, every number put into it is of one type that an array keeps as it is,
and nothing done with it could tell an array from a list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.bounds import COUNTED, FITS, bits, grows_slowly
from ppybuild.graph.flow import Flow, Slot, Use
from ppybuild.graph.flow.records import Element
from ppybuild.graph.lattice import base_scalar
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts
from ppybuild.graph.types import BOOL, FLOAT, INT, NEVER, Collection, Scalar, Type

BLOCKED: dict[str, tuple[str, str]] = {
    "tuple": ("a tuple comes here too", "pass a list, or leave it"),
    "source": ("`{detail}` comes here too, which is made elsewhere", "copy it: `list(...)`"),
    "annotated": ("it is annotated as `{detail}`", "remove the annotation, or write Buffer"),
    "text": ("its text is shown here, and an array's differs", "show `list(...)` of it"),
    "compare": ("it is compared here, and no array equals a list", "compare `list(...)` of it"),
    "type test": ("its type is asked for here", "ask for what it does, not for its type"),
    "method": ("`{detail}` differs for an array, or it has none", "use a new list for that"),
    "operand": ("an array cannot be this operand", "use a new list for that"),
    "extend": ("it is extended here", "append one item at a time"),
    "escape": ("it goes where its uses are not known: {detail}", "pass `list(...)` of it"),
}
"""Use → why it blocks, and what to do instead. Other uses do not tell array from list."""

SPREADING = frozenset({"text", "compare", "escape"})
"""Uses of a list that reach what it holds."""

TYPECODES: dict[Scalar, str] = {FLOAT: "d", INT: "q"}


@dataclass(frozen=True, slots=True)
class Promotion:
    """What buffer promotion decided."""

    slots: Mapping[Slot, str]
    """Typecode by slot, for every promoted slot."""
    producers: Mapping[ast.expr, str]
    """Expressions to wrap in `array.array(typecode, ...)`."""
    remarks: tuple[Diagnostic, ...]
    """R3002 for what was promoted, R3003 for what was not, in order of place."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A class of slots with everything known about it."""

    slots: tuple[Slot, ...]
    uses: tuple[Use, ...]
    elements: tuple[Element, ...]
    producers: tuple[Element, ...]

    @property
    def name(self) -> str:
        """What to call it in a remark: its first variable."""
        named = (slot.name for slot in self.slots if slot.kind in ("variable", "field"))
        return next(named, "a list")


def promote_buffers(facts: Facts, flow: Flow) -> Promotion:
    """Decide for every class of slots that holds lists of numbers."""
    slots: dict[Slot, str] = {}
    producers: dict[ast.expr, str] = {}
    remarks: list[Diagnostic] = []
    for group in _groups(flow):
        numbers = _numbers(facts, group)
        if not group.producers or not numbers <= {FLOAT, INT} or not numbers:
            continue
        if any(use.what == "array" for use in group.uses):
            continue
        blocked = _block(facts, flow, group, numbers)
        if blocked is not None:
            remarks.append(blocked)
            continue
        typecode = TYPECODES[numbers.pop()]
        slots.update(dict.fromkeys(group.slots, typecode))
        for made in group.producers:
            if isinstance(made.node, ast.expr):
                producers[made.node] = typecode
        remarks.append(_promoted(facts, group, typecode))
    remarks.sort(key=_place)
    return Promotion(slots, producers, tuple(remarks))


def _groups(flow: Flow) -> Iterator[_Group]:
    members = dict(flow.members())
    uses = {root: [use for slot in slots for use in flow.uses.get(slot, ())]
            for root, slots in members.items()}  # fmt: skip
    for root in list(members):
        _spread(flow, root, uses, set())
    for root, slots in members.items():
        yield _Group(
            slots,
            tuple(uses[root]),
            tuple(found for slot in slots for found in flow.elements.get(slot, ())),
            tuple(found for slot in slots for found in flow.producers.get(slot, ())),
        )


def _spread(flow: Flow, root: Slot, uses: dict[Slot, list[Use]], seen: set[Slot]) -> None:
    """Add a holder's telling uses to what it holds."""
    if root in seen:
        return
    seen.add(root)
    telling = [use for use in uses.get(root, ()) if use.what in SPREADING]
    for item in flow.classes.items.get(root, {}).values():
        held = flow.classes.find(item)
        if telling and held in uses:
            uses[held].extend(use for use in telling if use not in uses[held])
            _spread(flow, held, uses, seen)


def _numbers(facts: Facts, group: _Group) -> set[Scalar]:
    """The types of what is put in; anything that is not a number is there too."""
    found: set[Scalar] = set()
    for made in group.producers:
        type = facts.types.get(made.node) if isinstance(made.node, ast.expr) else None
        item = type.item if isinstance(type, Collection) else None
        if item is not NEVER:
            found.add(_scalar(item))
    for element in group.elements:
        if isinstance(element.node, ast.AugAssign):
            found.add(_augmented(facts, element.node, found))
        else:
            found.add(_scalar(facts.types.get(element.node)))
    return found


def _scalar(type: Type | None) -> Scalar:
    base = base_scalar(type) if type is not None else None
    return base if base is not None else Scalar("other")


def _augmented(facts: Facts, node: ast.AugAssign, others: set[Scalar]) -> Scalar:
    """The type of `x[i] op value` where `x` holds `others`."""
    value = _scalar(facts.types.get(node.value))
    if isinstance(node.op, ast.Pow) or value not in (INT, FLOAT, BOOL):
        return Scalar("other")
    return FLOAT if isinstance(node.op, ast.Div) or FLOAT in (value, *others) else INT


def _block(facts: Facts, flow: Flow, group: _Group, numbers: set[Scalar]) -> Diagnostic | None:
    """The first reason against, as a remark."""
    for use in group.uses:
        if use.what in BLOCKED:
            why, instead = BLOCKED[use.what]
            return _remark(
                facts, group, use.node, use.module, why.format(detail=use.detail), instead
            )
    if len(numbers) > 1:
        made = group.producers[0]
        why = "it holds ints and floats, which an array would make one"
        return _remark(facts, group, made.node, made.module, why, "write `0.0` for `0`")
    if numbers == {INT}:
        for element in group.elements:
            if not _fits(facts, flow, group, element):
                why = "this number may not fit 64 bits"
                help = "keep it small with `%` or `&`, or leave the list"
                return _remark(facts, group, element.node, element.module, why, help)
        for made in group.producers:
            if isinstance(made.node, ast.Call) and not group.elements:
                why = "what it is made from may not fit 64 bits"
                return _remark(facts, group, made.node, made.module, why, "leave the list")
    return None


def _fits(facts: Facts, flow: Flow, group: _Group, element: Element) -> bool:
    counters = _counters(facts, element.module)

    def known(node: ast.expr) -> int | None:
        if isinstance(node, ast.Name) and node.id in counters:
            return COUNTED
        return None

    if isinstance(element.node, ast.AugAssign):
        return grows_slowly(facts, element.node, known)
    size = bits(facts, element.node, known)
    return size is not None and size <= FITS


def _counters(facts: Facts, module: str) -> frozenset[str]:
    """Names that, in the whole module, are bound only as targets of `for x in range(...)`
    from a small start, or over `enumerate`."""
    counted: set[str] = set()
    bound: dict[str, int] = {}
    for node in ast.walk(facts.program.modules[module].tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 2
        if not isinstance(node, ast.For | ast.comprehension):
            continue
        if isinstance(node.target, ast.Name) and _counts(facts, node.iter):
            counted.add(node.target.id)
            bound[node.target.id] = bound.get(node.target.id, 0) - 1
    return frozenset(name for name in counted if bound.get(name, 0) == 0)


def _counts(facts: Facts, source: ast.expr) -> bool:
    callee = facts.callees.get(source) if isinstance(source, ast.Call) else None
    if callee is None or callee.name != "builtins.range" or not isinstance(source, ast.Call):
        return False
    start = source.args[:1] if len(source.args) > 1 else []
    return all(isinstance(found, ast.Constant) for found in (*start, *source.args[2:]))


def _promoted(facts: Facts, group: _Group, typecode: str) -> Diagnostic:
    made = group.producers[0]
    module = facts.program.modules[made.module]
    done = sorted({use.what for use in group.uses if use.what != "identity"})
    word = "float" if typecode == "d" else "int"
    uses = ", ".join(done) or "nothing else"
    message = f"`{group.name}` becomes a buffer of {word}: an array does the same for {uses}"
    return Diagnostic("R3002", message, locate(module, made.node))


def _remark(
    facts: Facts, group: _Group, node: ast.AST, module: str, why: str, help: str
) -> Diagnostic:
    place = locate(facts.program.modules[module], node)
    return Diagnostic("R3003", f"`{group.name}` stays a list: {why}", place, help)


def _place(found: Diagnostic) -> tuple[str, int, int]:
    assert found.location is not None
    return (str(found.location.path), found.location.line, found.location.column)
