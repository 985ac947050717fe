"""The forms of a kernel, of which the compiler takes one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from graphs import tensor_type, trace  # noqa: E402
from native import MACHINE, RUNTIME  # noqa: E402

from ppybuild.emit.tensors.fused import emit_variants, plan_fused  # noqa: E402


@pytest.mark.parametrize("width", [16, 32, 64])
def test_the_targets_width_is_taken(width: int, tmp_path: Path) -> None:
    x = tensor_type("float32", "n", 5)
    plan = plan_fused(trace(lambda t, x: t("relu", x), x=x), "n")
    for name, text in emit_variants(plan, "k_f", "f.fused").items():
        (tmp_path / name).write_text(text)
    told = subprocess.run(
        ["gcc", *MACHINE[width], "-E", f"-I{RUNTIME}", tmp_path / "f.fused.c"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert f"vector_size({width})" in told
    assert told.count("k_f(") == 1
