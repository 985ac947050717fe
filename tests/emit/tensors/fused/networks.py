"""Networks and training steps for tests and benchmarks, written once for torch and tracing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from graphs import Tracer, tensor_type, type_of
from native import Fused

from ppybuild.emit.tensors.derivatives.decompose import start
from ppybuild.emit.tensors.derivatives.differentiate import gradients
from ppybuild.emit.tensors.ir import Dim, Graph, Value


def call(ops: Any, name: str, *args: Any, **named: Any) -> Any:
    """An ATen operator by name, through torch or into a graph."""
    if isinstance(ops, Tracer):
        return ops(name, *args, **named)
    base, _, variant = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), variant or "default")(*args, **named)


def regression(ops: Any, x: Any, y: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    hidden = call(ops, "relu", call(ops, "add.Tensor", call(ops, "matmul", x, w1), b1))
    predicted = call(ops, "add.Tensor", call(ops, "matmul", hidden, w2), b2)
    residual = call(ops, "sub.Tensor", predicted, y)
    return call(ops, "mean", call(ops, "mul.Tensor", residual, residual))


def layers(ops: Any, x: Any, params: tuple[Any, ...], activation: str = "gelu") -> Any:
    """Linear layers with an activation between them."""
    for i in range(0, len(params), 2):
        x = call(ops, "linear", x, params[i], params[i + 1])
        if i + 2 < len(params):
            x = call(ops, activation, x)
    return x


def classifier(ops: Any, x: Any, y: Any, *params: Any) -> Any:
    return call(ops, "cross_entropy_loss", layers(ops, x, params), y)


class Step:
    """Traces a loss, its gradients, then an update, in one graph."""

    def __init__(self, **inputs: Any) -> None:
        self.tracer = Tracer(**inputs)
        self.values = tuple(i.value for i in self.tracer.inputs)

    def gradients(self, loss: Value, wrt: tuple[Value, ...]) -> tuple[Value, ...]:
        plain = start(self.tracer.graph())
        self.tracer.builder = plain
        found = gradients(plain, loss, wrt)
        assert all(found)
        return tuple(value for value in found if value is not None)


def regression_step(shapes: list[tuple[int, ...]]) -> Graph:
    kinds: dict[str, Any] = {
        "x": tensor_type("float32", "n", shapes[0][0]),
        "y": tensor_type("float32", "n", 1),
    }
    kinds |= {f"p{i}": tensor_type("float32", *s) for i, s in enumerate(shapes)}
    step = Step(**kinds, rate="float")
    x, y, *params, rate = step.values
    loss = regression(step.tracer, x, y, *params)
    found = step.gradients(loss, tuple(params))
    t = step.tracer
    new = [
        t("sub.Tensor", p, t("mul.Scalar", g, rate)) for p, g in zip(params, found, strict=True)
    ]
    return t.graph(loss, *new)


@dataclass(frozen=True)
class Adam:
    rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def at(self, step: int) -> tuple[float, float]:
        """-rate / (1 - beta1**step), and the square root of 1 - beta2**step."""
        return -self.rate / (1 - self.beta1**step), math.sqrt(1 - self.beta2**step)

    def update(self, t: Tracer, p: Any, m: Any, v: Any, g: Any, by: Any, root: Any) -> Any:
        m = t("lerp.Scalar", m, g, 1 - self.beta1)
        v = t("addcmul", t("mul.Scalar", v, self.beta2), g, g, value=1 - self.beta2)
        scale = t("add.Scalar", t("div.Scalar", t("sqrt", v), root), self.eps)
        return t("add.Tensor", p, t("mul.Scalar", t("div.Tensor", m, scale), by)), m, v


def classifier_step(
    widths: tuple[int, ...], activation: str = "gelu", dtype: str = "float32"
) -> Graph:
    pairs = list(itertools.pairwise(widths))
    shapes: list[tuple[Dim, ...]] = [s for a, b in pairs for s in ((b, a), (b,))]
    kinds: dict[str, Any] = {
        "x": tensor_type(dtype, "n", widths[0]),
        "y": tensor_type("int64", "n"),
    }
    for name in "pmv":
        kinds |= {f"{name}{i}": tensor_type(dtype, *s) for i, s in enumerate(shapes)}
    step = Step(**kinds, by="float", root="float")
    x, y, *state, by, root = step.values
    count = len(shapes)
    params = tuple(state[:count])
    logits = layers(step.tracer, x, params, activation)
    loss = call(step.tracer, "cross_entropy_loss", logits, y)
    found = step.gradients(loss, params)
    new = [
        Adam().update(step.tracer, p, state[count + i], state[2 * count + i], g, by, root)
        for i, (p, g) in enumerate(zip(params, found, strict=True))
    ]
    return step.tracer.graph(loss, *(one[k] for k in range(3) for one in new))


Loss = Callable[..., Any]


def sgd_step(
    loss_of: Loss,
    x: torch.Tensor,
    y: torch.Tensor,
    params: list[torch.Tensor],
    form: Callable[..., Any],
) -> Any:
    """Loss, gradients and `p - 0.05 * grad` as one region, parameters in place."""
    kinds: dict[str, Any] = {"x": type_of(x), "y": type_of(y)}
    for name in kinds:
        kinds[name] = tensor_type(kinds[name].dtype, "n", *kinds[name].shape[1:])
    kinds |= {f"p{i}": type_of(p) for i, p in enumerate(params)}
    step = Step(**kinds, rate="float")
    vx, vy, *values, rate = step.values
    loss = loss_of(step.tracer, vx, vy, *values)
    found = step.gradients(loss, tuple(values))
    t = step.tracer
    new = [
        t("sub.Tensor", p, t("mul.Scalar", g, rate)) for p, g in zip(values, found, strict=True)
    ]
    inplace = {i + 1: i + 2 for i in range(len(params))}
    return form(t.graph(loss, *new), inplace=inplace)


def compare_training(
    loss_of: Loss,
    x: torch.Tensor,
    y: torch.Tensor,
    shapes: list[tuple[int, ...]],
    steps: int = 4,
    form: Callable[..., Any] = Fused,
) -> None:
    """Train by the region and by PyTorch: the same losses and parameters at every step."""
    torch.manual_seed(5)
    params = [(torch.randn(s) / s[-1] ** 0.5).to(x.dtype).requires_grad_() for s in shapes]
    mine = [p.detach().clone() for p in params]
    fused = sgd_step(loss_of, x, y, mine, form)
    for _ in range(steps):
        loss = loss_of(torch, x, y, *params)
        for p in params:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in params:
                assert p.grad is not None
                p -= 0.05 * p.grad
        found = fused(len(x), x, y, *mine, 0.05)
        assert fused.status == 0
        torch.testing.assert_close(found[0], loss.detach(), equal_nan=True)
        for ours, theirs in zip(mine, params, strict=True):
            torch.testing.assert_close(ours, theirs.detach(), equal_nan=True)


def mlp_shapes(widths: tuple[int, ...]) -> list[tuple[int, ...]]:
    pairs = itertools.pairwise(widths)
    return [shape for a, b in pairs for shape in ((b, a), (b,))]


def mse_network(activation: str) -> Loss:
    return lambda ops, x, y, *p: call(ops, "mse_loss", layers(ops, x, p, activation), y)


def targets(classes: int) -> Callable[[int], torch.Tensor]:
    return lambda n: torch.randint(classes, (n,))


LOSSES: dict[str, tuple[Loss, Callable[[int], torch.Tensor]]] = {
    "l1": (lambda ops, z, y: call(ops, "l1_loss", z, y), lambda n: torch.randn(n, 4)),
    "smooth": (
        lambda ops, z, y: call(ops, "smooth_l1_loss", z, y),
        lambda n: torch.randn(n, 4),
    ),
    "sum": (
        lambda ops, z, y: call(ops, "mse_loss", call(ops, "mul.Scalar", z, 0.01), y, 2),
        lambda n: torch.randn(n, 4) / 99,
    ),
    "bce": (
        lambda ops, z, y: call(ops, "binary_cross_entropy", call(ops, "sigmoid", z), y),
        lambda n: torch.rand(n, 4),
    ),
    "logits": (
        lambda ops, z, y: call(ops, "binary_cross_entropy_with_logits", z, y),
        lambda n: torch.rand(n, 4),
    ),
    "cross entropy": (lambda ops, z, y: call(ops, "cross_entropy_loss", z, y), targets(4)),
    "ignored": (
        lambda ops, z, y: call(ops, "cross_entropy_loss", z, y, None, 1, 2),
        targets(4),
    ),
    "smoothing": (
        lambda ops, z, y: call(ops, "cross_entropy_loss", z, y, None, 1, -100, 0.1),
        targets(4),
    ),
    "odds": (
        lambda ops, z, y: call(ops, "cross_entropy_loss", z, y),
        lambda n: torch.rand(n, 4).softmax(1),
    ),
    "softmax": (
        lambda ops, z, y: call(ops, "mse_loss", call(ops, "softmax.int", z, 1), y),
        lambda n: torch.rand(n, 4),
    ),
    "row sums": (
        lambda ops, z, y: call(
            ops, "mean", call(ops, "mul.Tensor", call(ops, "sum.dim_IntList", z, [1]), y)
        ),
        lambda n: torch.rand(n),
    ),
}
