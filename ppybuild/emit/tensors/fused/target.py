"""What the printers need to know of the machine and the dtype."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

WIDTHS = ((64, "__AVX512F__"), (32, "__AVX__"), (16, None))
"""Bytes of a SIMD register, and the macro of compilers whose target has such; None: every."""


@final
@dataclass(frozen=True, slots=True)
class Vectors:
    """`width`: bytes of a SIMD register, as in `WIDTHS`."""

    width: int
    double: bool

    @property
    def lanes(self) -> int:
        return self.width // (8 if self.double else 4)

    def padded(self, count: int) -> int:
        """Numbers in a row of a buffer: whole vectors."""
        return -(-count // self.lanes) * self.lanes

    def literal(self, value: float) -> str:
        if value != value:
            return '(ppy_real)__builtin_nan("")'
        if value in (float("inf"), float("-inf")):
            return f"{'-' if value < 0 else ''}PPY_INFINITY"
        return f"(ppy_real){value!r}"
