"""The hand-written C that is compiled into every extension."""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePosixPath

from ppybuild.emit.emission import SourceFile

BOUNDARY = ("ppy_boundary.h", "ppy_boundary.c", "ppy_relies.c")
KERNELS = ("ppy_kernel.h", "ppy_int.h", "ppy_float.h", "ppy_math.h", "ppy_str.h")
LOOPS = (*KERNELS, "ppy_wrap.h", "ppy_wrap.c", *BOUNDARY)


def runtime_sources(names: tuple[str, ...] = LOOPS) -> tuple[SourceFile, ...]:
    """These files of `emit/runtime/`: `LOOPS` for kernels and their wrappers, `KERNELS`
    for kernels alone, `BOUNDARY` where there are none."""
    folder = files("ppybuild.emit") / "runtime"
    return tuple(
        SourceFile(PurePosixPath(name), (folder / name).read_text("utf-8")) for name in names
    )
