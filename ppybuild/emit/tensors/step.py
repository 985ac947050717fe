"""A training step → one functional graph: forward, gradients, update.

    Backward(loss, w → g)      →    the nodes of d loss / d w, whose last value stands for g
    p -= rate * g              →    p_1 = p - rate * g, an output that lands in p's memory

Nothing is written before everything has been computed: outputs are stored last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

from ppybuild.emit.tensors.derivatives import NotDifferentiable, gradients
from ppybuild.emit.tensors.derivatives.builder import Builder, NotKnown
from ppybuild.emit.tensors.exact import values_in
from ppybuild.emit.tensors.forward import BATCH, append, renamed, seeded_types
from ppybuild.emit.tensors.fused import NotFusible, Plan, plan_fused
from ppybuild.emit.tensors.ir import (
    Graph,
    Input,
    Location,
    TensorType,
    Value,
)
from ppybuild.emit.tensors.lower import SAME_SIZE, lower_step
from ppybuild.emit.tensors.meta import FLOATING
from ppybuild.graph.regions.records import Call, Unpack
from ppybuild.graph.regions.step_records import Backward, Returned, StepRegion

GRADIENT = "ppy::gradient"
"""Not an operator: what autograd keeps as `.grad`, which is laid out as its tensor is."""


@final
@dataclass(frozen=True, slots=True)
class Output:
    """Where an output of the graph goes: into the memory of `leaf`, into a new tensor that
    becomes its gradient, or back to the caller as a number or a new tensor."""

    kind: Literal["write", "gradient", "number", "tensor"]
    value: Value
    leaf: int | None
    """The number of the leaf's input."""


@final
@dataclass(frozen=True, slots=True)
class FusedStep:
    region: StepRegion
    graph: Graph
    plan: Plan
    outputs: tuple[Output, ...]
    """In the order of the graph's."""

    @property
    def types(self) -> dict[Value, TensorType]:
        return dict(self.graph.types)


def plan_step(region: StepRegion) -> FusedStep:
    """The step in fused form; NotFusible says what that does not hold."""
    graph, outputs = step_graph(region)
    return FusedStep(region, graph, plan_fused(graph, BATCH), outputs)


def step_graph(region: StepRegion, *, exact: bool = False) -> tuple[Graph, tuple[Output, ...]]:
    """The step as one graph, with what becomes of its outputs. With `exact`, the graph makes
    the calls that autograd makes, whatever the strides, and looks at sizes when it runs."""
    try:
        builder, stands_for = _build(region, exact)
    except NotDifferentiable as missing:
        unknown = _unknown(region) if isinstance(missing, NotKnown) else None
        if unknown is not None:
            raise NotFusible(not_known(unknown)) from None
        of = "" if region.evaluates else "the gradient of "
        raise NotFusible(f"{of}{missing}") from None
    outputs = _outputs(region, builder, stands_for)
    used = {value for node in builder.nodes for arg in node.args for value in values_in(arg)}
    used |= {output.value for output in outputs}
    graph = Graph(
        name=region.function,
        inputs=tuple(i for i in _inputs(region) if i.value in used),
        nodes=tuple(builder.nodes),
        outputs=tuple(output.value for output in outputs),
        types=tuple(sorted(builder.types.items(), key=lambda item: item[0].id)),
        location=Location(region.function, region.line, region.column),
        names=tuple((Value(value), name) for value, name in region.names),
    )
    return graph, outputs


def not_known(name: str) -> str:
    """What is said of a tensor that a region is given, and what can be done."""
    return f"`{name}`, whose shape or dtype is not known: `ppybuild run --record` notes them"


def _unknown(region: StepRegion) -> str | None:
    """The first tensor that the region is given of which too little is known."""
    types = dict(_seeded(region))
    for given in region.inputs:
        kind = types.get(Value(given.value))
        if given.kind == "tensor" and (kind is None or None in (kind.dtype, kind.shape)):
            return given.name
    return None


def _seeded(region: StepRegion) -> list[tuple[Value, TensorType]]:
    fixed = {leaf.input for leaf in region.leaves}
    fixed |= {given.value for given in region.inputs if given.path}
    return seeded_types(dict(region.seeds), frozenset(fixed))


def _inputs(region: StepRegion) -> tuple[Input, ...]:
    return tuple(Input(i.name, i.kind, Value(i.value)) for i in region.inputs)


def _build(region: StepRegion, exact: bool) -> tuple[Builder, dict[Value, Value]]:
    """The nodes, and what stands for the values that a backward pass gives."""
    inputs = _inputs(region)
    types = _seeded(region)
    used = [i.value for i in inputs] + [
        Value(result)
        for done in region.steps
        if isinstance(done, Call | Unpack)
        for result in done.results
    ]
    used += [Value(g) for d in region.steps if isinstance(d, Backward) for _, g in d.gradients]
    location = Location(region.function, region.line, region.column)
    builder = Builder((), types, used, location, by_strides=exact)
    stands_for: dict[Value, Value] = {}
    for done in region.steps:
        if isinstance(done, Backward):
            stands_for |= _backward(builder, done, stands_for)
            continue
        node = lower_step(done, region.function)
        if exact and node.op == SAME_SIZE:
            args = tuple(renamed(arg, stands_for) for arg in node.args)
            builder.append(replace(node, args=args))
        else:
            append(builder, node, stands_for)
    return builder, stands_for


def _backward(
    builder: Builder, done: Backward, stands_for: dict[Value, Value]
) -> dict[Value, Value]:
    loss = stands_for.get(Value(done.loss), Value(done.loss))
    kind = builder.type(loss)
    if kind.shape != () or kind.dtype not in FLOATING:
        raise NotFusible("a loss that is not known to be one floating point number")
    held = dict(done.held)
    values = (Value(held.get(leaf, leaf)) for leaf, _ in done.gradients)
    wanted = tuple(stands_for.get(value, value) for value in values)
    found = gradients(builder, loss, wanted)
    if None in found:
        raise NotFusible("a gradient that stays None")
    given: dict[Value, Value] = {}
    for (_, number), value in zip(done.gradients, found, strict=True):
        if value is not None:
            kept = builder.helper(GRADIENT, value, value) if builder.by_strides else value
            given[Value(number)] = kept
    return given


def _outputs(
    region: StepRegion, builder: Builder, stands_for: dict[Value, Value]
) -> tuple[Output, ...]:
    outputs: list[Output] = []
    for leaf in region.leaves:
        kind = builder.type(Value(leaf.input))
        for name, value in (
            ("write", leaf.last if leaf.last != leaf.input else None),
            ("gradient", leaf.gradient),
        ):
            if value is None:
                continue
            result = stands_for.get(Value(value), Value(value))
            if builder.type(result) != kind or kind.shape is None:
                raise NotFusible("a tensor that is written with another shape or dtype")
            outputs.append(
                Output("write" if name == "write" else "gradient", result, leaf.input)
            )
    several = region.returned.kind == "tuple"
    for returned in region.returned.items if several else (region.returned,):
        if returned.kind != "none":
            outputs.append(_returned(returned, builder, stands_for))
    return tuple(outputs)


def _returned(returned: Returned, builder: Builder, stands_for: dict[Value, Value]) -> Output:
    value = stands_for.get(Value(returned.value), Value(returned.value))
    if returned.kind == "number":
        if builder.type(value).shape != ():
            raise NotFusible("a number from a tensor that is not known to hold one")
        return Output("number", value, None)
    if returned.kind == "tensor":
        return Output("tensor", value, None)
    raise NotFusible("several results")
