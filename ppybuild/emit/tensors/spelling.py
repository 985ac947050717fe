"""How each schema type is written in C++: one table, from a type to a function that spells
an argument of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.ir import Argument, Constant, Items, Symbolic, Value
from ppybuild.graph.schemas import SchemaType

SCALAR_TYPES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
MEMORY_FORMATS = {
    "contiguous_format": "Contiguous",
    "preserve_format": "Preserve",
    "channels_last": "ChannelsLast",
}
ENUMERATORS = {
    "dtype": lambda name: f"at::ScalarType::{SCALAR_TYPES[name]}",
    "layout": lambda name: f"at::Layout::{name.capitalize()}",
    "memory_format": lambda name: f"at::MemoryFormat::{MEMORY_FORMATS[name]}",
}

Spell = Callable[[Value], str]
"""The C++ variable that holds a value."""


class Unspellable(Exception):
    """A type that no region holds."""


def spell(type: SchemaType, argument: Argument, variable: Spell) -> str:
    """An expression of the C++ type that `at::_ops` takes for `type`."""
    if type.is_list:
        return _list(type, argument, variable)
    if argument == Constant(None):
        return "std::nullopt"
    if type.base == "Tensor" and not isinstance(argument, Value):
        return f"ppy::number({scalar(argument, variable)})"
    speller = SPELLINGS.get(type.base)
    if speller is None:
        raise Unspellable(str(type))
    return speller(argument, variable)


def _plain(argument: Argument, variable: Spell) -> str:
    match argument:
        case Value():
            return variable(argument)
        case Symbolic(kind=kind, name=name):
            return ENUMERATORS[kind](name)
        case Constant(value=value):
            return literal(value)
        case Items():
            raise Unspellable("a list where one value is taken")


def scalar(argument: Argument, variable: Spell) -> str:
    return f"at::Scalar({_plain(argument, variable)})"


def _text(argument: Argument, variable: Spell) -> str:
    return f"std::string_view({_plain(argument, variable)})"


def _device(argument: Argument, variable: Spell) -> str:
    return f"at::Device({_plain(argument, variable)})"


def _float(argument: Argument, variable: Spell) -> str:
    return f"static_cast<double>({_plain(argument, variable)})"


def _sym_int(argument: Argument, variable: Spell) -> str:
    return f"c10::SymInt({_plain(argument, variable)})"


SPELLINGS: Mapping[str, Callable[[Argument, Spell], str]] = {
    "Tensor": _plain,
    "Scalar": scalar,
    "int": _plain,
    "SymInt": _sym_int,
    "float": _float,
    "bool": _plain,
    "str": _text,
    "ScalarType": _plain,
    "Layout": _plain,
    "Device": _device,
    "MemoryFormat": _plain,
}
"""By the base of the type; an optional takes the same expression, or `std::nullopt`."""

LISTS: Mapping[str, tuple[str, str, str]] = {
    "int": ("int64_t", "at::IntArrayRef", "at::OptionalIntArrayRef"),
    "SymInt": ("int64_t", "c10::SymIntArrayRef", "at::OptionalSymIntArrayRef"),
    "float": ("double", "at::ArrayRef<double>", "std::optional<at::ArrayRef<double>>"),
    "Scalar": ("at::Scalar", "at::ArrayRef<at::Scalar>", ""),
    "Tensor": ("at::Tensor", "at::TensorList", ""),
}
"""By the base of the list: its items, the list, the optional list."""


def _list(type: SchemaType, argument: Argument, variable: Spell) -> str:
    if argument == Constant(None):
        return "std::nullopt"
    if isinstance(argument, Value) and type.base == "Tensor":
        return f"at::TensorList({variable(argument)})"
    if not isinstance(argument, Items):
        raise Unspellable(f"one value where {type} is taken")
    item = SchemaType(
        "int" if type.base == "SymInt" else type.base, optional=type.item_optional
    )
    items = [spell(item, part, variable) for part in argument.items]
    listed = ", ".join(items)
    if type.item_optional:
        return f"c10::List<std::optional<at::Tensor>>({{{listed}}})"
    if type.base == "bool":
        return f"std::array<bool, {len(items)}>{{{listed}}}"
    if type.base not in LISTS:
        raise Unspellable(str(type))
    element, whole, optional = LISTS[type.base]
    text = f"std::array<{element}, {len(items)}>{{{listed}}}" if items else f"{whole}()"
    if type.base == "SymInt" and items:
        text = f"c10::fromIntArrayRefSlow({text})"
    if type.base == "Tensor" and items:
        # Some operators take a TensorList, some an ITensorListRef, which it converts to.
        text = f"{whole}({text})"
    return f"{optional}({text})" if type.optional else text


def literal(value: int | float | bool | str | None) -> str:
    """A Python constant in C++, exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # The least integer has no literal of its own.
        return "INT64_MIN" if value == -(2**63) else f"INT64_C({value})"
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, str):
        return json.dumps(value)
    raise Unspellable("None where a value is taken")


def _double(value: float) -> str:
    limits = "std::numeric_limits<double>"
    if math.isnan(value):
        return f"{limits}::quiet_NaN()"
    if math.isinf(value):
        return ("-" if value < 0 else "") + f"{limits}::infinity()"
    return repr(value)
