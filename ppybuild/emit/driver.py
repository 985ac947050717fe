"""Emits an entry: facts in, the sources of its extensions and what they stand for out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal

from ppybuild.diagnostics import Diagnostic, Location
from ppybuild.emit.boundary.runtime import runtime_sources
from ppybuild.emit.boundary.wrappers import emit_extension, emit_wrappers
from ppybuild.emit.emission import Emission, Extension, SourceFile
from ppybuild.emit.loops.ir import Function
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import optimise
from ppybuild.emit.loops.printer import print_source
from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.regions import RegionEmission, emit_regions
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts, Module
from ppybuild.graph.regions import Region, discover
from ppybuild.graph.schemas import installed_schemas

LOOPS = "loops"


def emit(
    facts: Facts, modules: Sequence[str], *, fp: Literal["strict", "relaxed"] = "strict"
) -> Emission:
    """Emit what is native in these modules: loops, then regions of tensor operations.

    A function that one of the two takes has no remark of the other.
    """
    wanted = frozenset(modules)
    names = [name for name, found in facts.program.functions.items() if found.module in wanted]
    lowered, stayed = lower(facts, names)
    loops = emit_loops(facts, optimise(lowered), fp)
    regions, refused = emit_tensors(facts, wanted, frozenset(lowered))
    bindings = {name: (LOOPS, mangle(name)) for name in lowered} | dict(regions.bindings)
    extensions = (*loops, regions.extension) if regions.extension else loops
    remarks = _one_each(facts, names, bindings, (*refused, *stayed))
    return Emission(extensions, bindings, tuple(sorted(remarks, key=_place)))


def emit_tensors(
    facts: Facts, modules: frozenset[str], taken: frozenset[str]
) -> tuple[RegionEmission, tuple[Diagnostic, ...]]:
    """The extension of tensor regions, without functions that are `taken`."""
    found = discover(facts)
    by_module: dict[str, list[Region]] = {}
    for region in found.regions:
        module = facts.program.functions[region.function].module
        if module in modules and region.function not in taken:
            by_module.setdefault(module, []).append(region)
    if not by_module:
        return RegionEmission(None, {}, {}), found.remarks
    schemas = installed_schemas()
    assert schemas is not None, "regions are discovered by torch's schemas"
    emission = emit_regions(by_module, schemas)
    unspelled = [
        Diagnostic(
            "R3004",
            f"`{name}` stays in Python: an argument of type {type} has no C++ form",
            _whole(facts, name),
        )
        for name, type in emission.refused.items()
    ]
    return emission, (*found.remarks, *unspelled)


def _one_each(
    facts: Facts,
    names: Sequence[str],
    native: Mapping[str, object],
    remarks: Sequence[Diagnostic],
) -> Iterator[Diagnostic]:
    """The first remark of each function that stays in Python."""
    spans = sorted(((_whole(facts, name), name) for name in names), key=_start)
    told = set(native)
    for remark in remarks:
        inside = [name for span, name in spans if _covers(span, remark.location)]
        if inside and inside[-1] not in told:
            told.add(inside[-1])
            yield remark


def _whole(facts: Facts, name: str) -> Location:
    """The span of a function, its decorators included."""
    function = facts.program.functions[name]
    span = locate(facts.program.modules[function.module], function.node)
    first = min([span.line, *(found.lineno for found in function.node.decorator_list)])
    return replace(span, line=first)


def _start(found: tuple[Location, str]) -> tuple[int, int]:
    return (found[0].line, found[0].column)


def _covers(span: Location, place: Location | None) -> bool:
    return (
        place is not None
        and span.path == place.path
        and span.line <= place.line
        and place.end_line <= span.end_line
    )


def emit_loops(
    facts: Facts, functions: Mapping[str, Function], fp: Literal["strict", "relaxed"]
) -> tuple[Extension, ...]:
    """The extension of loop functions: one C file per Python module."""
    by_module: dict[str, list[str]] = {}
    for name in functions:
        by_module.setdefault(facts.program.functions[name].module, []).append(name)
    if not by_module:
        return ()
    sources = list(runtime_sources())
    for module, names in sorted(by_module.items()):
        path = source_path(facts.program.modules[module])
        text = "\n".join(
            (
                print_source(names, functions, path),
                '#include "ppy_wrap.h"\n',
                emit_wrappers(module, [functions[name] for name in names]),
            )
        )
        sources.append(SourceFile(PurePosixPath(f"{module}.py.c"), text))
    listing = emit_extension(LOOPS, sorted(by_module))
    sources.append(SourceFile(PurePosixPath("extension.c"), listing))
    return (Extension(LOOPS, tuple(sources), uses_torch=False, fp=fp),)


def source_path(module: Module) -> str:
    """A module's path as comments name it: below its source root, the same everywhere."""
    inner = "/__init__" if module.is_package else ""
    return module.name.replace(".", "/") + inner + module.path.suffix


def _place(found: Diagnostic) -> tuple[str, int, int]:
    if found.location is None:
        return ("", 0, 0)
    return (str(found.location.path), found.location.line, found.location.column)
