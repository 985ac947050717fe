"""Lists a module's functions and classes under their dotted names."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ppybuild.graph.imports import absolute_name
from ppybuild.graph.program import Class, Function, Module
from ppybuild.graph.scopes import blocks_of

UNKNOWN_BASE = "<unknown>"
"""Stands in `Class.bases` for a base that is not a plain dotted name."""


def index_module(
    module: Module, functions: dict[str, Function], classes: dict[str, Class]
) -> None:
    """Adds what the module defines, at any depth.

    A second definition under a name that is taken bears `#2`, the third `#3`.
    """
    names = bindings_of(module)

    def visit(body: Sequence[ast.stmt], prefix: str, owner: str | None) -> None:
        for statement in body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    name = _free(f"{prefix}.{statement.name}", functions, classes)
                    functions[name] = Function(name, module.name, statement, owner)
                    visit(statement.body, f"{name}.<locals>", None)
                case ast.ClassDef():
                    name = _free(f"{prefix}.{statement.name}", functions, classes)
                    bases = tuple(_base(base, names) for base in statement.bases)
                    classes[name] = Class(name, module.name, statement, bases)
                    visit(statement.body, name, name)
                case _:
                    for block in blocks_of(statement):
                        visit(block, prefix, owner)

    visit(module.tree.body, module.name, None)


def bindings_of(module: Module) -> dict[str, str]:
    """What a module's top-level names stand for where imports and definitions tell."""
    found: dict[str, str] = {}

    def visit(body: Sequence[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Import():
                    for alias in statement.names:
                        if alias.asname:
                            found[alias.asname] = alias.name
                        else:
                            top = alias.name.partition(".")[0]
                            found[top] = top
                case ast.ImportFrom():
                    source = absolute_name(module, statement)
                    for alias in statement.names:
                        found[alias.asname or alias.name] = f"{source}.{alias.name}"
                case ast.ClassDef():
                    found[statement.name] = f"{module.name}.{statement.name}"
                case _:
                    for block in blocks_of(statement):
                        visit(block)

    visit(module.tree.body)
    return found


def _free(name: str, functions: Mapping[str, object], classes: Mapping[str, object]) -> str:
    free, count = name, 1
    while free in functions or free in classes:
        count += 1
        free = f"{name}#{count}"
    return free


def _base(base: ast.expr, names: Mapping[str, str]) -> str:
    if isinstance(base, ast.Subscript):
        return _base(base.value, names)
    attributes: list[str] = []
    while isinstance(base, ast.Attribute):
        attributes.append(base.attr)
        base = base.value
    if not isinstance(base, ast.Name):
        return UNKNOWN_BASE
    return ".".join([names.get(base.id, base.id), *reversed(attributes)])
