"""Random networks of several layers, whose steps are staged, against PyTorch."""

from __future__ import annotations

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.staged.networks import program
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SEEDS = range(8)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("networks"), {"networks": program(SEEDS)})


@pytest.mark.parametrize("seed", SEEDS)
def test_network(trained: Trained, seed: int) -> None:
    assert f"networks.step_{seed}" in trained.staged
    assert trained.warnings == ()
    assert_close(trained.native[str(seed)], trained.python[str(seed)])
