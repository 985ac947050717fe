"""Regions → the sources of the extension that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import final

from ppybuild.emit.boundary.runtime import BOUNDARY, runtime_sources
from ppybuild.emit.boundary.wrappers import emit_extension
from ppybuild.emit.emission import Extension, SourceFile
from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.exact import emit_body
from ppybuild.emit.tensors.headers import declarations_hold, torch_include
from ppybuild.emit.tensors.lower import lower_region
from ppybuild.emit.tensors.spelling import Unspellable
from ppybuild.emit.tensors.wrapper import emit_table, emit_wrapper
from ppybuild.graph.regions import Region
from ppybuild.graph.schemas import Schemas

NAME = "regions"


@final
@dataclass(frozen=True, slots=True)
class RegionEmission:
    """`extension` is None where there is no region; `bindings` as in `Emission`.
    `refused` gives the type of an argument that has no C++ form, by function name."""

    extension: Extension | None
    bindings: Mapping[str, tuple[str, str]]
    refused: Mapping[str, str]


def emit_regions(
    regions: Mapping[str, Sequence[Region]], schemas: Schemas, include: Path | None = None
) -> RegionEmission:
    """Emit the regions of each Python module, in exact form: one C++ file per module."""
    include = include if include is not None else torch_include()
    full_headers = include is None or not declarations_hold(include)
    sources: list[SourceFile] = []
    modules: list[str] = []
    bindings: dict[str, tuple[str, str]] = {}
    refused: dict[str, str] = {}
    for module in sorted(regions):
        kept, text = _emit_module(module, regions[module], schemas, full_headers, refused)
        if not kept:
            continue
        modules.append(module)
        sources.append(SourceFile(PurePosixPath(f"{module}.py.cpp"), text))
        bindings |= {region.function: (NAME, mangle(region.function)) for region in kept}
    if not modules:
        return RegionEmission(None, {}, refused)
    shipped = runtime_sources(("ppy_region.h", *BOUNDARY))
    listing = SourceFile(PurePosixPath("extension.c"), emit_extension(NAME, modules))
    extension = Extension(NAME, (*shipped, *sources, listing), uses_torch=True)
    return RegionEmission(extension, bindings, refused)


def _emit_module(
    module: str,
    regions: Sequence[Region],
    schemas: Schemas,
    full_headers: bool,
    refused: dict[str, str],
) -> tuple[list[Region], str]:
    kept: list[Region] = []
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
        pieces += [body, emit_wrapper(region, graph)]
    includes = [f"#include <{header}>" for header in sorted(headers)]
    start = [f"// Tensor regions of the Python module {module}.\n"]
    if full_headers:
        start.append("#define PPY_FULL_HEADERS 1")
    start += ['#include "ppy_region.h"\n', *includes, ""]
    return kept, "\n".join([*start, *pieces, emit_table(module, kept)])
