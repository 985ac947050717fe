"""Golden cases of region discovery: source in, operators and remarks out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from ppybuild.graph.regions import Call, Region, discover
from tests.golden import Case, Golden, cases

pytest.importorskip("torch")
START = "import torch\nimport torch.nn.functional as F\n"


def shown(region: Region) -> str:
    called = [
        step.operator.qualified if isinstance(step, Call) else type(step).__name__
        for step in region.steps
    ]
    return f"region {region.function}: {' '.join(called)}"


@cases(Path(__file__).parent / "cases" / "discover.txt")
def test_discover(case: Case, golden: Golden, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(START + case.source, "utf-8")
    found = discover(analyse(read_sources([tmp_path])))
    lines = [shown(region) for region in found.regions]
    for remark in found.remarks:
        assert remark.location is not None
        line = remark.location.line - START.count("\n")
        lines.append(f"{remark.code} {line}:{remark.location.column} {remark.message}")
    golden(case, found="\n".join(lines))
