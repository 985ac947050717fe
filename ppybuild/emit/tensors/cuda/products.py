"""Print a product of a stage: on tensor cores where the call allows TF32, else one by one."""

from __future__ import annotations

from collections.abc import Callable

from ppybuild.emit.tensors.cuda.layout import THREADS, Layout, Stage
from ppybuild.emit.tensors.cuda.text import WARP, indented, phase, warp_phase
from ppybuild.emit.tensors.fused.ir import Outer, Product

LEAST = 8
"""Rows and columns from which tensor cores are used: the sides of their blocks."""


def multiply(layout: Layout, stage: Stage, i: int, rows_of: Callable[[int], str]) -> list[str]:
    """`rows_of` gives a pointer to a row value's first row of the tile."""
    operation, note = layout.program.operations[i], layout.program.notes[i]
    match operation:
        case Product(row, weight, transposed):
            inner, outer = layout.width(row), layout.width(i)
            turned = f"(scratch + {stage.transposed.get(weight)})"
            pointer = turned if transposed else layout.weights[weight]
            height, width = block_shape(layout.tile, outer)
            blocks = warp_blocks(layout.tile, inner, outer)
            plain = (
                f"ppy_product<{height}, {width}, {inner}, {outer}>"
                f"(thread, v{i}, {rows_of(row)}, {pointer}, rows);"
            )
            tensor = (
                f"ppy_tensor_product<{blocks}, {outer}, {inner}, 1>"
                f"(warp, v{i}, {rows_of(row)}, {pointer}, rows, {inner}, true);"
            )
        case Outer(left, right):
            inner, outer = layout.width(left), layout.width(right)
            sums = f"sums + {stage.sums[i]}"
            height, width = block_shape(inner, outer)
            blocks = warp_blocks(inner, layout.tile, outer)
            plain = (
                f"ppy_outer<{height}, {width}, {inner}, {outer}>"
                f"(thread, {sums}, {rows_of(left)}, {rows_of(right)}, rows, fresh);"
            )
            tensor = (
                f"ppy_tensor_product<{blocks}, {outer}, 1, {inner}>"
                f"(warp, {sums}, {rows_of(left)}, {rows_of(right)}, {inner}, rows, fresh);"
            )
        case _:
            raise AssertionError(operation)
    lines = phase(note, [plain])
    if not blocks or layout.program.dtype != "float32":
        return lines
    return [
        f"if (PPY_TENSOR_CORES && PPY_INT({layout.words['tf32']})) {{",
        *indented(warp_phase(note, [tensor])),
        "} else {",
        *indented(lines),
        "}",
    ]


def warp_blocks(down: int, inner: int, across: int) -> int:
    """Blocks of 8 columns that a warp computes of a product at once, of 16 rows each: as many
    as leave work for all. 0 where tensor cores would mostly multiply zeros."""
    if min(down, inner, across) < LEAST:
        return 0
    warps = THREADS // WARP
    fitting = (n for n in (4, 2) if -(-down // 16) * -(-across // (8 * n)) >= warps)
    return next(fitting, 1)


def block_shape(down: int, across: int) -> tuple[int, int]:
    """Rows and columns of a product that a thread computes: as many as leave work for all."""
    for height, width in ((4, 4), (4, 2), (2, 2), (2, 1)):
        if height <= down and width <= across and down * across >= THREADS * height * width:
            return height, width
    return 1, 1
