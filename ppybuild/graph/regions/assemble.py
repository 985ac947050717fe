"""A step that was followed to its end → the facts about it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.locations import function_span
from ppybuild.graph.program import Facts
from ppybuild.graph.regions.found import Found, Seed, seed_of
from ppybuild.graph.regions.inline import held, reached
from ppybuild.graph.regions.records import Call, Step
from ppybuild.graph.regions.step_records import (
    Backward,
    Leaf,
    Method,
    Model,
    Optimized,
    Returned,
    StepRegion,
)
from ppybuild.graph.regions.stepping import StepTrace, results_of, sources_of
from ppybuild.graph.regions.values import Number, Symbol, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.types import Tensor


@final
@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of a step's inputs, by value, and which of them are trained."""

    seeds: Mapping[int, Seed]
    trained: frozenset[int]


def learned(trace: StepTrace, known: Mapping[int, Found]) -> Learned:
    """`known`: what is passed for each parameter, by its place."""
    found = {
        given.value: trace.seeds.get(given.value)
        if given.path
        else seed_of(known[given.place], given)
        for given in trace.inputs
    }
    for groups in trace.optimized.values():
        for optimized in groups:
            found |= _states(trace, optimized, found)
    seeds = {value: seed for value, seed in found.items() if seed is not None}
    trained = trace.touched | {
        value for value, seed in seeds.items() if seed.grows and value in trace.gradients
    }
    return Learned(seeds, frozenset(trained))


def assemble(
    facts: Facts,
    trace: StepTrace,
    known: Learned,
    returned: Returned,
    name: str,
    parameters: int,
    node: ast.stmt,
) -> StepRegion:
    """`name` and `node`: of the function; `parameters`: how many it has."""
    trained = known.trained
    inputs = {given.value for given in trace.inputs}
    changed = trained | (trace.writes.keys() & inputs)
    return StepRegion(
        name,
        parameters,
        tuple(trace.inputs),
        tuple(sorted(trace.lengths.items())),
        tuple(_only(trace.in_order(), trained)),
        tuple(_leaf(trace, leaf, leaf in trained) for leaf in sorted(changed)),
        returned,
        tuple(sorted(trace.names.items())),
        tuple(sorted(known.seeds.items(), key=lambda item: item[0])),
        reached(facts, trace),
        node.lineno,
        node.col_offset + 1,
        tuple(Model(place, model.built) for place, model in sorted(trace.models.items())),
        tuple(method_of(facts, owner, name) for owner, name in sorted(trace.methods)),
        tuple(each for groups in trace.optimized.values() for each in groups),
        _only_zeroed(trace),
        held(trace),
        evaluates=trace.evaluates,
    )


def _only_zeroed(trace: StepTrace) -> tuple[Optimized, ...]:
    return tuple(
        each
        for place, groups in sorted(trace.zeroed.items())
        if place not in trace.optimized
        for each in groups
    )


def _states(
    trace: StepTrace, optimized: Optimized, found: Mapping[int, Seed | None]
) -> dict[int, Seed | None]:
    """An optimizer's tensors are as the parameters that they belong to."""
    return {
        given.value: None if like is None else Seed(Tensor(like.type.dtype, like.type.shape))
        for given in trace.inputs
        if given.place == optimized.place and given.kind == "tensor"
        if given.path[0] == str(optimized.group)
        for like in (found.get(optimized.parameters[int(given.path[-1])]),)
    }


def method_of(facts: Facts, owner: str, name: str) -> Method:
    function = facts.program.functions[f"{owner}.{name}"]
    module = facts.program.modules[function.module]
    qualified = function.name.removeprefix(function.module + ".")
    return Method(owner, name, qualified, function_span(module, function.node).line)


def _only(
    steps: Iterable[Step | Backward], trained: frozenset[int]
) -> Iterator[Step | Backward]:
    """Without gradients of what is not trained, and without sums of them."""
    dropped: set[int] = set()
    for done in steps:
        if isinstance(done, Backward):
            kept = tuple(pair for pair in done.gradients if pair[0] in trained)
            dropped |= {found for leaf, found in done.gradients if leaf not in trained}
            yield replace(done, gradients=kept)
        elif dropped & sources_of(done):
            dropped |= {*results_of(done)}
        else:
            yield done


def _leaf(trace: StepTrace, leaf: int, trained: bool) -> Leaf:
    held = trace.gradients[leaf].payload if trained else None
    return Leaf(
        leaf,
        trained,
        trace.now(leaf),
        trace.writes.get(leaf, 0),
        trace.now(held) if isinstance(held, int) else None,
        trace.writes.get(held, 0) if isinstance(held, int) else 0,
        trained and leaf in trace.none_on_entry,
    )


def returned_value(
    trace: StepTrace, value: Symbol, trained: frozenset[int], node: ast.AST
) -> Returned:
    match value:
        case Given(kind="none"):
            return Returned("none")
        case Number(value=number):
            return Returned("number", number)
        case Given(kind="tensor", payload=int() as number):
            if number in trace.aliased and not _owns_memory(trace, number):
                raise Unsupported("a result that shares its memory", node)
            if _is_elsewhere(trace, number):
                raise Unsupported("a result that is an argument, or a gradient", node)
            if _grown(trace, number, trained):
                raise Unsupported("a result that still has its graph", node)
            return Returned("tensor", trace.now(number))
        case _:
            raise Unsupported("a result that is neither a number nor a tensor", node)


def _is_elsewhere(trace: StepTrace, value: int) -> bool:
    """Whether the program can reach the same tensor by another way than the result."""
    gradients = (given.payload for given in trace.gradients.values())
    return value in gradients or any(given.value == value for given in trace.inputs)


_RESHAPES = frozenset({"detach", "squeeze", "unsqueeze", "view", "reshape", "flatten"})
"""Operators that give a tensor's whole memory, where it is dense. Without gradients, nothing
tells what they give from a tensor of its own."""


def memory_of(trace: StepTrace, value: int) -> int:
    """The value in whose memory another lies, as far as that is all of it."""
    makers = _makers(trace)
    passing = _RESHAPES if trace.evaluates else ("detach",)
    while value in makers and makers[value].operator.name in passing:
        value = int(str(makers[value].arguments[0].payload))
    return value


def _owns_memory(trace: StepTrace, value: int) -> bool:
    """Whether it is `detach` of a tensor that an operator made, and nothing else keeps."""
    makers = _makers(trace)
    if value not in makers or makers[value].operator.name != "detach":
        return False
    source = makers.get(memory_of(trace, value))
    return source is not None and all(type.alias is None for type in source.operator.returns)


def _makers(trace: StepTrace) -> dict[int, Call]:
    return {
        number: done
        for done in trace.in_order()
        if isinstance(done, Call)
        for number in done.results
    }


def _grown(trace: StepTrace, value: int, trained: frozenset[int]) -> bool:
    """Whether the value requires a gradient."""
    grown = set(trained)
    for done in trace.in_order():
        if grown & sources_of(done):
            grown |= set(results_of(done))
    return value in grown
