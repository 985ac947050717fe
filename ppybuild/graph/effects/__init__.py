"""Effects of functions: what running one does beside computing its result.

A summary per function, in terms of its own parameters, to a fixpoint over calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from ppybuild.graph.effects.summary import Summary
from ppybuild.graph.effects.walk import Walk
from ppybuild.graph.lattice import members_of
from ppybuild.graph.program import Effects, Facts, Program
from ppybuild.graph.scopes import Scope, parameters_of, scope_of
from ppybuild.graph.types import UNKNOWN, Collection, Type


def find_effects(facts: Facts) -> dict[str, Effects]:
    """The effects of every function of the program."""
    program = facts.program
    scopes: dict[str, Scope] = {}
    for module in program.modules.values():
        scopes[module.name] = scope_of(module.tree.body, expressions=":=" in module.text)
    for function in program.functions.values():
        text = program.modules[function.module].text
        scopes[function.name] = scope_of(function.node.body, expressions=":=" in text)
    summaries = {name: Summary() for name in program.functions}
    specials = _specials(program)
    callers: dict[str, set[str]] = {name: set() for name in program.functions}
    queue = deque(program.functions)
    queued = set(queue)
    while queue:
        name = queue.popleft()
        queued.discard(name)
        before = summaries[name].size()
        walk = Walk(facts, program.functions[name], scopes, summaries, specials)
        _run(walk)
        for used in walk.used:
            callers[used].add(name)
        if summaries[name].size() != before:
            for caller in sorted(callers[name]):
                if caller not in queued:
                    queued.add(caller)
                    queue.append(caller)
    return _finish(facts, summaries)


def _specials(program: Program) -> dict[str, list[str]]:
    """The special methods of each class, but not `__init__`."""
    found: dict[str, list[str]] = {}
    for name, function in program.functions.items():
        special = function.node.name
        if function.owner is not None and special[:2] == "__" and special != "__init__":
            found.setdefault(function.owner, []).append(name)
    return found


def _run(walk: Walk) -> None:
    try:
        walk.run()
    except RecursionError:
        walk.summary.unknown = True


def _finish(facts: Facts, summaries: Mapping[str, Summary]) -> dict[str, Effects]:
    found = {}
    for name, function in facts.program.functions.items():
        parameters = [each.arg for each in parameters_of(function.node)]
        effects = summaries[name].effects(name, parameters)
        found[name] = replace(effects, writes=effects.writes | _iterators(facts, name))
    return found


def _iterators(facts: Facts, name: str) -> frozenset[str]:
    """Parameters that are iterators: whatever looks at one takes from it."""
    signature = facts.signatures.get(name)
    return frozenset(
        parameter.name
        for parameter in (signature.parameters if signature else ())
        if Collection("Iterator", UNKNOWN) in map(_kind, members_of(parameter.type))
    )


def _kind(found: Type) -> Type:
    return Collection(found.kind, UNKNOWN) if isinstance(found, Collection) else found
