"""The programs of `several.py` against PyTorch, in both numerics, and what is native."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, assert_same, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "several.py").read_text("utf-8")
COUNTING = """
import torch
import several

EVENTS = {}


def main():
    for name, run in [*vars(several).items()]:
        if name.startswith("run_"):
            torch.manual_seed(3)
            run()  # first calls are Python's
            with torch.autograd.profiler.profile() as seen:
                run()
            EVENTS[name] = len([e for e in seen.function_events if "Backward" in e.name])
    return several.main() | {"events": EVENTS}
"""
"""Counts what autograd runs, to see that the native form has run."""

NATIVE = {
    "run_adversaries": 9,
    "run_groups": 5,
    "run_alternating": 8,
}
"""By function, how many statements are native."""


@pytest.fixture(scope="module", params=["fused", "exact"])
def several(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Trained:
    sources = {"several": SOURCE, "counting": COUNTING}
    return train(tmp_path_factory.mktemp("several"), sources, request.param)


@pytest.mark.parametrize("name", [*NATIVE, "run_apart", "run_regrouped"])
def test_program(several: Trained, name: str) -> None:
    compare = assert_close if several.fused else assert_same
    compare(several.native[name], several.python[name])
    assert not [text for text in several.warnings if text.startswith("ppy")]
    events = [found["events"][name] for found in (several.python, several.native)]
    if name != "run_regrouped":
        assert events[1] <= events[0] // 3, events


def test_what_is_native(several: Trained) -> None:
    found = {
        splice.function.removeprefix("several."): splice.count
        for splice in several.emission.splices.values()
    }
    assert found | NATIVE == found
    assert "several.apart_step" in several.regions


def test_python_refuses(several: Trained) -> None:
    assert_same(several.native["run_overwritten"], several.python["run_overwritten"])
