"""Which overload a Python call reaches, and what it passes for each schema argument.

Follows the argument parser of torch's Python bindings, which takes the first overload that
accepts the arguments. Here the arguments are types and literals, so a parameter may accept
an argument surely, never, or only depending on its value (a tensor given for a number is
accepted if it has no dimensions). Where the choice hangs on a value, there is no match:
never a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, final

from ppybuild.graph.schemas.order import python_order
from ppybuild.graph.schemas.records import Argument, Operator, SchemaType

Kind = Literal[
    "tensor",
    "optional_tensor",
    "tensors",
    "int",
    "float",
    "bool",
    "none",
    "str",
    "dtype",
    "layout",
    "memory_format",
    "list",
]


@final
@dataclass(frozen=True, slots=True)
class Given:
    """What a call passes: a kind, and where it is known when building, the value.

    `tensors` is a sequence of tensors of unknown length, `list` one of known items.
    `payload` is the caller's own and is handed back.
    """

    kind: Kind
    value: int | float | bool | str | None = None
    items: tuple[Given, ...] = ()
    payload: object = None


NONE = Given("none")


@final
@dataclass(frozen=True, slots=True)
class Match:
    """The operator, and one `Given` for each argument of its schema, in order."""

    operator: Operator
    arguments: tuple[Given, ...]


@final
@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why the call is not held by a region."""

    reason: str


class _Accepts(IntEnum):
    NEVER = 0
    DEPENDS = 1
    SURELY = 2


# Operators whose bindings take a number where the schema says Tensor (a table in the
# bindings' argument parser, not in the schemas); a test compares it with torch.
NUMBERS_AS_TENSORS = frozenset(
    name + suffix
    for name in (
        "add",
        "sub",
        "subtract",
        "mul",
        "multiply",
        "div",
        "divide",
        "true_divide",
        "floor_divide",
    )
    for suffix in ("", "_")
)

# The spellings of NumPy that the bindings take for some parameters.
_ALIASES = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("x", "a", "x1"),
    "other": ("x2",),
}

# The bindings read these words as C's `atol` does: a loss called without `reduction` is not
# reduced (torch.nn.functional always passes it).
_REDUCTIONS = {"Mean": 0, "Sum": 0}
_NUMBERS = ("int", "float", "bool")
_SINGLE: Mapping[str, Mapping[str, _Accepts]] = {
    "Tensor": {"tensor": _Accepts.SURELY, "optional_tensor": _Accepts.DEPENDS},
    "Scalar": {
        "int": _Accepts.SURELY,
        "float": _Accepts.SURELY,
        "bool": _Accepts.SURELY,
        "tensor": _Accepts.DEPENDS,
    },
    "int": {"int": _Accepts.SURELY, "bool": _Accepts.DEPENDS, "tensor": _Accepts.DEPENDS},
    "SymInt": {"int": _Accepts.SURELY, "bool": _Accepts.DEPENDS, "tensor": _Accepts.DEPENDS},
    "float": {
        "float": _Accepts.SURELY,
        "int": _Accepts.SURELY,
        "bool": _Accepts.DEPENDS,
        "tensor": _Accepts.DEPENDS,
    },
    "bool": {"bool": _Accepts.SURELY, "tensor": _Accepts.DEPENDS},
    "str": {"str": _Accepts.SURELY},
    "ScalarType": {"dtype": _Accepts.SURELY},
    "Layout": {"layout": _Accepts.SURELY},
    "MemoryFormat": {"memory_format": _Accepts.SURELY},
    "Device": {"str": _Accepts.SURELY, "int": _Accepts.DEPENDS},
    "Dimname": {"str": _Accepts.SURELY},
    "Generator": {},
}
"""By schema type, then by kind of what is given; what is absent is never accepted."""


def match(
    overloads: Sequence[Operator],
    positional: Sequence[Given],
    keywords: Mapping[str, Given],
    *,
    receiver: Given | None = None,
) -> Match | Mismatch:
    """Choose among the overloads that one Python name reaches.

    With a `receiver` it is a method call, and the receiver is the argument `self`.
    """
    found: list[tuple[Operator, _Accepts, tuple[Given, ...]]] = []
    for operator in python_order(overloads, method=receiver is not None):
        bound = _bind(operator, positional, keywords, receiver)
        if bound is not None:
            found.append((operator, *bound))
    if not found:
        return Mismatch("no overload takes these arguments")
    operator, accepts, arguments = found[0]
    if accepts is _Accepts.SURELY:
        return Match(operator, arguments)
    names = " and ".join(sorted(operator.qualified for operator, _, _ in found))
    return Mismatch(f"the overload depends on a value ({names})")


def _bind(
    operator: Operator,
    positional: Sequence[Given],
    keywords: Mapping[str, Given],
    receiver: Given | None,
) -> tuple[_Accepts, tuple[Given, ...]] | None:
    """The least certain acceptance and the arguments in schema order; None if refused."""
    parameters = [
        argument
        for argument in operator.arguments
        if receiver is None or argument.name != "self"
    ]
    places = [argument for argument in parameters if not argument.keyword_only]
    given: dict[str, Given] = {}
    if len(positional) > len(places) or _is_spread(places, positional):
        if len(places) != 1 or not _is_int_list(places[0].type):
            return None
        # `x.view(2, 3)` is `x.view((2, 3))` where the list is the only positional one.
        positional = [Given("list", items=tuple(positional))]
    given.update({place.name: value for place, value in zip(places, positional, strict=False)})
    for keyword, value in keywords.items():
        name = _parameter_called(keyword, parameters, receiver is None)
        if name is None or name in given:
            return None
        given[name] = value

    certainty = _Accepts.SURELY
    arguments: list[Given] = []
    for argument in operator.arguments:
        if receiver is not None and argument.name == "self":
            value = receiver
        elif argument.name in given:
            value = given[argument.name]
        elif argument.default is not None:
            arguments.append(_fitted(argument.type, default_of(argument)))
            continue
        else:
            return None
        accepts = _accepts(argument.type, value, operator.name in NUMBERS_AS_TENSORS)
        if accepts is _Accepts.NEVER:
            return None
        certainty = min(certainty, accepts)
        arguments.append(_fitted(argument.type, value))
    return certainty, tuple(arguments)


def _is_spread(places: Sequence[Argument], positional: Sequence[Given]) -> bool:
    return (
        len(places) == 1
        and _is_int_list(places[0].type)
        and places[0].type.size is None
        and len(positional) > 0
        and positional[0].kind == "int"
    )


def _is_int_list(type: SchemaType) -> bool:
    return type.is_list and type.base in ("int", "SymInt")


def _parameter_called(
    keyword: str, parameters: Sequence[Argument], is_function: bool
) -> str | None:
    for argument in parameters:
        name = "input" if is_function and argument.name == "self" else argument.name
        if keyword == name or keyword in _ALIASES.get(name, ()):
            return argument.name
    return None


def _accepts(type: SchemaType, given: Given, numbers_as_tensors: bool) -> _Accepts:
    if given.kind == "none":
        return _Accepts.SURELY if type.optional else _Accepts.NEVER
    if given.kind == "optional_tensor" and type.optional and not type.is_list:
        return _Accepts.SURELY if type.base == "Tensor" else _Accepts.DEPENDS
    if type.is_list:
        return _accepts_list(type, given)
    if type.base == "Tensor" and given.kind in _NUMBERS and numbers_as_tensors:
        return _Accepts.SURELY
    # Types that no region holds (Storage, Stream) are left to what torch makes of them.
    return _SINGLE.get(type.base, {}).get(
        given.kind, _Accepts.NEVER if type.base in _SINGLE else _Accepts.DEPENDS
    )


def _accepts_list(type: SchemaType, given: Given) -> _Accepts:
    if given.kind == "tensors":
        return _Accepts.SURELY if type.base == "Tensor" else _Accepts.DEPENDS
    if given.kind != "list":
        if type.size is not None and _is_int_list(type):
            return _SINGLE[type.base].get(given.kind, _Accepts.NEVER)
        return _Accepts.NEVER if given.kind != "tensor" else _Accepts.DEPENDS
    if not given.items and type.base not in ("int", "SymInt"):
        return _Accepts.DEPENDS
    item_type = SchemaType(type.base, optional=type.item_optional)
    return min(
        (_accepts(item_type, item, False) for item in given.items), default=_Accepts.SURELY
    )


def _fitted(type: SchemaType, given: Given) -> Given:
    """One number for a list of known length stands for all of its items."""
    if type.is_list and given.kind in _NUMBERS and type.size is not None:
        return Given("list", items=(given,) * type.size)
    return given


def default_of(argument: Argument) -> Given:
    """The schema's default as if the call had passed it."""
    text = argument.default
    if text is None:
        raise ValueError(f"`{argument.name}` has no default")
    if text in _REDUCTIONS:
        return Given("int", _REDUCTIONS[text])
    if argument.type.base == "MemoryFormat" and text != "None":
        return Given("memory_format", text)
    if argument.type.base == "ScalarType" and text == "long":
        return Given("dtype", "int64")
    return literal(ast.literal_eval(text))


def literal(value: object) -> Given:
    """A Python constant or list of constants as a `Given`."""
    match value:
        case None:
            return NONE
        case bool():
            return Given("bool", value)
        case int():
            return Given("int", value)
        case float():
            return Given("float", value)
        case str():
            return Given("str", value)
        case list() | tuple():
            return Given("list", items=tuple(literal(item) for item in value))
        case _:
            raise ValueError(f"not a constant of a schema: {value!r}")
