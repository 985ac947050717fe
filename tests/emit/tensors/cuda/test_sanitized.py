"""The kernels' and the launcher's tests again, compiled under sanitizers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = (
    "test_kernels.py::test_layer_norm",
    "test_kernels.py::test_losses[cross entropy]",
    "test_kernels.py::test_a_target_out_of_range_writes_no_weight",
    "test_kernels.py::test_tensor_cores_round_to_tf32",
    "test_kernels.py::test_tensor_cores_multiply_what_they_should",
    "test_launcher.py::test_a_graph_half_changed_is_not_launched",
    "test_launcher.py::test_a_graph_follows_rows_addresses_and_numbers",
)


def library(name: str) -> str:
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.skipif("PPY_TEST_SANITIZE" in os.environ, reason="this is that run")
def test_under_sanitizers() -> None:
    asan = library("libasan.so")
    if not Path(asan).is_absolute():
        pytest.skip("no libasan")
    here = Path(__file__).parent
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"),
            *(str(here / name) for name in TESTS),
        ],
        env=os.environ
        | {
            "PPY_TEST_SANITIZE": "1",
            "LD_PRELOAD": f"{asan} {library('libubsan.so')}",
            "ASAN_OPTIONS": "detect_leaks=0",
        },
        cwd=here.parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
