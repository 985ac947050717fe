"""Reverse-mode differentiation: the gradient of a graph is more of the same graph.

Nodes are visited in the reverse of their order, which is the order in which autograd's
engine runs them, and gradients that meet in one value are added in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ppybuild.emit.tensors.derivatives import views
from ppybuild.emit.tensors.derivatives.builder import Builder, NotDifferentiable
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.decompose import NOISE, start
from ppybuild.emit.tensors.derivatives.losses import (
    LOSSES,
    batch_norm,
    convolution,
    layer_norm,
)
from ppybuild.emit.tensors.derivatives.pointwise import POINTWISE, Rules
from ppybuild.emit.tensors.derivatives.pooling import POOLING
from ppybuild.emit.tensors.derivatives.products import PRODUCTS
from ppybuild.emit.tensors.derivatives.reductions import REDUCTIONS
from ppybuild.emit.tensors.derivatives.views import VIEWS
from ppybuild.emit.tensors.ir import Constant, Graph, Items, Node, Value
from ppybuild.emit.tensors.meta import FLOATING

Joint = Callable[[Builder, Value, Call, frozenset[Value]], list[tuple[Value, Value]]]
Gathering = Callable[[Builder, tuple[Value | None, ...], Call], Value]

BACKWARD: Rules = {
    **POINTWISE,
    **REDUCTIONS,
    **PRODUCTS,
    **VIEWS,
    **LOSSES,
    **POOLING,
}
"""By operator, by place of the argument."""

JOINT: Mapping[str, Joint] = {
    "cat": views.joined,
    "stack": views.stacked,
    "native_layer_norm": layer_norm,
    "native_batch_norm": batch_norm,
    "convolution": convolution,
}
"""Operators that give the gradients of all their arguments together."""

GATHERING: Mapping[str, Gathering] = {
    "split.Tensor": views.unsplit,
    "split_with_sizes": views.unsplit,
    "unbind.int": views.unbound,
}
"""Operators with several results, each with a gradient, of one argument."""

UNDIFFERENTIATED = frozenset(
    f"aten::{name}"
    for name in [
        "detach",
        "scalar_tensor",
        "new_zeros",
        "sym_size.int",
        "sym_numel",
        "isnan",
        "argmax",
        "argmin",
        "bernoulli.p",
        "logical_and",
        "logical_or",
        "logical_not",
    ]
)
"""Operators through which no gradient goes."""

_COUNT = sum(map(len, (POINTWISE, REDUCTIONS, PRODUCTS, VIEWS, LOSSES, POOLING)))
if len(BACKWARD) != _COUNT or set(BACKWARD) & (set(JOINT) | set(GATHERING)):
    raise AssertionError("an operator has two derivatives")


def _stops(node: Node) -> bool:
    return node.op in UNDIFFERENTIATED or node.op == NOISE


def _operands(node: Node) -> tuple[Value, ...]:
    flat: list[Value] = []
    for arg in node.args:
        items = arg.items if isinstance(arg, Items) else (arg,)
        flat += [item for item in items if isinstance(item, Value)]
    return tuple(flat)


def _reached(b: Builder, nodes: list[Node], wrt: tuple[Value, ...]) -> set[Value]:
    """Values that depend, differentiably, on `wrt`."""
    reached = set(wrt)
    for node in nodes:
        if _stops(node):
            continue
        if any(operand in reached for operand in _operands(node)):
            reached.update(
                value for value in node.results if b.is_tensor(value) and b.is_floating(value)
            )
    return reached


def gradients(
    b: Builder, loss: Value, wrt: tuple[Value, ...], seed: Value | None = None
) -> tuple[Value | None, ...]:
    """Append the gradients of `loss` to the builder; None where `loss` does not depend.

    The builder's nodes must have composite operators spelled out (`decompose`). `seed` is
    the gradient that comes into `loss`; by default ones, as `loss.backward()` has it. What
    the values of `wrt` were made of has no part in it.
    """
    nodes = [node for node in b.nodes if not {*wrt} & {*node.results}]
    reached = _reached(b, nodes, wrt)
    if loss not in reached:
        return (None,) * len(wrt)
    found: dict[Value, Value] = {loss: seed if seed is not None else b.ones_like(loss)}
    for node in reversed(nodes):
        incoming = tuple(found.get(value) for value in node.results)
        if _stops(node) or not any(incoming):
            continue
        b.location = node.location
        for source, gradient in _contributions(b, node, incoming, reached):
            fitted = b.fit(gradient, source)
            known = found.get(source)
            found[source] = fitted if known is None else b.add(known, fitted)
    return tuple(found.get(value) for value in wrt)


def _contributions(
    b: Builder,
    node: Node,
    incoming: tuple[Value | None, ...],
    reached: set[Value],
) -> list[tuple[Value, Value]]:
    wanted = frozenset(operand for operand in _operands(node) if operand in reached)
    if not wanted:
        return []
    name = node.op.removeprefix("aten::")
    call = Call(node)
    if name in GATHERING:
        return [(call.value(0), GATHERING[name](b, incoming, call))]
    gradient = incoming[0]
    if gradient is None or any(incoming[1:]):
        raise NotDifferentiable(f"a second result of {node.op}")
    if name in JOINT:
        return JOINT[name](b, gradient, call, wanted)
    rules = BACKWARD.get(name)
    if rules is None:
        raise NotDifferentiable(node.op)
    pairs = []
    for place, arg in enumerate(node.args):
        if not isinstance(arg, Value) or arg not in wanted:
            continue
        if place not in rules:
            raise NotDifferentiable(f"argument {place + 1} of {node.op}")
        pairs.append((arg, rules[place](b, gradient, call)))
    return pairs


def differentiate(graph: Graph, loss: Value, wrt: tuple[Value, ...]) -> Graph:
    """The graph with the gradients of `loss` after its own outputs.

    An output is None for a value that `loss` does not depend on. Raises
    NotDifferentiable where a rule is missing or a needed size is not known.
    """
    b = start(graph)
    kind = b.type(loss)
    if kind.shape not in ((), None) or (kind.dtype is not None and kind.dtype not in FLOATING):
        raise NotDifferentiable("a loss that is not one floating point number")
    results = gradients(b, loss, wrt)
    outputs = tuple(Constant(None) if value is None else value for value in results)
    return replace(
        graph,
        nodes=tuple(b.nodes),
        outputs=graph.outputs + outputs,
        types=tuple(sorted(b.types.items(), key=lambda item: item[0].id)),
    )
