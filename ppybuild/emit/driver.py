"""Emits an entry: facts in, the sources of its extensions and what they stand for out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal, TypeVar

from ppybuild.diagnostics import Diagnostic, Location
from ppybuild.emit.boundary.runtime import runtime_sources
from ppybuild.emit.boundary.wrappers import emit_extension, emit_wrappers
from ppybuild.emit.emission import Emission, Extension, SourceFile
from ppybuild.emit.loops.fixed import fixed_sizes
from ppybuild.emit.loops.ir import Function
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import optimise
from ppybuild.emit.loops.printer import print_prototype, print_source
from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.describe import describe_region, describe_step
from ppybuild.emit.tensors.exact_step import ExactStep
from ppybuild.emit.tensors.forward import FusedForward, plan_forward
from ppybuild.emit.tensors.fused import NotFusible
from ppybuild.emit.tensors.planning import Numerics, plan_steps, splice, with_fragments
from ppybuild.emit.tensors.regions import RegionEmission, emit_regions
from ppybuild.emit.tensors.step import FusedStep
from ppybuild.graph.locations import covers, function_span, source_path
from ppybuild.graph.program import Facts
from ppybuild.graph.regions import Region, discover
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.schemas import installed_schemas
from ppybuild.places import by_place

LOOPS = "loops"

T = TypeVar("T")


def emit(
    facts: Facts,
    modules: Sequence[str],
    *,
    fp: Literal["strict", "relaxed"] = "strict",
    numerics: Numerics = "fused",
    cuda: bool = False,
) -> Emission:
    """Emit what is native in these modules: loops, then regions of tensor operations, with
    `cuda` in a form for GPUs too.

    A function that one of the two takes has no remark of the other.
    """
    wanted = frozenset(modules)
    names = [name for name, found in facts.program.functions.items() if found.module in wanted]
    lowered, stayed = lower(facts, names)
    seeds = Seeds(facts)
    loops = emit_loops(facts, seeds, optimise(lowered), fp)
    regions, refused, told = emit_tensors(
        facts, seeds, wanted, frozenset(lowered), numerics, cuda
    )
    bindings = {name: (LOOPS, mangle(name)) for name in lowered} | dict(regions.bindings)
    extensions = (*loops, regions.extension) if regions.extension else loops
    inside = {splice.function for splice in regions.splices.values()}
    remarks = _one_each(facts, names, {*bindings, *inside}, (*refused, *stayed))
    return Emission(
        extensions,
        bindings,
        tuple(sorted((*remarks, *told), key=by_place)),
        regions.described,
        regions.splices,
    )


def emit_tensors(
    facts: Facts,
    seeds: Seeds,
    modules: frozenset[str],
    taken: frozenset[str],
    numerics: Numerics,
    cuda: bool = False,
) -> tuple[RegionEmission, tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """The extension of tensor regions, without functions that are `taken`; why functions
    stay in Python; and which numerics each region has."""
    found = discover(facts)
    planned = plan_steps(facts, seeds, modules, numerics, cuda=cuda)
    facts = with_fragments(facts, planned)
    steps, missed, unfused_steps = planned.steps, planned.remarks, planned.unfused
    taken |= {step.region.function for step in steps}
    regions = [region for region in found.regions if region.function not in taken]
    by_module = _by_module(facts, modules, regions, lambda region: region.function)
    steps_by_module = _by_module(facts, modules, steps, lambda step: step.region.function)
    remarks = (*missed, *found.remarks)
    if not by_module and not steps_by_module:
        return RegionEmission(None, {}, {}), remarks, planned.missed
    schemas = installed_schemas()
    assert schemas is not None, "regions are discovered by torch's schemas"
    kept = [region for group in by_module.values() for region in group]
    forwards, unfused = plan_forwards(seeds, kept) if numerics == "fused" else ({}, {})
    emission = emit_regions(
        by_module, schemas, steps=steps_by_module, forwards=forwards, cuda=cuda
    )
    unspelled = [
        Diagnostic(
            "R3004",
            f"`{name}` stays in Python: an argument of type {type} has no C++ form",
            _whole(facts, name),
        )
        for name, type in emission.refused.items()
    ]
    told = [
        *planned.missed,
        *(
            _told_step(facts, step, unfused_steps.get(step.region.function))
            for group in steps_by_module.values()
            for step in group
            if step.region.function in emission.bindings
        ),
        *(
            _told_region(
                facts,
                region,
                None if region.function in forwards else unfused.get(region.function, ""),
            )
            for region in kept
            if region.function in emission.bindings
        ),
        *(
            Diagnostic(
                "R3004",
                f"`{name}` is PyTorch's on a GPU: its fused form does not hold {reason}",
                _whole(facts, name),
            )
            for name, reason in emission.not_cuda.items()
        ),
    ]
    described = {
        step.region.function: describe_step(step, unfused_steps.get(step.region.function, ""))
        for step in steps
    }
    for region in kept:
        forward = forwards.get(region.function)
        reason = unfused.get(region.function, "")
        described[region.function] = describe_region(region, forward, reason)
    native = {name: one for name, one in described.items() if name in emission.bindings}
    splices = splice(emission.bindings, planned.fragments)
    bindings = {n: found for n, found in emission.bindings.items() if n not in splices}
    emission = replace(emission, described=native, bindings=bindings, splices=splices)
    return emission, (*remarks, *unspelled), tuple(told)


def _told_step(facts: Facts, step: FusedStep | ExactStep, unfused: str | None) -> Diagnostic:
    region = step.region
    names = dict.fromkeys(found.function for found in region.functions)
    inlined = ", ".join(f"`{name}`" for name in names)
    through = f" through {inlined}" if inlined else ""
    kind, calls = "training step", "autograd's own calls, without its graph"
    if region.evaluates:
        kind, calls = "forward pass", "PyTorch's own calls"
    if isinstance(step, FusedStep):
        what = f"a fused {kind}{through}: one kernel, within torch.testing's tolerances"
        what += " of PyTorch, compared with Python on its first call"
    elif step.kernels:
        what = f"a staged {kind}{through}: kernels between PyTorch's own calls, within "
        what += "torch.testing's tolerances of PyTorch, compared with Python on its first call"
        what += f"; as one kernel it would not hold {unfused}" if unfused else ""
    else:
        what = f"a {kind}{through} in exact numerics: {calls}, compared with Python bit for "
        what += "bit on its first call"
        what += f"; the fused form does not hold {unfused}" if unfused else ""
    subject = f"`{region.function}` is"
    if region.fragment:
        scope, _, lines = region.function.rpartition(".lines_")
        first, last, *_ = lines.split("_")
        where = f"line {first} is" if first == last else f"lines {first} to {last} are"
        where += f", where {region.side}," if region.side else ""
        subject = f"In `{scope}`, {where}"
    return Diagnostic("R3001", f"{subject} {what}", _whole(facts, region.function))


def _told_region(facts: Facts, region: Region, unfused: str | None) -> Diagnostic:
    if unfused is None:
        numerics = "fused where gradients are off, exact elsewhere"
    else:
        numerics = "exact numerics"
        numerics += f"; the fused form does not hold {unfused}" if unfused else ""
    return Diagnostic(
        "R3001",
        f"`{region.function}` is a tensor region: {numerics}",
        _whole(facts, region.function),
    )


def _by_module(
    facts: Facts,
    modules: frozenset[str],
    found: Sequence[T],
    function: Callable[[T], str],
) -> dict[str, list[T]]:
    by_module: dict[str, list[T]] = {}
    for one in found:
        module = facts.program.functions[function(one)].module
        if module in modules:
            by_module.setdefault(module, []).append(one)
    return by_module


def plan_forwards(
    seeds: Seeds, regions: Sequence[Region]
) -> tuple[dict[str, FusedForward], dict[str, str]]:
    """The fused forms of regions without a backward pass, and why others have none."""
    forwards: dict[str, FusedForward] = {}
    unfused: dict[str, str] = {}
    for region in regions:
        places = {given.place for given in region.inputs}
        found = {place: seeds.of(region.function, place) for place in places}
        try:
            forwards[region.function] = plan_forward(region, found)
        except NotFusible as missing:
            unfused[region.function] = str(missing)
    return forwards, unfused


def _one_each(
    facts: Facts,
    names: Sequence[str],
    native: set[str],
    remarks: Sequence[Diagnostic],
) -> Iterator[Diagnostic]:
    """The first remark of each function that stays in Python as a whole."""
    spans = sorted(((_whole(facts, name), name) for name in names), key=_start)
    told = set(native)
    for remark in remarks:
        inside = [name for span, name in spans if covers(span, remark.location)]
        if inside and inside[-1] not in told:
            told.add(inside[-1])
            yield remark


def _whole(facts: Facts, name: str) -> Location:
    function = facts.program.functions[name]
    return function_span(facts.program.modules[function.module], function.node)


def _start(found: tuple[Location, str]) -> tuple[int, int]:
    return (found[0].line, found[0].column)


def emit_loops(
    facts: Facts,
    seeds: Seeds,
    functions: Mapping[str, Function],
    fp: Literal["strict", "relaxed"],
) -> tuple[Extension, ...]:
    """The extension of loop functions: for each Python module a C file of kernels, and one
    of what Python calls, which stays as it is where a function's body changes."""
    by_module: dict[str, list[str]] = {}
    for name in functions:
        by_module.setdefault(facts.program.functions[name].module, []).append(name)
    if not by_module:
        return ()
    sources = list(runtime_sources())
    fixed = fixed_sizes(seeds, functions)
    for module, names in sorted(by_module.items()):
        path = source_path(facts.program.modules[module])
        kernels = print_source(names, functions, path, fixed)
        prototypes = "".join(f"{print_prototype(functions[name])};\n" for name in names)
        inside = [functions[name] for name in names]
        wrappers = f'#include "ppy_wrap.h"\n\n{prototypes}\n{emit_wrappers(module, inside)}'
        sources.append(SourceFile(PurePosixPath(f"{module}.py.c"), kernels))
        sources.append(SourceFile(PurePosixPath(f"{module}.wrap.c"), wrappers))
    listing = emit_extension(LOOPS, sorted(by_module))
    sources.append(SourceFile(PurePosixPath("extension.c"), listing))
    return (Extension(LOOPS, tuple(sources), uses_torch=False, fp=fp),)
