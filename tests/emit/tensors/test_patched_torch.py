"""Functions of torch that the program replaces, and proof that steps ran as native code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.test_exact_steps import assert_same
from tests.emit.tensors.training import train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = """
import torch
import torch.nn.functional as F
from torch import sigmoid as gate


def activate(x: torch.Tensor) -> torch.Tensor:
    return F.gelu(torch.relu(x)) + F.softplus(x)


def forward(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return gate(activate(x @ w))


def step(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, rate: float) -> float:
    loss = F.mse_loss(forward(x, w), y)
    loss.backward()
    with torch.no_grad():
        w -= rate * w.grad
        w.grad = None
    return loss.item()


def run():
    torch.manual_seed(4)
    x, y, w = torch.randn(9, 3), torch.randn(9, 2), torch.randn(3, 2, requires_grad=True)
    found = [step(x, y, w, 0.1) for _ in range(3)]
    return found, w.detach().clone(), forward(x, w.detach())


def engine():
    \"\"\"Whether autograd's engine runs.\"\"\"
    with torch.autograd.profiler.profile() as profile:
        run()
    return any("evaluate_function" in event.name for event in profile.function_events)


def replaced(module, name, other):
    kept = getattr(module, name)
    setattr(module, name, other)
    try:
        return run(), engine()
    finally:
        setattr(module, name, kept)


def main():
    found = [(run(), engine())]
    found.append(replaced(torch, "relu", torch.tanh))
    found.append(replaced(torch, "relu", lambda x: x * 2))
    found.append(replaced(F, "gelu", F.silu))
    found.append(replaced(F, "mse_loss", F.l1_loss))
    found.append((run(), engine()))
    globals()["gate"] = torch.sin
    found.append((run(), engine()))
    return found
"""


def test_replaced_functions_are_python_s(tmp_path: Path) -> None:
    trained = train(tmp_path, {"patched": SOURCE}, "exact")
    assert {"patched.step", "patched.forward"} <= trained.regions
    assert_same([one for one, _ in trained.native], [one for one, _ in trained.python])
    assert [engine for _, engine in trained.python] == [True] * 7
    native = [engine for _, engine in trained.native]
    assert native == [False, True, True, True, True, False, True]
    assert not [text for text in trained.warnings if text.startswith("ppy")]


MODEL = """
import torch
import torch.nn as nn
from torch import sigmoid as gate

SCALE = 0.5


def widen(x):
    return x * SCALE


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        return self.second(gate(widen(torch.tanh(self.first(x))) + SCALE))
"""

TRAINED = """
import torch
import torch.nn.functional as F

import model


def train(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run():
    torch.manual_seed(4)
    x, y, net = torch.randn(9, 3), torch.randn(9, 2), model.Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    found = [train(net, optimizer, x, y) for _ in range(3)]
    return found, [p.detach().clone() for p in net.parameters()]


def engine():
    with torch.autograd.profiler.profile() as profile:
        run()
    return any("evaluate_function" in event.name for event in profile.function_events)


def replaced(owner, name, other):
    kept = getattr(owner, name)
    setattr(owner, name, other)
    try:
        return run(), engine()
    finally:
        setattr(owner, name, kept)


def main():
    found = [(run(), engine())]
    found.append(replaced(torch, "ta" + "nh", torch.sin))
    found.append(replaced(F, "lin" + "ear", lambda x, w, b=None: x @ w.T))
    found.append(replaced(torch.Tensor, "back" + "ward", lambda self: None))
    found.append(replaced(model, "SCA" + "LE", 2.0))
    found.append(replaced(model, "gate", torch.cos))
    found.append(replaced(model, "wid" + "en", lambda x: x))
    found.append((run(), engine()))
    return found
"""


def test_what_a_module_s_forward_names_is_looked_up_again(tmp_path: Path) -> None:
    trained = train(tmp_path, {"model": MODEL, "trained": TRAINED}, "exact")
    assert "trained.train" in trained.regions
    assert_same([one for one, _ in trained.native], [one for one, _ in trained.python])
    native = [engine for _, engine in trained.native]
    assert native == [False, True, True, False, True, True, True, False]


LAYERS = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        self.head = nn.Linear(36, 2)

    def forward(self, x):
        return self.head(self.body(x))


def train(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run():
    torch.manual_seed(4)
    x, y, net = torch.randn(5, 1, 8, 8), torch.randint(0, 2, (5,)), Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    return [train(net, optimizer, x, y) for _ in range(3)]


def replaced(name, other):
    kept = getattr(F, name)
    setattr(F, name, other)
    try:
        return run()
    finally:
        setattr(F, name, kept)


def main():
    return [
        run(),
        replaced("relu", lambda x, inplace=False: x * 2),
        replaced("conv2d", lambda x, w, b, *rest: torch.conv2d(x, w, b, *rest) * 2),
        replaced("max_pool2d", lambda x, *rest, **more: torch.max_pool2d(x, 2) * 3),
        replaced("batch_norm", lambda x, *rest: x * 0.5),
        run(),
    ]
"""


def test_what_torch_s_layers_call_is_looked_up_again(tmp_path: Path) -> None:
    trained = train(tmp_path, {"layers": LAYERS}, "exact")
    assert "layers.train" in trained.regions
    assert_same(trained.native, trained.python)
