"""NVIDIA's tools and headers, where there are any."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ppybuild.targets.cuda import find_nvcc

NVCC = find_nvcc()


def _roots() -> list[Path]:
    """Folders with a `bin` and an `include`."""
    places = [Path(os.environ["CUDA_HOME"])] if "CUDA_HOME" in os.environ else []
    if NVCC is not None:
        places.append(NVCC.resolve().parents[1])
    return [*places, *sorted(Path("/usr/local").glob("cuda*"), reverse=True)]


def find(name: str) -> Path | None:
    """A file below one of them, as `include/cuda.h`; programs on the path too."""
    found = shutil.which(Path(name).name) if name.startswith("bin/") else None
    places = [*([Path(found)] if found else []), *(root / name for root in _roots())]
    return next((place for place in places if place.is_file()), None)
