"""Several fragments on one line, against PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

STEP = (
    "optimizer.zero_grad(); loss = F.{loss}(model(x), y); loss.backward(); optimizer.step(); "
    "kept.append(loss.item())"
)
STEPS = f"turn = len(kept); {STEP.format(loss='mse_loss')}; {STEP.format(loss='l1_loss')}"
SOURCE = f"""
import torch
import torch.nn.functional as F
from torch import nn


def fit(model, optimizer, x, y):
    kept = []
    for _ in range(4):
        {STEPS}; kept.append(turn)
    return kept


def evaluate(model, x):
    kept = []
    with torch.no_grad():
        for turn in range(4):
            a = model(x) * 2; kept.append(turn); b = model(a) * 3; kept.append(b)
    return kept


def main():
    x, y = torch.randn(64, 6), torch.randn(64, 6)
    model = nn.Linear(6, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    fitted = fit(model, optimizer, x, y)
    return fitted, evaluate(model.eval(), x), [p.detach() for p in model.parameters()]
"""


def test_each_is_its_own(tmp_path: Path) -> None:
    trained = train(tmp_path, {"one_line": SOURCE})
    assert_close(trained.native, trained.python)
    assert trained.warnings == ()
    splices = trained.emission.splices.values()
    assert [s.function for s in splices].count("one_line.fit") == 2
