"""Built-in functions whose result depends on their arguments in ways that stubs do not say.

A row gets the arguments of a call without `*` and `**`, and gives the result's type, or None
to leave the answer to the stub.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ppybuild.graph.lattice import ARRAY_ELEMENTS, join, join_all, widened
from ppybuild.graph.library.calls import call
from ppybuild.graph.library.classes import Stubs, realise_class
from ppybuild.graph.library.items import infer_iteration
from ppybuild.graph.library.operators import infer_binary
from ppybuild.graph.library.values import Argument
from ppybuild.graph.types import (
    BOOL,
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
    Instance,
    Never,
    Tensor,
    Tuple,
    Type,
    Unknown,
)
from ppybuild.graph.types import Callable as CallableType


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    stubs: Stubs
    arguments: Sequence[Argument]
    keywords: Mapping[str, Argument]
    default: str | None

    @property
    def types(self) -> list[Type]:
        return [widened(argument.type) for argument in self.arguments]

    def items(self, position: int = 0) -> Type:
        """What iterating over an argument gives."""
        found = infer_iteration(self.stubs, self.arguments[position].type)
        return UNKNOWN if found is None else found


Rule = Callable[[BuiltinCall], Type | None]

ABSOLUTE: dict[Type, Type] = {BOOL: INT, INT: INT, FLOAT: FLOAT, COMPLEX: FLOAT}
ROUNDED: dict[Type, Type] = {BOOL: INT, INT: INT, FLOAT: FLOAT}


def absolute(call: BuiltinCall) -> Type | None:
    match call.types:
        case [Tensor(dtype=dtype, shape=shape)]:
            return Tensor(dtype, shape)
        case [kind]:
            return ABSOLUTE.get(kind)
        case _:
            return None


def extreme(call: BuiltinCall) -> Type | None:
    """`min` and `max`: one of the arguments, or of the items of the only one."""
    if not call.arguments:
        return None
    if len(call.arguments) > 1:
        return join_all(call.types)
    default = call.keywords.get("default")
    item = widened(call.items())
    return item if default is None else join(item, widened(default.type))


def rounded(call: BuiltinCall) -> Type | None:
    digits = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("ndigits")
    kind = call.types[0] if call.arguments else UNKNOWN
    if kind not in ROUNDED:
        return None
    if digits is None or digits.type == NONE:
        return INT
    return ROUNDED[kind] if widened(digits.type) in (INT, BOOL) else None


def length(call: BuiltinCall) -> Type | None:
    """`len`, of what may or may not have one: an int where there is any result."""
    return INT if len(call.arguments) == 1 else None


def quotient(call: BuiltinCall) -> Type | None:
    if len(call.arguments) != 2:
        return None
    left, right = call.arguments
    first = infer_binary(call.stubs, "//", left, right, call.default)
    second = infer_binary(call.stubs, "%", left, right, call.default)
    return None if first is None or second is None else Tuple((first, second))


def power(call: BuiltinCall) -> Type | None:
    if len(call.arguments) == 3:
        return INT if all(kind in (INT, BOOL) for kind in call.types) else None
    if len(call.arguments) != 2:
        return None
    left, right = call.arguments
    return infer_binary(call.stubs, "**", left, right, call.default)


def total(call: BuiltinCall) -> Type | None:
    """`sum`: the start, which is 0, is the answer for nothing."""
    if not call.arguments:
        return None
    item = widened(call.items())
    given = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("start")
    start = INT if given is None else widened(given.type)
    if isinstance(item, Never | Unknown):
        return UNKNOWN if isinstance(item, Unknown) else start
    step = infer_binary(call.stubs, "+", Argument(start), Argument(item), call.default)
    if step is None:
        return None
    again = infer_binary(call.stubs, "+", Argument(step), Argument(item), call.default)
    return join_all([start, step, UNKNOWN if again is None else again])


def made(kind: str) -> Rule:
    """A collection of what the argument iterates over; empty without one."""

    def rule(call: BuiltinCall) -> Type | None:
        if not call.arguments:
            return Tuple(()) if kind == "tuple" else Collection(kind, NEVER)
        if kind == "tuple" and isinstance(call.arguments[0].type, Tuple):
            return call.arguments[0].type
        return Collection(kind, widened(call.items()))

    return rule


def dictionary(call: BuiltinCall) -> Type | None:
    if not call.arguments:
        if not call.keywords:
            return Dictionary("dict", NEVER, NEVER)
        values = join_all(widened(argument.type) for argument in call.keywords.values())
        return Dictionary("dict", STR, values)
    match call.arguments[0].type:
        case Dictionary(key=key, value=value) if not call.keywords:
            return Dictionary("dict", key, value)
        case _:
            item = call.items()
            if isinstance(item, Tuple) and len(item.items) == 2 and not call.keywords:
                return Dictionary("dict", widened(item.items[0]), widened(item.items[1]))
            return None


def iterator(call: BuiltinCall) -> Type | None:
    return Collection("Iterator", call.items()) if len(call.arguments) == 1 else None


def pulled(call: BuiltinCall) -> Type | None:
    """`next`"""
    match call.arguments:
        case [Argument(type=Collection(kind="Iterator", item=item))]:
            return item
        case [Argument(type=Collection(kind="Iterator", item=item)), Argument(type=default)]:
            return join(item, widened(default))
        case _:
            return None


def numbered(call: BuiltinCall) -> Type | None:
    """`enumerate`"""
    if not call.arguments:
        return None
    return Collection("Iterator", Tuple((INT, call.items())))


def zipped(call: BuiltinCall) -> Type | None:
    items = tuple(call.items(position) for position in range(len(call.arguments)))
    return Collection("Iterator", Tuple(items) if items else NEVER)


def reversed_(call: BuiltinCall) -> Type | None:
    return Collection("Iterator", call.items()) if len(call.arguments) == 1 else None


def mapped(call_: BuiltinCall) -> Type | None:
    if len(call_.arguments) < 2:
        return None
    match call_.arguments[0].type:
        case CallableType(result=result):
            return Collection("Iterator", result)
        case Class(name=name):
            return Collection("Iterator", realise_class(name, ()))
        case callee:
            given = [Argument(call_.items(i)) for i in range(1, len(call_.arguments))]
            return Collection("Iterator", call(call_.stubs, callee, given, {}, False).type)


def array(call: BuiltinCall) -> Type | None:
    code = call.arguments[0].value if call.arguments else None
    known = isinstance(code, str) and code in ARRAY_ELEMENTS
    return Array(code) if known and isinstance(code, str) else Instance("array.array")


FUNCTIONS: dict[str, Rule] = {
    "builtins.abs": absolute,
    "builtins.min": extreme,
    "builtins.max": extreme,
    "builtins.len": length,
    "builtins.round": rounded,
    "builtins.divmod": quotient,
    "builtins.pow": power,
    "builtins.sum": total,
    "builtins.sorted": made("list"),
    "builtins.iter": iterator,
    "builtins.next": pulled,
}
CLASSES: dict[str, Rule] = {
    "builtins.list": made("list"),
    "builtins.tuple": made("tuple"),
    "builtins.set": made("set"),
    "builtins.frozenset": made("frozenset"),
    "builtins.dict": dictionary,
    "builtins.enumerate": numbered,
    "builtins.zip": zipped,
    "builtins.reversed": reversed_,
    "builtins.map": mapped,
    "array.array": array,
}
