"""Rules against central differences of the graph itself, in float64."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from ppybuild.emit.tensors.derivatives import differentiate

sys.path.insert(0, str(Path(__file__).parents[1]))

from graphs import run, trace, type_of

UNARY = [
    "exp",
    "log",
    "log1p",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "sigmoid",
    "relu",
    "leaky_relu",
    "elu",
    "gelu",
    "silu",
    "softplus",
    "erf",
    "reciprocal",
    "square",
    "abs",
    "logsumexp",
    "std",
    "var",
    "mean",
    "softmax.int",
    "log_softmax.int",
    "linalg_vector_norm",
    "amax",
]
MORE = {"logsumexp": ([1],), "softmax.int": (1,), "log_softmax.int": (1,), "amax": ([1],)}

BINARY = ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "pow.Tensor_Tensor")
BINARY += ("atan2", "maximum", "mse_loss", "smooth_l1_loss", "matmul")

STEP = 1e-6


def check(op: str, *tensors: torch.Tensor) -> None:
    kinds = {f"x{i}": type_of(tensor) for i, tensor in enumerate(tensors)}
    more = MORE.get(op, ())

    def body(t, *values):  # type: ignore[no-untyped-def]
        return t("sum", t("mul.Tensor", t("sin", t(op, *values, *more)), 1.5))

    graph = trace(body, **kinds)
    wrt = tuple(given.value for given in graph.inputs)
    gradients = run(differentiate(graph, graph.outputs[0], wrt), *tensors)[1:]
    for place, (tensor, gradient) in enumerate(zip(tensors, gradients, strict=True)):
        for index in range(tensor.numel()):
            ends = []
            for sign in (1, -1):
                moved = [other.clone() for other in tensors]
                moved[place].view(-1)[index] += sign * STEP
                ends.append(run(graph, *moved)[0])
            slope = (ends[0] - ends[1]) / (2 * STEP)
            torch.testing.assert_close(gradient.reshape(-1)[index], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("op", UNARY)
def test_of_one(op: str) -> None:
    torch.manual_seed(1)
    check(op, torch.rand(2, 3, dtype=torch.float64) + 0.3)


@pytest.mark.parametrize("op", BINARY)
def test_of_two(op: str) -> None:
    torch.manual_seed(2)
    second = (3, 2) if op == "matmul" else (2, 3) if "loss" in op else (3,)
    check(
        op,
        torch.rand(2, 3, dtype=torch.float64) + 0.3,
        torch.rand(*second, dtype=torch.float64) + 0.4,
    )
