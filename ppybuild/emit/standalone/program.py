"""An entry as one program in C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath

from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.boundary.runtime import KERNELS, runtime_sources
from ppybuild.emit.emission import SourceFile
from ppybuild.emit.loops import ir
from ppybuild.emit.loops.fixed import fixed_sizes
from ppybuild.emit.loops.passes import optimise
from ppybuild.emit.loops.printer import print_source
from ppybuild.emit.names import mangle
from ppybuild.emit.standalone.classes import class_declarations
from ppybuild.emit.standalone.functions import prototype, write_function, write_module
from ppybuild.emit.standalone.imports import module_function
from ppybuild.emit.standalone.kernels import fast_forms, kernel_prototype, write_fast
from ppybuild.emit.standalone.layouts import tuple_declarations
from ppybuild.emit.standalone.start import start_source
from ppybuild.emit.standalone.values import text_literal
from ppybuild.emit.standalone.whole import Whole
from ppybuild.graph.locations import source_path
from ppybuild.graph.program import Facts
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.places import by_place


@dataclass(frozen=True, slots=True)
class Standalone:
    """Sources of a whole program: C files, and the headers beside them."""

    sources: tuple[SourceFile, ...]


def emit_standalone(
    facts: Facts, main: str, information: str, features: Sequence[str] = ()
) -> Standalone | tuple[Diagnostic, ...]:
    """The program that runs the module `main`, or everything in it that needs Python.

    `information` is what it prints where PPY_BUNDLE_INFO is 1. `features` are the CPU's that
    every file but `start.c` may be compiled for; the program asks for them first.
    """
    whole = Whole(facts, main)
    module_name = f"{module_function(main)}"
    parts: list[str] = []
    _with_packages(whole, main)
    parts += write_module(whole, facts.program.modules[main], module_name)
    written: set[str] = {main}
    bodies: dict[str, list[str]] = {}
    while whole.queue or set(whole.modules) - written:
        for name in [each for each in whole.modules if each not in written]:
            written.add(name)
            parts += write_module(whole, facts.program.modules[name], module_function(name))
        while whole.queue:
            name = whole.queue.pop(0)
            form = whole.forms[name]
            bodies[name] = write_function(whole, form, _checked_name(name))
    if whole.refused:
        places = whole.refused.values()
        return tuple(sorted(places, key=by_place))
    fast = fast_forms(whole)
    text = "\n".join(_program(whole, fast, bodies, parts, main, sorted(written)))
    sources = [
        SourceFile(PurePosixPath("program.c"), text),
        SourceFile(PurePosixPath("start.c"), start_source(information, features)),
    ]
    sources += _kernel_sources(facts, fast)
    sources += runtime_sources(KERNELS)
    sources += _runtime()
    return Standalone(tuple(sources))


def _with_packages(whole: Whole, main: str) -> None:
    """`python -m a.b` imports `a` before it runs `a.b`."""
    package = main.rpartition(".")[0]
    while package:
        if package in whole.facts.program.modules:
            whole.modules.insert(0, package)
        package = package.rpartition(".")[0]


def _checked_name(name: str) -> str:
    return f"ppy_F_{mangle(name)}"


def _runtime() -> Iterator[SourceFile]:
    folder = files("ppybuild.emit") / "runtime" / "standalone"
    for each in sorted(folder.iterdir(), key=lambda found: found.name):
        if each.name.endswith((".c", ".h")):
            yield SourceFile(PurePosixPath(each.name), each.read_text("utf-8"))


def _kernel_sources(facts: Facts, fast: dict[str, ir.Function]) -> Iterator[SourceFile]:
    if not fast:
        return
    functions = optimise(fast)
    fixed = fixed_sizes(Seeds(facts), functions)
    by_module: dict[str, list[str]] = {}
    for name in functions:
        by_module.setdefault(facts.program.functions[name].module, []).append(name)
    for module, names in sorted(by_module.items()):
        path = source_path(facts.program.modules[module])
        text = print_source(names, functions, path, fixed)
        yield SourceFile(PurePosixPath(f"{module}.py.c"), text)


_HEAD = """\
/* Written by ppybuild: a Python program without Python. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppy_kernel.h"
#include "ppy_standalone.h"
#include "ppy_why.h"

/* What a program does not use is computed all the same: it may raise. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"

int ppy_run_program(int argc, char **argv);

static ppy_list *ppy_argv;
"""

_FAST = """\
__attribute__((unused)) static const int64_t ppy_nothing[1];
static int ppy_kernel_poll(ppy_run *run) {
    (void)run;
    return ppy_interrupted ? PPY_RAISED : PPY_OK;
}
"""


def _program(
    whole: Whole,
    fast: dict[str, ir.Function],
    bodies: dict[str, list[str]],
    modules: list[str],
    main: str,
    written: list[str],
) -> Iterator[str]:
    yield _HEAD
    if fast:
        yield _FAST
    yield from _exceptions(whole)
    yield from tuple_declarations(whole.tuples)
    yield from class_declarations(whole)
    yield f"static ppy_list *ppy_global_lists[{whole.lists + 1}];"
    yield from whole.declarations()
    for name in sorted(whole.defined_late):
        yield f"static bool ppy_D_{mangle(name)};"
    for name in written:
        yield f"static void {module_function(name)}(void);"
    for name, form in whole.forms.items():
        if name in fast:
            yield kernel_prototype(form)
            yield f"{prototype(form, _checked_name(name))};"
        yield f"{prototype(form, form.c)};"
    yield ""
    for name, lines in bodies.items():
        form = whole.forms[name]
        if name in fast:
            yield from lines
            yield from write_fast(form, _checked_name(name))
        else:
            yield from (each.replace(f"{_checked_name(name)}(", f"{form.c}(") for each in lines)
    for line in modules:
        if not line.strip().startswith("@defined"):
            yield line
            continue
        _, flag, name = line.split()
        if name in whole.defined_late:
            yield f"    {flag} = true;"
    packages = [each for each in written if main.startswith(f"{each}.")]
    yield from _main(whole, [*sorted(packages), main])


def _exceptions(whole: Whole) -> Iterator[str]:
    """Exceptions of the program: numbers behind those of the runtime."""
    rows = whole.exceptions.values()
    if not rows:
        return
    for at, (c, *_) in enumerate(rows):
        yield f"#define {c} ((ppy_exception)(PPY_EXCEPTION_COUNT + {at}))"
    texts = [
        f"    {{{text_literal(name)[1:-1].removeprefix('(ppy_text)')}, "
        f"{text_literal(shown)[1:-1].removeprefix('(ppy_text)')}, {parent}}},"
        for _, name, shown, parent in rows
    ]
    yield "static const ppy_exception_row ppy_own_rows[] = {"
    yield from texts
    yield "};"


def _main(whole: Whole, modules: list[str]) -> Iterator[str]:
    yield """\
int ppy_run_program(int argc, char **argv) {
    ppy_start(argc, argv);
    ppy_list *lists[1] = {0};
    ppy_roots arguments = {lists, 1, NULL};
    ppy_roots globals = {ppy_global_lists, sizeof ppy_global_lists / sizeof *ppy_global_lists,
                         &arguments};
    ppy_top_roots = &globals;
    lists[0] = ppy_argv = ppy_argument_list();"""
    if whole.exceptions:
        yield "    ppy_own_exceptions = ppy_own_rows;"
    for name in modules:
        yield f"    {module_function(name)}();"
    yield "    return ppy_finish();\n}\n"
