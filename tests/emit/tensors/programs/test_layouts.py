"""Programs in several layouts, whose steps stand inside other code, against PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.programs import layouts
from tests.emit.tensors.training import assert_close, train

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not has_compiler(), reason="needs g++"),
]


@pytest.mark.parametrize(
    ("sources", "function"),
    [
        (layouts.SCRIPT, "script"),
        (layouts.PACKAGE, "train.fit"),
        (layouts.VALIDATED, "validated.main"),
        (layouts.LOADED, "loaded.Trainer.epoch"),
    ],
    ids=["script", "package", "validated", "loaded"],
)
def test_layout(tmp_path: Path, sources: Mapping[str, str], function: str) -> None:
    found = train(tmp_path, sources)
    assert_close(found.native, found.python)
    assert not [text for text in found.warnings if text.startswith("ppy")]
    (splice,) = found.emission.splices.values()
    assert splice.function == function
    assert found.fused == set(found.emission.splices)
