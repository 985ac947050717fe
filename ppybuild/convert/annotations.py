"""From types to the annotations that say them, and the imports these need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppybuild.graph.types import (
    Array,
    Buffer,
    Callable,
    Class,
    Collection,
    Dictionary,
    Instance,
    Literal,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Union,
)

ABSTRACT = frozenset({"Sequence", "Iterable", "Iterator", "Mapping"})
"""Kinds of collection that `collections.abc` has."""

BUFFERS = {"f64": "float", "i64": "int"}
"""Buffer element → what stands between the brackets; others are markers of `ppy`."""


@dataclass(slots=True)
class Names:
    """What a module can call things, and what has to be imported to do so."""

    module: str
    bound: Mapping[str, str]
    """The module's top-level names, and the dotted names that they stand for."""
    defined: frozenset[str]
    """Names of classes defined in the module itself."""
    own: frozenset[str]
    """Top-level names of the project's modules."""
    imports: dict[str, str | None] = field(default_factory=dict)
    """To add: local name → `module.name` for `from module import name`, None for
    `import name`."""
    guarded: dict[str, str] = field(default_factory=dict)
    """To add under `TYPE_CHECKING`: local name → dotted name."""

    def plain(self, module: str) -> str:
        """The name of an imported module, to be imported if it is not."""
        for name, stands_for in self.bound.items():
            if stands_for == module:
                return name
        self.imports[module] = None
        return module

    def member(self, module: str, name: str) -> str:
        """The name of something imported from a module of the standard library or ppy."""
        dotted = f"{module}.{name}"
        for local, stands_for in self.bound.items():
            if stands_for == dotted:
                return local
        self.imports[name] = dotted
        return name

    def of_class(self, dotted: str) -> str:
        """How this module spells a class; quoted where it has to be imported for it."""
        home, _, name = dotted.rpartition(".")
        if home == "builtins" or (home == self.module and name in self.defined):
            return name
        prefix = dotted
        rest = ""
        while prefix:
            for local, stands_for in self.bound.items():
                if stands_for == prefix:
                    return local + rest
            prefix, _, last = prefix.rpartition(".")
            rest = f".{last}{rest}"
        self.member("typing", "TYPE_CHECKING")
        self.guarded[name] = dotted
        return f'"{name}"'


def annotation(type: Type, names: Names) -> str | None:
    """The annotation of a type, or None where it cannot be said."""
    match type:
        case Scalar():
            return type.name
        case Literal():
            return type.base.name
        case Tuple():
            items = [annotation(item, names) for item in type.items]
            return _joined("tuple", items) if items else "tuple[()]"
        case Collection("tuple"):
            item = annotation(type.item, names)
            return f"tuple[{item}, ...]" if item else None
        case Collection("range"):
            return "range"
        case Collection():
            return _generic(type.kind, [annotation(type.item, names)], names)
        case Dictionary():
            parts = [annotation(part, names) for part in (type.key, type.value)]
            return _generic(type.kind, parts, names)
        case Buffer():
            element = BUFFERS.get(type.element)
            marker = element or f"{names.plain('ppy')}.{type.element}"
            return f"{names.member('ppy', 'Buffer')}[{marker}]"
        case Tensor():
            return names.of_class("torch.nn.Parameter" if type.parameter else "torch.Tensor")
        case Instance():
            return names.of_class(type.name)
        case Class():
            return f"type[{names.of_class(type.name)}]"
        case Callable():
            return _callable(type, names)
        case Union():
            return _union([annotation(member, names) for member in type.members])
    return None


def result_annotation(type: Type, names: Names) -> str | None:
    """As `annotation`, and a closed set of strings as the `Literal` of its values."""
    if isinstance(type, Literal) and type.base.name == "str" and len(type.values) > 1:
        values = ", ".join(map(repr, type.values))
        return f"{names.member('typing', 'Literal')}[{values}]"
    return annotation(type, names)


def parameter_annotation(type: Type, names: Names, *, mutated: bool) -> str | None:
    """As `annotation`, with the abstract type where the body only reads."""
    if isinstance(type, Array):
        return annotation(Buffer({"d": "f64", "f": "f32", "q": "i64"}[type.typecode]), names)
    if not mutated:
        match type:
            case Collection("list"):
                type = Collection("Sequence", type.item)
            case Dictionary("dict"):
                type = Dictionary("Mapping", type.key, type.value)
    return annotation(type, names)


def _generic(kind: str, parts: list[str | None], names: Names) -> str | None:
    return _joined(names.member("collections.abc", kind) if kind in ABSTRACT else kind, parts)


def _joined(name: str, parts: list[str | None]) -> str | None:
    known = [part for part in parts if part]
    return f"{name}[{', '.join(known)}]" if len(known) == len(parts) else None


def _callable(type: Callable, names: Names) -> str | None:
    result = annotation(type.result, names)
    given = "..."
    if type.parameters is not None:
        parts = [annotation(part, names) for part in type.parameters]
        known = [part for part in parts if part]
        if len(known) != len(parts):
            return None
        given = f"[{', '.join(known)}]"
    name = names.member("collections.abc", "Callable")
    return f"{name}[{given}, {result}]" if result else None


def _union(parts: list[str | None]) -> str | None:
    known = [part for part in parts if part]
    if len(known) != len(parts):
        return None
    if any(part.startswith('"') for part in known):
        return '"' + " | ".join(part.strip('"') for part in known) + '"'
    return " | ".join(known)
