"""Training steps against PyTorch, over several steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="no compiler")

MODEL = """
import torch

def forward_loss(x: torch.Tensor, y: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor,
                 w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
    hidden = torch.relu(torch.add(torch.matmul(x, w1), b1))
    predicted = torch.add(torch.matmul(hidden, w2), b2)
    residual = torch.sub(predicted, y)
    return torch.mean(torch.mul(residual, residual))
"""
UPDATE = """
import torch
from collections.abc import Sequence

def descend(params: Sequence[torch.Tensor], rate: float) -> None:
    with torch.no_grad():
        for parameter in params:
            gradient = parameter.grad
            if gradient is None:
                continue
            parameter -= rate * gradient
            parameter.grad = None
"""
STEP = """
import torch
from model import forward_loss
from update import descend

def train_step(x: torch.Tensor, y: torch.Tensor, params: list[torch.Tensor],
               rate: float) -> float:
    loss = forward_loss(x, y, params[0], params[1], params[2], params[3])
    loss.backward()
    descend(params, rate=rate)
    return loss.item()

def main():
    x, y = torch.randn(100, 8), torch.randn(100, 1)
    params = [torch.randn(8, 12, requires_grad=True), torch.zeros(12, requires_grad=True),
              torch.randn(12, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]
    same = list(params)
    losses = [train_step(x, y, params, 0.01) for _ in range(5)]
    losses += [train_step(x[:n], y[:n], params, 0.01) for n in (1, 7, 64)]
    with torch.no_grad():
        ends = [forward_loss(x, y, *params) for _ in range(2)]
    assert all(a is b for a, b in zip(params, same))
    state = [(p.detach(), p.grad is None, p.requires_grad, p._version) for p in params]
    return losses, ends, state
"""


def check(trained: Trained, *steps: str) -> Trained:
    assert_close(trained.native, trained.python)
    assert trained.warnings == ()
    assert set(steps) <= trained.fused
    return trained


def test_the_step_over_three_modules(tmp_path: Path) -> None:
    sources = {"model": MODEL, "update": UPDATE, "steps": STEP}
    check(train(tmp_path, sources), "steps.train_step", "model.forward_loss")


PROGRAMS = """
import torch
import torch.nn.functional as F
from collections.abc import Sequence


def descend(params: Sequence[torch.Tensor], rate: float) -> None:
    with torch.no_grad():
        for p in params:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None


def logits(x: torch.Tensor, layers: Sequence[torch.Tensor]) -> torch.Tensor:
    h = F.gelu(F.linear(x, layers[0], layers[1]))
    h = F.gelu(F.linear(h, layers[2], layers[3]))
    return F.linear(h, layers[4], layers[5])


def classify(x: torch.Tensor, y: torch.Tensor, layers: Sequence[torch.Tensor],
             rate: float) -> float:
    loss = F.cross_entropy(logits(x, layers), y)
    loss.backward()
    descend(layers, rate)
    return loss.item()


def accuracy(x: torch.Tensor, y: torch.Tensor, layers: Sequence[torch.Tensor]) -> float:
    with torch.no_grad():
        return (logits(x, layers).argmax(dim=1) == y).float().mean().item()


def logistic(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor,
             rate: float) -> float:
    loss = F.binary_cross_entropy_with_logits((x @ w).squeeze(1) + b, y)
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p.sub_(p.grad * rate)
            p.grad = None
    return loss.item()


def autoencode(x: torch.Tensor, params: Sequence[torch.Tensor], rate: float) -> float:
    w1, b1, w2, b2 = params
    code = torch.tanh(x @ w1 + b1)
    loss = ((torch.tanh(code @ w2 + b2) - x) ** 2).mean()
    loss.backward()
    descend(params, rate)
    return loss.item()


def momentum(x: torch.Tensor, y: torch.Tensor, params: list[torch.Tensor],
             speeds: list[torch.Tensor], rate: float, decay: float) -> None:
    w, b = params
    loss = F.mse_loss(x @ w + b, y)
    loss.backward()
    with torch.no_grad():
        total = torch.sqrt(sum_of_squares(w.grad, b.grad))
        scale = torch.clamp(1.0 / (total + 1e-6), max=1.0)
        for p, v in zip(params, speeds):
            g = p.grad * scale + decay * p
            v.mul_(0.9).add_(g)
            p.add_(v, alpha=-0.05)
            p.grad = None


def sum_of_squares(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * a).sum() + (b * b).sum()


def accumulate(xs: Sequence[torch.Tensor], ys: Sequence[torch.Tensor], w: torch.Tensor,
               b: torch.Tensor, rate: float) -> None:
    for x, y in zip(xs, ys):
        loss = F.mse_loss(torch.tanh(x @ w + b), y) / 4
        loss.backward()
    descend([w, b], rate)


def backward_only(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    loss = F.mse_loss(x @ w, y)
    loss.backward()
    return loss.detach()


def normalized(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, scale: torch.Tensor,
               shift: torch.Tensor, rate: float) -> float:
    h = F.layer_norm(x @ w, (6,), scale, shift)
    loss = F.l1_loss(torch.sigmoid(h), y)
    loss.backward()
    descend((w, scale, shift), rate)
    return loss.item()


def embedded(x: torch.Tensor, y: torch.Tensor, table: torch.Tensor, w: torch.Tensor,
             rate: float) -> float:
    loss = F.cross_entropy(F.embedding(x, table) @ w, y)
    loss.backward()
    descend((table, w), rate)
    return loss.item()


def curved(x: torch.Tensor, w: torch.Tensor) -> float:
    y = torch.tanh(x @ w)
    (slope,) = torch.autograd.grad(y.sum(), w, create_graph=True)
    loss = (slope * slope).sum()
    loss.backward()
    w.grad = None
    return loss.item()


def parameter(*shape):
    return (0.3 * torch.randn(*shape)).requires_grad_()


def run_classify():
    x, y = torch.randn(96, 20), torch.randint(10, (96,))
    layers = [torch.randn(16, 20, requires_grad=True), torch.zeros(16, requires_grad=True),
              torch.randn(16, 16, requires_grad=True), torch.zeros(16, requires_grad=True),
              torch.randn(10, 16, requires_grad=True), torch.zeros(10, requires_grad=True)]
    with torch.no_grad():
        for p in layers:
            p *= 0.2
    losses = []
    for epoch in range(2):
        for start in range(0, 96, 32):
            losses.append(classify(x[start:start + 32], y[start:start + 32], layers, 0.1))
        order = torch.randperm(96)
        for start in range(0, 96, 40):
            chosen = order[start:start + 40]
            losses.append(classify(x.index_select(0, chosen), y[chosen], layers, 0.1))
    return losses, accuracy(x, y, layers), [p.detach() for p in layers]


def run_logistic():
    x, y = torch.randn(50, 7), torch.randint(2, (50,)).float()
    w, b = torch.randn(7, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    return [logistic(x, y, w, b, 0.1) for _ in range(4)], w.detach(), b.detach(), w._version


def run_autoencode():
    x = torch.randn(33, 10)
    params = [torch.randn(10, 4, requires_grad=True), torch.zeros(4, requires_grad=True),
              torch.randn(4, 10, requires_grad=True), torch.zeros(10, requires_grad=True)]
    return [autoencode(x, params, 0.1) for _ in range(4)], [p.detach() for p in params]


def run_momentum():
    x, y = torch.randn(40, 5), 3 * torch.randn(40, 2)
    params = [torch.randn(5, 2, requires_grad=True), torch.zeros(2, requires_grad=True)]
    speeds = [torch.zeros(5, 2), torch.zeros(2)]
    for _ in range(4):
        momentum(x, y, params, speeds, 0.1, 0.01)
    return [p.detach() for p in params], speeds, [v._version for v in speeds]


def run_accumulate():
    xs = [torch.randn(9, 3), torch.randn(9, 3), torch.randn(9, 3), torch.randn(9, 3)]
    ys = [torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 2)]
    w, b = torch.randn(3, 2, requires_grad=True), torch.zeros(2, requires_grad=True)
    for _ in range(3):
        accumulate(xs, ys, w, b, 0.1)
    return w.detach(), b.detach()


def run_backward():
    x, y = torch.randn(9, 3), torch.randn(9, 2)
    w = torch.randn(3, 2, requires_grad=True)
    found = []
    for _ in range(3):
        found.append((backward_only(x, y, w), w.grad.clone()))  # the second one accumulates
    for _ in range(3):
        w.grad = None
        found.append((backward_only(x, y, w), w.grad))
    return found


def run_normalized():
    x, y = torch.randn(21, 5), torch.rand(21, 6)
    w, scale = torch.randn(5, 6, requires_grad=True), torch.ones(6, requires_grad=True)
    shift = torch.zeros(6, requires_grad=True)
    losses = [normalized(x, y, w, scale, shift, 0.1) for _ in range(4)]
    return losses, w.detach(), scale.detach(), shift.detach()


def run_embedded():
    x, y = torch.randint(12, (30,)), torch.randint(4, (30,))
    table, w = torch.randn(12, 8, requires_grad=True), torch.randn(8, 4, requires_grad=True)
    return [embedded(x, y, table, w, 0.1) for _ in range(4)], table.detach(), w.detach()


def run_curved():
    x, w = torch.randn(6, 3), torch.randn(3, 2, requires_grad=True)
    return [curved(x, w) for _ in range(3)]


def main():
    runs = [run_classify, run_logistic, run_autoencode, run_momentum, run_accumulate,
            run_backward, run_normalized, run_embedded, run_curved]
    found = []
    for run in runs:
        torch.manual_seed(1)
        found.append(run())
    return found
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("programs"), {"programs": PROGRAMS})


@pytest.mark.parametrize(
    ("place", "name", "fused"),
    [
        (0, "classify", True),
        (1, "logistic", True),
        (2, "autoencode", True),
        (3, "momentum", True),
        (4, "accumulate", True),
        (5, "backward_only", True),
        (6, "normalized", True),
        (7, "embedded", False),
        (8, "curved", False),
    ],
)
def test_program(programs: Trained, place: int, name: str, fused: bool) -> None:
    assert_close(programs.native[place], programs.python[place])
    assert programs.warnings == ()
    assert (f"programs.{name}" in programs.fused) == fused
    if not fused:
        remarks = [found.message for found in programs.emission.remarks]
        native = f"`programs.{name}` is a staged training step through `programs.descend`"
        expected = native if name == "embedded" else f"`{name}` stays in Python"
        assert any(expected in remark for remark in remarks)
