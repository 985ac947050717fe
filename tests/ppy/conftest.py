"""A bundle with one native function, laid down by hand, and ways to run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppybuild.emit.boundary.wrappers import emit_extension, emit_wrappers
from ppybuild.emit.loops.ir import Function, Location, ScalarParameter, Type
from ppybuild.emit.names import kernel_name, mangle
from tests.extensions import build_extension, write_bundle

INTS = (ScalarParameter("a", Type.I64), ScalarParameter("b", Type.I64))
NAMES = ("add", "Number.plus", "make.<locals>.add")
KERNEL = """
static int {name}(ppy_run *run, int64_t a, int64_t b, int64_t *r0) {{
    (void)run;
    return ppy_checked_add_i64(a, b, r0) ? PPY_OK : PPY_ABANDON;
}}
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`loops`, with an `add` of two ints for each name of `NAMES` in module `train`."""
    functions = [
        Function(f"train.{name}", INTS, Type.I64, (), (), Location(1, 1)) for name in NAMES
    ]
    wrappers = emit_wrappers("train", functions)
    kernels = "".join(KERNEL.format(name=name) for name in kernel_names(functions))
    sources = {
        "train.c": f'#include "ppy_wrap.h"\n{kernels}\n{wrappers}',
        "loops.c": emit_extension("loops", ["train"]),
    }
    return build_extension(tmp_path_factory.mktemp("extension"), "loops", sources)


def kernel_names(functions: list[Function]) -> list[str]:
    return [kernel_name(function.name) for function in functions]


@pytest.fixture
def lay(tmp_path: Path, extension: Path) -> Callable[..., Path]:
    """`lay(sources, module="train", **changes)` gives the launcher of a bundle whose module
    `train` has the names of `NAMES` bound."""

    def lay(sources: dict[str, str], module: str = "train", **changes: Any) -> Path:
        root = changes.pop("root", tmp_path / "start")
        names = {name: ["loops", mangled(name)] for name in changes.pop("bound", ["add"])}
        bindings = {"train": names} if "train.ppy" in sources else {}
        return write_bundle(root, sources, module, {"loops": extension}, bindings, **changes)

    return lay


def mangled(name: str) -> str:
    return mangle(f"train.{name}")


def start(
    launcher: Path | str, *args: str, cwd: Path | str = "/", **options: Any
) -> subprocess.CompletedProcess[str]:
    variables = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    }
    variables |= {"PPY_PYTHON": sys.executable} | options.pop("env", {})
    return subprocess.run(
        [launcher, *args],
        cwd=cwd,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture
def run() -> Run:
    return start
