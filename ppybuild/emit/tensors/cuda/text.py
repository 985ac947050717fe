"""Spelling of numbers and elementwise work in CUDA kernels."""

from __future__ import annotations

from ppybuild.emit.tensors.fused.elements import ELEMENTS
from ppybuild.emit.tensors.fused.ir import Element


def literal(value: float) -> str:
    if value != value:
        return "(ppy_real)NAN"
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}PPY_INFINITY"
    return f"(ppy_real){value!r}"


def spell(element: Element) -> str:
    """The C of an element whose operands are the variables `e<number>`."""
    return ELEMENTS[element.name].format(
        *(f"e{v}" if isinstance(v, int) else literal(v) for v in element.operands)
    )


def indented(lines: list[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]
