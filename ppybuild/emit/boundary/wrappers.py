"""Print the C through which Python calls loop kernels.

    def scale(x: Buffer[float], by: float) -> None

becomes a wrapper that takes `x` and `by` from Python objects, runs `k_app_scale` and gives
`None`; or returns NULL without an exception, and the Python function is called. The C that
it uses is in `emit/runtime/ppy_wrap.h` and `ppy_boundary.h`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from ppybuild.emit.boundary.relied import emit_relied, relied_name
from ppybuild.emit.loops.ir import (
    CONSTANT,
    ArrayResult,
    BufferParameter,
    Function,
    GridParameter,
    Parameter,
    Result,
    ScalarParameter,
    TupleParameter,
    TupleResult,
    Type,
)
from ppybuild.emit.names import kernel_name, mangle, wrapper_name

C_TYPES = {Type.I64: "int64_t", Type.F64: "double", Type.BOOL: "bool"}
TAKE = {Type.I64: "ppy_take_int", Type.F64: "ppy_take_float", Type.BOOL: "ppy_take_bool"}
MAKE = {
    Type.I64: "ppy_make_int",
    Type.F64: "PyFloat_FromDouble",
    Type.BOOL: "PyBool_FromLong",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One of a kernel's arguments: its C type and name, and the C that takes it; empty
    where another argument's does."""

    type: str
    name: str
    take: str
    held: bool = False
    """Whether it is memory that is held while the kernel runs."""


def emit_wrappers(module: str, functions: Sequence[Function]) -> str:
    """The wrappers of one Python module's functions and the table of its entries.

    Goes after the kernels, or their prototypes, in a file that includes `ppy_wrap.h`.
    """
    rows = [
        f'    {{"{mangle(function.name)}", {wrapper_name(function.name)}, '
        f"{len(function.parameters)}, 0, {_relied_name(function)}}},"
        for function in functions
    ]
    table = "\n".join(
        (
            f"const ppy_entry {table_name(module)}[] = {{",
            *rows,
            "    {NULL, NULL, 0, 0, NULL},",
            "};",
        )
    )
    return "\n".join([*(emit_wrapper(function) + "\n" for function in functions), table, ""])


def _relied_name(function: Function) -> str:
    return relied_name(function.name) if function.relies else "NULL"


def emit_extension(name: str, modules: Iterable[str]) -> str:
    """The C file that makes an extension of the tables of these Python modules."""
    tables = [table_name(module) for module in modules]
    return "\n".join(
        (
            '#include "ppy_boundary.h"',
            "",
            *(f"extern const ppy_entry {table}[];" for table in tables),
            "",
            f"PPY_EXTENSION({name}, {', '.join(tables)})",
            "",
        )
    )


def table_name(module: str) -> str:
    """The C name of the table of a Python module's entries."""
    return f"ppy_entries_{mangle(module)}"


def emit_wrapper(function: Function) -> str:
    """The wrapper of one function."""
    scalars: list[Argument] = []
    buffers: list[Argument] = []
    checks: list[str] = []
    order: list[str] = []
    for position, parameter in enumerate(function.parameters):
        for step in _take(parameter, f"args[{position}]", f"p_{mangle(parameter.name)}"):
            if isinstance(step, str):
                checks.append(step)
                continue
            order.append(step.name)
            if step.held:
                buffers.append(step)
            else:
                scalars.append(step)
                checks += [step.take] if step.take else []
    results = tuple(_leaves(function.result))
    unfit = "\n        || ".join(["args == NULL", *(f"!{check}" for check in checks)])
    lines = [
        *_head(function),
        *(f"    {scalar.type} {scalar.name};" for scalar in scalars),
        f"    if ({unfit})",
        "        return NULL;",
        *_body(function, buffers, order, results),
        "}",
        *([emit_relied(function.name, function.relies)] if function.relies else []),
    ]
    return "\n".join(lines)


def _head(function: Function) -> Iterator[str]:
    names = ", ".join(parameter.name for parameter in function.parameters)
    yield f"/* {function.name}({names}), line {function.location.line} */"
    yield (
        f"static PyObject *{wrapper_name(function.name)}(ppy_native *self, "
        "PyObject *const *args, size_t nargsf, PyObject *kwnames) {"
    )
    yield f"    PyObject *found[{max(1, len(function.parameters))}];"
    yield "    args = ppy_arguments(self, args, nargsf, kwnames, found);"


def _body(
    function: Function,
    buffers: Sequence[Argument],
    order: Sequence[str],
    results: Sequence[Type | ArrayResult],
) -> Iterator[str]:
    """The run, inside the buffers' being held where there are any."""
    answers = [f"r{index}" for index in range(len(results))]
    passed = ", ".join(["&run", *order, *(f"&{answer}" for answer in answers)])
    declared = [
        f"ppy_{type_.element.value} {name} = {{NULL, 0}};"
        if isinstance(type_, ArrayResult)
        else f"{C_TYPES[type_]} {name} = 0;"
        for type_, name in zip(results, answers, strict=True)
    ]
    gives_own = any(isinstance(each, ArrayResult) for each in results)
    call = f"{kernel_name(function.name)}({passed})"
    made = _make(function.result, iter(answers))
    if not buffers:
        yield from (f"    {line}" for line in declared)
        yield "    ppy_run run;"
        yield "    if (!ppy_enter(&run)) return NULL;"
        yield f"    if (!ppy_leave(&run, self, {call})) return NULL;"
        if gives_own:
            yield f"    PyObject *answer = {made};"
            yield "    ppy_unmake(&run, NULL);"
            yield "    return answer;"
        else:
            yield f"    return {made};"
        return
    yield from (f"    {buffer.type} {buffer.name};" for buffer in buffers)
    yield f"    Py_buffer views[{len(buffers)}];"
    yield "    int held = 0;"
    yield "    PyObject *answer = NULL;"
    fits = "\n        && ".join(buffer.take for buffer in buffers)
    yield f"    if ({fits}) {{"
    yield from (f"        {line}" for line in declared)
    yield "        ppy_run run;"
    yield "        if (ppy_enter(&run)"
    yield f"            && ppy_leave(&run, self, {call})) {{"
    yield f"            answer = {made};"
    if gives_own:
        yield "            ppy_unmake(&run, NULL);"
    yield "        }"
    yield "    }"
    yield "    ppy_drop(views, held);"
    yield "    return answer;"


def _take(parameter: Parameter, value: str, name: str) -> Iterator[Argument | str]:
    """The kernel's arguments that a parameter becomes, and checks that go before them."""
    match parameter:
        case ScalarParameter():
            take = f"{TAKE[parameter.type]}({value}, &{name})"
            yield Argument(C_TYPES[parameter.type], name, take)
        case BufferParameter():
            element = parameter.element.value
            writable = "true" if parameter.writable else "false"
            take = f"ppy_take_{element}(self, {value}, {writable}, views, &held, &{name})"
            if parameter.holder in CONSTANT:
                take = f"ppy_take_{parameter.holder}({value}, views, &held, &{name})"
            elif parameter.holder is not None:
                items = "bools" if parameter.holder == "list of bools" else element
                take = f"ppy_take_list_{items}({value}, views, &held, &{name})"
            yield Argument(f"ppy_{element}", name, take, held=True)
        case GridParameter():
            element = parameter.element.value
            sizes = [f"{name}_{mangle(each)}" for each in ("rows", "cols")]
            into = ", ".join(f"&{each}" for each in (name, *sizes))
            take = f"ppy_take_grid_{element}(self, {value}, views, &held, {into})"
            yield Argument(f"ppy_{element}", name, take, held=True)
            yield from (Argument("int64_t", each, "") for each in sizes)
        case TupleParameter():
            yield f"ppy_take_tuple({value}, {len(parameter.items)})"
            for index, item in enumerate(parameter.items):
                yield from _take(item, f"PyTuple_GET_ITEM({value}, {index})", f"{name}_{index}")
        case _:
            assert_never(parameter)


def _leaves(result: Result) -> Iterator[Type | ArrayResult]:
    """The scalars and arrays of a result, in order."""
    if isinstance(result, TupleResult):
        for item in result.items:
            yield from _leaves(item)
    elif result is not None:
        yield result


def _make(result: Result, answers: Iterator[str]) -> str:
    """The C that makes the Python object of a result."""
    if result is None:
        return "Py_NewRef(Py_None)"
    if isinstance(result, TupleResult):
        items = [_make(item, answers) for item in result.items]
        return f"ppy_pack({', '.join([str(len(items)), *items])})"
    if isinstance(result, ArrayResult):
        return f"{_maker(result)}({next(answers)})"
    return f"{MAKE[result]}({next(answers)})"


def _maker(result: ArrayResult) -> str:
    """The C function that makes the Python object of an array."""
    if result.holder == "list of bools":
        return "ppy_list_bools"
    return f"ppy_{result.holder}_{result.element.value}"
