"""Native functions as a C library: the functions, a header for C, declarations for cffi.

A function of the library calls the kernel as a wrapper does, with nothing of Python: where
a wrapper would put back what was saved and start the Python body, the caller is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from ppybuild.emit.boundary.runtime import KERNELS, runtime_sources
from ppybuild.emit.emission import Extension, SourceFile
from ppybuild.emit.loops import ir
from ppybuild.emit.loops.c_expr import C_ELEMENTS, C_TYPES
from ppybuild.emit.loops.c_names import c_names
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.ops import CHECKED
from ppybuild.emit.loops.passes import optimise
from ppybuild.emit.loops.printer import print_source, result_type
from ppybuild.emit.loops.tree import statements
from ppybuild.emit.loops.verify import flat_parameters, flat_result
from ppybuild.emit.names import kernel_name
from ppybuild.graph import types
from ppybuild.graph.locations import source_path
from ppybuild.graph.program import Facts

_MARK = types.Function("ppy.export")


@dataclass(frozen=True, slots=True)
class Library:
    """What is compiled, and what its users read."""

    extension: Extension
    header: str
    declarations: str
    """Of the header, without directives, as cffi reads them."""
    functions: tuple[str, ...]
    """C names, in order."""


def exported(facts: Facts, modules: Sequence[str], named: Sequence[str]) -> dict[str, str]:
    """Functions to export, by dotted name, and "" or why one cannot be: those that bear
    `ppy.export` in these modules, and those that are named."""
    program = facts.program
    marked = [
        name
        for name, function in program.functions.items()
        if function.module in modules
        and any(facts.types.get(each) == _MARK for each in function.node.decorator_list)
    ]
    found: dict[str, str] = {}
    shorts: dict[str, str] = {}
    for name in dict.fromkeys((*marked, *named)):
        found[name] = ""
        function = program.functions.get(name)
        short = name.rpartition(".")[2]
        if function is None:
            found[name] = "the program has no such function"
        elif function.module not in modules:
            found[name] = "the entry does not import its module"
        elif name != f"{function.module}.{function.node.name}":
            found[name] = "it lies inside a class or a function"
        elif short in shorts:
            found[name] = f"`{shorts[short]}` has the same name"
        shorts.setdefault(short, name)
    return found


def emit_library(
    facts: Facts,
    modules: Sequence[str],
    exports: Sequence[str],
    title: str,
    fp: Literal["strict", "relaxed"],
) -> Library | dict[str, str]:
    """The library with the functions `exports`, or why which of them cannot be in it.

    `title` is the library's name: `lib<title>`.
    """
    names = [name for name, found in facts.program.functions.items() if found.module in modules]
    lowered, remarks = lower(facts, names)
    missing = [name for name in exports if name not in lowered]
    if missing:
        said = {found.message: found.help for found in remarks}
        return {name: _reason(name, said) for name in missing}
    making = [
        name
        for name in exports
        if any(isinstance(each, ir.ArrayResult) for each in flat_result(lowered[name].result))
    ]
    if making:
        return dict.fromkeys(
            making, "its result is an array that it makes: fill one it is given"
        )
    listed = [
        name
        for name in exports
        if any(
            isinstance(each, ir.BufferParameter) and each.holder is not None
            for each in lowered[name].parameters
        )
    ]
    if listed:
        return dict.fromkeys(listed, "it takes a list: make it a Buffer")
    asking = {name: _asked(name, lowered) for name in exports}
    if any(asking.values()):
        return {name: f"{what} is CPython's own" for name, what in asking.items() if what}
    grids = {name: _grids(lowered[name]) for name in exports}
    if any(grids.values()):
        why = "is a Sequence of Buffers; pass one Buffer and its width"
        return {name: f"parameter `{each}` {why}" for name, each in grids.items() if each}
    functions = optimise({name: lowered[name] for name in _with_callees(exports, lowered)})
    sources = list(runtime_sources(KERNELS))
    by_module: dict[str, list[str]] = {}
    for name in functions:
        by_module.setdefault(facts.program.functions[name].module, []).append(name)
    for module, inside in sorted(by_module.items()):
        text = print_source(inside, functions, source_path(facts.program.modules[module]))
        sources.append(SourceFile(PurePosixPath(f"{module}.py.c"), text))
    offered = [_Exported(functions[name], prefix(title)) for name in exports]
    declarations = _declarations(offered, prefix(title))
    header = _header(title, declarations)
    sources += [
        SourceFile(PurePosixPath(f"{title}.h"), header),
        SourceFile(PurePosixPath("library.c"), _definitions(offered, title)),
    ]
    return Library(
        Extension(f"lib{title}", tuple(sources), uses_torch=False, fp=fp),
        header,
        declarations,
        tuple(one.name for one in offered),
    )


def _reason(name: str, said: Mapping[str, str]) -> str:
    start = f"`{name}` stays in Python: "
    for message, advice in said.items():
        if message.startswith(start):
            return message.removeprefix(start) + (f"; {advice}" if advice else "")
    return "it is over tensors, which are torch's"


def _asked(name: str, lowered: Mapping[str, ir.Function]) -> str:
    """A function that only CPython computes, and that this one or one below it calls."""
    for each in _with_callees([name], lowered):
        for statement in statements(lowered[each].body):
            if isinstance(statement, ir.Checked) and CHECKED[statement.op].asks:
                return f"`{statement.op.partition('.')[0]}` (line {statement.location.line})"
    return ""


def _grids(function: ir.Function) -> str:
    """The first parameter that C would have to pass in parts that fit each other."""
    found = (each.name for each in function.parameters if isinstance(each, ir.GridParameter))
    return next(found, "")


def _with_callees(exports: Sequence[str], lowered: Mapping[str, ir.Function]) -> list[str]:
    """The functions and all that they reach, in the order of `lowered`."""
    found: set[str] = set()
    pending = list(exports)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [
                each.function
                for each in statements(lowered[name].body)
                if isinstance(each, ir.Call)
            ]
    return [name for name in lowered if name in found]


def prefix(title: str) -> str:
    """What the library's C names begin with."""
    plain = re.sub(r"\W", "_", title, flags=re.ASCII)
    return plain if not plain[0].isdigit() else f"_{plain}"


@dataclass(frozen=True, slots=True)
class _Exported:
    """A function of the library."""

    function: ir.Function
    prefix: str

    @property
    def name(self) -> str:
        return f"{self.prefix}_{self.function.name.rpartition('.')[2]}"

    @property
    def parameters(self) -> tuple[ir.ScalarParameter | ir.BufferParameter, ...]:
        return flat_parameters(self.function.parameters)

    @property
    def c_names(self) -> Mapping[str, str]:
        return c_names([each.name for each in self.parameters])

    def results(self) -> list[tuple[str, str]]:
        """Type and name of what is written through pointers."""
        types = flat_result(self.function.result)
        names = ["result"] if len(types) == 1 else [f"result_{at}" for at in range(len(types))]
        taken = set(self.c_names.values())
        while taken & set(names):
            names = [f"{name}_" for name in names]
        return [(result_type(type_), name) for type_, name in zip(types, names, strict=True)]

    def prototype(self) -> str:
        words = []
        for each in self.parameters:
            name = self.c_names[each.name]
            if isinstance(each, ir.BufferParameter):
                const = "" if each.writable else "const "
                words.append(f"{const}{C_ELEMENTS[each.element]} *{name}")
                words.append(f"int64_t {name}_length")
            else:
                words.append(f"{C_TYPES[each.type]} {name}")
        words += [f"{type_} *{name}" for type_, name in self.results()]
        return f"int {self.name}(\n    {f',{chr(10)}    '.join(words) or 'void'})"


_STATUS = (
    ("OK", 0, "it did what the Python function does"),
    (
        "ABANDONED",
        1,
        "Python would raise, or need an integer of more than 64 bits, or memory is short",
    ),
    ("INVALID", 2, "a length is negative, or a pointer is NULL that is needed"),
)


def _declarations(offered: Sequence[_Exported], name: str) -> str:
    status = "\n".join(
        f"    {name.upper()}_{word} = {value}, /* {meaning} */"
        for word, value, meaning in _STATUS
    )
    lines = [f"/* What every function returns. */\nenum {name}_status {{\n{status}\n}};\n"]
    for one in offered:
        where = f"{one.function.name}, line {one.function.location.line}"
        lines.append(f"/* {where} */\n{one.prototype()};\n")
    return "\n".join(lines)


def _header(title: str, declarations: str) -> str:
    name = prefix(title).upper()
    guard = f"{name}_H"
    return f"""\
/* lib{title}: functions of a Python program, written by ppybuild.
 *
 * A buffer is a pointer and its length in elements; two may be the same memory. A function
 * keeps no state and may be called from several threads. It recurses at most 1000 calls
 * deep, on about 2 kB of stack each.
 *
 * After {name}_ABANDONED no result is written. A buffer whose old contents the function reads
 * holds them again, so that it can be called once more; one that it only writes may hold a
 * part of the new ones. */
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}
#ifdef __cplusplus
}}
#endif
#endif
"""


def _definitions(offered: Sequence[_Exported], title: str) -> str:
    parts = [f'#include "ppy_kernel.h"\n#include "{title}.h"\n']
    parts.append("/* Calls that may nest, as Python's own limit is. */\n#define DEPTH 1000\n")
    kernels = {one.function.name: _kernel_prototype(one) for one in offered}
    parts += [f"{text};" for text in kernels.values()]
    parts += ["", *(_definition(one) for one in offered)]
    return "\n".join(parts)


def _kernel_prototype(one: _Exported) -> str:
    words = ["ppy_run *run"]
    for each in one.parameters:
        name = one.c_names[each.name]
        if isinstance(each, ir.BufferParameter):
            words.append(f"ppy_{each.element.value} {name}")
        else:
            words.append(f"{C_TYPES[each.type]} {name}")
    words += [f"{type_} *{name}" for type_, name in one.results()]
    return f"int {kernel_name(one.function.name)}({', '.join(words)})"


def _definition(one: _Exported) -> str:
    upper = one.prefix.upper()
    lines = [
        '__attribute__((visibility("default")))',
        f"{one.prototype()} {{",
        *(f"    if ({test}) return {upper}_INVALID;" for test in _invalid(one)),
        "    ppy_run run = {NULL, DEPTH, PPY_TICKS, NULL, NULL, NULL};",
    ]
    arguments = ["&run"]
    stored = []
    for each in one.parameters:
        name = one.c_names[each.name]
        if isinstance(each, ir.BufferParameter):
            element = C_ELEMENTS[each.element]
            lines.append(f"    static {element} empty_{name};")
            data = f"{name}_length ? ({element} *){name} : &empty_{name}"
            arguments.append(f"(ppy_{each.element.value}){{{data}, {name}_length}}")
        else:
            arguments.append(name)
    for type_, name in one.results():
        lines.append(f"    {type_} made_{name};")
        arguments.append(f"&made_{name}")
        stored.append(f"    *{name} = made_{name};")
    call = f"{kernel_name(one.function.name)}({', '.join(arguments)})"
    return "\n".join(
        (
            *lines,
            f"    const int status = {call};",
            "    ppy_release(&run, status != PPY_OK);",
            f"    if (status != PPY_OK) return {upper}_ABANDONED;",
            *stored,
            f"    return {upper}_OK;",
            "}\n",
        )
    )


def _invalid(one: _Exported) -> Iterator[str]:
    for each in one.parameters:
        if isinstance(each, ir.BufferParameter):
            name = one.c_names[each.name]
            size = f"INT64_MAX / (int64_t)sizeof *{name}"
            yield f"{name}_length < 0 || {name}_length > {size}"
            yield f"{name}_length > 0 && !{name}"
    for _, name in one.results():
        yield f"!{name}"
