"""CUDA kernels, run on the processor thread by thread, against eager PyTorch."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "fused")]

from graphs import tensor_type, trace, type_of  # noqa: E402
from grid import Grid  # noqa: E402
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
    sgd_step,
)

from ppybuild.emit.tensors.cuda import Layout, emit_cuda  # noqa: E402
from ppybuild.emit.tensors.cuda.layout import pack  # noqa: E402
from ppybuild.emit.tensors.fused import NotFusible, plan_fused  # noqa: E402
from tests.emit.tensors.cuda.host import fake_driver  # noqa: E402

compare = partial(compare_training, form=Grid)


@pytest.mark.parametrize("widths", [(1, 1), (3, 7, 1), (33, 300, 3), (16, 8, 8)], ids=str)
def test_regression(widths: tuple[int, ...]) -> None:
    for batch in (0, 1, 5, 64, 3000):
        torch.manual_seed(1)
        x, y = torch.randn(batch, widths[0]), torch.randn(batch, widths[-1])
        compare(mse_network("relu"), x, y, mlp_shapes(widths))


@pytest.mark.parametrize("activation", ["tanh", "gelu", "silu", "softplus", "elu"])
def test_activations(activation: str) -> None:
    torch.manual_seed(2)
    x, y = torch.randn(77, 5, dtype=torch.float64), torch.randn(77, 3, dtype=torch.float64)
    compare(mse_network(activation), x, y, mlp_shapes((5, 11, 3)))


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str) -> None:
    of_output, make_target = LOSSES[name]

    def loss(ops: Any, x: Any, y: Any, *params: Any) -> Any:
        return of_output(ops, layers(ops, x, params, "tanh"), y)

    torch.manual_seed(4)
    compare(loss, torch.randn(333, 6), make_target(333), mlp_shapes((6, 9, 4)))


def test_statistics_over_rows_take_several_passes() -> None:
    def loss(ops: Any, x: Any, y: Any, w: Any, scale: Any) -> Any:
        h = call(ops, "matmul", x, w)
        centred = call(ops, "sub.Tensor", h, call(ops, "mean.dim", h, [0], True))
        return call(ops, "mse_loss", call(ops, "mul.Tensor", centred, scale), y)

    torch.manual_seed(7)
    compare(loss, torch.randn(200, 9), torch.randn(200, 5), [(9, 5), (5,)])


def test_layer_norm() -> None:
    def loss(ops: Any, x: Any, y: Any, w1: Any, scale: Any, shift: Any, w2: Any) -> Any:
        h = call(ops, "layer_norm", call(ops, "matmul", x, w1), [13], scale, shift)
        return call(ops, "mse_loss", call(ops, "matmul", call(ops, "relu", h), w2), y)

    torch.manual_seed(6)
    x, y = torch.randn(70, 9), torch.randn(70, 3)
    compare(loss, x, y, [(9, 13), (13,), (13,), (13, 3)])


def test_classifier_with_adam_and_large_weights() -> None:
    torch.manual_seed(0)
    widths = (96, 128, 64, 10)
    x, y = torch.randn(100, 96), torch.randint(10, (100,))
    params = [(torch.randn(s) * 0.1).requires_grad_() for s in mlp_shapes(widths)]
    adam = torch.optim.Adam(params, lr=1e-3)
    mine = [p.detach().clone() for p in params]
    mine += [torch.zeros_like(p) for _ in range(2) for p in params]
    grid = Grid(classifier_step(widths), inplace={1 + i: 2 + i for i in range(len(mine))})
    for step in range(1, 4):
        adam.zero_grad()
        loss = classifier(torch, x, y, *params)
        loss.backward()
        adam.step()
        found = grid(100, x, y, *mine, *Adam().at(step))
        assert grid.status == 0
        torch.testing.assert_close(found[0], loss.detach())
        for ours, theirs in zip(mine, params, strict=False):
            torch.testing.assert_close(ours, theirs.detach())


@pytest.mark.parametrize("bad", [-1, 10, 1 << 40])
def test_a_target_out_of_range_writes_no_weight(bad: int) -> None:
    widths = (12, 16, 10)
    grid = Grid(classifier_step(widths), inplace={1 + i: 2 + i for i in range(12)})
    torch.manual_seed(0)
    mine = [torch.randn(s) for s in mlp_shapes(widths)]
    mine += [torch.zeros(s) for s in mlp_shapes(widths) * 2]
    before = [p.clone() for p in mine]
    x, y = torch.randn(100, 12), torch.randint(10, (100,))
    y[57] = bad
    grid(100, x, y, *mine, *Adam().at(1))
    assert grid.status == 0  # nobody waits for the card
    assert fake_driver().fake_asserted()
    assert all(torch.equal(a, b) for a, b in zip(mine, before, strict=True))
    grid(100, x, y, *mine, *Adam().at(1))
    assert "device-side assert triggered" in grid.why
    fake_driver().fake_fail(b"", 0, 0)


@pytest.mark.parametrize("width", [1, 33])
def test_forward_gives_rows(width: int) -> None:
    params = [torch.randn(s) for s in mlp_shapes((7, 21, width))]
    kinds = {f"p{i}": type_of(p) for i, p in enumerate(params)}
    graph = trace(lambda t, x, *p: layers(t, x, p), x=tensor_type("float32", "n", 7), **kinds)
    grid = Grid(graph)
    for batch in (0, 1, 64, 1000):
        x = torch.randn(batch, 7)
        (found,) = grid(batch, x, *params)
        torch.testing.assert_close(found, layers(torch, x, tuple(params)))


def test_any_order_of_threads_gives_the_same_bits() -> None:
    """Blocks and threads run in another order every time."""
    grid = Grid(classifier_step((12, 33, 10)))
    torch.manual_seed(0)
    params = [torch.randn(s) for s in mlp_shapes((12, 33, 10))]
    params += [torch.zeros(s) for s in mlp_shapes((12, 33, 10)) * 2]
    x, y = torch.randn(500, 12), torch.randint(10, (500,))
    first, *others = [grid(500, x, y, *params, *Adam().at(1)) for _ in range(3)]
    for other in others:
        assert all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def whole_numbers(*shape: int) -> torch.Tensor:
    """Numbers of which TF32 holds products and their sums exactly."""
    return torch.randint(-1, 2, shape).float()


@pytest.mark.parametrize("widths", [(8, 8, 8), (9, 17, 8), (24, 40, 33), (128, 16, 9)], ids=str)
@pytest.mark.parametrize("batch", [1, 16, 64, 256])
def test_tensor_cores_multiply_what_they_should(widths: tuple[int, ...], batch: int) -> None:
    torch.manual_seed(batch)
    x, y = whole_numbers(batch, widths[0]), whole_numbers(batch, widths[-1])
    params = [whole_numbers(*shape) for shape in mlp_shapes(widths)]

    def loss(ops: Any, x: Any, y: Any, *params: Any) -> Any:
        return call(ops, "mse_loss", layers(ops, x, params, "relu"), y, 2)

    grid = sgd_step(loss, x, y, params, Grid)
    assert "ppy_tensor_product<" in grid.region.text
    grid.inplace = {}
    plain = grid(batch, x, y, *params, 0.5)
    grid.tf32 = True
    rounded = grid(batch, x, y, *params, 0.5)
    assert grid.status == 0
    assert all(torch.equal(a, b) for a, b in zip(plain, rounded, strict=True))


def test_tensor_cores_round_to_tf32() -> None:
    torch.manual_seed(3)
    x, y = torch.randn(300, 20), torch.randint(10, (300,))
    params = [torch.randn(s) / 4 for s in mlp_shapes((20, 30, 10))]
    grid = sgd_step(classifier, x, y, params, Grid)
    grid.inplace = {}
    plain = grid(300, x, y, *params, 1.0)
    grid.tf32 = True
    rounded = grid(300, x, y, *params, 1.0)
    for exact, other in zip(plain, rounded, strict=True):
        torch.testing.assert_close(other, exact, rtol=0, atol=2e-3)
    assert not torch.equal(plain[1], rounded[1])


def test_no_tensor_cores_for_double_precision_or_narrow_rows() -> None:
    for widths, dtype in (((16, 16, 16), "float64"), ((7, 7, 7), "float32")):
        text = emit_cuda(plan_fused(classifier_step(widths, dtype=dtype), "n"), "f").text
        assert "ppy_tensor_product" not in text


def test_more_tensors_than_a_kernel_takes_are_refused() -> None:
    with pytest.raises(NotFusible, match="too many tensors"):
        emit_cuda(plan_fused(classifier_step((2,) * 60), "n"), "region")


def test_a_region_of_many_kernels() -> None:
    widths = (65,) * 12
    grid = Grid(classifier_step(widths))
    assert len(grid.launches) > 64
    params = [torch.randn(s) / 8 for s in mlp_shapes(widths)]
    x, y = torch.randn(3, 65), torch.randint(65, (3,))
    found = grid(3, x, y, *params, *(torch.zeros_like(p) for p in params * 2), *Adam().at(1))
    assert grid.status == 0, grid.why
    torch.testing.assert_close(found[0], classifier(torch, x, y, *params))


def test_rows_that_no_tile_holds_are_refused() -> None:
    graph = trace(lambda t, x: t("softmax.int", x, 1), x=tensor_type("float32", "n", 1800))
    with pytest.raises(NotFusible, match="shared memory"):
        emit_cuda(plan_fused(graph, "n"), "region")


def test_values_alive_at_once_lie_apart() -> None:
    lives = {1: (0, 2), 2: (1, 3), 3: (3, 4), 4: (4, 5)}
    widths = {1: 4, 2: 2, 3: 4, 4: 6}
    places, total = pack(lives, widths.__getitem__)
    assert total == 10
    for a, (made, read) in lives.items():
        for b, (made_b, read_b) in lives.items():
            if a < b and made <= read_b and made_b <= read:
                assert places[a] + widths[a] <= places[b] or places[b] + widths[b] <= places[a]


def test_the_same_text_each_time() -> None:
    made = [emit_cuda(plan_fused(classifier_step((5, 9, 4)), "n"), "f") for _ in range(3)]
    assert made[0] == made[1] == made[2]


def test_few_chunks_where_their_sums_are_large() -> None:
    small = Layout(plan_fused(classifier_step((5, 9, 4)), "n"))
    large = Layout(plan_fused(classifier_step((128, 128, 128, 10)), "n"))
    assert small.most_chunks == 512
    assert large.most_chunks * large.sums_count * large.size <= 32 << 20
