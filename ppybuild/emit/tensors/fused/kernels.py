"""Register-blocked kernels for small matrix products, and the loops that call them.

A kernel computes `height` rows by `vectors` vectors of c (+)= a @ b with all of its sums in
registers. a is read by single numbers with any strides, so the same kernel serves x @ w
(rows of x) and its gradient x.T @ g (columns of x).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ppybuild.emit.tensors.fused.target import Vectors

HEIGHT = 6
"""Rows of a block: with two vectors, twelve sums of sixteen registers."""

VECTORS = 2

Kernel = tuple[int, int, bool]
"""Height, vectors, and whether it adds to c."""


def kernel_name(kernel: Kernel) -> str:
    height, vectors, adds = kernel
    return f"ppy_{'add' if adds else 'set'}_{height}x{vectors}"


def emit_kernel(kernel: Kernel) -> str:
    height, vectors, adds = kernel
    rows, columns = range(height), range(vectors)
    sums = ", ".join(f"s{i}{j} = {{0}}" for i in rows for j in columns)
    lines = [
        f"/* c[{height}][{vectors} vectors] {'+=' if adds else '='} a @ b over `depth`; "
        "a[i][p] is a[i * down + p * along]. */",
        f"PPY_INLINE void {kernel_name(kernel)}(const ppy_real *restrict a, int64_t down, "
        "int64_t along,",
        "    const ppy_real *restrict b, int64_t b_row, ppy_real *restrict c, int64_t c_row, "
        "int64_t depth) {",
        f"    ppy_vec {sums};",
        "    for (int64_t p = 0; p < depth; p++, a += along, b += b_row) {",
        *(f"        const ppy_vec b{j} = ppy_load(b + {j} * PPY_LANES);" for j in columns),
    ]
    for i in rows:
        lines.append(f"        const ppy_vec a{i} = ppy_set(a[{i} * down]);")
        lines += [f"        s{i}{j} += a{i} * b{j};" for j in columns]
    lines.append("    }")
    for i in rows:
        for j in columns:
            place = f"c + {i} * c_row + {j} * PPY_LANES"
            old = f"ppy_load({place}) + " if adds else ""
            lines.append(f"    ppy_store({place}, {old}s{i}{j});")
    return "\n".join([*lines, "}", ""])


def blocks(total: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut `total` into near-equal parts of at most `most`: (start, extent)."""
    count = -(-total // most)
    start = 0
    for i in range(count):
        extent = (total - start) // (count - i)
        yield start, extent
        start += extent


class Products:
    """Prints products and remembers which kernels they call."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self.kernels: set[Kernel] = set()

    def _call(self, kernel: Kernel, *args: str | int) -> str:
        self.kernels.add(kernel)
        return f"{kernel_name(kernel)}({', '.join(map(str, args))});"

    def by_weight(
        self, out: str, row: str, row_stride: int, weight: str, inner: int, outer: int
    ) -> list[str]:
        """out[rows][outer] = row[rows][inner] @ weight[inner][outer]; the last two padded."""
        padded = self.vectors.padded(outer)
        lines: list[str] = []
        for start, extent in blocks(padded // self.vectors.lanes, VECTORS):
            at = start * self.vectors.lanes
            lines += ["{", "    int64_t t = 0;"]
            for height in (HEIGHT, 2, 1):
                call = self._call(
                    (height, extent, False),
                    f"{row} + t * {row_stride}",
                    row_stride,
                    1,
                    f"{weight} + {at}",
                    padded,
                    f"{out} + t * {padded} + {at}",
                    padded,
                    inner,
                )
                lines.append(f"    for (; t + {height} <= rows; t += {height}) {call}")
            lines.append("}")
        return lines

    def over_rows(
        self, out: str, left: str, left_stride: int, inner: int, right: str, right_stride: int,
        outer: int,
    ) -> list[str]:  # fmt: skip
        """out[inner][outer] += left[rows][inner].T @ right[rows][outer]."""
        padded = self.vectors.padded(outer)
        lines: list[str] = []
        for start, extent in blocks(padded // self.vectors.lanes, VECTORS):
            at = start * self.vectors.lanes

            def call(height: int, k: str, at: int = at, extent: int = extent) -> str:
                return self._call(
                    (height, extent, True),
                    f"{left} + {k}",
                    1,
                    left_stride,
                    f"{right} + {at}",
                    right_stride,
                    f"{out} + {k} * {padded} + {at}",
                    padded,
                    "rows",
                )

            for height, group in groupby(blocks(inner, HEIGHT), key=lambda block: block[1]):
                starts = [block[0] for block in group]
                if len(starts) == 1:
                    lines.append(call(height, str(starts[0])))
                    continue
                lines.append(
                    f"for (int64_t k = {starts[0]}; k < {starts[-1] + height}; k += {height}) "
                    + call(height, "k")
                )
        return lines
