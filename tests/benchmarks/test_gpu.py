"""`benchmarks/gpu.py` from the build to the table, with stand-ins for nvcc, the driver and
torch's CUDA library: the processor runs the kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.cuda.host import CACHE, HERE, fake_driver, fake_torch

ROOT = Path(__file__).parents[2]

NVCC = f"""#!/bin/sh
case $1 in
--list-gpu-code) echo sm_90; exit ;;
--version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit ;;
esac
for word; do
    case $last in -o) target=$word ;; esac
    case $word in -I*) include=$word ;; *.cu) source=$word ;; esac
    last=$word
done
library=$PWD/$target.so
g++ -x c++ -std=c++20 -O1 -fPIC -shared "$include" -I{HERE} -o "$library" "$source" || exit
printf %s "$library" > "$target"
"""

CXX = """#!/bin/sh
exec g++ -DPPY_GPU=at::kCPU "$@"
"""


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.slow
@pytest.mark.skipif(not has_compiler(), reason="no compiler")
def test_the_whole_script_runs_with_a_fake_driver(tmp_path: Path) -> None:
    fake_driver()
    fake_torch()
    program(tmp_path / "nvcc", NVCC)
    started = tmp_path / "calls"
    environment = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "CXX": str(program(tmp_path / "cxx", CXX)),
        "LD_LIBRARY_PATH": str(CACHE),
        "LD_PRELOAD": str(CACHE / "libtorch_cuda.so"),
        "FAKE_DRIVER_LOG": str(started),
    }
    script = [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), "--cpu"]
    run = subprocess.run(
        script, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for figure in ("step, 64 rows", "forward, 64 rows, host", "classifier, 64 rows"):
        assert f"| {figure} |" in run.stdout
    calls = started.read_text()
    assert calls.count("cuModuleLoadData") == 3  # the step, the forward pass, the classifier
    assert calls.count("cuGraphLaunch") > 100
