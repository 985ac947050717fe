"""The device `cuda`: NVIDIA's compiler, and the cards that kernels are compiled for."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure, nearest
from ppybuild.targets.toolchain import stat_of

PACKAGES = ("nvidia.cu13", "nvidia.cuda_nvcc")
"""Where the wheels `nvidia-cuda-nvcc` and `nvidia-cuda-nvcc-cu12` put the compiler."""

FLAGS = ("-std=c++17", "-O3", "-Wno-deprecated-gpu-targets")


@dataclass(frozen=True, slots=True)
class Cuda:
    """The compiler, what it says of itself, and the cards."""

    nvcc: Path
    version: str
    arch: tuple[str, ...]
    """As `sm_90`."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Code for each card, and PTX of the newest for later ones."""
        numbers = [name.removeprefix("sm_") for name in self.arch]
        newest = max(numbers, key=_generation)
        return (
            *FLAGS,
            *(f"-gencode=arch=compute_{n},code=sm_{n}" for n in numbers),
            f"-gencode=arch=compute_{newest},code=compute_{newest}",
        )


def _generation(number: str) -> int:
    return int(number.rstrip("af"))


def find_nvcc() -> Path | None:
    """On the path, else in `CUDA_HOME`, else in NVIDIA's wheel. Runs nothing."""
    for place in _places():
        if place.is_file() and os.access(place, os.X_OK):
            return place
    return None


def _places() -> Iterator[Path]:
    found = shutil.which("nvcc")
    if found:
        yield Path(found)
    home = os.environ.get("CUDA_HOME")
    if home:
        yield Path(home) / "bin" / "nvcc"
    for package in PACKAGES:
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:  # no `nvidia` at all
            continue
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(folder) / "bin" / "nvcc"


def nvcc_identity() -> str:
    """Differs where another compiler would be used. Runs nothing."""
    found = find_nvcc()
    return "none" if found is None else stat_of(found)


def need_cuda(arch: Sequence[str]) -> Cuda:
    """Raises `Failure` where there is no compiler, or one that does not know a card."""
    nvcc = find_nvcc()
    if nvcc is None:
        raise Failure(
            Diagnostic("E4005", "no CUDA compiler was found (nvcc)", help=CODES["E4005"].fix),
            status=2,
        )
    known = _run(nvcc, "--list-gpu-code").split()
    if not known:
        message = f"`{nvcc}` does not work as a CUDA compiler"
        raise Failure(Diagnostic("E4005", message, help=CODES["E4005"].fix), status=2)
    for name in arch:
        if name not in known:
            close = nearest(name, known)
            advice = f"did you mean `{close}`? " if close else ""
            raise Failure(
                Diagnostic(
                    "E4011",
                    f"nvcc does not know the card `{name}` of `[device.cuda] arch`",
                    help=f"{advice}it knows {', '.join(known)}",
                ),
                status=2,
            )
    return Cuda(nvcc, nvcc_version(nvcc), tuple(dict.fromkeys(arch)))


def nvcc_version(nvcc: Path) -> str:
    """Its release, in its own words; "" where it does not run. Runs it."""
    lines = _run(nvcc, "--version").splitlines()
    return next((line.strip() for line in lines if "release" in line), "")


def _run(nvcc: Path, *arguments: str) -> str:
    """Its standard output; "" where it fails."""
    done = subprocess.run(
        [nvcc, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return done.stdout if done.returncode == 0 else ""
