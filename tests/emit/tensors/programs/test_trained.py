"""The programs of `trained.py` against PyTorch, and what is native in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "trained.py").read_text("utf-8")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("trained"), {"trained": SOURCE})


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
        ("words", "exact"),
        ("pictures", "exact"),
        ("dropped", "python"),
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
    assert bool(remarks) == (form == "python")


def test_accuracy(trained: Trained) -> None:
    assert trained.native["run_accuracy"] == trained.python["run_accuracy"]
