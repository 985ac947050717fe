"""Finding nvcc, what it is told, and what is wrong with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ppybuild.diagnostics import Failure
from ppybuild.targets.cuda import Cuda, find_nvcc, need_cuda
from tests.targets.projects import project

NVCC = """#!/bin/sh
case $1 in
--list-gpu-code) echo sm_80; echo sm_90; echo sm_100 ;;
--version) echo; echo "Cuda compilation tools, release 13.0, V13.0.88"; echo end ;;
esac
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in, the only one that can be found."""
    path = tmp_path / "cuda" / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    path.write_text(NVCC)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if shutil.which("nvcc"):
        pytest.skip("nvcc is in /usr/bin")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr("ppybuild.targets.cuda.PACKAGES", ())
    return path


def test_it_is_found_on_the_path_and_in_cuda_home(
    compiler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_nvcc() is None
    monkeypatch.setenv("CUDA_HOME", str(compiler.parents[1]))
    assert find_nvcc() == compiler
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=os.pathsep)
    assert find_nvcc() == compiler


def test_it_is_found_in_the_wheel(
    compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "wheel_of_nvcc"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    shutil.copy(compiler, package / "bin" / "nvcc")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr("ppybuild.targets.cuda.PACKAGES", ("not_there.at_all", "wheel_of_nvcc"))
    assert find_nvcc() == package / "bin" / "nvcc"


def failure(arch: tuple[str, ...]) -> tuple[str, str, int]:
    with pytest.raises(Failure) as caught:
        need_cuda(arch)
    (found,) = caught.value.diagnostics
    return found.code, f"{found.message}; {found.help}", caught.value.status


def test_what_is_wrong_with_it(compiler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, status = failure(("sm_90",))
    assert (code, status) == ("E4005", 2)
    assert "ppybuild[cuda]" in said
    monkeypatch.setenv("CUDA_HOME", str(compiler.parents[1]))
    code, said, status = failure(("sm_90", "sm_9"))
    assert (code, status) == ("E4011", 2)
    assert "`sm_9`" in said
    assert "did you mean `sm_90`?" in said
    compiler.write_text("#!/bin/sh\nexit 1\n")
    code, said, status = failure(("sm_90",))
    assert (code, status) == ("E4005", 2)
    assert "does not work" in said


def test_code_for_each_card_and_ptx_of_the_newest() -> None:
    flags = Cuda(Path("nvcc"), "", ("sm_100", "sm_80", "sm_90a")).flags
    assert [flag for flag in flags if flag.startswith("-gencode")] == [
        "-gencode=arch=compute_100,code=sm_100",
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90a,code=sm_90a",
        "-gencode=arch=compute_100,code=compute_100",
    ]


STEP = """
import torch

def step(x: torch.Tensor, w: torch.Tensor) -> float:
    loss = torch.mean(torch.matmul(x, w) ** 2)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
    return loss.item()

x, w = torch.ones(8, 4), torch.ones(4, 2, requires_grad=True)
print(step(x, w), step(x, w), getattr(step, "__ppy_region__", False))
"""


@pytest.mark.skipif(find_nvcc() is None, reason="no nvcc")
def test_a_bundle_for_cuda_runs_on_the_processor(tmp_path: Path) -> None:
    project(tmp_path, {"main.py": STEP}, '[entry.main]\n[device.cuda]\narch = ["sm_80"]\n')
    command = [sys.executable, "-m", "ppybuild"]
    for _ in range(2):
        done = subprocess.run(
            [*command, "build", "--device", "cuda"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "compiling" not in done.stderr  # there was nothing to do
    bundle = tmp_path / "build" / "cuda" / "main"
    described = json.loads((bundle / "bundle.json").read_text())
    assert (described["device"], described["without_gpu"]) == ("cuda", "cpu")
    launch = [sys.executable, bundle / "ppy" / "launch.py"]
    ran = subprocess.run(launch, capture_output=True, text=True, check=False)
    plain = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split()[:2] == plain.stdout.split()[:2]
    assert ran.stdout.split()[2] == "True"
