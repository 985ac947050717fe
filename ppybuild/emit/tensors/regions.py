"""Regions → the sources of the extension that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import final

from ppybuild.emit.boundary.runtime import BOUNDARY, runtime_sources
from ppybuild.emit.boundary.wrappers import emit_extension
from ppybuild.emit.emission import DescribedRegion, Extension, SourceFile, Splice
from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.cuda import CudaRegion, emit_cuda, emit_image
from ppybuild.emit.tensors.exact import emit_body
from ppybuild.emit.tensors.exact_step import ExactStep
from ppybuild.emit.tensors.forward import FusedForward, emit_forward
from ppybuild.emit.tensors.fused import NotFusible, Plan, emit_variants
from ppybuild.emit.tensors.headers import declarations_hold, torch_include
from ppybuild.emit.tensors.kernel_calls import kernel_name as stage_name
from ppybuild.emit.tensors.lower import lower_region
from ppybuild.emit.tensors.spelling import Unspellable
from ppybuild.emit.tensors.step import FusedStep
from ppybuild.emit.tensors.step_objects import looks_into_objects
from ppybuild.emit.tensors.step_wrapper import (
    emit_exact_wrapper,
    emit_step_wrapper,
    kernel_name,
)
from ppybuild.emit.tensors.wrapper import emit_table, emit_wrapper
from ppybuild.graph.regions import Region, StepRegion
from ppybuild.graph.schemas import Schemas

NAME = "regions"
CUDA = ("ppy_cuda.h", "ppy_cuda.c", "ppy_cuda_kernel.h", "ppy_cuda_region.h")
HEADERS = (
    "ppy_region.h",
    "ppy_step.h",
    "ppy_exact.h",
    "ppy_draw.h",
    "ppy_module.h",
    "ppy_fused.h",
)


@final
@dataclass(frozen=True, slots=True)
class RegionEmission:
    """`extension` is None where there is no region; `bindings` as in `Emission`.
    `refused` gives the type of an argument that has no C++ form, by function name; `not_cuda`
    why a fused form has none for a GPU; `described` what each is, as in `Emission`."""

    extension: Extension | None
    bindings: Mapping[str, tuple[str, str]]
    refused: Mapping[str, str]
    not_cuda: Mapping[str, str] = field(default_factory=dict)
    described: Mapping[str, DescribedRegion] = field(default_factory=dict)
    splices: Mapping[str, Splice] = field(default_factory=dict)


def emit_regions(
    regions: Mapping[str, Sequence[Region]],
    schemas: Schemas,
    include: Path | None = None,
    steps: Mapping[str, Sequence[FusedStep | ExactStep]] | None = None,
    forwards: Mapping[str, FusedForward] | None = None,
    *,
    cuda: bool = False,
) -> RegionEmission:
    """Emit the regions of each Python module in exact form, one C++ file per module, and
    steps as they were planned, and `forwards`, by function, in fused form. The kernel of each
    fused form has a C file, with `cuda` a CUDA file too."""
    steps, forwards = steps or {}, forwards or {}
    include = include if include is not None else torch_include()
    full_headers = include is None or not declarations_hold(include)
    sources: list[SourceFile] = []
    modules: list[str] = []
    bindings: dict[str, tuple[str, str]] = {}
    refused: dict[str, str] = {}
    kernels: dict[str, CudaRegion] = {}
    not_cuda: dict[str, str] = {}
    if cuda:
        plans = {name: forward.plan for name, forward in forwards.items()}
        plans |= {
            s.region.function: s.plan
            for group in steps.values()
            for s in group
            if isinstance(s, FusedStep)
        }
        kernels, not_cuda = _cuda_forms(plans)
    for module in sorted({*regions, *steps}):
        kept, text = _emit_module(
            module,
            regions.get(module, ()),
            steps.get(module, ()),
            forwards,
            schemas,
            full_headers,
            refused,
            kernels,
        )
        if not kept:
            continue
        modules.append(module)
        sources.append(SourceFile(PurePosixPath(f"{module}.py.cpp"), text))
        for region in kept:
            if region.function in forwards:
                sources += _kernel(region.function, forwards[region.function].plan)
        for step in steps.get(module, ()):
            sources += _step_kernels(step)
        for region in kept:
            bindings[region.function] = (NAME, mangle(region.function))
            if region.function in kernels:
                sources += _cuda_sources(region.function, kernels[region.function])
    if not modules:
        return RegionEmission(None, {}, refused)
    shipped = runtime_sources((*HEADERS, *(CUDA if kernels else ()), *BOUNDARY))
    listing = SourceFile(PurePosixPath("extension.c"), emit_extension(NAME, modules))
    files = (*shipped, *sources, listing)
    extension = Extension(NAME, files, uses_torch=True, fp="fused")
    return RegionEmission(extension, bindings, refused, not_cuda)


def _cuda_forms(plans: Mapping[str, Plan]) -> tuple[dict[str, CudaRegion], dict[str, str]]:
    """The kernels for a GPU, by function, and why others have none."""
    made: dict[str, CudaRegion] = {}
    missing: dict[str, str] = {}
    for function, plan in plans.items():
        try:
            made[function] = emit_cuda(plan, kernel_name(function))
        except NotFusible as reason:
            missing[function] = str(reason)
    return made, missing


def _cuda_sources(function: str, region: CudaRegion) -> tuple[SourceFile, SourceFile]:
    """The kernels, which the CUDA compiler makes `NAME.fatbin` of, and what holds that."""
    return (
        SourceFile(PurePosixPath(f"{region.name}.cu"), region.text),
        SourceFile(PurePosixPath(f"{function}.image.c"), emit_image(region.name)),
    )


def _step_kernels(step: FusedStep | ExactStep) -> list[SourceFile]:
    function = step.region.function
    if isinstance(step, FusedStep):
        return _kernel(function, step.plan)
    return [
        SourceFile(PurePosixPath(name), text)
        for number, kernel in enumerate(step.kernels)
        for name, text in emit_variants(
            kernel.plan, stage_name(function, number), f"{function}.stage{number}_"
        ).items()
    ]


def _kernel(function: str, plan: Plan) -> list[SourceFile]:
    files = emit_variants(plan, kernel_name(function), f"{function}.fused")
    return [SourceFile(PurePosixPath(name), text) for name, text in files.items()]


def _emit_module(
    module: str,
    regions: Sequence[Region],
    steps: Sequence[FusedStep | ExactStep],
    forwards: Mapping[str, FusedForward],
    schemas: Schemas,
    full_headers: bool,
    refused: dict[str, str],
    kernels: Mapping[str, CudaRegion],
) -> tuple[list[Region | StepRegion], str]:
    kept: list[Region | StepRegion] = []
    pieces: list[str] = []
    headers: set[str] = set()
    for region in regions:
        graph = lower_region(region)
        try:
            body, needed = emit_body(graph, schemas)
        except Unspellable as missing:
            refused[region.function] = str(missing)
            continue
        kept.append(region)
        headers |= needed
        forward = forwards.get(region.function)
        pieces.append(body)
        if forward is not None:
            pieces.append(
                emit_forward(
                    forward, kernel_name(region.function), kernels.get(region.function)
                )
            )
        results = None if forward is None else len(forward.plan.program.outputs)
        pieces.append(emit_wrapper(region, graph, results))
    for step in steps:
        if isinstance(step, FusedStep):
            pieces.append(emit_step_wrapper(step, kernels.get(step.region.function)))
        else:
            try:
                text, needed = emit_exact_wrapper(step, schemas)
            except Unspellable as missing:
                refused[step.region.function] = str(missing)
                continue
            pieces.append(text)
            headers |= needed
        kept.append(step.region)
    includes = [f"#include <{header}>" for header in sorted(headers)]
    start = [f"// Tensor regions of the Python module {module}.\n"]
    if full_headers:
        start.append("#define PPY_FULL_HEADERS 1")
    if kernels:
        start.append("#define PPY_CUDA 1")
    fused = bool(steps) or any(region.function in forwards for region in kept)
    header = "ppy_step.h" if fused else "ppy_region.h"
    if any(looks_into_objects(step.region) for step in steps):
        header = "ppy_module.h"
    start += [f'#include "{header}"\n', *includes, ""]
    if any(isinstance(step, ExactStep) for step in steps):
        start.append('#include "ppy_exact.h"\n')
    if any(isinstance(step, ExactStep) and step.draws for step in steps):
        start.append('#include "ppy_draw.h"\n')
    if kernels:
        start.append('#include "ppy_cuda_region.h"\n')
    return kept, "\n".join([*start, *pieces, emit_table(module, kept)])
