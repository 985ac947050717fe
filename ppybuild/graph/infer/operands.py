"""Operators on whatever their operands are: numbers here, the rest by method or library."""

from __future__ import annotations

import ast

from ppybuild.graph.infer.calls import call_method
from ppybuild.graph.infer.containers import join_lists
from ppybuild.graph.infer.operators import infer_numbers, infer_tuples, infer_unary
from ppybuild.graph.infer.values import argument, known_number, sizes_of
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import base_scalar, join_all, members_of
from ppybuild.graph.symbols import COMPARISONS, EQUALITY, METHODS, SYMBOLS, UNARY
from ppybuild.graph.types import BOOL, NEVER, NONE, UNKNOWN, Instance, Type, Unknown

SPECIAL = METHODS | EQUALITY
REFLECTED = {"<": "gt", "<=": "ge", ">": "lt", ">=": "le", "==": "eq", "!=": "ne"}


def infer_binary(
    visit: Visit,
    node: ast.AST,
    operator: ast.operator,
    left_node: ast.expr,
    left: Type,
    right_node: ast.expr,
    right: Type,
) -> Type:
    """The type of `left operator right`, member by member of both."""
    symbol = SYMBOLS[type(operator)]
    exponent = known_number(visit, right_node) if symbol == "**" else None
    found = infer_numbers(symbol, left, right, exponent)
    if found is not None:
        return found
    results: list[Type] = []
    for first in members_of(left):
        for second in members_of(right):
            found = infer_numbers(symbol, first, second, exponent)
            if found is None:
                count = known_number(visit, right_node) or known_number(visit, left_node)
                found = infer_tuples(symbol, first, second, count)
            if found is None:
                found = join_lists(visit, node, symbol, first, second)
            if found is None:
                found = _other(visit, symbol, left_node, first, right_node, second)
            results.append(found)
    return join_all(results)


def _other(
    visit: Visit,
    symbol: str,
    left_node: ast.expr,
    left: Type,
    right_node: ast.expr,
    right: Type,
) -> Type:
    if isinstance(left, Unknown) or left == NONE or right == NONE:
        return UNKNOWN if isinstance(left, Unknown) or isinstance(right, Unknown) else NEVER
    if _is_own(visit, left):
        found = call_method(visit, left, f"__{SPECIAL[symbol]}__", [right])
        if found is not None:
            return found
    if _is_own(visit, right):
        found = call_method(visit, right, f"__r{SPECIAL[symbol]}__", [left])
        if found is not None:
            return found
    if _is_own(visit, left) or _is_own(visit, right):
        return UNKNOWN
    sizes = sizes_of(left, right)
    return visit.engine.ask_binary(
        symbol,
        argument(visit, left_node, left, sizes),
        argument(visit, right_node, right, sizes),
    )


def _is_own(visit: Visit, found: Type) -> bool:
    return isinstance(found, Instance) and found.name in visit.engine.program.classes


def infer_negation(visit: Visit, node: ast.UnaryOp, operand: Type) -> Type:
    """The type of `-x`, `+x`, `~x`."""
    symbol = UNARY[type(node.op)]
    results: list[Type] = []
    for member in members_of(operand):
        found = infer_unary(symbol, member)
        if found is None and _is_own(visit, member):
            special = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[symbol]
            found = call_method(visit, member, special, []) or UNKNOWN
        if found is None:
            answer = visit.engine.library.unary(symbol, argument(visit, node.operand, member))
            found = NEVER if answer is None else answer
        results.append(found)
    return join_all(results)


def infer_comparison(
    visit: Visit,
    operator: ast.cmpop,
    left_node: ast.expr,
    left: Type,
    right_node: ast.expr,
    right: Type,
) -> Type:
    """The type of one comparison."""
    if isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
        return BOOL
    if base_scalar(left) is not None and base_scalar(right) is not None:
        return BOOL
    symbol = COMPARISONS[type(operator)]
    results: list[Type] = []
    for first in members_of(left):
        for second in members_of(right):
            results.append(_compare(visit, symbol, left_node, first, right_node, second))
    return join_all(results)


def _compare(
    visit: Visit,
    symbol: str,
    left_node: ast.expr,
    left: Type,
    right_node: ast.expr,
    right: Type,
) -> Type:
    if base_scalar(left) is not None and base_scalar(right) is not None:
        return BOOL
    for owner, other, name in (
        (left, right, SPECIAL[symbol]),
        (right, left, REFLECTED[symbol]),
    ):
        if _is_own(visit, owner):
            found = call_method(visit, owner, f"__{name}__", [other])
            if found is not None:
                return found
    if _is_own(visit, left) or _is_own(visit, right):
        return BOOL if symbol in ("==", "!=") else UNKNOWN
    if NONE in (left, right) and symbol in ("==", "!="):
        return BOOL
    sizes = sizes_of(left, right)
    return visit.engine.ask_binary(
        symbol,
        argument(visit, left_node, left, sizes),
        argument(visit, right_node, right, sizes),
    )
