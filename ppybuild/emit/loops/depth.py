"""How deep native calls go, so that kernels keep CPython's recursion limit.

A run that would enter more frames than Python has left is abandoned, and Python raises
`RecursionError` where it must. A kernel checks on entry for all calls below it that do
not recurse, and only a recursive call counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.relied import ReliedLibrary


@dataclass(frozen=True, slots=True)
class Depth:
    height: int
    """Calls below this function's own, on the longest way that closes no cycle."""
    recursive: bool
    """Whether the function may call itself, directly or not."""
    counted: bool
    """Whether it may reach a recursive function, so that a call of it counts."""


def plan_depths(functions: Mapping[str, ir.Function], names: Iterable[str]) -> dict[str, Depth]:
    """By function name, for these functions and what they reach among `functions`."""
    edges: dict[str, tuple[str, ...]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in edges:
            edges[name] = tuple(callees(functions[name].body))
            waiting += edges[name]
    depths: dict[str, Depth] = {}
    for component in _components(edges):
        members = frozenset(component)
        recursive = len(component) > 1 or component[0] in edges[component[0]]
        outside = {to for each in component for to in edges[each]} - members
        own = any(map(_calls_library, (functions[each] for each in component)))
        height = max((depths[to].height + 1 for to in outside), default=int(own))
        counted = recursive or any(depths[to].counted for to in outside)
        depths |= dict.fromkeys(component, Depth(height, recursive, counted))
    return depths


_CLASSES = frozenset(("bool", "enumerate", "float", "int", "range", "reversed", "zip"))


def _calls_library(function: ir.Function) -> bool:
    """Whether it calls a built-in function, which CPython counts against the limit too; a
    class it does not."""
    return any(
        isinstance(each, ReliedLibrary) and each.name.removeprefix("builtins.") not in _CLASSES
        for each in function.relies
    )


def callees(block: ir.Block) -> Iterator[str]:
    """The functions that a block calls, once a call."""
    for statement in block:
        match statement:
            case ir.Call(function=function):
                yield function
            case ir.If(_, first, second, _) | ir.Versioned(_, first, second, _):
                yield from callees(first + second)
            case ir.For(body=body, orelse=orelse):
                yield from callees(body + orelse)
            case ir.While(test=test, body=body, orelse=orelse):
                yield from callees(test + body + orelse)
            case _:
                pass


def _components(edges: Mapping[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """Strongly connected components, callees before callers (Tarjan, without recursion)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    for root in edges:
        work = [(root, iter(edges[root]))] if root not in order else []
        while work:
            name, targets = work[-1]
            if name not in order:
                order[name] = lowest[name] = len(order)
                open_.append(name)
            for target in targets:
                if target not in order:
                    work.append((target, iter(edges[target])))
                    break
                if target in open_:
                    lowest[name] = min(lowest[name], lowest[target])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
                if lowest[name] == order[name]:
                    start = open_.index(name)
                    yield open_[start:]
                    del open_[start:]
