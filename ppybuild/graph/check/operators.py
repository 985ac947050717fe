"""E1302, E1401, E1402: operands that an operator does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context, text_of
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.check.tensors import report_problem, trusts_tensors
from ppybuild.graph.lattice import base_scalar, members_of, show
from ppybuild.graph.library import Argument
from ppybuild.graph.symbols import COMPARISONS, EQUALITY, SYMBOLS, UNARY
from ppybuild.graph.types import (
    NONE,
    STR,
    Array,
    Collection,
    Dictionary,
    Literal,
    Scalar,
    Tensor,
    Tuple,
    Type,
)

ORDERINGS: Mapping[type[ast.cmpop], str] = {
    **{each: symbol for each, symbol in COMPARISONS.items() if symbol not in EQUALITY},
    ast.NotIn: "in",
}
"""Comparisons that some values refuse."""
PLAIN = (Scalar, Literal, Tuple, Array, Tensor, Collection, Dictionary)


def check_binary(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    assert isinstance(node, ast.BinOp)
    yield from check_operands(
        context, place, node, SYMBOLS[type(node.op)], node.left, node.right
    )


def check_compare(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`left < right`, and `left in right`; whatever may be equal."""
    assert isinstance(node, ast.Compare)
    for left, operator, right in zip(
        (node.left, *node.comparators), node.ops, node.comparators, strict=False
    ):
        symbol = ORDERINGS.get(type(operator))
        if symbol is not None:
            yield from check_operands(context, place, node, symbol, left, right)


def check_augmented(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`target op= value`, where the target's type before is known. Lists and dictionaries
    take more in place than beside an operator: anything that can be iterated over."""
    assert isinstance(node, ast.AugAssign)
    symbol = SYMBOLS[type(node.op)]
    before, given = context.type(node.target), context.type(node.value)
    if isinstance(before, Collection | Dictionary) and context.library.iterate(given):
        return
    if node.target in context.facts.types:
        yield from check_operands(context, place, node, symbol, node.target, node.value)


def check_operands(
    context: Context,
    place: Place,
    node: ast.AST,
    symbol: str,
    left_node: ast.expr,
    right_node: ast.expr,
) -> Iterator[Diagnostic]:
    left, right = context.type(left_node), context.type(right_node)
    if not (is_plain(left) and is_plain(right)) or place.conditional:
        return
    if is_caught(place, "TypeError", "RuntimeError"):
        return
    if context.binary(symbol, left, right) is None:
        if context.sure(place, left_node) and context.sure(place, right_node):
            yield context.report(
                "E1302",
                f"`{symbol}` does not take `{show(left)}` and `{show(right)}`",
                place,
                node,
                help=conversion(symbol, left_node, left, right_node, right),
                label=f"{show(left)} {symbol} {show(right)}",
            )
        return
    if not (isinstance(left, Tensor) or isinstance(right, Tensor)):
        return
    problem = context.library.binary_problem(symbol, Argument(left), Argument(right))
    if problem is None or not trusts_tensors(context, place):
        return
    if context.sure(place, left_node) and context.sure(place, right_node):
        yield report_problem(context, place, node, problem)


def check_unary(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    assert isinstance(node, ast.UnaryOp)
    symbol = UNARY[type(node.op)]
    operand = context.type(node.operand)
    if symbol == "not" or not is_plain(operand) or is_caught(place, "TypeError"):
        return
    refused = context.library.unary(symbol, Argument(operand)) is None
    if refused and not place.conditional and context.sure(place, node.operand):
        yield context.report(
            "E1302",
            f"unary `{symbol}` does not take `{show(operand)}`",
            place,
            node,
            label=show(operand),
        )


def is_plain(kind: Type) -> bool:
    """A built-in value or a tensor: of these Python's own rules are known whole."""
    if kind == NONE:
        return False
    if isinstance(kind, Collection | Dictionary):
        return kind.kind in ("list", "tuple", "set", "frozenset", "dict", "range")
    return isinstance(kind, PLAIN) and len(members_of(kind)) == 1


def conversion(
    symbol: str, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type
) -> str:
    """The usual way out, where there is one."""
    if symbol == "+" and STR in (base_scalar(left), base_scalar(right)):
        other = right_node if base_scalar(left) == STR else left_node
        return f"convert it: `str({text_of(other)})`"
    if STR in (base_scalar(left), base_scalar(right)):
        text = left_node if base_scalar(left) == STR else right_node
        return f"convert it: `float({text_of(text)})` or `int({text_of(text)})`"
    return ""
