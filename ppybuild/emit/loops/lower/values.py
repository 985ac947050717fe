"""What a Python expression is while a function is lowered, and what a variable holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.emit.loops import ir


@final
@dataclass(frozen=True, slots=True)
class BufferRef:
    """A buffer parameter, under whatever name."""

    name: str
    element: ir.Element


@final
@dataclass(frozen=True, slots=True)
class Mixed:
    """A float, or an int that is equal to it: what `max(x, 0)` gives.

    Which of the two shows in few places: where it is the function's result, beside another
    int, or where its sign is changed. Elsewhere the float does what the int would do.
    """

    value: ir.Expr


Number = ir.Expr | Mixed
Value = Number | BufferRef | tuple["Value", ...]
"""A scalar, a buffer, or a tuple of such."""


def unmixed(value: Number) -> ir.Expr:
    """The float that stands for both, for where it does not matter which it is."""
    return value.value if isinstance(value, Mixed) else value


@final
@dataclass(frozen=True, slots=True)
class Binding:
    """A variable at a point of the program."""

    value: Value | None
    """Made of `ir.Var`s; None where its type depends on the way control came."""
    certain: bool
    """Whether it is bound on every way here."""


Environment = Mapping[str, Binding]
"""By Python name; what is not in it is bound on no way here."""


def join(*environments: Environment | None) -> Environment | None:
    """What is known where ways of control meet; None is a way that is never taken."""
    reached = [each for each in environments if each is not None]
    if not reached:
        return None
    names = dict.fromkeys(name for each in reached for name in each)
    return {name: _join_bindings([each.get(name) for each in reached]) for name in names}


def _join_bindings(bindings: list[Binding | None]) -> Binding:
    present = [each for each in bindings if each is not None]
    certain = len(present) == len(bindings) and all(each.certain for each in present)
    return Binding(_join_values([each.value for each in present]), certain)


def _join_values(values: list[Value | None]) -> Value | None:
    first = values[0]
    if all(each == first for each in values):
        return first
    floats = {each.value if isinstance(each, Mixed) else each for each in values}
    if len(floats) == 1 and any(isinstance(each, Mixed) for each in values):
        (value,) = floats
        return Mixed(value) if isinstance(value, ir.Expr) else None
    return None


def leaves(value: Value) -> Iterator[ir.Expr | BufferRef]:
    """The scalars and buffers of a value, in order."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value.value if isinstance(value, Mixed) else value


def rebuild(value: Value, new: Iterator[ir.Expr | BufferRef]) -> Value:
    """A value of the same shape from new leaves."""
    if isinstance(value, tuple):
        return tuple(rebuild(item, new) for item in value)
    leaf = next(new)
    return Mixed(leaf) if isinstance(value, Mixed) and isinstance(leaf, ir.Expr) else leaf


def describe(value: Value) -> str:
    """The value's Python type with an article, for messages."""
    name = describe_type(value)
    return f"an {name}" if name == "int" else f"a {name}"


def describe_type(value: Value) -> str:
    """The value's Python type."""
    names = {ir.Type.I64: "int", ir.Type.F64: "float", ir.Type.BOOL: "bool"}
    match value:
        case tuple():
            return f"tuple[{', '.join(map(describe_type, value))}]"
        case BufferRef(_, element):
            return f"Buffer of {element.value}"
        case Mixed():
            return "float or int"
        case _:
            return names[value.type]
