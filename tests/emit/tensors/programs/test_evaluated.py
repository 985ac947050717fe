"""The programs of `evaluated.py` against PyTorch, and what is native in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "evaluated.py").read_text("utf-8")
COUNTING = """
import torch
import evaluated

EVENTS = {}


def main():
    for name, run in [*vars(evaluated).items()]:
        if name.startswith("run_"):
            torch.manual_seed(3)
            run()  # first calls are Python's
            with torch.autograd.profiler.profile() as seen:
                run()
            called = [e.name for e in seen.function_events]
            EVENTS[name] = sum(name in ("aten::addmm", "aten::linear") for name in called)
    return evaluated.main() | {"events": EVENTS}
"""
"""Counts the products that PyTorch is asked for, to see that the native form has run."""

PROGRAMS = (
    "slices",
    "one_line",
    "losses",
    "predict",
    "outputs",
    "modes",
    "tester",
    "views",
    "reshaped",
)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    sources = {"evaluated": SOURCE, "counting": COUNTING}
    return train(tmp_path_factory.mktemp("evaluated"), sources)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(evaluated: Trained, name: str) -> None:
    run = f"run_{name}"
    assert_close(evaluated.native[run], evaluated.python[run])
    assert not [text for text in evaluated.warnings if text.startswith("ppy")]
    events = [found["events"][run] for found in (evaluated.python, evaluated.native)]
    assert events[1] < events[0], events


def test_what_is_native(evaluated: Trained) -> None:
    found = {
        (splice.function.removeprefix("evaluated."), splice.count, splice.value is not None)
        for splice in evaluated.emission.splices.values()
    }
    assert found == {
        ("Net.guess", 0, True),
        ("Tester.score", 1, False),
        ("accuracy", 1, False),
        ("losses", 2, False),
        ("one_line", 0, True),
        ("outputs", 1, True),
        ("predict", 0, True),
        ("reshaped", 0, True),
        ("views", 1, True),
        ("views", 1, False),
    }


def test_errors_are_pythons(evaluated: Trained) -> None:
    assert evaluated.native["run_errors"] == evaluated.python["run_errors"]
