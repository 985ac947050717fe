"""Every function of the program that can be native, and a remark for each that cannot."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import stores
from ppybuild.emit.loops.lower.function import lower_function
from ppybuild.emit.loops.lower.signatures import NativeSignature, lower_signature
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.tree import statements
from ppybuild.graph import types
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts


def lower(
    facts: Facts, names: Iterable[str]
) -> tuple[dict[str, ir.Function], tuple[Diagnostic, ...]]:
    """Loop IR by function name, in the order of `names`, and an R3004 per function that
    stays in Python. Functions over tensors are another room's, and left out silently."""
    wanted = [name for name in names if not _is_over_tensors(facts, name)]
    known: dict[str, NativeSignature] = {}
    stays: dict[str, Stay] = {}
    for name in wanted:
        try:
            function = facts.program.functions[name]
            known[name] = lower_signature(function, facts.signatures[name])
        except Stay as stay:
            stays[name] = stay
    lowered = _lower_all(facts, known, stays)
    ordered = {
        name: replace(lowered[name], parameters=known[name].parameters)
        for name in wanted
        if name in lowered
    }
    remarks = tuple(_remark(facts, name, stays[name]) for name in wanted if name in stays)
    return ordered, remarks


def _lower_all(
    facts: Facts, known: dict[str, NativeSignature], stays: dict[str, Stay]
) -> dict[str, ir.Function]:
    """Lower until what callers assumed of callees is what they are; `known` shrinks to the
    functions that lower, `stays` grows by the others."""
    lowered: dict[str, ir.Function] = {}
    callers: dict[str, set[str]] = {}
    decided: set[str] = set()
    queue = deque(dict.fromkeys([*_callees_first(facts, known)]))
    while queue:
        name = queue.popleft()
        if name not in known:
            continue
        try:
            attempt = lower_function(facts, name, known)
            for callee in attempt.called:
                callers.setdefault(callee, set()).add(name)
            if attempt.stay:
                raise attempt.stay
            assert attempt.function is not None
            result = attempt.function.result
            if result != known[name].result:
                if name in decided:
                    node = facts.program.functions[name].node
                    raise Stay(node, "a recursive function whose result has no one type")
                decided.add(name)
                known[name] = replace(known[name], result=result)
                queue.extend([name, *sorted(callers.get(name, ()))])
            parameters = _with_writes(attempt.function, known)
            if parameters != known[name].parameters:
                known[name] = replace(known[name], parameters=parameters)
                queue.extend(sorted(callers.get(name, ())))
            lowered[name] = attempt.function
        except Stay as stay:
            stays[name] = stay
            lowered.pop(name, None)
            del known[name]
            queue.extend(sorted(callers.get(name, ())))
    return lowered


def _callees_first(facts: Facts, known: dict[str, NativeSignature]) -> list[str]:
    """The functions, callees before callers as far as there is no recursion."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for root in known:
        stack = [(root, False)]
        while stack:
            name, done = stack.pop()
            if done:
                order[name] = None
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack += [(callee, False) for callee in _project_callees(facts, name, known)]
    return list(order)


def _project_callees(facts: Facts, name: str, known: dict[str, NativeSignature]) -> list[str]:
    calls = (
        facts.callees.get(node)
        for node in ast.walk(facts.program.functions[name].node)
        if isinstance(node, ast.Call)
    )
    return [callee.name for callee in calls if callee and callee.name in known]


def _is_over_tensors(facts: Facts, name: str) -> bool:
    signature = facts.signatures[name]
    every = [signature.result, *(each.type for each in signature.parameters)]
    return any(_holds_tensor(type_) for type_ in every)


def _holds_tensor(type_: types.Type) -> bool:
    match type_:
        case types.Tensor():
            return True
        case types.Tuple(items) | types.Union(items):
            return any(_holds_tensor(item) for item in items)
        case types.Collection(_, item):
            return _holds_tensor(item)
        case _:
            return False


def _remark(facts: Facts, name: str, stay: Stay) -> Diagnostic:
    module = facts.program.modules[facts.program.functions[name].module]
    return Diagnostic(
        "R3004",
        f"`{name}` stays in Python: {stay.construct}",
        locate(module, stay.node),
        stay.help,
    )


def _with_writes(
    function: ir.Function, known: dict[str, NativeSignature]
) -> tuple[ir.Parameter, ...]:
    """The parameters, those marked that the function stores into, itself or through those
    that it calls, as far as is known of them."""
    written = frozenset().union(*(stores(each, known) for each in statements(function.body)))
    return tuple(
        replace(each, writable=each.writable or each.name in written)
        if isinstance(each, ir.BufferParameter | ir.GridParameter)
        else each
        for each in function.parameters
    )
