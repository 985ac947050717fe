"""Loop IR expressions as C."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.c_settled import settled
from ppybuild.emit.loops.ops import OPS

C_TYPES = {ir.Type.I64: "int64_t", ir.Type.F64: "double", ir.Type.BOOL: "bool"}
C_ELEMENTS = {
    ir.Element.F64: "double",
    ir.Element.I64: "int64_t",
    ir.Element.F32: "float",
    ir.Element.I32: "int32_t",
    ir.Element.U8: "uint8_t",
    ir.Element.I8: "int8_t",
}
"""A str has characters of several widths, and functions in `ppy_str.h`."""

_TERNARY, _PREFIX, _PRIMARY = 0, 14, 15
_INFIX = {
    "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8,
    "<": 9, "<=": 9, ">": 9, ">=": 9, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13,
}  # fmt: skip
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_COMPARING = frozenset(_INFIX[symbol] for symbol in _COMPARISONS)


@dataclass(frozen=True, slots=True)
class Names:
    """C names by IR name, and what the buffers hold."""

    variables: Mapping[str, str]
    elements: Mapping[str, ir.Element]


def print_expr(expr: ir.Expr, names: Names) -> str:
    """C for the expression, to stand where any expression may."""
    return _print(expr, names)[0]


def _print(expr: ir.Expr, names: Names) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    match expr:
        case ir.Const():
            return _constant(expr)
        case ir.Var(name, _):
            return names.variables[name], _PRIMARY
        case ir.Op():
            return _operator(expr, names)
        case ir.Select(condition, then, orelse, type_):
            test = _operand(condition, names, _TERNARY + 1)
            sides = _widened((then, orelse), names, _TERNARY + 1, type_)
            return f"{test} ? {sides[0]} : {sides[1]}", _TERNARY
        case ir.Load(buffer, index, type_) if names.elements[buffer] is ir.Element.STR:
            return (
                f"ppy_str_at({names.variables[buffer]}, {print_expr(index, names)})",
                _PRIMARY,
            )
        case ir.Load(buffer, index, type_):
            text = f"{names.variables[buffer]}.data[{print_expr(index, names)}]"
            if names.elements[buffer] in (ir.Element.F64, ir.Element.I64):
                return text, _PRIMARY
            return f"({C_TYPES[type_]}){text}", _PREFIX
        case ir.Length(buffer, _):
            return f"{names.variables[buffer]}.length", _PRIMARY
        case ir.Disjoint(first, second, _):
            buffers = (names.variables[first], names.variables[second])
            spans = ", ".join(f"{name}.data, PPY_BYTES({name})" for name in buffers)
            return f"ppy_disjoint({spans})", _PRIMARY
        case ir.Elements(buffer, start, length):
            return _elements(buffer, start, length, names), _PRIMARY
        case _:
            assert_never(expr)


def _elements(buffer: str, start: ir.Expr | None, length: ir.Expr | None, names: Names) -> str:
    name = names.variables[buffer]
    if start is None or length is None:
        return name
    if names.elements[buffer] is ir.Element.STR:
        return f"ppy_str_part({name}, {print_expr(start, names)}, {print_expr(length, names)})"
    first = _operand(start, names, _INFIX["+"] + 1, mixed=_INFIX["+"])
    type_ = f"ppy_{names.elements[buffer].value}"
    return f"({type_}){{{name}.data + {first}, {print_expr(length, names)}}}"


def _constant(constant: ir.Const) -> tuple[str, int]:
    value = constant.value
    if constant.type is ir.Type.BOOL:
        return ("true" if value else "false"), _PRIMARY
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    binding = _PREFIX if sign else _PRIMARY
    if constant.type is ir.Type.F64:
        if math.isnan(value):
            return "(double)NAN", _PREFIX
        text = "(double)INFINITY" if math.isinf(value) else repr(abs(value))
        return sign + text, binding
    if value == -(2**63):
        return "INT64_MIN", _PRIMARY
    text = str(abs(value))
    return sign + (text if abs(value) < 2**31 else f"INT64_C({text})"), binding


def _operator(op: ir.Op, names: Names) -> tuple[str, int]:
    spelling = OPS[op.name].c
    if spelling.isidentifier():
        return f"{spelling}({', '.join(print_expr(arg, names) for arg in op.args)})", _PRIMARY
    if len(op.args) == 1:
        operand = _operand(op.args[0], names, _PREFIX)
        separator = " " if operand.startswith(spelling) else ""
        return f"{spelling}{separator}{operand}", _PREFIX
    outcome = settled(op, names.elements)
    if outcome is not None:
        # What it compares stays used.
        unused = [f"(void){_operand(arg, names, _PREFIX)}" for arg in dict.fromkeys(op.args)]
        return f"({', '.join(unused)}, {'true' if outcome else 'false'})", _PRIMARY
    binding = _INFIX[spelling]
    left, right = _widened(op.args, names, binding, op.args[0].type, mixed=binding)
    return f"{left} {spelling} {right}", binding


def _widened(
    args: tuple[ir.Expr, ...],
    names: Names,
    least: int,
    type_: ir.Type,
    mixed: int | None = None,
) -> tuple[str, str]:
    """Two operands; one is made 64 bits wide where C would take both for `int`."""
    first, second = args
    left = _operand(first, names, least, mixed)
    right = _operand(second, names, least + 1, mixed)
    if type_ is ir.Type.I64 and isinstance(first, ir.Const) and isinstance(second, ir.Const):
        left = f"(int64_t){_operand(first, names, _PREFIX)}"
    return left, right


def _operand(expr: ir.Expr, names: Names, least: int, mixed: int | None = None) -> str:
    """The text, in parentheses where it binds less than `least`, or beside an operator of
    binding `mixed` where a reader (and -Wparentheses) wants them."""
    text, binding = _print(expr, names)
    unclear = mixed is not None and not _is_clear(binding, mixed)
    return f"({text})" if binding < least or unclear else text


def _is_clear(inner: int, outer: int) -> bool:
    """Whether a reader knows without parentheses how an operator binds beside another.

    Arithmetic in arithmetic or in a comparison, comparisons in `&&` and `||`, and runs of
    one operator are known to everyone; everything else is looked up.
    """
    if inner >= _PREFIX:
        return True
    if outer >= _INFIX["+"] or outer in _COMPARING:
        return inner >= _INFIX["+"]
    if outer <= _INFIX["&&"]:
        return inner == outer or inner in _COMPARING
    return inner == outer
