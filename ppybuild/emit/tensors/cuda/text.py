"""Spelling of numbers, elementwise work and phases in CUDA kernels."""

from __future__ import annotations

from ppybuild.emit.tensors.fused.elements import ELEMENTS
from ppybuild.emit.tensors.fused.ir import Element

WARP = 32


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


def phase(note: str, body: list[str]) -> list[str]:
    comment = f" /* {note} */" if note else ""
    return [f"PPY_PHASE{comment}", *indented(body), "PPY_BARRIER"]


def warp_phase(note: str, body: list[str]) -> list[str]:
    lines = phase(note, body)
    return [lines[0].replace("PPY_PHASE", "PPY_WARP_PHASE", 1), *lines[1:]]


def fold(arrays: list[str], rows: int, width: int) -> list[str]:
    """Each array's `rows` by `width` numbers become their sums over the rows, in place."""
    if rows == 1:
        return []
    adds = [f"{name}[thread] += {name}[thread + half * {width}];" for name in arrays]
    body = [f"if (thread < half * {width}) {{", *indented(adds), "}"]
    return [
        f"for (int half = {rows // 2}; half; half /= 2) {{",
        *indented(phase("", body)),
        "}",
    ]
