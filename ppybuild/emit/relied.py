"""What native code takes for granted, where Python looks a name up each time it runs.

    def area(r: float) -> float:
        return scale(r, 2) * cfg.PI

is compiled with `scale` called directly and `cfg.PI` as a number. A program may bind either
anew in ways that no analysis sees; the wrapper of `area` compares before it calls the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

Path = tuple[str, ...]
"""Names as written, from the globals of the function: `("cfg", "PI")`."""


@final
@dataclass(frozen=True, slots=True)
class ReliedNative:
    """The path leads to a native function of the same extension."""

    path: Path
    function: str
    """As in `graph.program.Function.name`."""


@final
@dataclass(frozen=True, slots=True)
class ReliedLibrary:
    """The path leads to a built-in function or class."""

    path: Path
    name: str
    """`math.sqrt`, `builtins.range`."""


@final
@dataclass(frozen=True, slots=True)
class ReliedConstant:
    """The path leads to a value of exactly this type."""

    path: Path
    value: int | float | bool | str
    """A str is ASCII, without zeros."""


Relied = ReliedNative | ReliedLibrary | ReliedConstant
