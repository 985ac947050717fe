"""From types to the annotations that say them."""

from __future__ import annotations

from collections.abc import Sequence

from ppybuild.convert.names import Names
from ppybuild.graph.lattice import DATA_CLASSES
from ppybuild.graph.types import (
    NONE,
    Array,
    Buffer,
    Callable,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Method,
    Module,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Union,
    Unknown,
)

ABSTRACT = frozenset({"Sequence", "Iterable", "Iterator", "Mapping"})
"""Kinds of collection that `collections.abc` has."""

BUFFERS = {"f64": "float", "i64": "int"}
"""Buffer element → what stands between the brackets; others are markers of `ppy`."""

ELEMENTS = {"d": "f64", "f": "f32", "q": "i64", "i": "i32", "B": "u8", "b": "i8"}
"""Typecode of an array → element of the buffer that it is."""

DATA_NAMES = {kind: name for name, kind in DATA_CLASSES.items()}
"""What is written without its items: a loader's brackets would name an item, and a batch is
what its type holds here."""

PLAIN = Scalar | Buffer | Tensor | Callable | Function | Method | Module


def annotation(type: Type, names: Names) -> str | None:
    """The annotation of a type, or None where it cannot be said."""
    match type:
        case Scalar() | Literal():
            return _scalar(type if isinstance(type, Scalar) else type.base, names)
        case Array():
            element = ELEMENTS.get(type.typecode)
            return annotation(Buffer(element), names) if element else None
        case Tuple() | Collection() | Dictionary():
            return _container(type, names)
        case Buffer():
            element = BUFFERS.get(type.element)
            marker = (
                names.builtin(element) if element else f"{names.plain('ppy')}.{type.element}"
            )
            return f"{names.member('ppy', 'Buffer')}[{marker}]"
        case Tensor():
            return names.of_class("torch.nn.Parameter" if type.parameter else "torch.Tensor")
        case Instance():
            return names.of_class(type.name)
        case Class():
            spelled = names.of_class(type.name)
            return f"{names.builtin('type')}[{spelled}]" if spelled else None
        case Callable():
            return _callable(type, names)
        case Function() | Method():
            return names.member("collections.abc", "Callable")
        case Module():
            return names.member("types", "ModuleType")
        case Union():
            return _union([annotation(member, names) for member in _members(type)])
    return None


def _members(type: Union) -> Sequence[Type]:
    """Of several functions or classes that can be called, one `Callable`."""
    callables = [each for each in type.members if isinstance(each, Function | Method)]
    if not callables:
        return type.members
    left = [each for each in type.members if not isinstance(each, Function | Method | Class)]
    return [callables[0], *sorted(left, key=lambda each: each == NONE)]


def result_annotation(type: Type, names: Names) -> str | None:
    """As `annotation`, and a closed set of strings as the `Literal` of its values."""
    members = type.members if isinstance(type, Union) else (type,)
    closed = [each for each in members if isinstance(each, Literal) and len(each.values) > 1]
    if len(closed) == 1 and closed[0].base.name == "str":
        values = ", ".join(map(repr, closed[0].values))
        said = f"{names.member('typing', 'Literal')}[{values}]"
        rest = [annotation(each, names) for each in members if each is not closed[0]]
        return _union([said, *rest]) if rest else said
    return annotation(type, names)


def abstract(type: Type) -> Type:
    """The type of a parameter whose body only reads it."""
    match type:
        case Collection("list"):
            return Collection("Sequence", type.item)
        case Dictionary("dict"):
            return Dictionary("Mapping", type.key, type.value)
    return type


def _scalar(type: Scalar, names: Names) -> str:
    return "None" if type == NONE else names.builtin(type.name)


def _container(type: Tuple | Collection | Dictionary, names: Names) -> str | None:
    match type:
        case Tuple():
            items = [annotation(item, names) for item in type.items]
            name = names.builtin("tuple")
            return _joined(name, items) if items else f"{name}[()]"
        case Collection("range"):
            return names.builtin("range")
        case Collection("tuple"):
            item = _part(type.item, names)
            name = names.builtin("tuple")
            return name if item == "" else f"{name}[{item}, ...]" if item else None
        case Collection(kind=kind) if kind in DATA_NAMES:
            return names.of_class(DATA_NAMES[kind])
        case Collection():
            parts = [_part(type.item, names)]
        case Dictionary():
            parts = [_part(part, names) for part in (type.key, type.value)]
    abstract = type.kind in ABSTRACT
    name = names.member("collections.abc", type.kind) if abstract else names.builtin(type.kind)
    return name if "" in parts else _joined(name, parts)


def _part(type: Type, names: Names) -> str | None:
    """What a container holds; empty where that is not known, and the container stands bare."""
    return "" if isinstance(type, Unknown) else annotation(type, names)


def _joined(name: str, parts: list[str | None]) -> str | None:
    known = [part for part in parts if part]
    return f"{name}[{', '.join(known)}]" if len(known) == len(parts) else None


def _callable(type: Callable, names: Names) -> str | None:
    name = names.member("collections.abc", "Callable")
    result = annotation(type.result, names)
    if result is None:
        return name
    if type.parameters is None:
        return f"{name}[..., {result}]"
    parts = [annotation(part, names) for part in type.parameters]
    known = [part for part in parts if part]
    given = f"[{', '.join(known)}]" if len(known) == len(parts) else "..."
    return f"{name}[{given}, {result}]"


def _union(parts: list[str | None]) -> str | None:
    known = list(dict.fromkeys(part for part in parts if part))
    if None in parts:
        return None
    if any(part.startswith('"') for part in known):
        return '"' + " | ".join(part.replace('"', "") for part in known) + '"'
    return " | ".join(known)
