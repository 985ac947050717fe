"""Functions and imports: what their names are bound to."""

from __future__ import annotations

import ast

from ppybuild.graph.imports import absolute_name
from ppybuild.graph.infer.expressions import infer_defaults
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.types import UNKNOWN, Function, Module, Type, Unknown


def run_function(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    name = visit.engine.owner_of(node)
    for decorator in node.decorator_list:
        visit.infer(decorator)
    unit = visit.engine.units[name]
    infer_defaults(visit, node.args, unit)
    unit.opaque = any(not is_transparent(visit, each) for each in node.decorator_list) or (
        unit.owner is not None and visit.engine.hierarchy.is_rebound(unit.owner, node.name)
    )
    if visit.class_name is None:
        visit.bind(node.name, UNKNOWN if unit.opaque else Function(name))
    elif visit.env is not None:
        visit.env[node.name] = UNKNOWN if unit.opaque else Function(name)


TRANSPARENT = frozenset(
    {
        "ppy.pure",
        "ppy.export",
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.grad_mode.no_grad",
        "torch.autograd.grad_mode.inference_mode",
        "torch.autograd.grad_mode.enable_grad",
        "torch.enable_grad",
        "typing.overload",
        "functools.cached_property",
        "functools.cache",
        "functools.lru_cache",
        "contextlib.contextmanager",
        "typing.final",
        "typing.override",
        "abc.abstractmethod",
        "builtins.staticmethod",
        "builtins.classmethod",
        "builtins.property",
        "torch.jit.ignore",
        "torch.compile",
    }
)
"""Decorators after which a call still reaches the function with the same arguments."""


def is_transparent(visit: Visit, decorator: ast.expr) -> bool:
    """True for a decorator known to leave a call's way to the function as it is."""
    plain = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(plain, ast.Attribute) and plain.attr in ("setter", "getter", "deleter"):
        return True
    return visit.engine.dotted(plain, visit.unit) in TRANSPARENT


def run_import(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Import)
    for alias in node.names:
        if alias.asname:
            visit.bind(alias.asname, _module(visit, alias.name))
        else:
            top = alias.name.partition(".")[0]
            visit.bind(top, _module(visit, top))


def _module(visit: Visit, name: str) -> Type:
    if visit.engine.is_project_module(name):
        return Module(name)
    return Module(name) if visit.engine.library.module(name) else UNKNOWN


def run_import_from(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.ImportFrom)
    engine = visit.engine
    source = absolute_name(visit.unit.module, node)
    own = engine.is_project_module(source)
    for alias in node.names:
        if alias.name == "*":
            continue
        if own:
            found = engine.global_type(source, alias.name, visit.unit)
        else:
            found = engine.library.member(Module(source), alias.name)
            if (found is None or isinstance(found, Unknown)) and engine.library.module(
                f"{source}.{alias.name}"
            ):
                found = Module(f"{source}.{alias.name}")
        visit.bind(alias.asname or alias.name, UNKNOWN if found is None else found)
