"""A function, or a module's code, as a C function: its frame around its lines."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.standalone.around import FlagLine
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.calls import bind_arguments, lower_named
from ppybuild.emit.standalone.expressions import lower_expression
from ppybuild.emit.standalone.kinds import NONE, Kind, TupleOf, c_type, kind_of
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.statements import leave, lower_block
from ppybuild.emit.standalone.values import Value, c_string
from ppybuild.emit.standalone.whole import FunctionForm, Whole
from ppybuild.graph.locations import source_path
from ppybuild.graph.program import Function, Module
from ppybuild.graph.scopes import scope_of
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import Function as FunctionType

_MARKS = (FunctionType("ppy.pure"), FunctionType("ppy.export"))


_LOWER = (lower_expression, lower_named, bind_arguments)


def prototype(form: FunctionForm, name: str) -> str:
    """The C prototype of a function, its parameters by number."""
    words = [f"{c_type(kind)} ppy_arg_{at}" for at, kind in enumerate(form.parameters.values())]
    return f"static {c_type(form.result)} {name}({', '.join(words) or 'void'})"


def write_function(whole: Whole, form: FunctionForm, name: str) -> list[str]:
    """The checked form of a function; what it cannot hold is refused in `whole`."""
    function = whole.facts.program.functions[form.name]
    module = whole.facts.program.modules[function.module]
    try:
        _check(whole, function)
        locals_ = _locals(whole, function, form)
    except Refused as refused:
        whole.refuse(module, refused, function.node)
        return []
    body = Body(
        whole,
        module,
        form.name,
        locals_,
        lower_expression,
        lower_named,
        bind_arguments,
        form.result,
    )
    body.has_try = any(isinstance(each, ast.Try) for each in walk(function.node))
    body.bound = set(form.parameters)
    if function.owner is not None and form.parameters:
        own = next(iter(form.parameters))
        if own not in scope_of(function.node.body, expressions=True).bound:
            body.own = own
    lower_block(body, function.node.body)
    if body.bound is not None:
        if form.result == NONE:
            leave(body, None)
        else:
            body.line("__builtin_unreachable(); /* every way returns */")
            ends = Refused(function.node, f"`{function.node.name}` may end without `return`")
            whole.refuse(module, ends, function.node)
    start = []
    for at, (parameter, kind) in enumerate(form.parameters.items()):
        if kind != NONE:
            body.lines, lines = [], body.lines
            body.store(body.places[parameter], Value(kind, f"ppy_arg_{at}", fixed=True))
            start += [each.strip() for each in body.lines if isinstance(each, str)]
            body.lines = lines
        if parameter in body.flagged:
            start.append(f"{body.c_names[parameter]}_bound = true;")
    return [
        f"/* {form.name} */",
        f"{prototype(form, name)} {{",
        *_framed(body, source_path(module), function.node.name, function.node.lineno, start),
        "}",
        "",
    ]


def write_module(whole: Whole, module: Module, name: str) -> list[str]:
    """The code of a module, run once."""
    body = Body(whole, module, None, {}, *_LOWER)
    body.has_try = any(isinstance(each, ast.Try) for each in walk(module.tree))
    lower_block(body, module.tree.body)
    if body.bound is not None:
        leave(body, None)
    path = source_path(module)
    return [
        f"/* {path} */",
        f"static void {name}(void) {{",
        "    static bool ppy_ran;",
        "    if (ppy_ran) return;",
        "    ppy_ran = true;",
        *_framed(body, path, "<module>", 1, []),
        "}",
        "",
    ]


def _check(whole: Whole, function: Function) -> None:
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef):
        raise Refused(node, "an async function")
    for decorator in node.decorator_list:
        if function.owner and ast.unparse(decorator) in ("property", "staticmethod"):
            continue
        if whole.facts.types.get(decorator) not in _MARKS:
            raise Refused(decorator, f"the decorator `{ast.unparse(decorator)}`")
    for each in walk(node):
        match each:
            case ast.Yield() | ast.YieldFrom():
                raise Refused(each, "a generator")
            case ast.Nonlocal():
                raise Refused(each, "`nonlocal`")


def _locals(whole: Whole, function: Function, form: FunctionForm) -> dict[str, Kind | None]:
    scope = scope_of(function.node.body, expressions=True)
    known = whole.facts.locals.get(function.name, {})
    found: dict[str, Kind | None] = dict(form.parameters)
    handlers = {
        each.name for each in walk(function.node) if isinstance(each, ast.ExceptHandler)
    }
    for name in sorted(scope.bound - scope.globals):
        if name in found:
            continue
        type_ = known.get(name)
        kind = kind_of(type_)
        if kind == NONE or name in handlers or type_ is None:
            continue
        found[name] = kind
    return found


def _framed(body: Body, path: str, function: str, line: int, start: Sequence[str]) -> list[str]:
    """Declarations, the frame, the lines, and the ways out."""
    lines = []
    slots = body.slots
    if slots:
        lines.append(f"ppy_text ppy_kept[{slots}] = {{{{0}}}};")
    if body.roots:
        lines.append(f"ppy_list *ppy_lists[{body.roots}] = {{0}};")
        lines.append(f"ppy_roots ppy_own = {{ppy_lists, {body.roots}, ppy_top_roots}};")
    volatile = "volatile " if body.has_try else ""
    for c, kind in body.declared:
        if isinstance(kind, TupleOf):
            body.whole.tuples.add(kind)
            lines.append(f"{volatile}{c_type(kind)} {c} = {{0}};")
        else:
            lines.append(f"{volatile}{c_type(kind)} {c} = 0;")
            lines.append(f"(void){c};")
    for name in body.locals:
        if name in body.flagged:
            lines.append(f"{volatile}bool {body.c_names[name]}_bound = false;")
    kept = f"ppy_kept, .kept_count = {slots}" if slots else "NULL"
    lines.append(
        f"ppy_frame ppy_here = {{.file = {c_string(path)}, .function = {c_string(function)}, "
        f".kept = {kept}, .line = {line}}};"
    )
    lines.append("ppy_frame_enter(&ppy_here);")
    if body.roots:
        lines.append("ppy_top_roots = &ppy_own;")
    if body.has_try:
        lines.append("ppy_roots *const ppy_own_roots = ppy_top_roots;")
        lines.append("(void)ppy_own_roots;")
    entry = body.needs_entry or body.uses_arena
    lines.append("const ppy_mark ppy_entry = ppy_arena_mark();" if entry else "")
    lines += start
    done = [f"    {each}" for each in lines if each]
    for each in body.lines:
        done += _finished(body, each)
    return done


def _finished(body: Body, line: str | FlagLine) -> list[str]:
    if isinstance(line, FlagLine):
        if line.name not in body.flagged:
            return []
        return ["    " * line.depth + f"{body.c_names[line.name]}_bound = true;"]
    if line.startswith("@leave"):
        text = "ppy_frame_leave(&ppy_here);"
        if body.roots:
            text += " ppy_top_roots = ppy_own.outer;"
        if (body.uses_arena or body.needs_entry) and line == "@leave":
            text += " ppy_arena_release(ppy_entry);"
        return [f"    {text}"]
    return [line]
