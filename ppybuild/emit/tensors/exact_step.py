"""A training step in exact form: the calls of ATen that eager PyTorch makes, in its order.

    loss.backward()            the operators of autograd's formulas, in the order of its engine
    p -= rate * g         →    sub_(p, mul(g, rate)), in p's own memory

No graph is built: the calls are made below autograd. An operator whose result lands in a
tensor that the program writes runs in place, as the program has it.

In the staged form (`staged/`) runs of operators have become kernels, a node each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from ppybuild.emit.tensors.derivatives.decompose import NOISE
from ppybuild.emit.tensors.derivatives.products import LEFT, RIGHT
from ppybuild.emit.tensors.exact import values_in
from ppybuild.emit.tensors.forward import renamed
from ppybuild.emit.tensors.fused import NotFusible, Plan
from ppybuild.emit.tensors.ir import Argument, Graph, Node, TensorType, Value
from ppybuild.emit.tensors.meta import FLOATING
from ppybuild.emit.tensors.step import Output, not_known, step_graph
from ppybuild.graph.regions.step_records import StepRegion
from ppybuild.graph.schemas import Operator, Schemas

SAME = frozenset({"aten::detach", "aten::alias"})
"""Operators that pass a tensor on: below autograd nothing tells it from the result."""


ON_CPU = frozenset({"aten::native_batch_norm"})
"""Operators that PyTorch runs on the processor, and others in their place elsewhere."""


KERNEL = "ppy::kernel"
"""What a node's `op` starts with that is one of the step's kernels; its number follows."""


@final
@dataclass(frozen=True, slots=True)
class Kernel:
    plan: Plan
    flat: bool
    """Whether its rows are the single numbers of tensors of one shape."""


@final
@dataclass(frozen=True, slots=True)
class ExactStep:
    region: StepRegion
    graph: Graph
    outputs: tuple[Output, ...]
    """In the order of the graph's."""
    landing: Mapping[int, Value]
    """By number of a node, the input in whose memory its result belongs."""
    draws: bool
    """Whether it draws random numbers."""
    on_cpu: bool
    """Whether it has calls that PyTorch makes on the processor only."""
    kernels: tuple[Kernel, ...] = ()
    """None in exact numerics."""
    landed: Mapping[Value, Value] = field(default_factory=dict)
    """By result of a kernel, the input into whose memory it is written."""

    @property
    def types(self) -> dict[Value, TensorType]:
        return dict(self.graph.types)

    def kernel(self, node: Node) -> Kernel | None:
        """The kernel that the node is a call of."""
        found = node.op.startswith(KERNEL)
        return self.kernels[int(node.op.removeprefix(KERNEL))] if found else None


def plan_exact(region: StepRegion, schemas: Schemas) -> ExactStep:
    """The step in exact form; NotFusible says what that does not hold."""
    graph, outputs = step_graph(region, exact=True)
    for given in graph.inputs:
        kind = dict(graph.types).get(given.value)
        if given.kind == "tensor" and (kind is None or None in (kind.dtype, kind.shape)):
            raise NotFusible(not_known(given.name))
    graph, stands_for = _without_copies(graph)
    outputs = tuple(replace(o, value=_root(o.value, stands_for)) for o in outputs)
    for output in outputs:
        if output.kind == "number" and dict(graph.types)[output.value].dtype not in FLOATING:
            raise NotFusible("a number that is not a float")
    graph = replace(graph, outputs=tuple(output.value for output in outputs))
    graph = _without_the_unused(graph, schemas)
    landing = plan_landing(graph, outputs, schemas)
    drawing = any(draws(node, schemas) for node in graph.nodes)
    on_cpu = drawing or any(node.op in ON_CPU for node in graph.nodes)
    return ExactStep(region, graph, outputs, landing, drawing, on_cpu)


def _operator(node: Node, schemas: Schemas) -> Operator | None:
    return None if node.op.startswith("ppy::") else schemas.operator(node.op)


def draws(node: Node, schemas: Schemas) -> bool:
    operator = _operator(node, schemas)
    return node.op == NOISE or (operator is not None and operator.random)


def _root(value: Value, stands_for: Mapping[Value, Value]) -> Value:
    while value in stands_for:
        value = stands_for[value]
    return value


def _without_copies(graph: Graph) -> tuple[Graph, dict[Value, Value]]:
    stands_for: dict[Value, Value] = {}
    nodes = []
    for node in graph.nodes:
        args = tuple(renamed(arg, stands_for) for arg in node.args)
        if node.op in SAME and isinstance(args[0], Value):
            stands_for[node.results[0]] = args[0]
        else:
            nodes.append(replace(node, args=args))
    return replace(graph, nodes=tuple(nodes)), stands_for


def _without_the_unused(graph: Graph, schemas: Schemas) -> Graph:
    used = {value for output in graph.outputs for value in values_in(output)}
    types = dict(graph.types)
    nodes = []
    for node in reversed(graph.nodes):
        acts = not node.results or draws(node, schemas) or _may_raise(node, types)
        if acts or used & set(node.results):
            nodes.append(node)
            used |= read_by(node)
    return replace(
        graph,
        inputs=tuple(given for given in graph.inputs if given.value in used),
        nodes=tuple(reversed(nodes)),
    )


def _may_raise(node: Node, types: Mapping[Value, TensorType]) -> bool:
    """Whether the numbers in a tensor may be wrong: an index out of range, an unknown class."""
    read = [types[value] for value in read_by(node) if value in types]
    return any(kind.dtype not in (*FLOATING, "bool") for kind in read)


def read_by(node: Node) -> set[Value]:
    return {value for argument in node.args for value in values_in(argument)}


def in_place(operator: Operator, schemas: Schemas) -> Operator | None:
    """The form of the operator that writes its first argument."""
    try:
        found = schemas.operator(
            operator.qualified.replace(operator.name, operator.name + "_", 1)
        )
    except KeyError:
        return None
    same = [a.name for a in found.arguments] == [a.name for a in operator.arguments]
    return found if same and found.arguments[0].type.writes else None


def plan_landing(
    graph: Graph, outputs: tuple[Output, ...], schemas: Schemas
) -> dict[int, Value]:
    """Which nodes may run in place, so that what is written need not be copied.

    The written value is followed back, from first argument to first argument, to the tensor
    itself. All these nodes run in place, if nothing reads afterwards what they write over.
    """
    types = dict(graph.types)
    makers = {value: place for place, node in enumerate(graph.nodes) for value in node.results}
    landing: dict[int, Value] = {}
    for output in outputs:
        if output.kind != "write" or output.leaf is None:
            continue
        leaf = Value(output.leaf)
        chain: list[int] = []
        value: Argument = output.value
        while value != leaf and isinstance(value, Value) and value in makers:
            chain.append(makers[value])
            value = graph.nodes[makers[value]].args[0]
        if value != leaf or not chain:
            continue
        if all(_may_write(graph, place, types, schemas) for place in chain):
            landing |= dict.fromkeys(chain, leaf)
    return landing


def _may_write(
    graph: Graph, place: int, types: Mapping[Value, TensorType], schemas: Schemas
) -> bool:
    node = graph.nodes[place]
    operator = _operator(node, schemas)
    if operator is None or len(node.results) != 1 or in_place(operator, schemas) is None:
        return False
    (result,) = node.results
    target = node.args[0]
    if not isinstance(target, Value) or types.get(target) != types.get(result):
        return False
    shared = set(sharing(graph, target, schemas))
    rest = [value for argument in node.args[1:] for value in values_in(argument)]
    later = [value for after in graph.nodes[place + 1 :] for value in read_by(after)]
    return not shared & {*rest, *later, *graph.outputs}


def sharing(graph: Graph, value: Value, schemas: Schemas) -> Iterator[Value]:
    """The value, and all that may be views of it."""
    found = {value}
    yield value
    for node in graph.nodes:
        if found & read_by(node) and not _is_fresh(node, schemas):
            found.update(node.results)
            yield from node.results


def _is_fresh(node: Node, schemas: Schemas) -> bool:
    """Whether the results have memory of their own."""
    operator = _operator(node, schemas)
    if operator is None:
        return node.op in (LEFT, RIGHT, NOISE) or node.op.startswith(KERNEL)
    return node.op not in MAYBE_SAME and all(type.alias is None for type in operator.returns)


MAYBE_SAME = frozenset({"aten::sum_to_size"})
"""Operators that may give their argument back, though their schema does not say so."""
