"""The programs of `layers.py` against PyTorch: in exact numerics bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, assert_same, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "layers.py").read_text("utf-8")


@pytest.fixture(scope="module", params=["exact", "fused"])
def trained(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Trained:
    folder = tmp_path_factory.mktemp("layers")
    return train(folder, {"layers": SOURCE}, request.param)


@pytest.mark.parametrize("name", ["normed", "pooled", "signal", "activated"])
def test_program(trained: Trained, name: str) -> None:
    step = f"layers.{name}_step"
    assert step in trained.regions
    assert trained.warnings == ()
    same = assert_close if step in trained.fused | trained.staged else assert_same
    same(trained.native[f"run_{name}"], trained.python[f"run_{name}"])


@pytest.mark.parametrize("trained", ["fused"], indirect=True)
def test_what_is_fused(trained: Trained) -> None:
    assert trained.fused == {"layers.activated_step"}
    # Plain descent is one operator for each weight, and all else waits for a norm.
    assert trained.staged == {"layers.pooled_step", "layers.signal_step"}
