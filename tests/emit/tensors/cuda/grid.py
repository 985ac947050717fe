"""Run a region's CUDA kernels without a GPU: on the processor, through a fake driver."""

from __future__ import annotations

import ctypes
import itertools
import shutil
from pathlib import Path
from typing import Any

import torch
from native import _address, _held

from ppybuild.emit.tensors.cuda import emit_cuda, emit_image
from ppybuild.emit.tensors.fused import plan_fused
from ppybuild.emit.tensors.ir import Graph
from tests.emit.tensors.cuda.host import CACHE, build, compile_c, fake_driver, kernels, launcher

COUNT = itertools.count()


class Grid:
    """A graph in its CUDA form, with the interface of `native.Fused`."""

    def __init__(
        self, graph: Graph, batch: str = "n", inplace: dict[int, int] | None = None
    ) -> None:
        fake_driver()
        self.plan = plan_fused(graph, batch)
        self.region = emit_cuda(self.plan, "region")
        image = kernels(self.region.text)
        self.library = ctypes.CDLL(str(self._launcher(image)))
        self.library.scratch_bytes.restype = ctypes.c_int64
        self.dtype = getattr(torch, self.plan.program.dtype)
        self.inplace = inplace or {}
        self.launches = self.region.launches
        self.device, self.stream, self.tf32, self.why = 0, 0, False, ""
        self.scratch = torch.empty(1, dtype=torch.uint8)
        self.outputs: list[torch.Tensor] = []
        """What to write to, where it is not new at each call."""

    def _launcher(self, image: Path) -> Path:
        """The table, and the launcher itself, with a state of its own."""
        source = CACHE / f"{image.stem}_table.cpp"
        (CACHE / "region.fatbin").write_bytes(str(image).encode())
        source.write_text(
            '#include "ppy_cuda.h"\n'
            f"{self.region.table}\n"
            'extern "C" int64_t scratch_bytes(int64_t batch) {\n'
            "    return ppy_cuda_scratch(&region_cuda, batch);\n}\n"
            'extern "C" int run(int device, void *stream, void **inputs, void **outputs,\n'
            "                   int64_t batch, void *scratch, int tf32, char *why) {\n"
            "    return (int)ppy_cuda_run(&region_cuda, &region_program, device, stream,\n"
            "                             inputs, outputs, batch, scratch, tf32, why);\n}\n"
        )
        image_object = compile_c("image", emit_image("region"))
        library = build(
            f"{image.stem}_table.so",
            *("g++", "-std=c++20", str(source), str(launcher()), str(image_object)),
        )
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
            self.tf32,
            why,
        )
        self.why = why.value.decode()
        return outputs
