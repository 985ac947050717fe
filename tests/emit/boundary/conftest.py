"""One extension of hand-written kernels, with the wrappers that are printed for them."""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import ModuleType

import pytest

from ppybuild.emit.boundary.wrappers import emit_extension, emit_wrappers
from ppybuild.emit.loops.ir import (
    BufferParameter,
    Element,
    Function,
    Location,
    Parameter,
    Result,
    ScalarParameter,
    TupleParameter,
    TupleResult,
    Type,
)
from ppybuild.emit.relied import Relied, ReliedConstant, ReliedLibrary, ReliedNative
from tests.extensions import build_extension, load_extension

HERE = Path(__file__).parent

A, B = ScalarParameter("a", Type.I64), ScalarParameter("b", Type.I64)
X = ScalarParameter("x", Type.F64)
BUFFERS = {
    f"set_{element.value}": (
        BufferParameter("out", element, writable=True),
        A,
        ScalarParameter("value", element.type),
    )
    for element in Element
    if element is not Element.STR
}


RELIED: tuple[Relied, ...] = (
    ReliedNative(("callee",), "m.callee"),
    ReliedNative(("space", "callee"), "m.callee"),
    ReliedNative(("Box", "callee"), "m.callee"),
    ReliedConstant(("COUNT",), 3),
    ReliedConstant(("ZERO",), -0.0),
    ReliedConstant(("space", "NAN"), math.nan),
    ReliedConstant(("LEAST",), -(2**63)),
    ReliedConstant(("FLAG",), True),
    ReliedLibrary(("abs",), "builtins.abs"),
    ReliedLibrary(("range",), "builtins.range"),
    ReliedLibrary(("space", "root"), "math.sqrt"),
)


def function(
    name: str,
    parameters: tuple[Parameter, ...],
    result: Result,
    relies: tuple[Relied, ...] = (),
) -> Function:
    return Function(f"m.{name}", parameters, result, (), (), Location(1, 1), relies)


FUNCTIONS = (
    function("add", (A, B), Type.I64),
    function("half", (X,), Type.F64),
    function("invert", (ScalarParameter("flag", Type.BOOL),), Type.BOOL),
    function("nothing", (), None),
    function(
        "nest",
        (
            TupleParameter(
                "pair",
                (
                    ScalarParameter("i", Type.I64),
                    TupleParameter("inner", (X, ScalarParameter("flag", Type.BOOL))),
                ),
            ),
            TupleParameter("empty", ()),
        ),
        TupleResult((Type.F64, TupleResult((Type.BOOL, Type.I64)), TupleResult(()))),
    ),
    function("total", (BufferParameter("data", Element.F64, writable=False),), Type.F64),
    function("total_bytes", (BufferParameter("data", Element.U8, writable=False),), Type.I64),
    function(
        "accumulate",
        (
            BufferParameter("out", Element.I64, writable=True),
            BufferParameter("other", Element.I64, writable=True),
            A,
        ),
        None,
    ),
    function("down", (A,), Type.I64),
    function("spin", (BufferParameter("out", Element.I64, writable=True),), None),
    *(function(name, parameters, None) for name, parameters in BUFFERS.items()),
    function("caller", (), Type.I64, RELIED),
    function(
        "callee",
        (A, B, ScalarParameter("c", Type.I64)),
        Type.I64,
        (ReliedConstant(("éDEEP",), 7),),
    ),
)


@pytest.fixture(scope="session")
def sources() -> dict[str, str]:
    """The extension's own C files, by name."""
    kernels = (HERE / "kernels.c").read_text(encoding="utf-8")
    return {
        "m.c": f"{kernels}\n{emit_wrappers('m', FUNCTIONS)}",
        "region.c": (HERE / "region.c").read_text(encoding="utf-8"),
        "loops.c": emit_extension("loops", ["m", "region"]),
    }


@pytest.fixture(scope="session")
def loops(tmp_path_factory: pytest.TempPathFactory, sources: dict[str, str]) -> ModuleType:
    """The extension; in the run that `test_sanitized.py` starts, the one that it compiled."""
    if sanitized := os.environ.get("PPY_SANITIZED"):
        return load_extension(Path(sanitized))
    return load_extension(build_extension(tmp_path_factory.mktemp("loops"), "loops", sources))
