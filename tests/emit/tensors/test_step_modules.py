"""Training steps through `torch.nn` modules and `torch.optim.Adam`, against PyTorch."""

from __future__ import annotations

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

MODEL = """
import torch
from torch import nn

HIDDEN = 16


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(20, width)
        self.rest = nn.Sequential(nn.GELU(), nn.Linear(width, HIDDEN), nn.Tanh(),
                                  nn.Linear(HIDDEN, 10, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rest(self.first(x))
"""
STEPS = """
import copy
import torch
from torch import nn
from model import Net


def step(model: Net, optimizer: torch.optim.Adam, x: torch.Tensor, y: torch.Tensor) -> float:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def descend(model: Net, x: torch.Tensor, y: torch.Tensor, rate: float) -> None:
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= rate * p.grad
            p.grad = None


def example():
    model = Net(24)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x, y = torch.randn(50, 20), torch.randint(10, (50,))
    descend(model, x, y, 0.1)
    return step(model, optimizer, x, y)


def fresh(**options):
    torch.manual_seed(2)
    model = Net(24)
    optimizer = torch.optim.Adam(model.parameters(), **{"lr": 0.003, **options})
    return model, optimizer, torch.randn(50, 20), torch.randint(10, (50,))


def state(model, optimizer):
    held = optimizer.state_dict()["state"]
    return ([(p.detach(), p.grad, p._version) for p in model.parameters()],
            [(s["step"], s["exp_avg"], s["exp_avg_sq"], s["exp_avg_sq"]._version)
             for s in held.values()])


def plain():
    model, optimizer, x, y = fresh()
    losses = [step(model, optimizer, x, y) for _ in range(6)]
    losses += [step(model, optimizer, x[:n], y[:n]) for n in (1, 17)]
    return losses, state(model, optimizer)


def by_hand():
    model, optimizer, x, y = fresh()
    for _ in range(4):
        descend(model, x, y, 0.05)
    return [p.detach() for p in model.parameters()]


def settings():
    model, optimizer, x, y = fresh()
    losses = [step(model, optimizer, x, y) for _ in range(3)]
    optimizer.param_groups[0]["lr"] = 0.0004
    losses += [step(model, optimizer, x, y) for _ in range(2)]
    optimizer.param_groups[0]["betas"] = (0.8, 0.99)
    losses += [step(model, optimizer, x, y)]
    optimizer.param_groups[0]["weight_decay"] = 0.1
    losses += [step(model, optimizer, x, y)]
    optimizer.param_groups[0]["amsgrad"] = False
    return losses, state(model, optimizer)


def others():
    found = []
    for options in ({"weight_decay": 0.1}, {"amsgrad": True}, {"foreach": True},
                    {"maximize": True}, {"betas": (0.5, 0.6), "eps": 1e-4}):
        model, optimizer, x, y = fresh(**options)
        found.append([step(model, optimizer, x, y) for _ in range(4)])
    return found


def hooked():
    found = []
    model, optimizer, x, y = fresh()
    step(model, optimizer, x, y)
    step(model, optimizer, x, y)
    handle = model.rest[0].register_forward_hook(lambda m, a, out: found.append(1) or out * 2)
    found.append(step(model, optimizer, x, y))
    handle.remove()
    handle = optimizer.register_step_post_hook(lambda *a: found.append(2))
    found.append(step(model, optimizer, x, y))
    handle.remove()
    handle = nn.modules.module.register_module_forward_hook(lambda *a: found.append(3))
    found.append(step(model, optimizer, x, y))
    handle.remove()
    return found, step(model, optimizer, x, y), state(model, optimizer)


def replaced():
    found = []
    model, optimizer, x, y = fresh()
    step(model, optimizer, x, y)
    model.rest[0] = nn.GELU(approximate="tanh")
    found.append(step(model, optimizer, x, y))
    model.rest[0] = nn.ReLU()
    found.append(step(model, optimizer, x, y))
    model.rest[0] = nn.GELU()
    found.append(step(model, optimizer, x, y))
    model.forward = lambda x: model.first(x)
    found.append(step(model, optimizer, x, y % 2))
    del model.forward
    model.first.bias.requires_grad_(False)
    found.append(step(model, optimizer, x, y))
    model.first.bias.requires_grad_(True)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    for _ in range(3):
        found.append(step(model, optimizer, x, y))
        scheduler.step()
    return found, state(model, optimizer)


def copied():
    model, optimizer, x, y = fresh()
    step(model, optimizer, x, y)
    step(model, optimizer, x, y)
    saved = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    first = step(model, optimizer, x, y)
    model.load_state_dict(saved[0])
    optimizer.load_state_dict(saved[1])
    again = step(model, optimizer, x, y)
    other = torch.optim.Adam([*model.parameters()][:3])
    return first == again, first, step(model, other, x, y), state(model, optimizer)


def main():
    found = {}
    for run in [plain, by_hand, settings, others, hooked, replaced, copied]:
        found[run.__name__] = run()
    return found
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("modules"), {"model": MODEL, "steps": STEPS})


@pytest.mark.parametrize(
    "name", ["plain", "by_hand", "settings", "others", "hooked", "replaced", "copied"]
)
def test_module(modules: Trained, name: str) -> None:
    assert {"steps.step", "steps.descend"} <= modules.fused
    assert_close(modules.native[name], modules.python[name])
    assert not [text for text in modules.warnings if text.startswith("ppy")]
