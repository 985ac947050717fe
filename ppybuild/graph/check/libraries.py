"""E1102: imports from libraries that are not installed, or lack the name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic, nearest
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.types import Module

HANDLED = ("ImportError", "ModuleNotFoundError")


def check_import(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`import name` at a module's top level; below it, it may never run."""
    assert isinstance(node, ast.Import)
    if place.function is not None or place.conditional or is_caught(place, *HANDLED):
        return
    for alias in node.names:
        if not is_project(context, alias.name) and not context.library.module(alias.name):
            yield missing_module(context, place, alias, alias.name)


def check_import_from(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`from module import name`"""
    assert isinstance(node, ast.ImportFrom)
    source = node.module
    if node.level or source is None or place.conditional or is_caught(place, *HANDLED):
        return
    if is_project(context, source) or source == "__future__":
        return
    if not context.library.module(source):
        if place.function is None:
            yield missing_module(context, place, node, source)
        return
    for alias in node.names:
        if alias.name != "*" and context.library.member(Module(source), alias.name) is None:
            close = nearest(alias.name, public(context.library.names(Module(source))))
            yield context.report(
                "E1102",
                f"module `{source}` has no `{alias.name}`",
                place,
                alias,
                help=f"did you mean `{close}`?" if close else "",
            )


def is_project(context: Context, name: str) -> bool:
    """True for what the project provides, of which `imports` speaks."""
    modules = context.facts.program.modules
    return context.provides(name) or name.partition(".")[0] in modules or name == "ppy"


def missing_module(context: Context, place: Place, node: ast.AST, name: str) -> Diagnostic:
    return context.report(
        "E1102",
        f"no module `{name}` is installed, and the project has none",
        place,
        node,
        help="install the library, or add its folder to `[sources] roots`",
    )


def public(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith("_"))
