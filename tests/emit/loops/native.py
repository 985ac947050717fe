"""Compile kernels with the C compiler and call them as Python functions."""

from __future__ import annotations

import array
import ctypes
import hashlib
import math
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ppybuild
from ppybuild.emit.loops import ir
from ppybuild.emit.loops.printer import print_source
from ppybuild.emit.loops.verify import flat_parameters, flat_result
from ppybuild.emit.names import kernel_name

RUNTIME = Path(ppybuild.__file__).parent / "emit/runtime"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
EXACT = ["-ffp-contract=off", "-fno-strict-aliasing", "-fno-math-errno"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED = "PPY_TEST_SANITIZE" in os.environ
"""Set by `test_sanitized.py`, which runs the other tests again."""
OPTIMISE = ["-O1", "-g", *SANITIZERS] if SANITIZED else ["-O3"]
FLAGS = ["-std=c11", *OPTIMISE, *WARNINGS, *EXACT]

OK, ABANDON, RAISED = 0, 1, 2


class Run(ctypes.Structure):
    """`ppy_run` of `ppy_kernel.h`."""


Poll = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Run))
Run._fields_ = [
    ("saved", ctypes.c_void_p),
    ("depth", ctypes.c_int64),
    ("ticks", ctypes.c_int64),
    ("poll", ctypes.c_void_p),
    ("ask", ctypes.c_void_p),
    ("made", ctypes.c_void_p),
]
_ANSWERS = {
    "PPY_GAMMA": math.gamma,
    "PPY_LGAMMA": math.lgamma,
    "PPY_HYPOT": math.hypot,
    "PPY_DIST": lambda *each: math.dist(each[: len(each) // 2], each[len(each) // 2 :]),
    "PPY_ROUND": lambda value, digits: round(value, int(digits)),
}
_ASKED = re.findall(r"^    (PPY_[A-Z]+),", (RUNTIME / "ppy_kernel.h").read_text(), re.M)
_DOUBLES = ctypes.POINTER(ctypes.c_double)


@ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_int, _DOUBLES, ctypes.c_int64, _DOUBLES)
def answer(function: int, values: Any, count: int, result: Any) -> bool:
    """What `ppy_ask_python` does."""
    try:
        result[0] = _ANSWERS[_ASKED[function]](*values[:count])
    except (ArithmeticError, ValueError):
        return False
    return True


_SCALARS = {
    ir.Type.I64: ctypes.c_int64,
    ir.Type.F64: ctypes.c_double,
    ir.Type.BOOL: ctypes.c_bool,
}
_ELEMENTS = {
    ir.Element.F64: "d",
    ir.Element.I64: "q",
    ir.Element.F32: "f",
    ir.Element.I32: "i",
    ir.Element.U8: "B",
    ir.Element.I8: "b",
}


class BufferView(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_int64)]


class Abandoned(Exception):
    """The kernel gave up, and what it had saved is back."""


class Raised(Exception):
    """The kernel stopped for a signal."""


_RELEASE = """
void test_release(ppy_run *run, int restore);
void test_release(ppy_run *run, int restore) {
    ppy_release(run, restore);
    ppy_unmake(run, NULL);
}
"""


class Kernels:
    """A loaded library of kernels; `kernels.call(name, *args)`."""

    def __init__(self, functions: Mapping[str, ir.Function], path: str = "case.py") -> None:
        self.functions = functions
        self.source = print_source(tuple(functions), functions, path)
        self.folder = tempfile.TemporaryDirectory(prefix="kernels-")
        self.library = ctypes.CDLL(str(build(self.source, Path(self.folder.name))))

    def call(self, name: str, *args: Any, depth: int = 900, poll: Any = None) -> Any:
        """The result as Python has it; arguments are scalars, tuples and `array.array`s."""
        function = self.functions[name]
        look = ctypes.cast(poll, ctypes.c_void_p) if poll else None
        run = Run(None, depth, 1 << 20, look, ctypes.cast(answer, ctypes.c_void_p))
        flat = [each for arg in args for each in _flatten(arg)]
        wanted = flat_parameters(function.parameters)
        assert len(flat) == len(wanted)
        passed = [_argument(each, arg) for each, arg in zip(wanted, flat, strict=True)]
        results = [_place(each) for each in flat_result(function.result)]
        kernel = self.library[kernel_name(name)]
        status = kernel(ctypes.byref(run), *passed, *map(ctypes.byref, results))
        if status == OK:
            values = list(map(_value, flat_result(function.result), results))
        self.library.test_release(ctypes.byref(run), int(status != OK))
        if status == ABANDON:
            raise Abandoned
        if status == RAISED:
            raise Raised
        return _shape(function.result, iter(values))


def build(source: str, folder: Path, flags: Sequence[str] = FLAGS) -> Path:
    """The shared library made from a C source; warnings are errors."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    text, library = folder / f"k{digest}.c", folder / f"k{digest}.so"
    text.write_text(source + _RELEASE)
    command = ["gcc", *flags, "-fPIC", "-shared", f"-I{RUNTIME}", str(text), "-o", str(library)]
    done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{source}"
    return library


def _flatten(arg: Any) -> list[Any]:
    return (
        [each for item in arg for each in _flatten(item)] if isinstance(arg, tuple) else [arg]
    )


def _argument(parameter: ir.ScalarParameter | ir.BufferParameter, arg: Any) -> Any:
    if isinstance(parameter, ir.ScalarParameter):
        return _SCALARS[parameter.type](arg)
    assert isinstance(arg, array.array)
    assert arg.typecode == _ELEMENTS[parameter.element]
    address, length = arg.buffer_info()
    return BufferView(address, length)


def _place(result: ir.Type | ir.ArrayResult) -> Any:
    return BufferView() if isinstance(result, ir.ArrayResult) else _SCALARS[result]()


def _value(result: ir.Type | ir.ArrayResult, place: Any) -> Any:
    """What Python gets of a part of a result."""
    if not isinstance(result, ir.ArrayResult):
        return place.value
    found = array.array(_ELEMENTS[result.element])
    found.frombytes(ctypes.string_at(place.data, place.length * found.itemsize))
    if result.holder == "array":
        return found
    return [bool(each) if result.holder == "list of bools" else each for each in found]


def _shape(result: ir.Result, values: Any) -> Any:
    if result is None:
        return None
    if isinstance(result, ir.TupleResult):
        return tuple(_shape(item, values) for item in result.items)
    return next(values)
