"""Build a fused region and call it on tensors."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch

import ppybuild.emit
from ppybuild.emit.tensors.fused import emit_fused, plan_fused
from ppybuild.emit.tensors.ir import Graph

RUNTIME = Path(ppybuild.emit.__file__).parent / "runtime"
FLAGS = [
    *("-std=c11", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"),
    *("-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
]
MACHINE = {16: ["-msse4.1"], 32: ["-mavx2", "-mfma"], 64: ["-mavx512f", "-mavx512dq", "-mfma"]}
HAS = {16: True, 32: True, 64: "avx512dq" in Path("/proc/cpuinfo").read_text()}
RUNNABLE = tuple(width for width, has in HAS.items() if has)
"""Of vectors, those that the machine can run."""
LIBTORCH = ctypes.CDLL(
    str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"), mode=ctypes.RTLD_GLOBAL
)
CACHE = Path(tempfile.mkdtemp(prefix="fused"))


def compile_text(text: str, vector_bytes: int, optimize: str) -> Path:
    name = hashlib.sha256(f"{vector_bytes}{optimize}{text}".encode()).hexdigest()[:16]
    library = CACHE / f"{name}.so"
    if not library.exists():
        source = CACHE / f"{name}.c"
        source.write_text(text)
        subprocess.run(
            [
                "gcc",
                optimize,
                *FLAGS,
                *MACHINE[vector_bytes],
                f"-I{RUNTIME}",
                str(source),
                "-o",
                str(library),
            ],
            check=True,
        )
    return library


class Fused:
    """A graph in its fused form. Outputs are new tensors, unless `inplace` names inputs."""

    def __init__(
        self,
        graph: Graph,
        batch: str = "n",
        vector_bytes: int = 32,
        inplace: dict[int, int] | None = None,
        optimize: str = "-O1",
    ) -> None:
        self.graph = graph
        self.plan = plan_fused(graph, batch)
        self.text = emit_fused(self.plan, "fused_region", vector_bytes)
        library = ctypes.CDLL(str(compile_text(self.text, vector_bytes, optimize)))
        self.function = library.fused_region
        self.scratch_bytes = ctypes.c_int64.in_dll(library, "fused_region_scratch").value
        self.dtype = getattr(torch, self.plan.program.dtype)
        self.scratch = torch.empty(self.scratch_bytes + 64, dtype=torch.uint8)
        self.inplace = inplace or {}

    def __call__(self, batch: int, *inputs: Any) -> list[torch.Tensor]:
        outputs = [
            inputs[self.inplace[place]]
            if place in self.inplace
            else torch.empty(
                [batch if s is None else s for s in output.shape], dtype=self.dtype
            )
            for place, output in enumerate(self.plan.program.outputs)
        ]
        self.status = self.call(self.prepare(batch, inputs, outputs))
        return outputs

    def prepare(self, batch: int, inputs: Any, outputs: list[torch.Tensor]) -> Any:
        held = [_held(value) for value in inputs]
        self.kept = (held, outputs)
        places = (ctypes.c_void_p * max(len(inputs), 1))(*(_address(v) for v in held))
        results = (ctypes.c_void_p * max(len(outputs), 1))(*(o.data_ptr() for o in outputs))
        scratch = -(-self.scratch.data_ptr() // 64) * 64
        return places, results, (ctypes.c_int64 * 1)(batch), ctypes.c_void_p(scratch)

    def call(self, arguments: Any) -> int:
        return int(self.function(*arguments))


def _held(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().contiguous()
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


def _address(value: Any) -> int:
    return value.data_ptr() if isinstance(value, torch.Tensor) else ctypes.addressof(value)
