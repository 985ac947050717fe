"""Fused training steps against eager PyTorch with autograd, over several steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from graphs import tensor_type, trace, type_of  # noqa: E402
from native import RUNNABLE, Fused, compile_text  # noqa: E402
from networks import (  # noqa: E402
    LOSSES,
    Adam,
    call,
    classifier,
    classifier_step,
    compare_training,
    layers,
    mlp_shapes,
    mse_network,
)

from ppybuild.emit.tensors.fused import NotFusible, emit_fused, plan_fused  # noqa: E402
from ppybuild.emit.tensors.ir import Symbolic  # noqa: E402

BATCHES = [0, 1, 5, 64, 1000]

WIDTHS = ((1, 1), (3, 7, 1), (33, 100, 3), (7, 1, 7), (100, 33, 33, 2), (16, 8, 8), (1, 5, 1))


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_regression(widths: tuple[int, ...], batch: int) -> None:
    torch.manual_seed(1)
    x, y = torch.randn(batch, widths[0]), torch.randn(batch, widths[-1])
    compare_training(mse_network("relu"), x, y, mlp_shapes(widths))


@pytest.mark.parametrize(
    "activation",
    [
        "tanh",
        "sigmoid",
        "gelu",
        "silu",
        "softplus",
        "elu",
        "leaky_relu",
        "hardtanh",
        "relu6",
        "selu",
        "log_softmax.int",
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_activations(activation: str, dtype: torch.dtype) -> None:
    torch.manual_seed(2)
    x, y = torch.randn(77, 5, dtype=dtype), torch.randn(77, 3, dtype=dtype)

    def loss(ops: Any, x: Any, y: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        more = (1,) if activation == "log_softmax.int" else ()
        h = call(ops, activation, call(ops, "linear", x, w1, b1), *more)
        return call(ops, "mse_loss", call(ops, "linear", h, w2, b2), y)

    compare_training(loss, x, y, mlp_shapes((5, 11, 3)))


@pytest.mark.parametrize("batch", [1, 64, 333])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, batch: int) -> None:
    torch.manual_seed(4)
    of_output, make_target = LOSSES[name]

    def loss(ops: Any, x: Any, y: Any, *params: Any) -> Any:
        return of_output(ops, layers(ops, x, params, "tanh"), y)

    x, y = torch.randn(batch, 6), make_target(batch)
    compare_training(loss, x, y, mlp_shapes((6, 9, 4)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_layer_norm(dtype: torch.dtype) -> None:
    def loss(ops: Any, x: Any, y: Any, w1: Any, scale: Any, shift: Any, w2: Any) -> Any:
        h = call(ops, "layer_norm", call(ops, "matmul", x, w1), [13], scale, shift)
        return call(ops, "mse_loss", call(ops, "matmul", call(ops, "relu", h), w2), y)

    torch.manual_seed(6)
    x, y = torch.randn(70, 9, dtype=dtype), torch.randn(70, 3, dtype=dtype)
    compare_training(loss, x, y, [(9, 13), (13,), (13,), (13, 3)])


def test_statistics_over_rows_take_several_passes() -> None:
    def loss(ops: Any, x: Any, y: Any, w: Any, scale: Any) -> Any:
        h = call(ops, "matmul", x, w)
        centred = call(ops, "sub.Tensor", h, call(ops, "mean.dim", h, [0], True))
        square = call(ops, "mul.Tensor", centred, centred)
        spread = call(ops, "sqrt", call(ops, "mean.dim", square, [0], True))
        normal = call(ops, "mul.Tensor", call(ops, "div.Tensor", centred, spread), scale)
        return call(ops, "mse_loss", normal, y)

    torch.manual_seed(7)
    x, y = torch.randn(200, 9), torch.randn(200, 5)
    compare_training(loss, x, y, [(9, 5), (5,)])


@pytest.mark.parametrize("batch", [1, 48, 256])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_classifier_with_adam(batch: int, dtype: str) -> None:
    torch.manual_seed(0)
    widths = (12, 33, 16, 10)
    real = getattr(torch, dtype)
    x, y = torch.randn(batch, 12, dtype=real), torch.randint(10, (batch,))
    params = [(torch.randn(s, dtype=real) * 0.2).requires_grad_() for s in mlp_shapes(widths)]
    adam = torch.optim.Adam(params, lr=1e-3)
    mine = [p.detach().clone() for p in params]
    mine += [torch.zeros_like(p) for _ in range(2) for p in params]
    inplace = {1 + i: 2 + i for i in range(len(mine))}
    fused = Fused(classifier_step(widths, dtype=dtype), inplace=inplace)
    for step in range(1, 6):
        adam.zero_grad()
        loss = classifier(torch, x, y, *params)
        loss.backward()
        adam.step()
        found = fused(batch, x, y, *mine, *Adam().at(step))
        torch.testing.assert_close(found[0], loss.detach())
        for ours, theirs in zip(mine, params, strict=False):
            torch.testing.assert_close(ours, theirs.detach())


@pytest.mark.parametrize("bad", [-1, 10, 1 << 40, -(1 << 40)])
def test_a_target_out_of_range_abandons_before_any_weight_is_written(bad: int) -> None:
    widths = (12, 16, 10)
    fused = Fused(classifier_step(widths), inplace={1 + i: 2 + i for i in range(12)})
    torch.manual_seed(0)
    mine = [torch.randn(s) for s in mlp_shapes(widths)] + [
        torch.zeros(s) for s in mlp_shapes(widths) * 2
    ]
    before = [p.clone() for p in mine]
    x, y = torch.randn(100, 12), torch.randint(10, (100,))
    y[57] = bad
    fused(100, x, y, *mine, *Adam().at(1))
    assert fused.status == 1
    assert all(torch.equal(a, b) for a, b in zip(mine, before, strict=True))


def test_ignored_targets_may_be_anything() -> None:
    graph = trace(
        lambda t, z, y: t("cross_entropy_loss", z, y),
        z=tensor_type("float32", "n", 3),
        y=tensor_type("int64", "n"),
    )
    z, y = torch.randn(5, 3), torch.tensor([0, -100, 2, -100, 1])
    fused = Fused(graph)
    (found,) = fused(5, z, y)
    assert fused.status == 0
    torch.testing.assert_close(found, torch.nn.functional.cross_entropy(z, y))


def test_the_number_of_threads_does_not_matter() -> None:
    widths = (12, 33, 10)
    fused = Fused(classifier_step(widths))
    torch.manual_seed(0)
    params = [torch.randn(s) for s in mlp_shapes(widths)]
    params += [torch.zeros(s) for s in mlp_shapes(widths) * 2]
    x, y = torch.randn(5000, 12), torch.randint(10, (5000,))
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(fused(5000, x, y, *params, *Adam().at(1)))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("vector_bytes", RUNNABLE)
@pytest.mark.parametrize("width", [1, 3, 8, 33])
def test_forward_gives_rows(width: int, vector_bytes: int) -> None:
    params = [torch.randn(s) for s in mlp_shapes((7, 21, width))]
    kinds = {f"p{i}": type_of(p) for i, p in enumerate(params)}
    graph = trace(lambda t, x, *p: layers(t, x, p), x=tensor_type("float32", "n", 7), **kinds)
    fused = Fused(graph, vector_bytes=vector_bytes)
    for batch in BATCHES:
        x = torch.randn(batch, 7)
        (found,) = fused(batch, x, *params)
        torch.testing.assert_close(found, layers(torch, x, tuple(params)))


@pytest.mark.parametrize("name", ["to.dtype", "_to_copy"])
def test_a_cast_to_bool_and_back_gives_ones(name: str) -> None:
    def cast(t: Any, value: Any, dtype: str) -> Any:
        to = Symbolic("dtype", dtype)
        return t(name, value, to) if name == "to.dtype" else t(name, value, dtype=to)

    graph = trace(
        lambda t, x: cast(t, cast(t, x, "bool"), "float32"), x=tensor_type("float32", "n", 3)
    )
    x = torch.tensor([[2.5, 0.0, -0.0], [-1.0, float("nan"), float("inf")]])
    (found,) = Fused(graph)(2, x)
    torch.testing.assert_close(found, x.to(torch.bool).to(torch.float32))


def test_weights_swap_in_place() -> None:
    kind = tensor_type("float32", 3)
    graph = trace(
        lambda t, a, b: (t("mul.Scalar", b, 2), t("mul.Scalar", a, 3)), a=kind, b=kind
    )
    a, b = torch.arange(3.0), torch.ones(3)
    Fused(graph, inplace={0: 0, 1: 1})(0, a, b)
    torch.testing.assert_close(a, torch.full((3,), 2.0))
    torch.testing.assert_close(b, torch.arange(3.0) * 3)


def test_clipping_by_norm() -> None:
    kind = tensor_type("float32", 5, 3)

    def body(t, g):  # type: ignore[no-untyped-def]
        norm = t("linalg_vector_norm", g)
        factor = t("clamp", t("reciprocal", t("add.Scalar", norm, 1e-6)), max=1.0)
        return t("mul.Tensor", g, factor)

    g = torch.randn(5, 3) * 10
    (found,) = Fused(trace(body, g=kind))(0, g)
    torch.testing.assert_close(found, g / (g.norm() + 1e-6))


REFUSED: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "large weight": (
        lambda t, x, w: t("matmul", x, w),
        {"x": tensor_type("float32", "n", 512), "w": tensor_type("float32", 512, 512)},
        "KiB",
    ),
    "two dtypes": (
        lambda t, x, w: t("mul.Tensor", x, w),
        {"x": tensor_type("float32", "n", 2), "w": tensor_type("float64", 2)},
        "dtype",
    ),
    "unknown shape": (
        lambda t, x: t("relu", x),
        {"x": tensor_type("float32", "n", "m")},
        "shape",
    ),
    "unknown operator": (
        lambda t, x: t("sin", x),
        {"x": tensor_type("float32", "n", 2)},
        "aten::sin",
    ),
    "integers": (
        lambda t, x, y: t("mul.Tensor", x, t("add.Tensor", y, y)),
        {"x": tensor_type("float32", "n"), "y": tensor_type("int64", "n")},
        "int64",
    ),
    "truncation": (
        lambda t, x: t(
            "mul.Tensor", x, t("to.dtype", x, Symbolic("dtype", "int64"), False, False, None)
        ),
        {"x": tensor_type("float32", "n")},
        "int64",
    ),
    "wide rows": (
        lambda t, x, y: t("softmax.int", t("mul.Tensor", x, y), 1),
        {k: tensor_type("float32", "n", 5000) for k in "xy"},
        "too wide",
    ),
    "cumulative": (
        lambda t, x: t("cumsum", x, 0),
        {"x": tensor_type("float32", "n", 2)},
        "cumsum",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_reason(name: str) -> None:
    body, kinds, reason = REFUSED[name]
    with pytest.raises(NotFusible, match=reason):
        plan_fused(trace(body, **kinds), "n")


def test_the_same_text_each_time() -> None:
    texts = {emit_fused(plan_fused(classifier_step((5, 9, 4)), "n"), "f", 64) for _ in range(3)}
    assert len(texts) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiles_for_the_widest_vectors(dtype: str) -> None:
    compile_text(
        emit_fused(plan_fused(classifier_step((5, 9, 4), dtype=dtype), "n"), "f", 64), 64, "-O1"
    )
