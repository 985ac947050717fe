"""The differential tests again, on kernels built with the address and undefined sanitizers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def sanitizer() -> str:
    """The runtime that has to be loaded before Python, or an empty string."""
    name = ["gcc", "-print-file-name=libasan.so"]
    path = subprocess.run(name, capture_output=True, text=True, check=False).stdout.strip()
    return path if Path(path).is_absolute() else ""


@pytest.mark.skipif(not sanitizer(), reason="no address sanitizer")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="already inside")
def test_kernels_are_clean_under_sanitizers() -> None:
    files = (
        "test_lower_native.py",
        "test_made_native.py",
        "test_operators_native.py",
        "test_printer.py",
        "test_grids_native.py",
        "test_slices_native.py",
        "test_texts_native.py",
        "test_folding_native.py",
        "test_rows_native.py",
    )
    environment = {
        **os.environ,
        "LD_PRELOAD": sanitizer(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONMALLOC": "malloc",
        "PPY_TEST_SANITIZE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(str(HERE / name) for name in files)],
        env=environment,
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
