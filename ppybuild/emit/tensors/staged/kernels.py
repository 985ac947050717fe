"""A run of operators as one kernel, over numbers or over rows.

    relu_backward, mul   on [n, 64, 8, 8]  →  each number by itself: a pass over n * 4096 rows
    softmax, sum         on [n, 10]        →  a pass over n rows of width 10

The fused form plans and prints both. Over numbers the tensors may have any one shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.emit.tensors.exact import values_in
from ppybuild.emit.tensors.exact_step import Kernel, read_by
from ppybuild.emit.tensors.forward import BATCH
from ppybuild.emit.tensors.fused import NotFusible, plan_fused
from ppybuild.emit.tensors.fused.rules import RULES
from ppybuild.emit.tensors.fused.rules_pointwise import RULES as POINTWISE
from ppybuild.emit.tensors.ir import Constant, Dim, Graph, Input, Node, TensorType, Value

PRODUCTS = frozenset({"mm", "addmm", "mv"})
"""ATen's, whatever the size of the weight."""

PASSED_ON = frozenset(
    """
    alias detach contiguous view reshape _unsafe_view unsqueeze squeeze squeeze.dim
    squeeze.dims expand t transpose.int permute ones_like zeros_like scalar_tensor new_zeros
    """.split()  # noqa: SIM905
)
"""Operators that compute nothing: alone they make no kernel worth its while."""

EACH = frozenset(
    """
    alias detach contiguous expand ones_like zeros_like scalar_tensor to.dtype _to_copy stack
    sum mean mse_loss mse_loss_backward smooth_l1_loss smooth_l1_loss_backward
    binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits
    """.split()  # noqa: SIM905
) | frozenset(POINTWISE)
"""Operators that know nothing of dimensions: they work on each number, or sum up all."""

NORM = "linalg_vector_norm"
"""One of them where it is not along some dimensions."""


def name_of(node: Node) -> str:
    return node.op.removeprefix("aten::")


def may_fuse(node: Node) -> bool:
    """Whether a kernel may hold the operator at all. A clone stays ATen's, for what it
    makes may be written."""
    name = name_of(node)
    return name in RULES and name not in PRODUCTS and name != "clone"


def is_worth(nodes: Iterable[Node]) -> bool:
    return sum(name_of(node) not in PASSED_ON for node in nodes) > 1


@final
@dataclass(frozen=True, slots=True)
class Run:
    """`inputs` and `outputs` are in the order of the kernel's."""

    kernel: Kernel
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


@final
@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the whole graph."""

    graph: Graph
    types: Mapping[Value, TensorType]
    kinds: Mapping[Value, str]
    """Values that are numbers: "int" or "float"."""
    readers: Mapping[Value, frozenset[int]]
    """The nodes that read each value; -1 for the graph's own outputs."""


def plan_run(around: Surroundings, places: Iterable[int]) -> Run:
    """These nodes as one kernel; NotFusible says what stands in the way."""
    inside = frozenset(places)
    nodes = tuple(around.graph.nodes[place] for place in sorted(inside))
    made = {value: None for node in nodes for value in node.results}
    outputs = tuple(value for value in made if around.readers.get(value, frozenset()) - inside)
    read = {
        value: None
        for node in nodes
        for argument in node.args
        for value in values_in(argument)
        if value not in made
    }
    shapes = _shapes(around, nodes)
    if any(shape is None for shape in shapes):
        raise NotFusible("a tensor of unknown shape")
    known = {shape for shape in shapes if shape}
    flat = len(known) <= 1 and all(_is_each(node) for node in nodes)
    lead = None if flat else _lead(around, nodes)
    inputs = tuple(
        Input(f"v{place}", around.kinds.get(value, "tensor"), value)
        for place, value in enumerate(read)
    )
    types = {
        value: _seen(around.types[value], flat=flat, lead=lead)
        for value in (*read, *made)
        if value in around.types
    }
    graph = Graph("", inputs, nodes, outputs, tuple(types.items()), around.graph.location)
    # The shapes below are spelled by those of an input.
    sized = [types[value].shape for value in read if value in types]
    if known and (BATCH,) not in [(shape or ())[:1] for shape in sized]:
        raise NotFusible("operators without a tensor of their size")
    return Run(Kernel(plan_fused(graph, BATCH), flat), tuple(read), outputs)


def _shapes(around: Surroundings, nodes: tuple[Node, ...]) -> list[tuple[Dim, ...] | None]:
    values = {value for node in nodes for value in (*read_by(node), *node.results)}
    return [around.types[value].shape for value in values if value in around.types]


def _is_each(node: Node) -> bool:
    name = name_of(node)
    whole = name == NORM and node.args[2] == Constant(None)
    return whole or name in EACH


def _lead(around: Surroundings, nodes: tuple[Node, ...]) -> str:
    """The size that all rows have in common: what the first dimension of a matrix is named."""
    found: set[Dim] = set()
    for node in nodes:
        here = [shape[0] for shape in _shapes(around, (node,)) if shape]
        named = [size for size in here if isinstance(size, str)]
        if here and not named:
            raise NotFusible("work on weights among work on rows")
        found.update(named)
    if len(found) != 1:
        raise NotFusible("tensors with several numbers of rows")
    (lead,) = found
    assert isinstance(lead, str)
    return lead


def _seen(kind: TensorType, *, flat: bool, lead: str | None) -> TensorType:
    """The type as the kernel sees it."""
    assert kind.shape is not None
    if flat:
        return replace(kind, shape=(BATCH,) if kind.shape else ())
    return replace(kind, shape=tuple(BATCH if size == lead else size for size in kind.shape))
