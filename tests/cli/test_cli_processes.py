"""Programs of several processes: built once, they train as under Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, ppybuild, write

pytest.importorskip("torch")

SOURCE = """\
import os
import sys

import ppy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def total(first: float, n: int) -> float:
    s: float = 0.0
    for i in range(n):
        s += first
    return s


def spread(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = torch.relu(torch.matmul(x, w))
    dist.all_reduce(y)
    return torch.mul(y, y) + y


def main() -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = [p for v in model.parameters() for p in v.detach().flatten().tolist()]
    with torch.no_grad():
        shared = spread(torch.randn(3, 4), torch.randn(4, 4)).sum().item()
    where = os.path.basename(sys.argv[0])
    native = ppy.native.compiled(total)
    line = f"rank {rank} {weights} {total(weights[0], 9)} {shared} {sys.argv[1:]}"
    sys.stdout.write(f"{line} native={native} {where}\\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""


def ranks(done: subprocess.CompletedProcess[str], native: bool) -> list[str]:
    assert done.returncode == 0, done.stderr
    found = sorted(re.findall(r"rank \d .*?\]\s+native=\w+", done.stdout))
    assert len(found) == 2, done.stdout
    assert all(line.endswith(f"native={native}") for line in found)
    return [line.partition(" native")[0] for line in found]


@pytest.mark.slow
def test_distributed_training(tmp_path: Path) -> None:
    """Under Python, by `run --nproc`, and by torchrun on both packages: the same bits, and
    each rank's collective reaches the other."""
    write(tmp_path, {"ppy.toml": "[entry.train]\n", "train.py": SOURCE})
    variables = {"OMP_NUM_THREADS": "1", "PPY_CACHE": str(tmp_path / "cache")}

    def torchrun(program: Path, *args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        return subprocess.run(
            [*command, "--nproc-per-node=2", program, *args],
            cwd=tmp_path,
            env=os.environ | variables | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    expected = ranks(torchrun(tmp_path / "train.py", "a"), native=False)
    assert expected[0] != expected[1], "each rank has its own data"
    run = ppybuild(tmp_path, "run", "train", "--nproc", "2", "--", "a", **variables)
    assert ranks(run, native=True) == expected
    for form in ("dir", "onefile"):
        done = ppybuild(tmp_path, "package", "train", "--format", form, "-o", "out/")
        assert done.returncode == 0, done.stderr
    launcher = next(tmp_path.glob("out/train-*/train"))
    for program in (launcher, tmp_path / "out/train"):
        assert ranks(torchrun(program, "a"), native=True) == expected
