"""Emits an entry: facts in, the sources of its extensions and what they stand for out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.boundary.runtime import runtime_sources
from ppybuild.emit.boundary.wrappers import emit_extension, emit_wrappers
from ppybuild.emit.emission import Emission, Extension, SourceFile
from ppybuild.emit.loops.ir import Function
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import optimise
from ppybuild.emit.loops.printer import print_source
from ppybuild.emit.names import mangle
from ppybuild.graph.program import Facts, Module

LOOPS = "loops"


def emit(
    facts: Facts, modules: Sequence[str], *, fp: Literal["strict", "relaxed"] = "strict"
) -> Emission:
    """Emit what is native in these modules."""
    wanted = frozenset(modules)
    names = [name for name, found in facts.program.functions.items() if found.module in wanted]
    lowered, remarks = lower(facts, names)
    loops = emit_loops(facts, optimise(lowered), fp)
    bindings = {name: (LOOPS, mangle(name)) for name in lowered}
    return Emission(loops, bindings, tuple(sorted(remarks, key=_place)))


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
        sources.append(SourceFile(PurePosixPath(f"{module}.c"), text))
    listing = emit_extension(LOOPS, sorted(by_module))
    sources.append(SourceFile(PurePosixPath("extension.c"), listing))
    return (Extension(LOOPS, tuple(sources), uses_torch=False, fp=fp),)


def source_path(module: Module) -> str:
    """A module's path as comments name it: below its source root, the same everywhere."""
    name = module.name.replace(".", "/")
    return f"{name}/__init__{module.path.suffix}" if module.is_package else name + module.path.suffix


def _place(found: Diagnostic) -> tuple[str, int, int]:
    if found.location is None:
        return ("", 0, 0)
    return (str(found.location.path), found.location.line, found.location.column)
