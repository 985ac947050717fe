"""Compiler and linker flags, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ppybuild.targets.toolchain import Torch

COMMON = ("-fvisibility=hidden", "-Wall", "-Wextra")

C = ("-std=gnu17", "-O3", "-fno-strict-aliasing")
"""Kernels read one memory through buffers of several types, so aliasing is not strict."""

CXX = ("-std=c++20", "-O2")
"""Regions call into ATen; their own code is not what takes time."""

_NO_FLAGS_READ = ("-fno-math-errno", "-fno-trapping-math")
"""Nothing reads errno or the exception flags, and SIMD square roots need to know that."""

FP: dict[Literal["strict", "relaxed", "fused"], tuple[str, ...]] = {
    # Contract 3: IEEE double in source order, so no fused multiply-add either.
    "strict": ("-ffp-contract=off", *_NO_FLAGS_READ),
    # Not -ffast-math: it takes infinities and NaN for impossible, so that the guards against
    # them fall away, and its start-up code flushes subnormals to zero in the whole process.
    "relaxed": (
        "-ffp-contract=fast",
        "-fassociative-math",
        "-fno-signed-zeros",
        "-freciprocal-math",
        *_NO_FLAGS_READ,
    ),
    "fused": ("-ffp-contract=fast", *_NO_FLAGS_READ),
}

LINK = ("-shared", "-Wl,--build-id=none", "-Wl,-O1")
"""Without a build id or a search path, so that the bytes depend on the code alone."""

TORCH_LIBRARIES = ("torch_python", "torch_cpu", "c10")
"""Already in the process when a region's extension is loaded, so no path to them is kept."""


def torch_flags(torch: Torch) -> tuple[str, ...]:
    """What code that includes torch's headers needs; the path of torch stays out of it."""
    return (
        *(f"-isystem{include}" for include in torch.includes),
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.cxx11_abi)}",
        f"-ffile-prefix-map={torch.folder}=torch",
    )


def torch_link_flags(torch: Torch) -> tuple[str, ...]:
    return (f"-L{torch.libraries}", *(f"-l{name}" for name in TORCH_LIBRARIES))


def python_flags(include: Path) -> tuple[str, ...]:
    return (f"-isystem{include}", f"-ffile-prefix-map={include}=python")
