"""Fast forms: functions of numbers that run as kernels of `emit/loops` first."""

from __future__ import annotations

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.c_expr import C_TYPES
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.ops import CHECKED
from ppybuild.emit.loops.tree import statements
from ppybuild.emit.names import kernel_name
from ppybuild.emit.relied import ReliedConstant
from ppybuild.emit.standalone.functions import prototype
from ppybuild.emit.standalone.kinds import (
    ARRAYS,
    BOOL,
    FLOAT,
    INT,
    NONE,
    ArrayOf,
    Kind,
    TupleOf,
    c_item,
    c_type,
)
from ppybuild.emit.standalone.whole import FunctionForm, Whole

_SCALARS = {INT: ir.Type.I64, FLOAT: ir.Type.F64, BOOL: ir.Type.BOOL}


def fast_forms(whole: Whole) -> dict[str, ir.Function]:
    """Loop IR of the functions that gain by it, with all that it calls."""
    lowered, _ = lower(whole.facts, tuple(whole.forms))
    fit = {
        name: function
        for name, function in lowered.items()
        if _same_signature(whole.forms[name], function)
        and not any(_asks(each) for each in statements(function.body))
        and _settled(whole, function)
    }
    while True:
        kept = {
            name: function for name, function in fit.items() if _callees(function) <= set(fit)
        }
        if len(kept) == len(fit):
            break
        fit = kept
    worth = {name for name, function in fit.items() if _is_worth(function)}
    needed = set(worth)
    pending = list(worth)
    while pending:
        for name in _callees(fit[pending.pop()]) - needed:
            needed.add(name)
            pending.append(name)
    return {name: function for name, function in fit.items() if name in needed}


def _callees(function: ir.Function) -> set[str]:
    return {each.function for each in statements(function.body) if isinstance(each, ir.Call)}


def _asks(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Checked) and CHECKED[statement.op].asks


def _is_worth(function: ir.Function) -> bool:
    """Where there are loops or calls; for a few sums, entering a kernel costs more."""
    return any(
        isinstance(each, ir.For | ir.While | ir.Call) for each in statements(function.body)
    )


def _settled(whole: Whole, function: ir.Function) -> bool:
    """Constants have their values before any code runs that could see them without."""
    for relied in function.relies:
        if isinstance(relied, ReliedConstant):
            module = whole.facts.program.functions[function.name].module
            name = str(relied.path).partition(".")[0]
            if name in whole.stores(module) and name not in whole.early(module):
                return False
    return True


def _same_signature(form: FunctionForm, function: ir.Function) -> bool:
    pairs = zip(form.parameters.values(), function.parameters, strict=True)
    return all(_same(kind, each) for kind, each in pairs) and _same_result(
        form.result, function.result
    )


def _same(kind: Kind, parameter: ir.Parameter) -> bool:
    match parameter:
        case ir.ScalarParameter(_, type_):
            return _SCALARS.get(kind) is type_  # type: ignore[arg-type]
        case ir.BufferParameter(_, element, _, holder):
            return (
                holder is None
                and isinstance(kind, ArrayOf)
                and ARRAYS[kind.typecode].lower() == element.value
            )
        case ir.GridParameter():
            return False  # a standalone program has no memoryviews
        case ir.TupleParameter(_, items):
            return isinstance(kind, TupleOf) and all(map(_same, kind.items, items))


def _same_result(kind: Kind, result: ir.Result) -> bool:
    match result:
        case None:
            return kind == NONE
        case ir.TupleResult(items):
            return isinstance(kind, TupleOf) and all(map(_same_result, kind.items, items))
        case _:
            return _SCALARS.get(kind) is result  # type: ignore[arg-type]


# The C function that tries the kernel


def kernel_prototype(form: FunctionForm) -> str:
    """The kernel, as `emit/loops` prints it."""
    words = ["ppy_run *"]
    for kind in form.parameters.values():
        words += _flat_types(kind)
    words += [f"{each} *" for each in _flat_types(form.result)]
    return f"int {kernel_name(form.name)}({', '.join(words)});"


def _flat_types(kind: Kind) -> list[str]:
    match kind:
        case TupleOf(items):
            return [each for item in items for each in _flat_types(item)]
        case ArrayOf(typecode):
            return [f"ppy_{ARRAYS[typecode].lower()}"]
        case _:
            return [] if kind == NONE else [C_TYPES[_SCALARS[kind]]]  # type: ignore[index]


def write_fast(form: FunctionForm, checked: str) -> list[str]:
    """Runs the kernel, and where it abandons, the checked form from the start."""
    words = ["&run"]
    for at, kind in enumerate(form.parameters.values()):
        words += _flat_values(kind, f"ppy_arg_{at}")
    results, lines = _results(form.result, "result")
    words += [f"&{name}" for name in results]
    given = ", ".join(f"ppy_arg_{at}" for at in range(len(form.parameters)))
    whole = "return" if form.result == NONE else f"return {lines}"
    last = f"{checked}({given});" if form.result == NONE else f"return {checked}({given});"
    types = _flat_types(form.result)
    return [
        f"{prototype(form, form.c)} {{",
        "    /* Frames that may still be entered; where they end, the checked form counts. */",
        "    ppy_run run = {NULL, PPY_RECURSION_LIMIT - 2 - ppy_top_frame->depth, PPY_TICKS, "
        "ppy_kernel_poll, NULL, NULL};",
        *(f"    {type_} {name} = 0;" for type_, name in zip(types, results, strict=True)),
        f"    const int status = {kernel_name(form.name)}({', '.join(words)});",
        "    ppy_release(&run, status != PPY_OK);",
        f"    if (PPY_LIKELY(status == PPY_OK)) {whole};",
        "    ppy_look_at_signals();",
        f"    {last}",
        "}",
        "",
    ]


def _flat_values(kind: Kind, c: str) -> list[str]:
    match kind:
        case TupleOf(items):
            return [
                each
                for at, item in enumerate(items)
                for each in _flat_values(item, f"{c}.p{at}")
            ]
        case ArrayOf(typecode):
            buffer = f"ppy_{ARRAYS[typecode].lower()}"
            item = c_item(kind)
            data = f"{c}->data ? PPY_ITEMS({item}, {c}) : ({item} *)ppy_nothing"
            return [f"({buffer}){{{data}, {c}->length}}"]
        case _:
            return [c]


def _results(kind: Kind, name: str) -> tuple[list[str], str]:
    """The names of flat results, and the whole of them."""
    if not isinstance(kind, TupleOf):
        return ([] if kind == NONE else [name]), name
    names: list[str] = []
    parts: list[str] = []
    for at, item in enumerate(kind.items):
        inner, whole = _results(item, f"{name}_{at}")
        names += inner
        parts.append(whole)
    return names, f"({c_type(kind)}){{{', '.join(parts)}}}"
