"""Training steps: forward, `loss.backward()` and the update, as one region.

    loss = forward_loss(x, y, *params)         operators of the forward pass
    loss.backward()                            Backward(loss, by parameter)
    with torch.no_grad():                  →
        for p in params:                       operators of the update
            p -= rate * p.grad                 p's last value, one write
            p.grad = None                      p's gradient when the step is over: None

A tensor is followed by the number under which it was made. Writing in place does not change
that number: `current` gives what the tensor now holds.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.locations import function_span
from ppybuild.graph.program import Facts, Function, Parameter
from ppybuild.graph.regions.built import Built
from ppybuild.graph.regions.inline import (
    ProgramNames,
    held,
    is_generator,
    no_grad_decorated,
    reached,
)
from ppybuild.graph.regions.modules import NotKnown, read_module
from ppybuild.graph.regions.optimizers import read_optimizer
from ppybuild.graph.regions.records import Call, InputKind, Step
from ppybuild.graph.regions.seeds import Seed, Seeds, Several, is_sequence, seed_of
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
from ppybuild.graph.regions.trainers import TrainerBody
from ppybuild.graph.regions.values import (
    Number,
    Object,
    Optimizer,
    Sequence,
    Symbol,
    Unsupported,
)
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.names import Torch, installed_torch
from ppybuild.graph.types import BOOL, FLOAT, INT, Instance, Scalar, Tensor

_SCALARS: dict[Scalar, InputKind] = {INT: "int", FLOAT: "float", BOOL: "bool"}


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Training steps by function name, and why each other function with a backward pass is
    none: the reason and the node in the way."""

    steps: tuple[StepRegion, ...]
    refused: Mapping[str, tuple[str, ast.AST]]


def discover_steps(facts: Facts, torch: Torch | None = None) -> Steps:
    """The program's training steps, in order of function name."""
    torch = torch if torch is not None else installed_torch()
    steps: list[StepRegion] = []
    refused: dict[str, tuple[str, ast.AST]] = {}
    trainers = [name for name in sorted(facts.program.functions) if _trains(facts, name)]
    if torch is None or not trainers:
        return Steps((), {})
    seeds = Seeds(facts)
    for name in trainers:
        function = facts.program.functions[name]
        try:
            steps.append(discover_step(facts, function, torch, seeds))
        except Unsupported as stopped:
            refused[name] = (stopped.reason, stopped.node)
    return Steps(tuple(steps), refused)


def _trains(facts: Facts, name: str) -> bool:
    """Whether there is a backward pass in the function itself."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        for node in ast.walk(facts.program.functions[name].node)
    )


def discover_step(facts: Facts, function: Function, torch: Torch, seeds: Seeds) -> StepRegion:
    """The function as a training step; Unsupported says what stands in the way."""
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef) or is_generator(node):
        raise Unsupported("not a plain function", node)
    if function.owner is not None or ".<locals>." in function.name:
        raise Unsupported("a method or an inner function", node)
    if no_grad_decorated(facts, node) is not False:
        raise Unsupported("a decorated function", node)
    trace = StepTrace(torch)
    parameters = facts.signatures[function.name].parameters
    variables: dict[str, Symbol] = {}
    known: dict[int, Seed | Several | None] = {}
    for place, parameter in enumerate(parameters):
        known[place] = seeds.of(function.name, place)
        symbol = _entering(trace, parameter, place, known[place], node)
        if symbol is None:
            symbol = _object(facts, seeds, trace, function.name, parameter, place)
        if symbol is not None:
            variables[parameter.name] = symbol
    body = TrainerBody(trace, ProgramNames(facts), variables, inside=(function.name,))
    returned = body.run(node.body)
    if not trace.backwards:
        raise Unsupported("no backward pass", node)
    found = {
        given.value: trace.seeds.get(given.value)
        if given.path
        else seed_of(known[given.place], given)
        for given in trace.inputs
    }
    if trace.optimized is not None:
        found |= _states(trace, trace.optimized, found)
    seeded = {value: seed for value, seed in found.items() if seed is not None}
    trained = trace.touched | {
        value for value, seed in seeded.items() if seed.grows and value in trace.gradients
    }
    changed = trained | {value for value in trace.writes if value in found}
    return StepRegion(
        function.name,
        len(parameters),
        tuple(trace.inputs),
        tuple(sorted(trace.lengths.items())),
        tuple(_only(done, trained) for done in trace.in_order()),
        tuple(_leaf(trace, leaf, leaf in trained) for leaf in sorted(changed)),
        _returned(trace, returned, trained, node),
        tuple(sorted(trace.names.items())),
        tuple(sorted(seeded.items(), key=lambda item: item[0])),
        reached(facts, trace),
        node.lineno,
        node.col_offset + 1,
        tuple(Model(place, model.built) for place, model in sorted(trace.models.items())),
        tuple(_method(facts, owner, name) for owner, name in sorted(trace.methods)),
        trace.optimized,
        held(trace),
    )


def _states(
    trace: StepTrace, optimized: Optimized, found: Mapping[int, Seed | None]
) -> dict[int, Seed | None]:
    """An optimizer's tensors are as the parameters that they belong to."""
    return {
        given.value: None if like is None else Seed(Tensor(like.type.dtype, like.type.shape))
        for given in trace.inputs
        if given.place == optimized.place and given.kind == "tensor"
        for like in (found.get(optimized.parameters[int(given.path[-1])]),)
    }


def _method(facts: Facts, owner: str, name: str) -> Method:
    function = facts.program.functions[f"{owner}.{name}"]
    module = facts.program.modules[function.module]
    qualified = function.name.removeprefix(function.module + ".")
    return Method(owner, name, qualified, function_span(module, function.node).line)


def _object(
    facts: Facts,
    seeds: Seeds,
    trace: StepTrace,
    function: str,
    parameter: Parameter,
    place: int,
) -> Symbol | None:
    """A module of the program or an optimizer; None for what a step must not look at."""
    if not isinstance(parameter.type, Instance):
        return None
    made = seeds.made(function, place)
    form = read_optimizer(facts, made, parameter.type)
    if form is not None:
        return Optimizer(place, form)
    try:
        built = read_module(facts, seeds, made, parameter.type)
    except NotKnown:
        return None
    model = Object(parameter.name, place, (), built)
    trace.models[place] = model
    _seed(trace, model, built)
    return model


def _seed(trace: StepTrace, model: Object, built: Built, path: tuple[str, ...] = ()) -> None:
    """An input for every parameter, whether it is used or not: all are trained."""
    for name, type in built.parameters:
        if type is not None:
            spelled = ".".join((model.name, *path, name))
            leaf = trace.new_leaf(spelled, model.place, (*path, name))
            assert isinstance(leaf.payload, int)
            trace.seeds[leaf.payload] = Seed(type, grows=True)
    for name, child in built.children:
        _seed(trace, model, child, (*path, name))


def _entering(
    trace: StepTrace,
    parameter: Parameter,
    place: int,
    seed: Seed | Several | None,
    node: ast.AST,
) -> Symbol | None:
    """What a parameter stands for; None for one that a step must not look at."""
    if parameter.kind in ("rest", "keywords"):
        raise Unsupported(f"the parameter `{parameter.name}`, whose arguments vary", node)
    if is_sequence(parameter.type):
        if isinstance(seed, Several):
            trace.lengths[place] = len(seed.items)
        return Sequence(parameter.name, place)
    if isinstance(parameter.type, Tensor):
        return trace.new_input(parameter.name, "tensor", place, None)
    if isinstance(parameter.type, Scalar) and parameter.type in _SCALARS:
        return trace.new_input(parameter.name, _SCALARS[parameter.type], place, None)
    return None


def _only(done: Step | Backward, trained: set[int]) -> Step | Backward:
    if not isinstance(done, Backward):
        return done
    kept = tuple(pair for pair in done.gradients if pair[0] in trained)
    return replace(done, gradients=kept)


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


def _returned(trace: StepTrace, value: Symbol, trained: set[int], node: ast.AST) -> Returned:
    match value:
        case Given(kind="none"):
            return Returned("none")
        case Number(value=number):
            return Returned("number", number)
        case Given(kind="tensor", payload=int() as number):
            if number in trace.aliased and not _owns_memory(trace, number):
                raise Unsupported("a result that shares its memory", node)
            if _grown(trace, number, trained):
                raise Unsupported("a result that still has its graph", node)
            return Returned("tensor", trace.now(number))
        case _:
            raise Unsupported("a result that is neither a number nor a tensor", node)


def _owns_memory(trace: StepTrace, value: int) -> bool:
    """Whether it is `detach` of a tensor that an operator made, and nothing else keeps."""
    makers = {
        number: done
        for done in trace.in_order()
        if isinstance(done, Call)
        for number in done.results
    }
    maker = makers.get(value)
    if maker is None or maker.operator.name != "detach":
        return False
    source = makers.get(int(str(maker.arguments[0].payload)))
    return source is not None and all(type.alias is None for type in source.operator.returns)


def _grown(trace: StepTrace, value: int, trained: set[int]) -> bool:
    """Whether the value requires a gradient."""
    grown = set(trained)
    for done in trace.in_order():
        if grown & sources_of(done):
            grown |= set(results_of(done))
    return value in grown
