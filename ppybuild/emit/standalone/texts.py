"""str, repr, format: what values look like."""

from __future__ import annotations

import ast
import re
import string

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.kinds import (
    BOOL,
    ERROR,
    FLOAT,
    INT,
    NONE,
    NUMBERS,
    TEXT,
    ArrayOf,
    DictOf,
    Kind,
    ListOf,
    ObjectOf,
    SetOf,
    TupleOf,
    show,
)
from ppybuild.emit.standalone.objects import need_repr, text_of_object
from ppybuild.emit.standalone.operators import to_int
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, constant

_STR = {INT: "ppy_str_int", FLOAT: "ppy_str_float", BOOL: "ppy_str_bool"}
_FORMAT = {INT: "ppy_format_int", FLOAT: "ppy_format_float", BOOL: "ppy_format_bool",
           TEXT: "ppy_format_text"}  # fmt: skip


def str_of(body: Body, node: ast.AST, value: Value) -> Value:
    """`str(value)`"""
    if value.kind == TEXT:
        return value
    if value.kind == ERROR:
        return Value(TEXT, value.c, fixed=value.fixed)
    if isinstance(value.kind, ObjectOf):
        return text_of_object(body, node, value, shown=False)
    return repr_of(body, node, value)


def repr_of(body: Body, node: ast.AST, value: Value) -> Value:
    """`repr(value)`"""
    match value.kind:
        case TupleOf():
            return _repr_tuple(body, node, value)
        case ObjectOf():
            return text_of_object(body, node, value, shown=True)
        case ListOf() | ArrayOf() | DictOf() | SetOf():
            need_repr(body, node, value.kind)
            body.at(node)
            return body.temporary(TEXT, f"ppy_list_repr({value.c})")
        case kind if kind == TEXT:
            return body.temporary(TEXT, f"ppy_repr_text({value.c})")
        case kind if kind == NONE:
            return constant("None")
        case kind if kind in NUMBERS:
            return body.temporary(TEXT, f"{_STR[kind]}({value.c})")
        case kind:
            raise Refused(node, f"repr of {show(kind)}")


def concat(body: Body, parts: list[Value]) -> Value:
    """Texts joined."""
    if not parts:
        return constant("")
    if len(parts) == 1:
        return parts[0]
    words = ", ".join(part.c for part in parts)
    return body.temporary(TEXT, f"ppy_concat((const ppy_text[]){{{words}}}, {len(parts)})")


def _repr_tuple(body: Body, node: ast.AST, value: Value) -> Value:
    items = value.items()
    parts = [constant("(")]
    for at, item in enumerate(items):
        parts += [constant(", ")] if at else []
        parts.append(repr_of(body, node, item))
    parts.append(constant(",)" if len(items) == 1 else ")"))
    return concat(body, parts)


# f-strings


def lower_joined(body: Body, node: ast.JoinedStr) -> Value:
    """An f-string."""
    return concat(body, [_part(body, each) for each in node.values])


def _part(body: Body, node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=str(text)):
            return constant(text)
        case ast.FormattedValue(value=inner, conversion=conversion, format_spec=spec):
            value = body.value(inner)
            # A text that is made now: what comes later may change the variable.
            value = converted(body, node, value, conversion)
            wanted = constant("") if spec is None else body.value(spec)
            done = formatted(body, node, value, wanted)
            return body.keep(done)
        case _:
            raise Refused(node, "this part of an f-string")


def converted(body: Body, node: ast.AST, value: Value, conversion: int) -> Value:
    """`!s`, `!r`, `!a`, or none."""
    match conversion:
        case -1:
            return value
        case 115:
            return str_of(body, node, value)
        case 114:
            return repr_of(body, node, value)
        case _:
            return body.temporary(TEXT, f"ppy_ascii({repr_of(body, node, value).c})")


def formatted(body: Body, node: ast.AST, value: Value, spec: Value) -> Value:
    """`format(value, spec)`"""
    if spec.literal == "":
        return str_of(body, node, value)
    if value.kind == ERROR:
        value = str_of(body, node, value)
    if value.kind not in _FORMAT:
        raise Refused(node, f"a format of {show(value.kind)}", "take its str first: `{x!s:>9}`")
    body.at(node)
    return body.temporary(TEXT, f"{_FORMAT[value.kind]}({value.c}, {spec.c})")


# "…".format(…) and "…" % …


def lower_format_method(body: Body, node: ast.Call, template: str) -> Value:
    """`template.format(…)`, the fields by position."""
    args = [body.keep(value) for value in body.values(*node.args)]
    parts: list[Value] = []
    number = 0
    try:
        pieces = list(string.Formatter().parse(template))
    except ValueError as error:
        raise Refused(node, f"this format: {error}") from None
    for text, name, spec, conversion in pieces:
        if text:
            parts.append(constant(text))
        if name is None:
            continue
        if name and not name.isdigit():
            raise Refused(node, f"the field `{name}` of a format", "write an f-string")
        at = int(name) if name else number
        number += 1
        if at >= len(args) or "{" in (spec or "") or node.keywords:
            raise Refused(node, "fields of a format that are not plain", "write an f-string")
        value = converted(body, node, args[at], ord(conversion) if conversion else -1)
        parts.append(formatted(body, node, value, constant(spec or "")))
    return concat(body, parts)


_CONVERSION = re.compile(r"%(?:%|([-+ #0]*\d*(?:\.\d*)?)([a-zA-Z]))")
_BY_KIND: dict[Kind, str] = {INT: "diucoxXeEfFgG", FLOAT: "diueEfFgG"}


def lower_percent(body: Body, node: ast.BinOp, template: str) -> Value:
    """`template % values`"""
    given = body.value(node.right)
    values = list(given.items()) if isinstance(given.kind, TupleOf) else [given]
    parts: list[Value] = []
    end = 0
    for found in _CONVERSION.finditer(template):
        between = template[end : found.start()]
        if "%" in between:
            raise Refused(node, "a conversion that is not plain", "write an f-string")
        parts.append(constant(between))
        end = found.end()
        if found[0] == "%%":
            parts.append(constant("%"))
            continue
        if not values:
            raise Refused(node, "a format with too few values")
        parts.append(_percent(body, node, found[0], found[2], values.pop(0)))
    if "%" in template[end:] or values:
        raise Refused(node, "a format that its values do not fit", "write an f-string")
    parts.append(constant(template[end:]))
    return concat(body, [part for part in parts if part.literal != ""])


def _percent(body: Body, node: ast.AST, text: str, letter: str, value: Value) -> Value:
    conversion = constant(text).c
    if value.kind == BOOL and letter not in "sra":
        value = to_int(value)
    body.at(node)
    if letter in "sra":
        shown = str_of(body, node, value) if letter == "s" else repr_of(body, node, value)
        return body.temporary(TEXT, f"ppy_percent_text({conversion}, {shown.c})")
    if letter not in _BY_KIND.get(value.kind, "") or letter == "c":
        raise Refused(node, f"`%{letter}` of {show(value.kind)}", "write an f-string")
    name = "int" if value.kind == INT else "float"
    return body.temporary(TEXT, f"ppy_percent_{name}({conversion}, {value.c})")
