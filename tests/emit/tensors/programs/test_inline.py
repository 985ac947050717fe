"""The programs of `inline.py` against PyTorch, and what of them is native."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "inline.py").read_text("utf-8")
COUNTING = """
import torch
import inline


def counted(run):
    with torch.autograd.profiler.profile() as seen:
        result = run()
    return result, len([e for e in seen.function_events if e.name.startswith("aten::")])


def main():
    programs = [name for name in vars(inline) if name.startswith("run_")]
    return {name: counted(getattr(inline, name)) for name in programs}
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("inline"), {"inline": SOURCE, "counting": COUNTING})


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("shuffled", "run_shuffled"),
        ("loader", "fit"),
        ("trainer", "Trainer.train_step"),
        ("experiment", "Experiment.epoch"),
        ("softmax", "Softmax.fit"),
        ("by_hand", "run_by_hand"),
        ("chained", "run_chained"),
        ("errors", "run_errors.<locals>.go"),
        ("watched", None),
    ],
)
def test_program(trained: Trained, name: str, scope: str | None) -> None:
    native, found = trained.native[f"run_{name}"]
    python, wanted = trained.python[f"run_{name}"]
    assert_close(native, python)
    assert not [text for text in trained.warnings if text.startswith("ppy")]
    functions = {splice.function for splice in trained.emission.splices.values()}
    assert scope is None or f"inline.{scope}" in functions
    if scope is not None:
        assert found < wanted * 0.8, "steps have run natively"


def test_a_step_called_in_a_lambda(trained: Trained) -> None:
    """What the lambda passes are variables around it."""
    assert "inline.timed_step" in trained.fused
    assert_close(trained.native["run_timed"][0], trained.python["run_timed"][0])


def test_the_rest_is_python(trained: Trained) -> None:
    remarks = [r.message for r in trained.emission.remarks if "run_watched" in r.message]
    assert remarks == [
        "`run_watched` stays in Python: a result that still has its graph",
    ]
    functions = {splice.function for splice in trained.emission.splices.values()}
    assert "inline.run_watched" not in functions
