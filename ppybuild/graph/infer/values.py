"""The constants that expressions are worth."""

from __future__ import annotations

import ast

from ppybuild.graph.infer.visit import Visit, binds, outer_units
from ppybuild.graph.library import UNKNOWN_VALUE, Argument, Value
from ppybuild.graph.program import Constant
from ppybuild.graph.types import Class, Function, Module, Type


def constant_of(visit: Visit, node: ast.expr) -> Constant | None:
    """What a name or attribute is worth that stands for a module-level constant."""
    engine = visit.engine
    if isinstance(node, ast.Name):
        found = engine.constant_names.get(visit.unit.module.name)
        if found is None or node.id not in found or node.id in visit.hidden:
            return None
        if not isinstance(visit.unit.node, ast.Module) and binds(visit.unit, node.id):
            return None
        if any(binds(outer, node.id) for outer in outer_units(visit.unit)):
            return None
        if visit.class_name is not None and node.id in visit.here():
            return None
        return found[node.id]
    if isinstance(node, ast.Attribute):
        owner = engine.types.get(node.value)
        if isinstance(owner, Module):
            return engine.constant_names.get(owner.name, {}).get(node.attr)
    return None


def known_value(visit: Visit, node: ast.expr) -> Value:
    """The constant an expression is worth; tuples and lists part by part."""
    if isinstance(node, ast.Constant):
        value = node.value
        if value is None or isinstance(value, int | float | bool | str | bytes):
            return value
        return UNKNOWN_VALUE
    if isinstance(node, ast.Name | ast.Attribute):
        found = visit.engine.constants.get(node)
        return UNKNOWN_VALUE if found is None else found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = known_value(visit, node.operand)
        if isinstance(inner, int | float) and not isinstance(inner, bool):
            return -inner
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(known_value(visit, item) for item in node.elts)
    return UNKNOWN_VALUE


def known_number(visit: Visit, node: ast.expr) -> int | float | None:
    """The number an expression is worth, where that is known."""
    found = known_value(visit, node)
    return found if isinstance(found, int | float) else None


def argument(visit: Visit, node: ast.expr, found: Type) -> Argument:
    """An expression, as the library is asked about it."""
    if isinstance(node, ast.Starred):
        return Argument(visit.resolved(found), starred=True)
    name = None
    if isinstance(node, ast.Attribute):
        owner = visit.engine.types.get(node.value)
        if isinstance(owner, Module):
            name = f"{owner.name}.{node.attr}"
    elif isinstance(node, ast.Name) and not isinstance(found, Class | Function):
        bound = visit.engine.imported_name(visit.unit, node.id)
        if bound is not None:
            name = bound
    return Argument(visit.resolved(found), known_value(visit, node), name)
