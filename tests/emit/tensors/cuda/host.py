"""Build CUDA kernels for the processor, and stand-ins for the driver and torch's library."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import ppybuild.emit
from ppybuild.emit.emission import Extension

HERE = Path(__file__).parent
RUNTIME = Path(ppybuild.emit.__file__).parent / "runtime"
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


@cache
def fake_torch() -> ctypes.CDLL:
    flag = "-Wl,-soname,libtorch_cuda.so"
    library = build("libtorch_cuda.so", "gcc", str(HERE / "fake_torch.c"), flag)
    return ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def kernels(text: str) -> Path:
    """A `.cu` file for the processor."""
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    source = CACHE / f"{name}.cpp"
    source.write_text(text)
    return build(f"{name}.so", "g++", "-std=c++20", str(source))


def pretend(folder: Path, extension: Extension) -> None:
    """Put images beside an extension's sources that the fake driver takes."""
    fake_driver()
    fake_torch()
    for source in extension.sources:
        if source.path.suffix == ".cu":
            image = folder / f"{source.path.stem}.fatbin"
            image.write_bytes(str(kernels(source.text)).encode())


@cache
def launcher() -> Path:
    return compile_c("launcher", (RUNTIME / "ppy_cuda.c").read_text())


def compile_c(name: str, text: str) -> Path:
    source = CACHE / f"{name}.c"
    source.write_text(text)
    target = source.with_suffix(".o")
    subprocess.run(
        [
            *("gcc", "-std=gnu17", *OPTIMISE, "-fPIC", *WARNINGS, f"-I{RUNTIME}"),
            *(f"-Wa,-I,{CACHE}", "-c", str(source), "-o", str(target)),
        ],
        check=True,
    )
    return target
