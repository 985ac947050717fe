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


Value = ir.Expr | BufferRef | tuple["Value", ...]
"""A scalar, a buffer, or a tuple of such."""


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
    first = present[0].value
    same = all(each.value == first for each in present)
    certain = len(present) == len(bindings) and all(each.certain for each in present)
    return Binding(first if same else None, certain)


def leaves(value: Value) -> Iterator[ir.Expr | BufferRef]:
    """The scalars and buffers of a value, in order."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def rebuild(value: Value, new: Iterator[ir.Expr | BufferRef]) -> Value:
    """A value of the same shape from new leaves."""
    if isinstance(value, tuple):
        return tuple(rebuild(item, new) for item in value)
    return next(new)


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
        case _:
            return names[value.type]
