"""The constants that expressions are worth."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import cast

from ppybuild.graph.constants import bound_by, calculate
from ppybuild.graph.infer.state import Unit, outer_units
from ppybuild.graph.infer.visit import Visit, binds
from ppybuild.graph.lattice import ANY_SIZE, widened
from ppybuild.graph.library import UNKNOWN_VALUE, Argument, Value
from ppybuild.graph.program import Constant
from ppybuild.graph.scopes import statements_of
from ppybuild.graph.types import (
    INT,
    NEVER,
    Class,
    Function,
    Literal,
    Module,
    Tensor,
    Type,
)

MAX_STEPS = 20
"""How many assignments are followed to find a value."""

Sizes = Iterator[int]


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


def known_value(visit: Visit, node: ast.expr, depth: int = 0) -> Value:
    """The constant an expression is worth; tuples and lists part by part."""
    match node:
        case ast.Constant():
            return plain_constant(node)
        case ast.Name() | ast.Attribute():
            found = visit.engine.constants.get(node)
            if found is not None or isinstance(node, ast.Attribute) or depth > MAX_STEPS:
                return UNKNOWN_VALUE if found is None else found
            return _local_value(visit, node.id, depth)
        case ast.UnaryOp(op=ast.USub()):
            inner = known_value(visit, node.operand, depth + 1)
            return -inner if isinstance(inner, int | float) else UNKNOWN_VALUE
        case ast.BinOp():
            left = known_value(visit, node.left, depth + 1)
            right = known_value(visit, node.right, depth + 1)
            if isinstance(left, int | float) and isinstance(right, int | float):
                result = calculate(node.op, left, right)
                return UNKNOWN_VALUE if result is None else result
        case ast.Tuple() | ast.List():
            return tuple(known_value(visit, item, depth + 1) for item in node.elts)
    return UNKNOWN_VALUE


def plain_constant(node: ast.expr) -> Value:
    """What a literal is worth."""
    if isinstance(node, ast.Constant) and type(node.value) in _PLAIN:
        return cast("Value", node.value)
    return UNKNOWN_VALUE


_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
"""The classes of constants that the library is told of."""


def _local_value(visit: Visit, name: str, depth: int) -> Value:
    """What a variable is worth that its unit binds once, or a parameter that every call gives
    the same number."""
    unit = visit.unit
    if name in visit.hidden:
        return UNKNOWN_VALUE
    if unit.once is None:
        unit.once = bound_once(unit)
    once = unit.once.get(name)
    if once is not None:
        return known_value(visit, once, depth + 1)
    if name in unit.scope.bound:
        return UNKNOWN_VALUE
    for found in unit.inputs:
        if found.name == name and found.kind != "rest" and found.kind != "keywords":
            value = visit.read(found.value)
            if isinstance(value, Literal) and len(value.values) == 1:
                return value.values[0]
    return UNKNOWN_VALUE


def bound_once(unit: Unit) -> dict[str, ast.expr]:
    """The variables of a function that one plain assignment binds and nothing else does."""
    found: dict[str, ast.expr] = {}
    if not isinstance(unit.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return found
    counts: Counter[str] = Counter(each.name for each in unit.inputs)
    for statement in statements_of(unit.node.body):
        counts.update(bound_by(statement))
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ) if len(targets) == len(values):
                for target, value in zip(targets, values, strict=True):
                    if isinstance(target, ast.Name) and not isinstance(value, ast.Starred):
                        found[target.id] = value
    private = unit.scope.bound - unit.rebound
    return {
        name: value for name, value in found.items() if counts[name] == 1 and name in private
    }


def known_number(visit: Visit, node: ast.expr) -> int | float | None:
    """The number an expression is worth, where that is known."""
    found = known_value(visit, node)
    return found if isinstance(found, int | float) else None


def value_type(found: Value) -> Type:
    """How a parameter's known value is kept: as a literal of one integer, or as `int`."""
    if isinstance(found, int) and not isinstance(found, bool):
        return Literal(INT, (found,))
    return INT


def argument(visit: Visit, node: ast.expr, found: Type, sizes: Sizes | None = None) -> Argument:
    """An expression, as the library is asked about it.

    `sizes` tells apart, within one question about tensors, the ints that are not known.
    """
    known = widened(visit.resolved(found))
    if isinstance(node, ast.Starred):
        return Argument(known, starred=True)
    name = None
    if isinstance(node, ast.Attribute):
        owner = visit.engine.types.get(node.value)
        if isinstance(owner, Module):
            name = f"{owner.name}.{node.attr}"
    elif isinstance(node, ast.Name) and not isinstance(found, Class | Function):
        name = visit.engine.imported_name(visit.unit, node.id)
    if sizes is None:
        return Argument(known, known_value(visit, node), name)
    return Argument(distinct(known, sizes), sized_value(visit, node, found, sizes), name)


def sized_value(visit: Visit, node: ast.expr, found: Type, sizes: Sizes) -> Value:
    """The value of an argument; an int that is not known is a size equal to no other."""
    if isinstance(node, ast.Tuple | ast.List):
        types = visit.engine.types
        return tuple(
            sized_value(visit, item, types.get(item, NEVER), sizes) for item in node.elts
        )
    value = known_value(visit, node)
    if value is UNKNOWN_VALUE and found == INT:
        return f"{ANY_SIZE}{next(sizes)}"
    return value


def distinct(found: Type, sizes: Sizes) -> Type:
    """The type with its unknown sizes told apart, so that no two are taken for equal."""
    if isinstance(found, Tensor):
        if found.shape is None or ANY_SIZE not in found.shape:
            return found
        shape = (
            f"{ANY_SIZE}{next(sizes)}" if size == ANY_SIZE else size for size in found.shape
        )
        return Tensor(found.dtype, tuple(shape), found.parameter)
    return found


def sizes_of(*operands: Type) -> Sizes | None:
    """A counter of unknown sizes for a question about tensors; None for any other."""
    return count() if any(isinstance(each, Tensor) for each in operands) else None
