"""Golden cases of exact regions: source in, C++ out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.tensors.building import emit, find
from tests.golden import Case, Golden, cases

pytest.importorskip("torch")
START = "import torch\nimport torch.nn.functional as F\n\n"


@cases(Path(__file__).parent / "cases" / "exact.txt")
def test_exact(case: Case, golden: Golden, tmp_path: Path) -> None:
    extension = emit(find(tmp_path, START + case.source, "m"), "m").extension
    assert extension is not None
    (text,) = [source.text for source in extension.sources if source.path.suffix == ".cpp"]
    # The includes before it and the table after it are the same each time.
    golden(case, cpp=text[text.index("// m.") : text.index('extern "C"')])
