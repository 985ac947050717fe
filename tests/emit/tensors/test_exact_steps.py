"""Training steps in exact form: the bits of eager PyTorch, over several steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.test_step_guards import NAMES, SOURCE
from tests.emit.tensors.test_step_modules import MODEL as NET
from tests.emit.tensors.test_step_modules import STEPS as NET_STEPS
from tests.emit.tensors.test_steps import MODEL, PROGRAMS, STEP, UPDATE
from tests.emit.tensors.training import Trained, assert_same, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")


def check(trained: Trained, *steps: str) -> None:
    assert set(steps) <= trained.regions
    assert not trained.fused
    assert_same(trained.native, trained.python)
    assert trained.warnings == ()


@pytest.mark.slow
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


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    sources = {"model": NET, "steps": NET_STEPS}
    return train(tmp_path_factory.mktemp("modules"), sources, "exact")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["plain", "by_hand", "settings", "others", "hooked", "replaced", "copied"]
)
def test_modules(modules: Trained, name: str) -> None:
    assert {"steps.step", "steps.descend"} <= modules.regions
    assert_same(modules.native[name], modules.python[name])
    assert not [text for text in modules.warnings if text.startswith("ppy")]


WIDE = """
import torch
import torch.nn.functional as F


def step(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, v: torch.Tensor,
         rate: float) -> float:
    loss = F.mse_loss(torch.tanh(x @ w) @ v, y)
    loss.backward()
    with torch.no_grad():
        for p in (w, v):
            p -= rate * p.grad
            p.grad = None
    return loss.item()


def main():
    x, y = torch.randn(30, 512), torch.randn(30, 4)
    w, v = torch.randn(512, 512).mul_(0.03), torch.randn(512, 4)
    w, v = w.requires_grad_(), v.requires_grad_()
    return [step(x, y, w, v, 0.1) for _ in range(3)], w.detach(), v.detach()
"""


def test_weights_that_no_cache_holds(tmp_path: Path) -> None:
    trained = train(tmp_path, {"wide": WIDE}, "exact")
    check(trained, "wide.step")
    [told] = [d.message for d in trained.emission.remarks if d.code == "R3001"]
    assert "in exact numerics" in told


TRAINED = Path(__file__).parent / "programs" / "trained.py"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    source = TRAINED.read_text("utf-8")
    return train(tmp_path_factory.mktemp("trained"), {"trained": source}, "exact")


@pytest.mark.parametrize(
    "name",
    [
        "adam",
        "adamw",
        "clipped",
        "nesterov",
        "batches",
        "list",
        "accumulated",
        "words",
        "pictures",
        "dropped",
        "physics",
        "accuracy",
    ],
)
def test_trained(trained: Trained, name: str) -> None:
    assert_same(trained.native[f"run_{name}"], trained.python[f"run_{name}"])
    assert not [text for text in trained.warnings if text.startswith("ppy")]


def test_what_is_native(trained: Trained) -> None:
    steps = ["adam", "adamw", "clipped", "nesterov", "plain", "list", "accumulated", "words"]
    assert {f"trained.{name}_step" for name in (*steps, "pictures")} <= trained.regions
