"""Training steps in exact form: the bits of eager PyTorch, over several steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.test_step_guards import NAMES, SOURCE
from tests.emit.tensors.test_steps import MODEL, PROGRAMS, STEP, UPDATE
from tests.emit.tensors.training import Trained, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")


def assert_same(found: Any, wanted: Any) -> None:
    """Nested containers of numbers and tensors, bit for bit, with the tensors' strides."""
    assert type(found) is type(wanted)
    if isinstance(wanted, torch.Tensor):
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert found.stride() == wanted.stride()
        assert found.requires_grad == wanted.requires_grad
        torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        assert_same(list(found.values()), list(wanted.values()))
    else:
        assert found == wanted or (found != found and wanted != wanted)


def check(trained: Trained, *steps: str) -> None:
    assert set(steps) <= trained.regions
    assert not trained.fused
    assert_same(trained.native, trained.python)
    assert trained.warnings == ()


def test_the_step_over_three_modules(tmp_path: Path) -> None:
    sources = {"model": MODEL, "update": UPDATE, "steps": STEP}
    check(train(tmp_path, sources, "exact"), "steps.train_step")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("programs"), {"programs": PROGRAMS}, "exact")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (0, "classify"),
        (1, "logistic"),
        (2, "autoencode"),
        (3, "momentum"),
        (4, "accumulate"),
        (5, "backward_only"),
        (6, "normalized"),
        (7, "embedded"),
    ],
)
def test_program(programs: Trained, place: int, name: str) -> None:
    assert f"programs.{name}" in programs.regions
    assert_same(programs.native[place], programs.python[place])
    assert programs.warnings == ()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("guarded"), {"guarded": SOURCE}, "exact")


@pytest.mark.parametrize("name", NAMES)
def test_guard(guarded: Trained, name: str) -> None:
    assert "guarded.step" in guarded.regions
    assert_same(guarded.native[name], guarded.python[name])
    assert not [text for text in guarded.warnings if text.startswith("ppy")]
