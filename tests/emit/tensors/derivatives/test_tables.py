"""The tables against torch's schemas, and gradients of graphs of several nodes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from ppybuild.emit.tensors import infer
from ppybuild.emit.tensors.derivatives import NotDifferentiable, decompose, differentiate
from ppybuild.emit.tensors.derivatives.decompose import COMPOSITIONS
from ppybuild.emit.tensors.derivatives.differentiate import (
    BACKWARD,
    GATHERING,
    JOINT,
    UNDIFFERENTIATED,
)

sys.path.insert(0, str(Path(__file__).parents[1]))

from graphs import overload, run, tensor_type, trace

NAMES = sorted(
    {*BACKWARD, *JOINT, *GATHERING, *COMPOSITIONS}
    | {name.removeprefix("aten::") for name in (*UNDIFFERENTIATED, *infer.RULES)}
)


@pytest.mark.parametrize("name", NAMES)
def test_operator_exists(name: str) -> None:
    assert overload(name) is not None


@pytest.mark.parametrize("name", sorted(BACKWARD))
def test_places_are_tensors(name: str) -> None:
    arguments = overload(name)._schema.arguments
    for place in BACKWARD[name]:
        assert "Tensor" in str(arguments[place].type)


def test_a_value_used_twice_gets_the_sum() -> None:
    graph = trace(
        lambda t, x: t("sum", t("mul.Tensor", x, t("exp", x))), x=tensor_type("float64", 3)
    )
    loss = graph.outputs[0]
    x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    total, gradient = run(differentiate(graph, loss, (graph.inputs[0].value,)), x)
    torch.testing.assert_close(gradient, (1 + x) * x.exp())
    torch.testing.assert_close(total, (x * x.exp()).sum())


def test_an_unreached_value_has_no_gradient() -> None:
    kind = tensor_type("float64", 3)
    graph = trace(lambda t, x, y: t("sum", x), x=kind, y=kind)
    found = differentiate(graph, graph.outputs[0], tuple(i.value for i in graph.inputs))
    assert run(found, torch.ones(3), torch.ones(3))[2] is None


def test_detach_stops_the_gradient() -> None:
    graph = trace(
        lambda t, x: t("sum", t("mul.Tensor", x, t("detach", x))), x=tensor_type("float64", 3)
    )
    x = torch.arange(3.0, dtype=torch.float64)
    found = differentiate(graph, graph.outputs[0], (graph.inputs[0].value,))
    torch.testing.assert_close(run(found, x)[1], x)


def test_parts_of_a_split_join() -> None:
    def halves(t, x):  # type: ignore[no-untyped-def]
        a, b = t.all("split.Tensor", x, 2, 1)
        return t("sum", t("mul.Tensor", a, t("exp", b)))

    graph = trace(halves, x=tensor_type("float64", 3, 4))
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    a, b = x.split(2, 1)
    (expected,) = torch.autograd.grad((a * b.exp()).sum(), x)
    found = differentiate(graph, graph.outputs[0], (graph.inputs[0].value,))
    torch.testing.assert_close(run(found, x.detach())[1], expected)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_symbolic_sizes(rows: int) -> None:
    def step(t, x, w):  # type: ignore[no-untyped-def]
        centred = t("sub.Tensor", x, t("mean.dim", x, [0], True))
        scale = t("std.correction", x, [0], correction=1, keepdim=True)
        return t("mean", t("mul.Tensor", t("div.Tensor", centred, scale), w))

    graph = trace(step, x=tensor_type("float64", "n", 3), w=tensor_type("float64", 3))
    x = torch.randn(rows, 3, dtype=torch.float64, requires_grad=True)
    w = torch.randn(3, dtype=torch.float64, requires_grad=True)
    loss = ((x - x.mean(0, keepdim=True)) / x.std(0, keepdim=True) * w).mean()
    expected = torch.autograd.grad(loss, (x, w))
    found = differentiate(graph, graph.outputs[0], tuple(i.value for i in graph.inputs))
    for ours, theirs in zip(run(found, x.detach(), w.detach())[1:], expected, strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_decomposing_keeps_the_numbers_of_values() -> None:
    graph = trace(
        lambda t, x, w, c: t("relu", t("linear", x, w, c)),
        x=tensor_type("float32", "n", 3),
        w=tensor_type("float32", 2, 3),
        c=tensor_type("float32", 2),
    )
    plain = decompose(graph)
    assert [node.op for node in plain.nodes] == ["aten::t", "aten::addmm", "aten::relu"]
    assert plain.nodes[-1] == graph.nodes[-1]


@pytest.mark.parametrize("op", ["trace", "det"])
def test_an_operator_without_a_rule_is_named(op: str) -> None:
    graph = trace(lambda t, x: t(op, x), x=tensor_type("float64", 3, 3))
    with pytest.raises(NotDifferentiable, match=op):
        differentiate(graph, graph.outputs[0], (graph.inputs[0].value,))


def test_known_symbols_need_no_sums() -> None:
    def loss(t, x, w):  # type: ignore[no-untyped-def]
        return t("mean", t("exp", t("matmul", x, w)))

    graph = trace(loss, x=tensor_type("float64", "n", 3), w=tensor_type("float64", 3, 2))
    found = differentiate(graph, graph.outputs[0], (graph.inputs[1].value,))
    ops = [node.op for node in found.nodes]
    assert "aten::sum_to_size" not in ops
    assert ops.count("aten::sym_size.int") <= 1
