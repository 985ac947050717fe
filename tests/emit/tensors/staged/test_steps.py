"""What a staged step leaves where Python has to answer, and when it starts again."""

from __future__ import annotations

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, assert_same, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = """
import torch
import torch.nn.functional as F
from torch import nn


def step(
    model: nn.Sequential, optimizer: torch.optim.AdamW, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def left(model, optimizer):
    state = [value for held in optimizer.state.values() for value in held.values()]
    kept = [(name, value.clone(), value._version) for name, value in model.state_dict().items()]
    grads = [p.grad is not None and p.grad.clone() for p in model.parameters()]
    return kept, grads, [value.clone() for value in state]


def main():
    model = nn.Sequential(
        nn.Linear(40, 300), nn.GELU(), nn.LayerNorm(300), nn.Dropout(0.4), nn.Linear(300, 300),
        nn.SiLU(), nn.Linear(300, 7),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x, y = torch.randn(33, 40), torch.randint(7, (33,))
    losses = [step(model, optimizer, x, y) for _ in range(4)]
    before = left(model, optimizer)
    bad = y.clone()
    bad[3] = 7
    torch.manual_seed(5)
    try:
        step(model, optimizer, x, bad)
    except IndexError as error:
        losses.append(str(error))
    drawn = torch.rand(3)
    after = left(model, optimizer)
    torch.set_num_threads(1)
    losses += [step(model, optimizer, x[:n], y[:n]) for n in (1, 17, 33)]
    end, rand = left(model, optimizer), torch.rand(2)
    return {"losses": losses, "bad": (before, after, drawn), "end": end, "rand": rand}
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("steps"), {"steps": SOURCE})


@pytest.mark.parametrize("name", ["losses", "end"])
def test_what_is_left(trained: Trained, name: str) -> None:
    assert trained.staged == {"steps.step"}
    assert trained.warnings == ()
    assert_close(trained.native[name], trained.python[name])


def test_a_target_that_is_no_class(trained: Trained) -> None:
    """Python raises, nothing has been updated, and as many random numbers are drawn."""
    before, after, drawn = trained.native["bad"]
    assert_same(drawn, trained.python["bad"][2])
    assert_same(after[0], before[0])
    assert_same(trained.native["rand"], trained.python["rand"])
