"""What is still checked in a native function after the passes, for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.ops import CHARACTER_TESTS

INFIX = {
    "and": "and", "or": "or", "add": "+", "sub": "-", "mul": "*", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
"""Operators by the first part of their names, as Python writes them."""

SIZES = {"rows": "len({})", "cols": "len({}[0])", "length": "len({})"}
"""The sizes of grids and slices, by the last part of a variable's name, as Python asks them."""

WORDS = {
    "add": "`+` leaves 64 bits",
    "sub": "`-` leaves 64 bits",
    "mul": "`*` leaves 64 bits",
    "neg": "`-` leaves 64 bits",
    "index": "index out of range",
    "div": "division by zero",
    "truediv": "division by zero",
    "floordiv": "`//`: zero divisor, or leaves 64 bits",
    "mod": "`%`: zero divisor",
    "pow": "`**` out of range",
    "shl": "`<<`: negative count, or leaves 64 bits",
    "shr": "`>>`: negative count",
    "lower": "`lower` gives several characters",
    "upper": "`upper` gives several characters",
}
"""Why a check fails, by the first part of its name; others are functions of `math`."""


@dataclass(frozen=True, slots=True)
class RemainingGuard:
    """`unless` is the condition under which a version without the check runs; empty where
    the check is always made."""

    line: int
    what: str
    unless: str


def remaining_guards(function: ir.Function) -> tuple[RemainingGuard, ...]:
    """The checks of a function, in order of line, each once."""
    found = set(_guards(function.body, ""))
    return tuple(sorted(found, key=lambda guard: (guard.line, guard.what, guard.unless)))


def _guards(block: ir.Block, unless: str) -> Iterator[RemainingGuard]:
    for statement in block:
        match statement:
            case ir.Checked(op=op) if op in CHARACTER_TESTS:
                pass
            case ir.Checked(op=op, location=at):
                yield RemainingGuard(at.line, _in_words(op), unless)
            case ir.Guard(kind=kind, location=at):
                yield RemainingGuard(at.line, kind, unless)
            case ir.Versioned(condition=condition, fast=fast, checked=checked):
                yield from _guards(fast, unless)
                yield from _guards(checked, unless or _in_python(condition))
            case ir.If(then=then, orelse=orelse):
                yield from _guards((*then, *orelse), unless)
            case ir.For(body=body, orelse=orelse):
                yield from _guards((*body, *orelse), unless)
            case ir.While(test=test, body=body, orelse=orelse):
                yield from _guards((*test, *body, *orelse), unless)
            case _:
                pass


def _in_words(op: str) -> str:
    name = op.partition(".")[0]
    return WORDS.get(name, f"`{name}` out of its domain or range")


def _in_python(expression: ir.Expr) -> str:
    """A condition as Python would write it; sums and products in it do not overflow."""
    match expression:
        case ir.Const():
            return repr(expression.value)
        case ir.Var():
            name, _, part = expression.name.rpartition(".")
            return SIZES[part].format(name) if part in SIZES else expression.name
        case ir.Length():
            return f"len({expression.buffer})"
        case ir.Load():
            return f"{expression.buffer}[{_in_python(expression.index)}]"
        case ir.Disjoint():
            return f"{expression.first} and {expression.second} share no memory"
        case ir.Elements():
            return expression.buffer
        case ir.Select():
            parts = map(_in_python, (expression.then, expression.condition, expression.orelse))
            return "({} if {} else {})".format(*parts)
        case ir.Op():
            return _operator(expression)


def _operator(expression: ir.Op) -> str:
    name = expression.name.partition(".")[0]
    args = [_in_python(arg) for arg in expression.args]
    if name not in INFIX or len(args) != 2:
        return f"{name}({', '.join(args)})"
    if name != "and":
        args = [
            f"({text})" if isinstance(arg, ir.Op) and _binds_looser(arg, name) else text
            for arg, text in zip(expression.args, args, strict=True)
        ]
    return f" {INFIX[name]} ".join(args)


def _binds_looser(inner: ir.Op, outer: str) -> bool:
    tight = ("mul",)
    name = inner.name.partition(".")[0]
    return (
        name in INFIX
        and name not in tight
        and outer not in ("lt", "le", "gt", "ge", "eq", "ne")
    )
