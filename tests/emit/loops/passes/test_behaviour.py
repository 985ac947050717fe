"""The passes change no result, no exception and no byte of a buffer, whatever is passed."""

from __future__ import annotations

import array
import ctypes
import math
import random
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from ppybuild.emit.loops import ir, passes
from ppybuild.emit.loops.verify import verify
from ppybuild.emit.names import kernel_name
from tests.emit.loops.native import ABANDON, OK, BufferView, Kernels, Run
from tests.emit.loops.passes import tiny
from tests.emit.loops.passes.programs import SOURCES

_CODES = {"f64": "d", "i64": "q", "f32": "f", "i32": "i", "u8": "B", "i8": "b"}
_C = {ir.Type.I64: ctypes.c_int64, ir.Type.F64: ctypes.c_double, ir.Type.BOOL: ctypes.c_bool}
_INTS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, -1, -3, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
_FLOATS = (0.0, -0.0, 1.0, -2.5, 1e300, -1e308, 5e-324, math.inf, -math.inf, math.nan)
# Small enough that Python, which has no ranges to run over them, is done soon.
_SIZES = (0, 1, 2, 3, 5, 8, 13, 40)


@pytest.fixture(scope="module")
def libraries() -> dict[str, Kernels]:
    """Every program twice: with all passes, and with the copies alone."""
    made: dict[str, dict[str, ir.Function]] = {"before": {}, "after": {}}
    for source in SOURCES.values():
        functions = tiny.lower(source)
        made["before"] |= passes.save.run(functions)
        made["after"] |= passes.optimise(functions)
    for functions in made.values():
        for function in functions.values():
            verify(function, functions)
    return {name: Kernels(functions) for name, functions in made.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_same_as_python(name: str, libraries: dict[str, Kernels]) -> None:
    namespace: dict[str, Any] = {"math": math}
    exec("from __future__ import annotations\n" + SOURCES[name], namespace)
    function = libraries["after"].functions[name]
    taken = 0
    for inputs in _inputs(function, random.Random(name)):
        expected = _python(namespace[name], inputs)
        for library in libraries.values():
            found = _native(library, name, inputs, namespace[name])
            assert found[0] == expected, (name, inputs)
            taken += found[1]
    assert taken, "no input ran natively to the end"


Inputs = tuple[bytes, str, tuple[Any, ...]]
"""Memory, its typecode, and arguments: a scalar, or a buffer's first element and length."""


def _inputs(function: ir.Function, chance: random.Random) -> Iterator[Inputs]:
    """Small shapes that fit, sizes that do not, extreme values, buffers that overlap."""
    buffers = [one for one in function.parameters if isinstance(one, ir.BufferParameter)]
    for turn in range(160):
        sizes = [chance.choice(_SIZES) for _ in buffers]
        length = 64 + sum(sizes)
        memory = array.array("d", [chance.choice(_FLOATS) for _ in range(length)])
        style = turn % 4
        if style in (0, 3):
            memory = array.array("d", [chance.uniform(-2, 2) for _ in range(length)])
        if any(one.element is not ir.Element.F64 for one in buffers):
            top = 4 if style in (0, 3) else 2**62
            memory_ints = array.array("q", [chance.randint(-top, top) for _ in range(length)])
            memory = array.array("d", memory_ints.tobytes())
        ints = _INTS[:10] if style != 2 else _INTS
        arguments: list[Any] = []
        start = 0
        for parameter in function.parameters:
            if isinstance(parameter, ir.BufferParameter):
                size = sizes.pop() if style != 0 else 40
                if style == 3:
                    start = chance.randint(0, 4)
                    size = 40
                arguments.append((start, min(size, length - start)))
                start = min(start + size, length)
            elif parameter.type is ir.Type.I64:
                arguments.append(chance.choice(ints[:6] if style == 0 else ints))
            else:
                arguments.append(chance.choice(_FLOATS))
        ints_given = [one for one in arguments if isinstance(one, int)]
        if max(ints_given, default=0) > 100 and min(ints_given) < 3:
            continue  # a loop of many empty turns: Python would not be done
        yield memory.tobytes(), "d", tuple(arguments)


def _views(function: ir.Function, memory: bytearray, arguments: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = []
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(parameter, ir.BufferParameter):
            start, size = argument
            code = _CODES[parameter.element.value]
            part = memoryview(memory)[start * 8 : (start + size) * 8]
            found.append(part.cast(code) if size else memoryview(bytearray()).cast(code))
        else:
            found.append(argument)
    return found


def _bits(value: Any) -> Any:
    return (
        struct.pack("<d", value) if isinstance(value, float) and value == value else repr(value)
    )


def _python(function: Any, inputs: Inputs, memory: bytearray | None = None) -> Any:
    memory = bytearray(inputs[0]) if memory is None else memory
    native = function
    signature = _SIGNATURES[native.__name__]
    try:
        result = _bits(function(*_views(signature, memory, inputs[2])))
    except RecursionError:
        raise
    except Exception as error:
        result = (type(error), str(error))
    return result, bytes(memory)


_SIGNATURES: dict[str, ir.Function] = {
    name: function
    for source in SOURCES.values()
    for name, function in tiny.lower(source).items()
}


def _native(library: Kernels, name: str, inputs: Inputs, python: Any) -> tuple[Any, bool]:
    """What the kernel gives, started again in Python where it gave up; whether it did not."""
    function = library.functions[name]
    memory = bytearray(inputs[0])
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    passed: list[Any] = []
    for parameter, argument in zip(function.parameters, inputs[2], strict=True):
        if isinstance(parameter, ir.BufferParameter):
            start, size = argument
            items = size * 8 // struct.calcsize(_CODES[parameter.element.value])
            passed.append(BufferView(base + start * 8, items))
        else:
            assert isinstance(parameter, ir.ScalarParameter)
            passed.append(_C[parameter.type](argument))
    run = Run(None, 900, 1 << 20, None)
    results = [] if function.result is None else [_C[function.result]()]  # type: ignore[index]
    kernel = library.library[kernel_name(name)]
    status = kernel(ctypes.byref(run), *passed, *map(ctypes.byref, results))
    library.library.test_release(ctypes.byref(run), int(status != OK))
    if status == ABANDON:
        return _python(python, inputs, memory), False
    assert status == OK
    result = results[0].value if results else None
    return (_bits(result), bytes(memory)), True
