"""Import statements, and attributes of modules."""

from __future__ import annotations

import ast

from ppybuild.emit.names import mangle
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.classes import class_form
from ppybuild.emit.standalone.kinds import ERROR, TEXT, ListOf, ObjectOf
from ppybuild.emit.standalone.objects import load_field
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, constant
from ppybuild.graph import types
from ppybuild.graph.constants import LIBRARY as LIBRARY_CONSTANTS
from ppybuild.graph.imports import absolute_name, is_namespace

LIBRARY = frozenset(
    {
        "__future__",
        "array",
        "collections.abc",
        "dataclasses",
        "heapq",
        "math",
        "ppy",
        "sys",
        "time",
        "typing",
    }
)
"""Modules of libraries of which something has a form; importing them has no effect."""


def module_function(module: str) -> str:
    """The C function that runs a module's code, once."""
    return f"ppy_M_{mangle(module)}"


def lower_import(body: Body, node: ast.Import | ast.ImportFrom) -> None:
    """Run the project's modules that the statement names."""
    modules = body.whole.facts.program.modules
    if isinstance(node, ast.Import):
        for alias in node.names:
            _run(body, node, alias.name)
        return
    source = absolute_name(body.module, node)
    _run(body, node, source)
    for alias in node.names:
        if alias.name == "*" and (source in modules or source not in ("math", "typing")):
            raise Refused(node, "`import *`", "import the names")
        if f"{source}.{alias.name}" in modules:
            _run(body, node, f"{source}.{alias.name}")


def _run(body: Body, node: ast.AST, name: str) -> None:
    whole = body.whole
    modules = whole.facts.program.modules
    if name not in modules and not is_namespace(modules, name):
        if name in LIBRARY:
            return
        raise Refused(node, f"the module `{name}`")
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        each = ".".join(parts[:end])
        if each not in modules:
            continue
        if each == whole.main:
            raise Refused(node, "importing the module that is run as a program")
        if each not in whole.modules:
            whole.modules.append(each)
        body.at(node)
        body.line(f"{module_function(each)}();")


def lower_attribute(body: Body, node: ast.Attribute) -> Value:
    """A module's variable or constant, `sys.argv`, or the name of a caught exception's type."""
    whole = body.whole
    owner = whole.facts.types.get(node.value)
    if node.attr == "__name__" and isinstance(node.value, ast.Call):
        inside = node.value
        if isinstance(inside.func, ast.Name) and inside.func.id == "type" and inside.args:
            value = body.value(inside.args[0])
            if value.kind == ERROR:
                return body.temporary(TEXT, "ppy_caught_name()")
    if isinstance(owner, types.Module):
        if owner.name in whole.facts.program.modules:
            known = whole.facts.constants.get(node)
            if known is not None and whole.is_settled(owner.name, node.attr, node):
                return _known(node, known)
            variable = whole.variable(owner.name, node.attr, node)
            if not variable.early:
                whole.flagged.add(variable.key)
                body.fail(node, f"!{variable.flag}", f'ppy_why_undefined("{node.attr}")')
            return variable.place
        if owner.name == "sys" and node.attr == "argv":
            return Value(ListOf(TEXT), "ppy_argv")
        if owner.name == "sys" and node.attr == "maxsize":
            return constant(2**63 - 1)
        if node.attr in LIBRARY_CONSTANTS.get(owner.name, {}):
            return _known(node, LIBRARY_CONSTANTS[owner.name][node.attr])
    if isinstance(owner, types.Class) and owner.name in whole.facts.program.classes:
        form = class_form(whole, owner.name, node)
        if node.attr in form.constants:
            return body.value(form.constants[node.attr])
        raise Refused(node, f"`{ast.unparse(node)}`")
    known = whole.facts.constants.get(node)
    if known is not None:
        return _known(node, known)
    if not isinstance(owner, types.Module):
        value = body.value(node.value)
        if isinstance(value.kind, ObjectOf):
            return load_field(body, node, value)
    raise Refused(node, f"`{ast.unparse(node)}`")


def _known(node: ast.AST, value: int | float | bool | str) -> Value:
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise Refused(node, "an integer of more than 64 bits")
    return constant(value)
