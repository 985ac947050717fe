"""The programs of `changing.py` against PyTorch, and what of them is native."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = (Path(__file__).parent / "changing.py").read_text("utf-8")
NATIVE = {"weights", "second_name", "subset", "two_players", "gradient_name"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("changing"), {"changing": SOURCE})


@pytest.mark.parametrize("name", re.findall(r"def run_(\w+)", SOURCE))
def test_program(trained: Trained, name: str) -> None:
    assert_close(trained.native[f"run_{name}"], trained.python[f"run_{name}"])
    assert not [text for text in trained.warnings if text.startswith("ppy")]
    functions = {splice.function for splice in trained.emission.splices.values()}
    assert (f"changing.run_{name}" in functions) == (name in NATIVE)
