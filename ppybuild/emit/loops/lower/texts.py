"""Text: characters are their code points, and a str that is passed in is read where it lies.

    text[i] == "a"          →    text[i] == 97
    ch in "0123456789"      →    ch >= 48 and ch <= 57
    text[a:b] == other      →    equal.str(text[a:b], other)

A str never changes, so that its slices are borrowed whatever is stored elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import BOOL, I64, Builder, at, op
from ppybuild.emit.loops.lower.operators import lower_comparison, negation, to_int
from ppybuild.emit.loops.lower.slices import side_by_side
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import (
    BufferRef,
    Char,
    Items,
    Letters,
    Mixed,
    Value,
    View,
    describe,
)

MOST_LETTERS = 64
"""Characters of a constant that are written out one by one."""
_LAST = 0x10FFFF

Text = Char | Letters | BufferRef | View
Rule = Callable[[Builder, ast.Call, list[Value]], Value]


def text_constant(text: str) -> Char | Letters:
    return Char(ir.Const(ord(text), I64)) if len(text) == 1 else Letters(text)


def is_text(value: Value) -> bool:
    if isinstance(value, Items):
        return value.element is ir.Element.STR
    return isinstance(value, Char | Letters)


# Comparisons


def lower_compared(
    node: ast.Compare, operator_: ast.cmpop, left: Value, right: Value
) -> ir.Expr:
    """One comparison of numbers, or of texts."""
    if isinstance(left, ir.Expr | Mixed) and isinstance(right, ir.Expr | Mixed):
        return lower_comparison(operator_, left, right)
    if not (is_text(left) and is_text(right)):
        raise Stay(node, f"a comparison of {describe(left)} with {describe(right)}")
    if isinstance(operator_, ast.Eq | ast.NotEq):
        same = _equal(node, left, right)
        return same if isinstance(operator_, ast.Eq) else negation(same)
    one, other = _order(node, left, right)
    return lower_comparison(operator_, one, other)


def _equal(node: ast.AST, left: Value, right: Value) -> ir.Expr:
    if isinstance(left, Items) and isinstance(right, Items):
        return op("equal.str", side_by_side(node, left), side_by_side(node, right))
    if isinstance(right, Items):
        left, right = right, left
    codes = _codes(node, right)
    if isinstance(left, Items):
        return _all(
            [op("eq.i64", left.length, _const(len(codes))), *_at(node, left, _const(0), codes)]
        )
    others = _codes(node, left)
    if len(others) != len(codes):
        return ir.Const(False, BOOL)
    return _all([_same(*pair) for pair in zip(others, codes, strict=True)])


def _order(node: ast.AST, left: Value, right: Value) -> tuple[ir.Expr, ir.Expr]:
    """Two ints that are in the order of the texts."""
    if isinstance(left, Char) and isinstance(right, Char):
        return left.code, right.code
    if isinstance(left, Items) and isinstance(right, Items):
        both = side_by_side(node, left), side_by_side(node, right)
        return op("compare.str", *both), _const(0)
    raise Stay(node, "the order of a str and a str of another form", "compare characters")


def _at(node: ast.AST, text: Items, start: ir.Expr, codes: Sequence[ir.Expr]) -> list[ir.Expr]:
    """That these characters stand one after another from `start` on."""
    return [
        op("has_at.str", side_by_side(node, text), op("add.i64", start, _const(place)), code)
        for place, code in enumerate(codes)
    ]


def _codes(node: ast.AST, value: Value) -> list[ir.Expr]:
    """The characters of a text that is not in memory."""
    if isinstance(value, Char):
        return [value.code]
    assert isinstance(value, Letters)
    if len(value.text) > MOST_LETTERS:
        raise Stay(node, f"a str of more than {MOST_LETTERS} characters")
    return [_const(ord(each)) for each in value.text]


def _same(one: ir.Expr, other: ir.Expr) -> ir.Expr:
    if isinstance(one, ir.Const) and isinstance(other, ir.Const):
        return ir.Const(one == other, BOOL)
    return op("eq.i64", one, other)


def _const(value: int) -> ir.Const:
    return ir.Const(value, I64)


def _all(conditions: Sequence[ir.Expr]) -> ir.Expr:
    return reduce(lambda one, other: op("and", one, other), conditions)


def _any(conditions: Sequence[ir.Expr]) -> ir.Expr:
    if not conditions:
        return ir.Const(False, BOOL)
    return reduce(lambda one, other: op("or", one, other), conditions)


# Membership


def lower_membership(
    builder: Builder, node: ast.Compare, operator_: ast.cmpop, item: Value, whole: Value
) -> ir.Expr:
    """`character in text`, or `not in`."""
    if not isinstance(item, Char) or not is_text(whole):
        raise Stay(
            node,
            f"`in`, of {describe(item)} and {describe(whole)}",
            "look for a character in a str, or for one of the constants of a tuple",
        )
    if isinstance(whole, Items):
        found: ir.Expr = op("holds.str", side_by_side(node, whole), item.code)
    else:
        code = builder.settled(item.code, at(node))
        codes = {int(each.value) for each in _codes(node, whole) if isinstance(each, ir.Const)}
        found = _any([_between(code, *run) for run in _runs(sorted(codes))])
    return found if isinstance(operator_, ast.In) else negation(found)


def lower_among(
    builder: Builder, node: ast.Compare, operator_: ast.cmpop, item: Value, among: list[Value]
) -> ir.Expr:
    """`value in (1, 2, 3)`, of constants."""
    item = builder.pin(item, len(builder.block), at(node))
    found = _any([lower_compared(node, ast.Eq(), item, each) for each in among])
    return found if isinstance(operator_, ast.In) else negation(found)


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted numbers as the least and greatest of each row of neighbours."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs


def _between(code: ir.Expr, least: int, most: int) -> ir.Expr:
    if least == most:
        return op("eq.i64", code, _const(least))
    inside = op("ge.i64", code, _const(least)), op("le.i64", code, _const(most))
    return op("and", *inside)


# Functions of one text, or that give one


def _ord(builder: Builder, node: ast.Call, values: list[Value]) -> Value | None:
    match values:
        case [Char(code)]:
            return code
        case [value] if is_text(value):
            raise Stay(node, "`ord` of a str that may have any length", "index it")
    return None


def _chr(builder: Builder, node: ast.Call, values: list[Value]) -> Value | None:
    match values:
        case [ir.Const() | ir.Var() | ir.Op() | ir.Select() | ir.Load() | ir.Length() as value]:
            code = to_int(value)
            if code.type is not I64:
                return None
            code = builder.settled(code, at(node))
            builder.emit(ir.Guard(_between(code, 0, _LAST), "no character", at(node)))
            return Char(code)
    return None


def _int(builder: Builder, node: ast.Call, values: list[Value]) -> Value | None:
    """`int("7")`; of other digits than these Python knows."""
    match values:
        case [Char(code)] if not node.keywords:
            code = builder.settled(code, at(node))
            digit = _between(code, ord("0"), ord("9"))
            builder.emit(ir.Guard(digit, "a character that is no digit", at(node)))
            return op("sub.i64", code, _const(ord("0")))
    return None


ON_TEXT: dict[str, Callable[[Builder, ast.Call, list[Value]], Value | None]] = {
    "builtins.ord": _ord,
    "builtins.chr": _chr,
    "builtins.int": _int,
}
"""By canonical dotted name; None for arguments that are not theirs."""


def _of_char(name: str, wrap: Callable[[ir.Expr], Value]) -> Rule:
    def lower(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
        match values:
            case [Char(code)]:
                return wrap(builder.checked(f"{name}.char", (code,), at(node)))
        raise Stay(node, f"`{name}` of more than one character", "go through its characters")

    return lower


def _ends(name: str) -> Rule:
    """`startswith` and `endswith`."""

    def lower(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
        match values:
            case [BufferRef() | View() as text, Char() | Letters() as end]:
                codes = _codes(node, end)
                start: ir.Expr = _const(0)
                if name == "endswith":
                    start = op("sub.i64", text.length, _const(len(codes)))
                return _all([ir.Const(True, BOOL), *_at(node, text, start, codes)])
        raise Stay(node, f"this form of `{name}`", "compare a slice")

    return lower


TEXT_METHODS: dict[str, Rule] = {
    f"str.{name}": _of_char(name, lambda answer: answer)
    for name in (
        "isalnum", "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isspace",
        "isupper",
    )
} | {
    "str.lower": _of_char("lower", Char),
    "str.upper": _of_char("upper", Char),
    "str.startswith": _ends("startswith"),
    "str.endswith": _ends("endswith"),
}  # fmt: skip
"""By callee; the values are the str, then the arguments."""
