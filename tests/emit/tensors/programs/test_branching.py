"""The programs of `branching.py` against PyTorch, and what is native in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.cli.region_text import region_lines
from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "branching.py").read_text("utf-8")
COUNTING = """
import torch
import branching

EVENTS = {}


def main():
    for name, run in [*vars(branching).items()]:
        if name.startswith("run_"):
            torch.manual_seed(3)
            run()  # first calls are Python's
            with torch.autograd.profiler.profile() as seen:
                run()
            EVENTS[name] = len([e for e in seen.function_events if "Backward" in e.name])
    return branching.main() | {"events": EVENTS}
"""
"""Counts what autograd runs, to see that the native form has run."""


@pytest.fixture(scope="module")
def branching(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    sources = {"branching": SOURCE, "counting": COUNTING}
    return train(tmp_path_factory.mktemp("branching"), sources)


@pytest.mark.parametrize("name", ["kinds", "two", "logged"])
def test_program(branching: Trained, name: str) -> None:
    run = f"run_{name}"
    assert_close(branching.native[run], branching.python[run])
    assert not [text for text in branching.warnings if text.startswith("ppy")]
    events = [found["events"][run] for found in (branching.python, branching.native)]
    assert events[1] <= events[0] // 3, events


def test_each_side_says_what_it_is_for(branching: Trained) -> None:
    described = [
        [*region_lines(branching.emission.regions[name])]
        for name, splice in branching.emission.splices.items()
        if splice.function == "branching.train"
    ]
    assert sorted(lines[0].partition(", ")[0] for lines in described) == [
        "training step for where `kind == 'l1'` is False and `kind == 'mse'` is False",
        "training step for where `kind == 'l1'` is False and `kind == 'mse'` is True",
        "training step for where `kind == 'l1'` is True",
    ]
    assert not [line for lines in described for line in lines[1:] if "kind" in line]


def test_each_side_is_a_region(branching: Trained) -> None:
    sides = [splice.function for splice in branching.emission.splices.values()]
    assert {name: sides.count(f"branching.{name}") for name in ("train", "regularised")} == {
        "train": 3,
        "regularised": 4,
    }
    told = [r.message for r in branching.emission.remarks if "`branching.train`" in r.message]
    assert any("`kind == 'l1'` is False and `kind == 'mse'` is True" in each for each in told)
