"""What is said where a region is given a tensor of which too little is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.emit.driver import emit
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources

pytest.importorskip("torch")
PROGRAM = """
import json

import torch
from torch import nn


def used(model, x):
{body}

def main():
    sizes = json.loads("[4, 6]")
    used(nn.Sequential(nn.Linear(6, 1)), torch.ones(*sizes))
"""
FORWARD = """\
    with torch.no_grad():
        out = model(x)
        return torch.relu(out).sum().item()
"""
STEP = """\
    loss = torch.relu(model(x)).sum()
    loss.backward()
    for p in model.parameters():
        p.grad = None
    return loss.item()
"""


@pytest.mark.parametrize("body", [FORWARD, STEP], ids=["forward pass", "training step"])
def test_the_tensor_is_named(body: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM.format(body=body), "utf-8")
    facts = analyse(read_sources([tmp_path]))
    remarks = emit(facts, tuple(facts.program.modules), numerics="fused").remarks
    (said,) = [r.message for r in remarks if "`used` stays in Python" in r.message]
    assert "`x`" in said
    assert "`ppybuild run --record`" in said
    assert "gradient" not in said
