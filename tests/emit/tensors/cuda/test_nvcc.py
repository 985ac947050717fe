"""Generated kernels through the CUDA compiler: no warnings, no spills, for three cards."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "fused")]

from graphs import tensor_type, trace  # noqa: E402
from networks import (  # noqa: E402
    LOSSES,
    classifier_step,
    layers,
    mlp_shapes,
    regression_step,
    sgd_step,
)

from ppybuild.emit.tensors.cuda import emit_cuda  # noqa: E402
from ppybuild.emit.tensors.cuda.layout import SHARED_BYTES  # noqa: E402
from ppybuild.emit.tensors.fused import plan_fused  # noqa: E402
from ppybuild.emit.tensors.ir import Graph  # noqa: E402
from tests.emit.tensors.cuda.host import RUNTIME  # noqa: E402
from tests.emit.tensors.cuda.toolkit import NVCC, find  # noqa: E402

ARCHITECTURES = ("80", "90", "120")
CUOBJDUMP = find("bin/cuobjdump")
MOST_REGISTERS = 80
"""Of 65,536 a multiprocessor: three blocks of 256 threads fit at once."""

pytestmark = pytest.mark.skipif(NVCC is None, reason="no nvcc")


def of_loss(name: str) -> Graph:
    of_output, make_target = LOSSES[name]

    def loss(ops: Any, x: Any, y: Any, *params: Any) -> Any:
        return of_output(ops, layers(ops, x, params, "tanh"), y)

    params = [torch.zeros(s) for s in mlp_shapes((20, 9, 4))]
    return sgd_step(loss, torch.zeros(2, 20), make_target(2), params, lambda g, **_: g)


def softmax() -> Graph:
    return trace(lambda t, x: t("softmax.int", x, 1), x=tensor_type("float64", "n", 300))


NETWORKS: dict[str, Callable[[], Graph]] = {
    "regression": lambda: regression_step([(32, 32), (32,), (32, 1), (1,)]),
    "double": lambda: classifier_step((33, 17, 10), dtype="float64"),
    "large": lambda: classifier_step((96, 256, 128, 10)),
    "softmax": softmax,
    **{name: lambda name=name: of_loss(name) for name in LOSSES},  # type: ignore[misc]
}
QUICK = ("regression",)


def compile_kernels(graph: Graph, folder: Path) -> tuple[Any, Path, str]:
    assert NVCC is not None
    region = emit_cuda(plan_fused(graph, "n"), "region")
    source, image = folder / "region.cu", folder / "region.fatbin"
    source.write_text(region.text)
    targets = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ARCHITECTURES]
    run = subprocess.run(
        [
            *(NVCC, "-std=c++17", "-O3", "-Werror", "all-warnings", "-Xptxas", "-v"),
            *(*targets, f"-I{RUNTIME}", "-fatbin", "-o", image, source),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return region, image, run.stderr


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in NETWORKS
    ],
)
def test_compiles_without_warnings_or_spills(name: str, tmp_path: Path) -> None:
    region, _, said = compile_kernels(NETWORKS[name](), tmp_path)
    registers = [int(found) for found in re.findall(r"Used (\d+) registers", said)]
    spills = [int(found) for found in re.findall(r"(\d+) bytes spill", said)]
    assert len(registers) == len(region.launches) * len(ARCHITECTURES)
    assert max(registers) <= MOST_REGISTERS
    assert set(spills) == {0}
    assert max(launch.shared for launch in region.launches) <= SHARED_BYTES[1]


@pytest.mark.skipif(CUOBJDUMP is None, reason="no cuobjdump")
def test_what_the_image_asks_of_a_card(tmp_path: Path) -> None:
    assert CUOBJDUMP is not None
    region, image, _ = compile_kernels(NETWORKS["regression"](), tmp_path)
    command = [CUOBJDUMP, "--dump-resource-usage", image]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", told)
    assert len(found) == len(region.launches) * len(ARCHITECTURES)
    for registers, stack, shared, local in found:
        assert int(registers) <= MOST_REGISTERS
        assert int(stack) == int(local) == 0
        assert int(shared) <= 1024  # fixed; the rest is asked for at launch
