"""The types of operations on numbers and text, as Python defines them."""

from __future__ import annotations

from ppybuild.graph.lattice import base_scalar, join
from ppybuild.graph.types import BOOL, COMPLEX, FLOAT, INT, STR, Collection, Tuple, Type

_RANK = {BOOL: 0, INT: 1, FLOAT: 2, COMPLEX: 3}
_ARITHMETIC = frozenset(["+", "-", "*", "//", "%"])
_BITWISE = frozenset(["&", "|", "^"])
_SHIFTS = frozenset({"<<", ">>"})


def infer_numbers(
    symbol: str, left: Type, right: Type, exponent: int | float | None
) -> Type | None:
    """The type of a binary operation on two numbers or texts; None for any other operands.

    `exponent` is the right operand's value, where it is a known constant.
    """
    first, second = base_scalar(left), base_scalar(right)
    if first == STR:
        if (symbol == "+" and second == STR) or (symbol == "*" and second in (INT, BOOL)):
            return STR
        return STR if symbol == "%" else None
    if first not in _RANK or second not in _RANK:
        if symbol == "*" and first in (INT, BOOL) and second == STR:
            return STR
        return None
    rank = max(_RANK[first], _RANK[second])
    if symbol == "**":
        return _power(rank, second, exponent)
    if symbol == "/":
        return COMPLEX if rank == 3 else FLOAT
    if symbol in _ARITHMETIC:
        if rank == 3 and symbol in ("//", "%"):
            return None
        return (INT, INT, FLOAT, COMPLEX)[rank]
    if symbol in _BITWISE and rank <= 1:
        return BOOL if rank == 0 else INT
    return INT if symbol in _SHIFTS and rank <= 1 else None


def _power(rank: int, second: Type, exponent: int | float | None) -> Type:
    """An int to a negative int is a float; a negative float to a fraction is complex, which
    is left out as every checker leaves it out: the base's sign is not part of its type."""
    if rank == 3:
        return COMPLEX
    if rank == 2:
        return FLOAT
    if second == BOOL:
        return INT
    if exponent is None:
        return join(INT, FLOAT)
    return INT if exponent >= 0 else FLOAT


def infer_unary(symbol: str, operand: Type) -> Type | None:
    """The type of a unary operation on a number; None for any other operand."""
    if symbol == "not":
        return BOOL
    scalar = base_scalar(operand)
    if scalar in (BOOL, INT):
        return INT
    if scalar in (FLOAT, COMPLEX) and symbol != "~":
        return scalar
    return None


def infer_tuples(
    symbol: str, left: Type, right: Type, count: int | float | None
) -> Type | None:
    """Concatenation and repetition of tuples; None for any other operands."""
    if symbol == "+" and isinstance(left, Tuple) and isinstance(right, Tuple):
        return Tuple((*left.items, *right.items))
    if symbol == "*":
        repeated = left if isinstance(left, Tuple) else right
        if not isinstance(repeated, Tuple):
            return None
        if isinstance(count, int) and 0 <= count <= 8:
            return Tuple(repeated.items * count)
        item: Type = repeated.items[0] if repeated.items else INT
        for each in repeated.items:
            item = join(item, each)
        return Collection("tuple", item)
    return None
