"""The programs of `trained.py` against PyTorch, and what is native in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "trained.py").read_text("utf-8")
COUNTING = """
import torch
import trained

EVENTS = {}


def counted(name, step):
    def run(*args):
        with torch.autograd.profiler.profile(profile_memory=True) as seen:
            result = step(*args)
        called = [e for e in seen.function_events if e.name.startswith("aten::")]
        memory = [e for e in seen.kineto_results.events() if e.name() == "[memory]"]
        EVENTS[name] = len(called), len([e for e in memory if e.nbytes() > 0])
        return result

    return run


def main():
    for name, found in [*vars(trained).items()]:
        if name.endswith("_step"):
            vars(trained)[name] = counted(name, found)
    return trained.main() | {"events": EVENTS}
"""
"""Counts what each step's last call runs of ATen, to see that the native form has run, and
how often it allocates a tensor's memory."""


LAST_IN_PYTHON = ("nesterov",)
"""Programs whose last steps have settings that the native form does not take."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("trained"), {"trained": SOURCE, "counting": COUNTING})


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("adam", "fused"),
        ("adamw", "fused"),
        ("clipped", "fused"),
        ("nesterov", "fused"),
        ("plain", "fused"),
        ("list", "fused"),
        ("accumulated", "fused"),
        ("words", "staged"),
        ("pictures", "staged"),
        ("dropped", "staged"),
        ("physics", "python"),
    ],
)
def test_program(trained: Trained, name: str, form: str) -> None:
    run = "batches" if name == "plain" else name
    step = f"trained.{name}_step"
    remarks = {
        r.message for r in trained.emission.remarks if f"`{name}_step` stays" in r.message
    }
    assert_close(trained.native[f"run_{run}"], trained.python[f"run_{run}"])
    assert not [text for text in trained.warnings if text.startswith("ppy")]
    native = step in trained.regions
    assert (step in trained.fused, native) == (form == "fused", form != "python"), remarks
    assert (step in trained.staged) == (form == "staged")
    assert bool(remarks) == (form == "python")
    events = [found["events"][f"{name}_step"][0] for found in (trained.python, trained.native)]
    if native and name not in LAST_IN_PYTHON:
        assert events[1] < events[0] // (2 if form == "fused" else 1), events


@pytest.mark.parametrize(
    ("name", "gradients"),
    [("adam", 6), ("adamw", 6), ("clipped", 7), ("plain", 4), ("list", 2), ("accumulated", 2)],
)
def test_a_fused_step_allocates_what_the_program_keeps(
    trained: Trained, name: str, gradients: int
) -> None:
    _, allocations = trained.native["events"][f"{name}_step"]
    assert allocations == gradients


def test_accuracy(trained: Trained) -> None:
    assert trained.native["run_accuracy"] == trained.python["run_accuracy"]
