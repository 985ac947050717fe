"""Print the tables of what functions rely on; `emit/runtime/ppy_relies.c` reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import assert_never

from ppybuild.emit.names import mangle
from ppybuild.emit.relied import Relied, ReliedConstant, ReliedLibrary, ReliedNative


def relied_name(function: str) -> str:
    """The C name of the table of what a function relies on."""
    return f"ppy_relied_{mangle(function)}"


def emit_relied(function: str, relies: Iterable[Relied]) -> str:
    """The table of one function, which its row in the table of entries names."""
    return "\n".join(
        (
            f"static const ppy_relied {relied_name(function)}[] = {{",
            *(f"    {_row(relied)}," for relied in relies),
            "    {NULL, 0, NULL, 0},",
            "};",
        )
    )


def _row(relied: Relied) -> str:
    path = _text(".".join(relied.path))
    match relied:
        case ReliedNative(_, function):
            return f'{{{path}, PPY_NATIVE, "{mangle(function)}", 0}}'
        case ReliedLibrary(_, name):
            return f'{{{path}, PPY_LIBRARY, "{name}", 0}}'
        case ReliedConstant(_, value):
            return constant_row(".".join(relied.path), value)
        case _:
            assert_never(relied)


def constant_row(path: str, value: int | float | bool | str) -> str:
    """The row of a constant at a path as `ppy_relies.c` reads it."""
    return f"{{{_text(path)}, {_constant(value)}}}"


def _constant(value: int | float | bool | str) -> str:
    if isinstance(value, str):
        return f"PPY_TEXT, {_text(value)}, 0"
    if isinstance(value, bool):
        return f"PPY_BOOL, NULL, {int(value)}"
    if isinstance(value, int):
        return f"PPY_INT, NULL, {_int64(value)}"
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return f"PPY_FLOAT, NULL, {_int64(bits)} /* {value!r} */"


def _int64(value: int) -> str:
    return "INT64_MIN" if value == -(2**63) else f"INT64_C({value})"


def _text(name: str) -> str:
    """A C string of the name's UTF-8."""
    parts = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in _ESCAPED else f"\\{byte:03o}"
        for byte in name.encode()
    )
    return f'"{"".join(parts)}"'


_ESCAPED = '"\\?'
"""What ends a C string, or begins something else in it."""
