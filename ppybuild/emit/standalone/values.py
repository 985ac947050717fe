"""Values while C is written: what they are, and the C expression that gives them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ppybuild.emit.standalone.kinds import BOOL, FLOAT, INT, NONE, TEXT, Kind, TupleOf, c_type


@dataclass(frozen=True, slots=True)
class Value:
    """An expression without side effects that cannot fail."""

    kind: Kind
    c: str
    """It binds as tightly as a name or a call, or stands in parentheses."""
    literal: int | float | bool | str | None = None
    """Where it is a constant."""
    parts: tuple[Value, ...] | None = None
    """Of a tuple."""
    fixed: bool = False
    """No statement can change it: a constant, or a temporary."""

    def items(self) -> tuple[Value, ...]:
        """Of a tuple, its parts."""
        if self.parts is not None:
            return self.parts
        assert isinstance(self.kind, TupleOf)
        return tuple(
            Value(kind, f"{self.c}.p{at}", fixed=self.fixed)
            for at, kind in enumerate(self.kind.items)
        )


NOTHING = Value(NONE, "", fixed=True)


def constant(value: int | float | bool | str) -> Value:
    """A literal. An int fits 64 bits."""
    match value:
        case bool():
            return Value(BOOL, "true" if value else "false", value, fixed=True)
        case int():
            return Value(INT, _int(value), value, fixed=True)
        case float():
            return Value(FLOAT, _float(value), value, fixed=True)
        case str():
            return Value(TEXT, text_literal(value), value, fixed=True)


def tuple_of(parts: tuple[Value, ...]) -> Value:
    """A tuple that is held nowhere yet."""
    kind = TupleOf(tuple(part.kind for part in parts))
    return Value(kind, "", parts=parts, fixed=all(part.fixed for part in parts))


def as_struct(value: Value) -> str:
    """C for a whole value, a tuple's structure too."""
    if value.parts is None:
        return value.c
    return f"({c_type(value.kind)}){{{', '.join(as_struct(part) for part in value.parts)}}}"


def _int(value: int) -> str:
    if value == -(2**63):
        return "INT64_MIN"
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"


def _float(value: float) -> str:
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isnan(value):
        return "((double)NAN)"
    text = "(double)INFINITY" if math.isinf(value) else repr(abs(value))
    return f"({sign}{text})"


def text_literal(value: str) -> str:
    """A `ppy_text` of a Python string."""
    data = value.encode("utf-8", "surrogatepass")
    return f"((ppy_text){{{c_string(value)}, {len(data)}, {len(value)}}})"


def c_string(value: str) -> str:
    """A C string literal, zero bytes and lone surrogates included."""
    pieces = []
    for byte in value.encode("utf-8", "surrogatepass"):
        plain = 32 <= byte < 127 and byte not in b'"\\?'
        pieces.append(chr(byte) if plain else f"\\{byte:03o}")
    return '"' + "".join(pieces) + '"'
