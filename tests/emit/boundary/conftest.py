"""One extension of hand-written kernels, with the wrappers that are printed for them."""

from __future__ import annotations

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
}


def function(name: str, parameters: tuple[Parameter, ...], result: Result) -> Function:
    return Function(f"m.{name}", parameters, result, (), (), Location(1, 1))


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
