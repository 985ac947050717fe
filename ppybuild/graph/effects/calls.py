"""Calls: what running another function does, in terms of what it is given."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ppybuild.graph.effects.summary import ANYWHERE, NOWHERE, Roots, may_share
from ppybuild.graph.effects.tables import (
    COPYING,
    external_effects,
    layer_effects,
    method_effects,
)
from ppybuild.graph.lattice import members_of, parts_of
from ppybuild.graph.program import Callee
from ppybuild.graph.scopes import parameters_of
from ppybuild.graph.types import UNKNOWN, Callable, Instance, Method, Unknown
from ppybuild.graph.types import Function as FunctionType

if TYPE_CHECKING:
    from ppybuild.graph.effects.walk import Walk

HARMLESS = frozenset({"builtins.isinstance", "builtins.getattr", "builtins.hasattr"})


def call(walk: Walk, node: ast.Call) -> Roots:
    """Walks a call; gives the roots of its result."""
    receiver = NOWHERE
    if isinstance(node.func, ast.Attribute):
        receiver = walk.roots(node.func.value)
    else:
        walk.roots(node.func)
    given = [walk.roots(each) for each in node.args]
    given.extend(walk.roots(each.value) for each in node.keywords)
    if node not in walk.facts.types:
        return NOWHERE
    callee = walk.facts.callees.get(node)
    everything = frozenset().union(receiver, *given)
    if callee is None:
        return _unknown_call(walk, node, everything)
    if callee.kind == "project":
        bound = _arguments(walk, node, callee.name, receiver, given)
        return _apply(walk, callee.name, bound, everything)
    if callee.kind == "class":
        return _construct(walk, node, callee.name, given)
    _callbacks(walk, node, callee.name, everything)
    return _external(
        walk, node, callee, [receiver, *given] if callee.kind == "method" else given
    )


def _unknown_call(walk: Walk, node: ast.Call, everything: Roots) -> Roots:
    kind = walk.type_of(node.func)
    if isinstance(kind, Instance) and not layer_effects(kind.name).unknown:
        return walk.made(node, walk.inside(everything)) | walk.inside(everything)
    walk.summary.unknown = True
    walk.write(walk.inside(everything))
    return walk.inside(everything) | ANYWHERE


def _external(walk: Walk, node: ast.Call, callee: Callee, given: Sequence[Roots]) -> Roots:
    name = callee.name
    found = method_effects(name) if callee.kind == "method" else external_effects(name)
    walk.summary.io = walk.summary.io or found.io
    walk.summary.unknown = walk.summary.unknown or found.unknown
    for place, roots in enumerate(given):
        if found.writes is None:
            walk.write(walk.inside(roots))
        elif place in found.writes:
            walk.write(roots)
            for other in given[place + 1 :]:
                walk.hold(roots, other)
    first = len(given) - len(node.keywords)
    for keyword, roots in zip(node.keywords, given[first:], strict=True):
        flagged = keyword.arg == "inplace" and not (
            isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        )
        if keyword.arg == "out":
            walk.write(roots)
        elif flagged and given:
            walk.write(given[0])
    if isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
        _backward(walk)
    if name in COPYING:
        items = any(map(may_share, parts_of(walk.type_of(node))))
        return walk.made(node, walk.inside(frozenset().union(*given)) if items else NOWHERE)
    shared: set[str] = set()
    for place, roots in enumerate(given):
        if found.shares is None or place in found.shares:
            shared |= walk.inside(roots)
    return walk.made(node, frozenset(shared)) | frozenset(shared)


def _backward(walk: Walk) -> None:
    """Gradients land on tensors that the graph holds: any that came in from outside."""
    for name in walk.parameters:
        if may_share(walk.facts.locals[walk.function.name].get(name, UNKNOWN)):
            walk.write(frozenset({name}))
    walk.write(frozenset(f"@{name}" for name in walk.summary.reads_globals))


def _callbacks(walk: Walk, node: ast.Call, callee: str, everything: Roots) -> None:
    """A function that is handed to a library is taken to be called with anything."""
    if callee in HARMLESS or callee.startswith("ppy."):
        return
    for each in (*node.args, *(keyword.value for keyword in node.keywords)):
        for member in members_of(walk.type_of(each)):
            if isinstance(member, FunctionType) and member.name in walk.summaries:
                _apply(walk, member.name, {}, everything)
            elif isinstance(member, Callable) or (
                isinstance(member, Method) and isinstance(member.receiver, Instance)
            ):
                walk.summary.unknown = True
            elif isinstance(member, FunctionType) and "<lambda>" in member.name:
                assert isinstance(each, ast.expr)
                if isinstance(each, ast.Lambda):
                    walk.roots(each.body)
                else:
                    walk.summary.unknown = True


def _arguments(
    walk: Walk, node: ast.Call, name: str, receiver: Roots, given: Sequence[Roots]
) -> dict[str, Roots]:
    """The roots of each parameter of a function of the project."""
    function = walk.facts.program.functions[name]
    arguments = function.node.args
    places = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    bound: dict[str, Roots] = {}
    decorators = {getattr(each, "id", "") for each in function.node.decorator_list}
    if function.owner is not None and "staticmethod" not in decorators and places:
        kind = walk.type_of(node.func)
        if not isinstance(kind, FunctionType) or "classmethod" in decorators:
            bound[places.pop(0)] = receiver or _receiver(walk, node)
    extra = NOWHERE
    for place, (each, found) in enumerate(zip(node.args, given, strict=False)):
        if isinstance(each, ast.Starred):
            for target in places[place:]:
                bound[target] = bound.get(target, NOWHERE) | walk.inside(found)
            extra |= walk.inside(found)
        elif place < len(places):
            bound[places[place]] = bound.get(places[place], NOWHERE) | found
        else:
            extra |= found
    named = {each.arg for each in (*arguments.args, *arguments.kwonlyargs)}
    for keyword, found in zip(node.keywords, given[len(node.args) :], strict=True):
        if keyword.arg in named and keyword.arg is not None:
            bound[keyword.arg] = found
        else:
            extra |= walk.inside(found)
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            bound[rest.arg] = extra
    return bound


def _receiver(walk: Walk, node: ast.Call) -> Roots:
    """`super().method()` is bound to the first parameter."""
    through = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if isinstance(through, ast.Call) and walk.parameters:
        return frozenset({walk.parameters[0]})
    return walk.roots(through)


def _apply(walk: Walk, name: str, bound: Mapping[str, Roots], everything: Roots) -> Roots:
    """The effects of calling a function of the project; gives the result's roots."""
    walk.used.add(name)
    callee, mine = walk.summaries[name], walk.summary
    local = _captured(walk, name)

    def here(root: str) -> Roots:
        if root[0] == "@" or root == "?":
            return frozenset({root})
        if root[0] == "^":
            return local.get(root, frozenset({root}))
        return bound.get(root, everything)

    mine.io = mine.io or callee.io
    mine.unknown = mine.unknown or callee.unknown
    mine.reads_globals |= callee.reads_globals
    mine.writes_globals |= callee.writes_globals
    for root in tuple(callee.writes):
        walk.write(walk.inside(here(root)))
    for owner, held in tuple(callee.stores):
        walk.hold(here(owner), here(held))
    found: set[str] = set()
    for root in tuple(callee.returned):
        found |= walk.inside(here(root))
    return frozenset(found)


def _captured(walk: Walk, name: str) -> dict[str, Roots]:
    """What `^name` of a nested function is here, for variables of this function."""
    if not name.startswith(f"{walk.function.name}.<locals>."):
        return {}
    return {f"^{each}": roots for each, roots in walk.env.items()}


def _construct(walk: Walk, node: ast.Call, name: str, given: Sequence[Roots]) -> Roots:
    everything = frozenset().union(*given)
    made = walk.made(node, everything)
    for ancestor in _order(walk, name):
        init = f"{ancestor}.__init__"
        if init in walk.facts.program.functions:
            bound = _arguments(walk, node, init, made, given)
            own = parameters_of(walk.facts.program.functions[init].node)
            if own:
                bound[own[0].arg] = made
            _apply(walk, init, bound, everything)
            break
    return made


def _order(walk: Walk, name: str) -> list[str]:
    found: list[str] = []
    pending = [name]
    while pending:
        current = pending.pop(0)
        known = walk.facts.program.classes.get(current)
        if known is not None and current not in found:
            found.append(current)
            module = known.module
            pending.extend(known.bases)
            pending.extend(f"{module}.{base}" for base in known.bases)
    return found


def operator(walk: Walk, *operands: ast.expr) -> None:
    """An operator on an object of the project may run any of its special methods."""
    for each in operands:
        if each not in walk.facts.types:
            continue
        for member in members_of(walk.type_of(each)):
            if isinstance(member, Unknown):
                walk.summary.unknown = True
            elif isinstance(member, Instance) and member.name in walk.facts.program.classes:
                _specials(walk, member.name, walk.roots(each))


def _specials(walk: Walk, name: str, roots: Roots) -> None:
    for ancestor in _order(walk, name):
        for method in walk.specials.get(ancestor, ()):
            _apply(walk, method, {}, roots)


def special(
    walk: Walk, node: ast.expr, name: str, roots: Roots, *, property_only: bool = False
) -> None:
    """Runs a special method or property of an object of the project, where it has one."""
    for member in members_of(walk.type_of(node)):
        if isinstance(member, Unknown) and node in walk.facts.types:
            walk.summary.unknown = True
        if not isinstance(member, Instance) or member.name not in walk.facts.program.classes:
            continue
        for ancestor in _order(walk, member.name):
            function = walk.facts.program.functions.get(f"{ancestor}.{name}")
            if function is None:
                continue
            if not property_only or function.node.decorator_list:
                _apply(walk, function.name, {}, roots)
            break
