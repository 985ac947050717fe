"""The boundary's tests again, with its C compiled under sanitizers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extensions import build_extension

SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
TESTS = ("test_wrappers.py", "test_native_function.py", "test_relied.py")


def library(name: str) -> str:
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif("PPY_SANITIZED" in os.environ, reason="this is that run")
def test_under_sanitizers(tmp_path: Path, sources: dict[str, str]) -> None:
    asan = library("libasan.so")
    if not Path(asan).is_absolute():
        pytest.skip("no libasan")
    extension = build_extension(tmp_path, "loops", sources, SANITIZE)
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"),
            *(str(Path(__file__).with_name(name)) for name in TESTS),
        ],
        env=os.environ
        | {
            "PPY_SANITIZED": str(extension),
            "LD_PRELOAD": f"{asan} {library('libubsan.so')}",
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONMALLOC": "malloc",
        },
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
