"""Names of the program that mean something else in C++ or in the generated code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

NAMES = "t first wrote made Given given self INFINITY NAN M_PI at torch_ _x x_ t0 v_t"

STEP = """
import torch
import torch.nn.functional as F
from torch import nn


def step(model, opt, y, {parameters}):
    opt.zero_grad()
    loss = F.mse_loss(model({first}), y)
    loss = loss + ({total}).mean()
    loss.backward()
    opt.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 512), nn.ReLU(), nn.Linear(512, 2))
    opt = torch.optim.Adam(model.parameters())
    given = [torch.randn(8, 6) for _ in range({count})]
    y = torch.randn(8, 2)
    return [step(model, opt, y, {passed}) for _ in range(3)]
"""


@pytest.mark.parametrize("numerics", ["fused", "exact"])
def test_any_name_will_do(tmp_path: Path, numerics: str) -> None:
    names = NAMES.split()
    source = STEP.format(
        parameters=", ".join(names),
        first=names[0],
        total=" * ".join(f"model[0]({name})" for name in names),
        count=len(names),
        passed=", ".join(f"given[{place}]" for place in range(len(names))),
    )
    trained = train(tmp_path, {"named": source}, numerics)
    assert "named.step" in trained.regions
    assert_close(trained.native, trained.python)
