"""Print a planned region as one CUDA file over `ppy_cuda_kernel.h`, and how to launch it.

Section 0, stage 0, sums of stage 0, section 1, ...: each a kernel or more, started one after
the other. Weights that the region gives are written by the last of them, and not at all where
an index was out of range: that ends all work on the card, as an assertion of PyTorch's does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.cuda.layout import THREADS, Launch, Layout
from ppybuild.emit.tensors.cuda.rows import emit_stage
from ppybuild.emit.tensors.cuda.weights import Section, emit_combine
from ppybuild.emit.tensors.fused.ir import Load
from ppybuild.emit.tensors.fused.plan import Plan


@final
@dataclass(frozen=True, slots=True)
class CudaRegion:
    """A region's kernels, and the C of the table by which `ppy_cuda.c` launches them."""

    name: str
    text: str
    table: str
    launches: tuple[Launch, ...]


def emit_cuda(plan: Plan, name: str) -> CudaRegion:
    """NotFusible where a row is too wide for the GPU's shared memory."""
    layout = Layout(plan)
    texts: list[str] = []
    launches: list[Launch] = []
    for index in range(len(layout.stages) + 1):
        section = Section(layout, index, f"{name}_weights_{index}")
        texts += section.texts
        launches += section.launches
        if index < len(layout.stages):
            kernel = f"{name}_rows_{index}"
            texts.append(emit_stage(layout, index, kernel))
            shared = layout.shared(layout.stages[index], layout.tile)
            launches.append(Launch(kernel, None, shared))
            combining = emit_combine(layout, index, f"{name}_sums_{index}")
            texts += combining[0]
            launches += combining[1]
    head = [
        f"#define PPY_DOUBLE {int(layout.size == 8)}",
        f"#define PPY_THREADS {THREADS}",
        f"#define PPY_WORDS {layout.words['tf32'] + 1}",
        '#include "ppy_cuda_kernel.h"',
        "",
    ]
    return CudaRegion(
        name, "\n".join([*head, *texts]), _table(layout, name, launches), tuple(launches)
    )


def emit_kernels(region: CudaRegion, function: str) -> list[str]:
    """C++ for `kernels`, which `ppy_cuda_region.h` runs where the tensors are."""
    name = region.name
    return [
        "static const ppy::Kernels kernels{",
        f'    "{function}", {name}, {name}_scratch, &{name}_cuda, &{name}_program}};',
    ]


def emit_image(name: str) -> str:
    """The C file that holds what the CUDA compiler made of the region's kernels."""
    lines = [
        "__asm__(",
        '    ".pushsection .rodata\\n"',
        '    ".balign 16\\n"',
        f'    ".globl {name}_image\\n"',
        f'    ".hidden {name}_image\\n"',
        f'    "{name}_image:\\n"',
        f'    ".incbin \\"{name}.fatbin\\"\\n"',
        '    ".byte 0\\n"',
        '    ".popsection\\n");',
        "",
    ]
    return "\n".join(lines)


def _table(layout: Layout, name: str, launches: list[Launch]) -> str:
    """`name_cuda`, a `ppy_cuda_region`, and `name_program`, which holds its image."""
    numbers = sorted(
        operation.input
        for operation in layout.program.operations
        if isinstance(operation, Load) and operation.kind in ("float", "int")
    )
    kernels = ", ".join(
        f'{{"{one.kernel}", {one.blocks or 0}, {one.shared}}}' for one in launches
    )
    lines = [
        f"static const ppy_cuda_launch {name}_launches[] = {{{kernels}}};",
        f"static const int {name}_numbers[] = {{{', '.join(map(str, [*numbers, -1]))}}};",
        f"static const ppy_cuda_region {name}_cuda = {{",
        f"    .launches = {name}_launches,",
        f"    .count = {len(launches)},",
        f"    .threads = {THREADS},",
        f"    .inputs = {len(layout.program.inputs)},",
        f"    .outputs = {len(layout.program.outputs)},",
        f"    .numbers = {name}_numbers,",
        f"    .tile = {layout.tile},",
        f"    .most_chunks = {layout.most_chunks},",
        f"    .scratch = {layout.base},",
        f"    .chunk_sums = {layout.sums_count},",
        f"    .real = {layout.size},",
        "};",
        f'extern "C" const unsigned char {name}_image[];',
        f"static ppy_cuda_program {name}_program = {{{name}_image, {{}}, 0}};",
        "",
    ]
    return "\n".join(lines)
