"""Generated kernels through the CUDA compiler: no warnings, no spills, for three cards."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "fused")]

from networks import classifier_step  # noqa: E402

from ppybuild.emit.tensors.cuda import emit_cuda  # noqa: E402
from ppybuild.emit.tensors.cuda.layout import SHARED_BYTES  # noqa: E402
from ppybuild.emit.tensors.fused import plan_fused  # noqa: E402
from tests.emit.tensors.cuda.host import RUNTIME  # noqa: E402

ARCHITECTURES = ("80", "90", "120")
MOST_REGISTERS = 128
"""Of 65,536 a multiprocessor: two blocks of 256 threads fit at once."""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on the path")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiles_without_warnings_or_spills(dtype: str, tmp_path: Path) -> None:
    region = emit_cuda(plan_fused(classifier_step((96, 64, 10), dtype=dtype), "n"), "region")
    source = tmp_path / "region.cu"
    source.write_text(region.text)
    targets = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ARCHITECTURES]
    run = subprocess.run(
        [
            *("nvcc", "-std=c++17", "-O3", "-Werror", "all-warnings", "-Xptxas", "-v"),
            *(*targets, f"-I{RUNTIME}", "-fatbin", "-o", tmp_path / "region.fatbin", source),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    registers = [int(found) for found in re.findall(r"Used (\d+) registers", run.stderr)]
    spills = [int(found) for found in re.findall(r"(\d+) bytes spill", run.stderr)]
    assert len(registers) == len(region.launches) * len(ARCHITECTURES)
    assert max(registers) <= MOST_REGISTERS
    assert set(spills) == {0}
    assert max(launch.shared for launch in region.launches) <= SHARED_BYTES[1]
