"""What a program imports, under plain Python."""

from __future__ import annotations

import functools
import subprocess
import sys
import typing
from array import array

import pytest

import ppy
from ppy import Buffer


def test_buffer_in_annotations() -> None:
    def f(x: Buffer[float], y: Buffer[ppy.f32] | None, z: Buffer[int] | None) -> None: ...

    hints = typing.get_type_hints(f)
    assert hints["x"] == Buffer[float]
    assert typing.get_args(hints["x"]) == (float,)
    assert typing.get_origin(hints["x"]) is Buffer
    assert Buffer[float] != Buffer[int]
    assert repr(Buffer[ppy.i8]) == "ppy.Buffer[ppy.i8]"


def test_buffer_is_not_made() -> None:
    with pytest.raises(TypeError, match=r"array\.array"):
        Buffer()  # type: ignore[misc]


def test_pure_returns_the_function() -> None:
    def f() -> int:
        return 1

    assert ppy.pure(f) is f


def test_nothing_is_compiled_under_python() -> None:
    @functools.cache
    def f() -> int:
        return 1

    assert not ppy.native.compiled(f)
    assert not ppy.native.compiled(None)
    assert not ppy.native.compiled(array("d"))
    f.__wrapped__ = f  # type: ignore[misc]
    assert not ppy.native.compiled(f)


def test_import_is_light() -> None:
    """Nothing heavy comes along; the time itself is measured by the benchmarks."""
    code = "import sys, ppy; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    base = subprocess.run(
        [sys.executable, "-c", "import sys, importlib.machinery; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    added = set(run.stdout.split()) - set(base.stdout.split())
    assert added == {"ppy", "ppy.grids", "ppy.importer", "ppy.native", "ppy.resources"}
