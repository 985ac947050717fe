"""Sizes that the whole program fixes: what its calls pass for the length of an inner loop.

    standardize(raw, out, rows, cols)    every call passes 16 for `cols`    →    {"cols": 16}

The printer writes such a kernel's body twice: with the number, whose loops the C compiler
unrolls and vectorises as a whole, and for anything else. The kernel looks before it chooses,
so what is found here is a guess that no answer depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppybuild.emit.loops.ir import Block, For, Function, ScalarParameter, Type, While
from ppybuild.emit.loops.tree import (
    blocks,
    own_expressions,
    own_targets,
    statements,
    variables,
)
from ppybuild.graph.regions.seeds import Seeds

LARGEST = 256
"""Longer loops gain nothing from a length that is known."""

Fixed = Mapping[str, int]
"""Values of parameters, by name."""


def fixed_sizes(seeds: Seeds, functions: Mapping[str, Function]) -> Mapping[str, Fixed]:
    """By function, the parameters that bound inner loops and that calls agree on."""
    bounding = {name: found for name in functions if (found := _bounds(functions[name]))}
    fixed = {name: _agreed(seeds, functions[name], found) for name, found in bounding.items()}
    return {name: values for name, values in fixed.items() if values}


def _agreed(seeds: Seeds, function: Function, bounding: frozenset[str]) -> Fixed:
    passed = {
        parameter.name: seeds.number_passed(function.name, place)
        for place, parameter in enumerate(function.parameters)
        if parameter.name in bounding
    }
    return {
        name: value
        for name, value in passed.items()
        if value is not None and 0 < value <= LARGEST
    }


def _bounds(function: Function) -> frozenset[str]:
    """The parameters that are, or that make, the bounds of a loop inside another."""
    wanted = {name for loop in _inner(function.body) for name in _read(loop)}
    made_of: dict[str, set[str]] = {}
    for statement in statements(function.body):
        for target in own_targets(statement):
            if not isinstance(statement, For):
                made_of.setdefault(target, set()).update(
                    *map(variables, own_expressions(statement))
                )
    waiting = list(wanted)
    while waiting:
        new = made_of.get(waiting.pop(), set()) - wanted
        wanted |= new
        waiting += new
    return frozenset(
        parameter.name
        for parameter in function.parameters
        if isinstance(parameter, ScalarParameter)
        and parameter.type is Type.I64
        and parameter.name in wanted
    )


def _inner(block: Block, inside: bool = False) -> Iterator[For]:
    """The counted loops that stand in another loop."""
    for statement in block:
        if inside and isinstance(statement, For):
            yield statement
        for inner in blocks(statement):
            yield from _inner(inner, inside or isinstance(statement, For | While))


def _read(loop: For) -> frozenset[str]:
    return variables(loop.start) | variables(loop.stop) | variables(loop.step)
