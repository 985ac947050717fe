"""What a program imports: buffers for its signatures, promises, and its own `.ppy` modules.

A program that imports `ppy` runs under plain Python, where all of this means nothing more
than it says; `ppybuild` reads it. Importing `ppy` installs the importer of `.ppy` files.
"""

from ppy import importer, native
from ppy.grids import grid
from ppy.resources import resource

__all__ = ["Buffer", "export", "f32", "grid", "i8", "i32", "native", "pure", "resource", "u8"]


class Buffer:
    """Numbers side by side in memory, for annotations: `Buffer[float]`, `Buffer[ppy.i32]`.

    What is passed is an `array.array`, a `memoryview`, or bytes for `ppy.u8`. `float` is 64
    bits wide, typecode "d"; `int` is 64 bits wide, typecode "q"; the markers of this module
    name the other widths.
    """

    __slots__ = ()
    __class_getitem__ = classmethod(type(list[int]))

    def __new__(cls):
        raise TypeError("ppy.Buffer is for annotations: make an array.array")


class f32:
    """The elements of `array.array("f")`: 32-bit floats."""


class i32:
    """The elements of `array.array("i")`: 32-bit integers."""


class u8:
    """The elements of `array.array("B")`, `bytes` and `bytearray`: integers in [0, 256)."""


class i8:
    """The elements of `array.array("b")`: integers in [-128, 128)."""


def pure(function):
    """Promise that `function` only computes its result. Returns the function itself."""
    return function


def export(function):
    """Make `function` one of those that `ppybuild package --library` offers to C. Returns
    the function itself."""
    return function


importer.install()
