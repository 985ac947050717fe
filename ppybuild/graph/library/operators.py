"""Binary and unary operators on built-in values, tensors and objects of library classes."""

from __future__ import annotations

from dataclasses import replace

from ppybuild.graph.lattice import join, join_all, members_of, widened
from ppybuild.graph.library.calls import call
from ppybuild.graph.library.classes import ABSTRACT_KINDS, Member, Stubs, class_of
from ppybuild.graph.library.tensor_call import Call
from ppybuild.graph.library.tensor_dtypes import scalar_category
from ppybuild.graph.library.tensor_rules import OPERATORS
from ppybuild.graph.library.tensor_shapes import Mismatch
from ppybuild.graph.library.values import Argument
from ppybuild.graph.symbols import METHODS, REFLECTED
from ppybuild.graph.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Array,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Method,
    Module,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Unknown,
)

RANK = {BOOL: 0, INT: 1, FLOAT: 2, COMPLEX: 3}
CLOSED = (Scalar, Tuple, Array, Module)
"""Types whose values have exactly the class that the type says, or one that adds nothing."""


def infer_binary(
    stubs: Stubs, symbol: str, left: Argument, right: Argument, default: str | None
) -> Type | None:
    """The type of `left symbol right`; None where Python raises TypeError.

    Members of unions that cannot be operands are left out: they raise.
    """
    results: list[Type] = []
    for first in members_of(widened(left.type)) or (NEVER,):
        for second in members_of(widened(right.type)) or (NEVER,):
            a, b = replace(left, type=first), replace(right, type=second)
            found = infer_pair(stubs, symbol, a, b, default)
            if found is not None:
                results.append(found)
    return join_all(results) if results else None


def infer_pair(
    stubs: Stubs, symbol: str, left: Argument, right: Argument, default: str | None
) -> Type | None:
    a, b = left.type, right.type
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return tensor_operation(symbol, left, right, default)
    if symbol in ("==", "!="):
        closed = not isinstance(a, Unknown | Instance) and not isinstance(b, Unknown | Instance)
        return BOOL if closed else UNKNOWN
    if symbol in ("in", "not in"):
        return contains(b)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN
    if rank_of(a) >= 0 and rank_of(b) >= 0:
        return numbers(symbol, left, right)
    found = sequences(symbol, left, right)
    if found is not None:
        return found
    return by_method(stubs, symbol, a, b)


def rank_of(kind: Type) -> int:
    """Where a number stands among numbers; -1 for anything else."""
    return RANK.get(kind, -1) if isinstance(kind, Scalar) else -1


def contains(owner: Type) -> Type | None:
    """`x in owner`"""
    if rank_of(owner) >= 0 or owner == NONE or isinstance(owner, Module | Function | Method):
        return None
    return BOOL


def numbers(symbol: str, left: Argument, right: Argument) -> Type | None:
    rank = max(rank_of(left.type), rank_of(right.type))
    if symbol in ("<", "<=", ">", ">="):
        return BOOL if rank < 3 else None
    if symbol in ("&", "|", "^", "<<", ">>"):
        if rank > 1:
            return None
        return BOOL if rank == 0 and symbol in ("&", "|", "^") else INT
    if symbol == "@" or (rank == 3 and symbol in ("//", "%")):
        return None
    if symbol == "/":
        return COMPLEX if rank == 3 else FLOAT
    if symbol == "**" and rank < 2 and right.type != BOOL:
        value = right.value
        if isinstance(value, int):
            return INT if value >= 0 else FLOAT
        return join(FLOAT, INT)
    return (INT, INT, FLOAT, COMPLEX)[rank]


def sequences(symbol: str, left: Argument, right: Argument) -> Type | None:
    """Text, tuples, lists and arrays, as far as the answer needs no stub."""
    a, b = left.type, right.type
    if symbol == "+":
        match a, b:
            case (Scalar("str" | "bytes"), Scalar()) if a == b:
                return a
            case Tuple(), Tuple():
                return Tuple(a.items + b.items)
            case Collection("list" | "tuple"), Collection() if a.kind == b.kind:
                return Collection(a.kind, join(a.item, b.item))
            case (Array(), Array()) if a == b:
                return a
    if symbol == "*":
        for sequence, times in ((a, right), (b, left)):
            if times.type not in (INT, BOOL):
                continue
            if isinstance(sequence, Tuple):
                return repeat_tuple(sequence, times)
            if sequence in (STR, BYTES) or isinstance(sequence, Array):
                return sequence
            if isinstance(sequence, Collection) and sequence.kind in ("list", "tuple"):
                return sequence
    if symbol == "%" and a in (STR, BYTES):
        return a
    return None


def repeat_tuple(sequence: Tuple, times: Argument) -> Type:
    count = times.value
    if isinstance(count, int) and 0 <= count * len(sequence.items) <= 16:
        return Tuple(sequence.items * count)
    return Collection("tuple", join_all(sequence.items))


def by_method(stubs: Stubs, symbol: str, left: Type, right: Type) -> Type | None:
    """Ask the classes: `__add__` of the left operand, then `__radd__` of the right."""
    name = METHODS.get(symbol)
    if name is None:
        return UNKNOWN
    attempts = (
        (left, f"__{name}__", right),
        (right, f"__{REFLECTED.get(symbol, f'r{name}')}__", left),
    )
    certain = True
    for owner, method, operand in attempts:
        term = class_of(owner)
        if term is None:
            certain = certain and isinstance(owner, Class | Function | Method | Module)
            certain = certain and not isinstance(owner, Class)
            continue
        found = stubs.member(term, method)
        if isinstance(owner, Dictionary) and isinstance(operand, Collection):
            certain = False  # its keys, which are operands of their own
        elif isinstance(found, Member):
            outcome = call(stubs, Method(owner, method), [Argument(operand)], {}, False)
            if outcome.problem is None and not isinstance(outcome.type, Unknown):
                return outcome.type
            certain = certain and outcome.problem is not None
        elif found is False:
            certain = False
        certain = certain and is_closed(owner)
    return None if certain else UNKNOWN


def is_closed(kind: Type) -> bool:
    if isinstance(kind, Collection | Dictionary):
        return kind.kind not in ABSTRACT_KINDS
    return isinstance(kind, CLOSED)


def tensor_operation(
    symbol: str, left: Argument, right: Argument, default: str | None
) -> Type | None:
    operands = (left.type, right.type)
    if symbol in ("in", "not in"):
        return BOOL
    rule = OPERATORS.get(symbol)
    for kind in operands:
        plain = isinstance(kind, Tensor) or scalar_category(kind) is not None
        if not plain:
            return certain_refusal(symbol, kind)
    if rule is None:
        return Tensor()
    try:
        return rule(Call((left, right), {}, default)) or Tensor()
    except Mismatch:
        return Tensor()


def certain_refusal(symbol: str, kind: Type) -> Type | None:
    """A tensor with something that is neither tensor nor number."""
    if symbol in ("==", "!="):
        return UNKNOWN
    refused = kind in (STR, BYTES, NONE) or isinstance(kind, Dictionary | Module | Function)
    return None if refused else UNKNOWN


def tensor_problem(
    symbol: str, left: Argument, right: Argument, default: str | None
) -> Mismatch | None:
    """Why two tensors cannot be operands, where that is certain."""
    rule = OPERATORS.get(symbol)
    if rule is None or not (isinstance(left.type, Tensor) or isinstance(right.type, Tensor)):
        return None
    for kind in (left.type, right.type):
        if not isinstance(kind, Tensor) and scalar_category(kind) is None:
            return None
    try:
        rule(Call((left, right), {}, default))
    except Mismatch as mismatch:
        return mismatch
    return None


def infer_unary(stubs: Stubs, symbol: str, operand: Type) -> Type | None:
    """The type of `symbol operand`; None where Python raises TypeError."""
    if symbol == "not":
        return BOOL
    results = [unary_of(stubs, symbol, member) for member in members_of(widened(operand))]
    known = [found for found in results if found is not None]
    return join_all(known) if known else None


def unary_of(stubs: Stubs, symbol: str, operand: Type) -> Type | None:
    rank = rank_of(operand)
    if rank >= 0:
        if symbol == "~" and rank > 1:
            return None
        return (INT, INT, FLOAT, COMPLEX)[rank]
    if isinstance(operand, Tensor):
        return replace(operand, parameter=False)
    term = class_of(operand)
    if term is None:
        return UNKNOWN
    method = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[symbol]
    if isinstance(stubs.member(term, method), Member):
        return call(stubs, Method(operand, method), [], {}, False).type
    return None if is_closed(operand) and not isinstance(operand, Module) else UNKNOWN
