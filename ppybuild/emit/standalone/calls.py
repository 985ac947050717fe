"""Calls: of the project's functions, of built-in ones, of methods."""

from __future__ import annotations

import ast
import builtins as python
from collections.abc import Callable

from ppybuild.emit.names import mangle
from ppybuild.emit.standalone import builtins, heaps
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.classes import class_form, is_plain
from ppybuild.emit.standalone.invoke import invoke
from ppybuild.emit.standalone.kinds import FLOAT, INT, NONE, ObjectOf, show
from ppybuild.emit.standalone.mathematics import lower_math
from ppybuild.emit.standalone.methods import lower_method
from ppybuild.emit.standalone.objects import check_none, make_object
from ppybuild.emit.standalone.operators import to_int
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.texts import str_of
from ppybuild.emit.standalone.values import NOTHING, Value, constant
from ppybuild.graph.program import Function as ProjectFunction
from ppybuild.graph.types import Class, Function, Type


def lower_call(body: Body, node: ast.Call) -> Value:
    callee = body.whole.facts.callees.get(node)
    if callee is None and isinstance(node.func, ast.Attribute):
        return lower_method(body, node, ast.unparse(node.func))
    if callee is None:
        name = ast.unparse(node.func)
        is_builtin = hasattr(python, name) and name not in body.locals
        raise Refused(
            node, f"`{name}`" if is_builtin else f"the call of `{name}`, whatever it is"
        )
    match callee.kind:
        case "project":
            return _project(body, node, callee.name)
        case "method":
            return lower_method(body, node, callee.name)
        case "external":
            return _external(body, node, callee.name)
        case _:
            found = body.whole.facts.program.classes.get(callee.name)
            if found is not None:
                must_be_defined(body, node, found.module, found.node.name)
            return make_object(body, node, callee.name)


def lower_named(body: Body, node: ast.Call, type_: Type | None) -> Value:
    """A call whose callee is a function as a value: what `key=` is given."""
    match type_:
        case Function(name) if name in body.whole.facts.program.functions:
            return _project(body, node, name)
        case Function(name) if name.startswith(("builtins.str.", "str.")):
            method = ast.Attribute(node.args[0], name.rpartition(".")[2], ast.Load())
            return lower_method(body, ast.copy_location(ast.Call(method, [], []), node), name)
        case Function(name) | Class(name):
            return _external(body, node, name if "." in name else f"builtins.{name}")
    raise Refused(node, f"`{ast.unparse(node.func)}` as a key", "write a lambda")


def _external(body: Body, node: ast.Call, name: str) -> Value:
    module, _, function = name.rpartition(".")
    if module == "builtins" and function in builtins.FUNCTIONS:
        return builtins.FUNCTIONS[function](body, node)
    if module in ("heapq", "_heapq") and function in heaps.FUNCTIONS:
        return heaps.FUNCTIONS[function](body, node)
    if module == "math":
        return lower_math(body, node, function)
    if name in _OTHERS:
        return _OTHERS[name](body, node)
    raise Refused(node, f"`{name.removeprefix('builtins.')}`")


# Others


def _clock(c: str) -> Callable[[Body, ast.Call], Value]:
    def apply(body: Body, node: ast.Call) -> Value:
        return body.temporary(FLOAT, f"{c}()")

    return apply


def lower_exit(body: Body, node: ast.Call) -> Value:
    """`sys.exit(status)`, `SystemExit(status)`"""
    if node.keywords or len(node.args) > 1:
        raise Refused(node, "these arguments of `sys.exit`")
    value = body.value(node.args[0]) if node.args else constant(0)
    if value.kind == NONE:
        value = constant(0)
    body.at(node)
    number = to_int(value)
    if number.kind == INT:
        body.line(f"ppy_exit({number.c});")
    else:
        text = str_of(body, node, value)
        body.at(node)
        body.line(f"ppy_exit_text({text.c});")
    return NOTHING


_OTHERS: dict[str, Callable[[Body, ast.Call], Value]] = {
    "array.array": builtins.lower_array,
    "sys.exit": lower_exit,
    "time.perf_counter": _clock("ppy_perf_counter"),
    "time.monotonic": _clock("ppy_perf_counter"),
    "time.time": _clock("ppy_time"),
}


# Functions of the project


def _project(body: Body, node: ast.Call, name: str) -> Value:
    whole = body.whole
    function = whole.facts.program.functions[name]
    if function.owner is not None:
        return _method(body, node, name, function)
    if function.node.name in whole.stores(function.module):
        raise Refused(node, f"`{name}`, which is bound again")
    whole.form(name, node)
    must_be_defined(body, node, function.module, function.node.name)
    return invoke(body, node, name, bind_arguments(body, node, name, False))


def _method(body: Body, node: ast.Call, name: str, function: ProjectFunction) -> Value:
    """`value.method(…)`, or `Class.method(…)` of a static one."""
    assert function.owner is not None
    form = class_form(body.whole, function.owner, node)
    decorator = form.kind_of_method(function.node.name)
    if decorator not in ("", "staticmethod") or not isinstance(node.func, ast.Attribute):
        raise Refused(node, f"`{name}`")
    if decorator:
        return invoke(body, node, name, bind_arguments(body, node, name, False))
    if isinstance(body.whole.facts.types.get(node.func.value), Class):
        raise Refused(node, f"`{ast.unparse(node.func)}` called through the class")
    where = body.value(node.func.value)
    if where.kind != ObjectOf(function.owner):
        raise Refused(node, f"`{name}` of {show(where.kind)}")
    where = body.keep(where)
    check_none(body, node, node.func.value, where, node.func.attr)
    given = bind_arguments(body, node, name, True)
    own = next(iter(body.whole.form(name, node).parameters))
    return invoke(body, node, name, {own: where, **given})


def bind_arguments(body: Body, node: ast.Call, name: str, skip_first: bool) -> dict[str, Value]:
    """The values of the arguments by parameter; evaluated in Python's order."""
    form = body.whole.form(name, node)
    given = _bind(body, node, name, skip_first)
    for parameter, arg in given.items():
        body.hint(arg, form.parameters[parameter])
    return dict(zip(given, body.values(*given.values()), strict=True))


def must_be_defined(body: Body, node: ast.AST, module: str, simple: str) -> None:
    """NameError where a function or a class is used before its statement has run."""
    whole = body.whole
    if simple in whole.early(module):
        return
    here = body.function is None and module == body.module.name
    if here and (body.bound is None or simple in body.bound):
        return
    name = f"{module}.{simple}"
    whole.defined_late.add(name)
    body.fail(node, f"!{form_flag(name)}", f'ppy_why_undefined("{simple}")')


def form_flag(name: str) -> str:
    """The C variable that is set once a function or a class is defined."""
    return f"ppy_D_{mangle(name)}"


def _bind(body: Body, node: ast.Call, name: str, skip_first: bool) -> dict[str, ast.expr]:
    """The argument of each parameter, in the order in which Python evaluates them."""
    parameters = body.whole.facts.signatures[name].parameters[1 if skip_first else 0 :]
    if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
        each.arg is None for each in node.keywords
    ):
        raise Refused(node, "starred arguments")
    places = [each for each in parameters if each.kind != "keyword"]
    if len(node.args) > len(places):
        raise Refused(node, f"too many arguments of `{name}`")
    found = {parameter.name: arg for parameter, arg in zip(places, node.args, strict=False)}
    names = {each.name: each for each in parameters}
    for each in node.keywords:
        if each.arg not in names or each.arg in found or each.arg is None:
            raise Refused(node, f"the argument `{each.arg}` of `{name}`")
        found[each.arg] = each.value
    for parameter in parameters:
        if parameter.name in found:
            continue
        if parameter.default is None:
            raise Refused(node, f"the argument `{parameter.name}` of `{name}` is missing")
        if not is_plain(parameter.default):
            raise Refused(parameter.default, "a default that is no number or str")
        found[parameter.name] = parameter.default
    return found
