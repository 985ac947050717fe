"""Run a region's CUDA kernels without a GPU: on the processor, through a fake driver."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
from native import _address, _held

import ppybuild.emit
from ppybuild.emit.tensors.cuda import CudaRegion, emit_cuda
from ppybuild.emit.tensors.fused import plan_fused
from ppybuild.emit.tensors.ir import Graph

HERE = Path(__file__).parent
RUNTIME = Path(ppybuild.emit.__file__).parent / "runtime"
COUNT = itertools.count()
CACHE = Path(tempfile.mkdtemp(prefix="cuda"))
WARNINGS = ("-Wall", "-Wextra", "-Werror")
SANITIZED = "PPY_TEST_SANITIZE" in os.environ
"""Set by `test_sanitized.py`, which runs the other tests again."""
OPTIMISE = (
    ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    if SANITIZED
    else ("-O1",)
)


def build(name: str, *command: str) -> Path:
    library = CACHE / name
    if not library.exists():
        subprocess.run(
            [*command, *OPTIMISE, "-fPIC", "-shared", *WARNINGS, f"-I{RUNTIME}", f"-I{HERE}",
             "-o", str(library)],
            check=True,
        )  # fmt: skip
    return library


@cache
def fake_driver() -> ctypes.CDLL:
    """Loaded under the driver's own name, so that `dlopen("libcuda.so.1")` finds it."""
    library = build(
        "libcuda.so.1", "gcc", str(HERE / "fake_driver.c"), "-Wl,-soname,libcuda.so.1"
    )
    driver = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    driver.fake_log.restype = ctypes.c_char_p
    driver.fake_current.restype = ctypes.c_void_p
    return driver


def kernels(region: CudaRegion) -> Path:
    """The region's kernels for the processor."""
    name = hashlib.sha256(region.text.encode()).hexdigest()[:16]
    source = CACHE / f"{name}.cpp"
    source.write_text(region.text)
    return build(f"{name}.so", "g++", "-std=c++20", str(source))


class Grid:
    """A graph in its CUDA form, with the interface of `native.Fused`."""

    def __init__(
        self, graph: Graph, batch: str = "n", inplace: dict[int, int] | None = None
    ) -> None:
        fake_driver()
        self.plan = plan_fused(graph, batch)
        self.region = emit_cuda(self.plan, "region")
        image = kernels(self.region)
        self.library = ctypes.CDLL(str(self._launcher(image)))
        self.library.scratch_bytes.restype = ctypes.c_int64
        self.dtype = getattr(torch, self.plan.program.dtype)
        self.inplace = inplace or {}
        self.launches = self.region.launches
        self.device, self.stream, self.why = 0, 0, ""
        self.scratch = torch.empty(1, dtype=torch.uint8)
        self.outputs: list[torch.Tensor] = []
        """What to write to, where it is not new at each call."""

    def _launcher(self, image: Path) -> Path:
        """The table, and the launcher itself, with a state of its own."""
        source = CACHE / f"{image.stem}_table.c"
        source.write_text(
            f'#include "ppy_cuda.c"\n{self.region.table}\n'
            f'static ppy_cuda_program program = {{"{image}", {{0}}}};\n'
            "int64_t scratch_bytes(int64_t batch) {\n"
            "    return ppy_cuda_scratch(&region_cuda, batch);\n}\n"
            "int run(int device, void *stream, void **inputs, void **outputs, int64_t batch,\n"
            "        void *scratch, char *why) {\n"
            "    return (int)ppy_cuda_run(&region_cuda, &program, device, stream, inputs,\n"
            "                             outputs, batch, scratch, why);\n}\n"
        )
        library = build(f"{image.stem}_table.so", "gcc", "-std=gnu17", str(source))
        return Path(shutil.copy(library, CACHE / f"launcher_{next(COUNT)}.so"))

    def __call__(self, batch: int, *inputs: Any) -> list[torch.Tensor]:
        outputs = self.outputs or [
            inputs[self.inplace[place]]
            if place in self.inplace
            else torch.full([batch if s is None else s for s in out.shape], torch.nan).to(
                self.dtype
            )
            for place, out in enumerate(self.plan.program.outputs)
        ]
        held = [_held(value) for value in inputs]
        count = self.library.scratch_bytes(ctypes.c_int64(batch))
        if self.scratch.numel() < count:
            self.scratch = torch.empty(count, dtype=torch.uint8)
        self.scratch.fill_(0xFF)  # NaN everywhere
        why = ctypes.create_string_buffer(512)
        self.status = self.library.run(
            self.device,
            ctypes.c_void_p(self.stream),
            (ctypes.c_void_p * max(len(held), 1))(*(_address(value) for value in held)),
            (ctypes.c_void_p * max(len(outputs), 1))(*(o.data_ptr() for o in outputs)),
            ctypes.c_int64(batch),
            ctypes.c_void_p(self.scratch.data_ptr()),
            why,
        )
        self.why = why.value.decode()
        return outputs
