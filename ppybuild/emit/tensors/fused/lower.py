"""Lower a graph of ATen operators to the fused form's IR, or say what it does not hold."""

from __future__ import annotations

from ppybuild.emit.tensors.derivatives.decompose import decompose
from ppybuild.emit.tensors.fused.ir import Element, NotFusible, Output, Program, Weight
from ppybuild.emit.tensors.fused.lowering import Lowering
from ppybuild.emit.tensors.fused.rules import RULES
from ppybuild.emit.tensors.ir import Argument, Graph, Node, Value


def lower(graph: Graph, batch: str) -> Program:
    """`batch` is the symbol of the first dimension of what is work per row."""
    graph = decompose(graph)
    lowering = Lowering(graph, batch)
    for place, given in enumerate(graph.inputs):
        lowering.note = given.name
        lowering.input(place, given)
    for node in graph.nodes:
        rule = RULES.get(node.op.removeprefix("aten::"))
        if rule is None:
            raise NotFusible(f"{node.op} (line {node.location.line})")
        _check_dtypes(lowering, node)
        lowering.note = f"{node.op.removeprefix('aten::')}, line {node.location.line}"
        results = rule(lowering, node)
        for value, result in zip(node.results, results, strict=False):
            lowering.bound[value] = result
    outputs = tuple(_output(lowering, arg) for arg in graph.outputs)
    return Program(
        lowering.dtype,
        tuple(given.name for given in graph.inputs),
        tuple(lowering.operations),
        tuple(lowering.spaces),
        outputs,
        tuple(lowering.checks),
        tuple(lowering.notes),
    )


_KEEPS_INTEGERS = frozenset(
    f"aten::{name}"
    for name in (
        *("alias", "detach", "clone", "contiguous", "view", "reshape", "unsqueeze"),
        *("squeeze", "squeeze.dim", "squeeze.dims", "sum", "sum.dim_IntList"),
    )
)
"""Operators that give integers and do not compute with them, or only count."""

_NUMBERS_FROM_TRUTH = frozenset({"aten::add.Tensor", "aten::add.Scalar", "aten::sum_to_size"})
"""Operators whose result on booleans is not that on ones and zeros."""


def _check_dtypes(lowering: Lowering, node: Node) -> None:
    """Numbers are floating here; integers have another arithmetic."""
    for value in node.results:
        kind = lowering.types.get(value)
        if kind is None or kind.dtype is None or kind.dtype == lowering.dtype:
            continue
        if kind.dtype == "bool" and node.op not in _NUMBERS_FROM_TRUTH:
            continue
        if node.op not in _KEEPS_INTEGERS:
            raise NotFusible(f"{node.op} with a result of dtype {kind.dtype}")


def _output(lowering: Lowering, arg: Argument) -> Output:
    if not isinstance(arg, Value) or arg not in lowering.bound:
        raise NotFusible("an output that is not a tensor")
    kind = lowering.types.get(arg)
    if kind is not None and kind.dtype not in (None, lowering.dtype):
        raise NotFusible(f"an output of dtype {kind.dtype}")
    bound = lowering.bound[arg]
    sizes = tuple(s if isinstance(s, int) else None for s in bound.shape)
    width = lowering.row_width(bound.shape)
    if width is not None:
        if bound.transposed:
            raise NotFusible("a transposed output")
        value = lowering.widened(bound)
    else:
        known = tuple(size for size in bound.shape if isinstance(size, int))
        laid = lowering.laid_out(bound, known)
        fits = isinstance(laid, int) and lowering.spaces[laid] == Weight(known)
        value = (
            laid
            if isinstance(laid, int) and fits
            else lowering.add(Element("copy", (laid,)), Weight(known))
        )
    return Output(value, sizes)
