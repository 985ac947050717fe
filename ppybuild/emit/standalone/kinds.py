"""What values can be without Python, and the C types that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from ppybuild.graph import types


@final
@dataclass(frozen=True, slots=True)
class Scalar:
    """int, float, bool, str or None, by its Python name."""

    name: str


INT = Scalar("int")
FLOAT = Scalar("float")
BOOL = Scalar("bool")
TEXT = Scalar("str")
NONE = Scalar("None")
ERROR = Scalar("exception")
"""A caught exception, of which only its text and its name are asked."""

NUMBERS = (INT, FLOAT, BOOL)


@final
@dataclass(frozen=True, slots=True)
class TupleOf:
    """A tuple of known length, held by value."""

    items: tuple[Kind, ...]


@final
@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose items are of one kind."""

    item: Kind


@final
@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An `array.array`, by its typecode."""

    typecode: str

    @property
    def item(self) -> Kind:
        return FLOAT if self.typecode in "df" else INT


@final
@dataclass(frozen=True, slots=True)
class DictOf:
    """A dict whose keys are of one kind, and whose values are."""

    key: Kind
    value: Kind

    @property
    def entry(self) -> TupleOf:
        """What its items are in C."""
        return TupleOf((self.key, self.value))


@final
@dataclass(frozen=True, slots=True)
class SetOf:
    """A set whose items are of one kind."""

    item: Kind


@final
@dataclass(frozen=True, slots=True)
class ObjectOf:
    """An object of the class with this dotted name, or None."""

    name: str


Reference = ListOf | ArrayOf | DictOf | SetOf | ObjectOf
"""What may be shared: a pointer in C."""

Kind = Scalar | TupleOf | Reference

ARRAYS = {"d": "F64", "f": "F32", "q": "I64", "i": "I32", "B": "U8", "b": "I8"}
"""The typecodes that there are, by what the runtime calls their items."""

_BUFFERS = {"f64": "d", "f32": "f", "i64": "q", "i32": "i", "u8": "B", "i8": "b"}
_SCALARS: dict[types.Type, Kind] = {
    types.INT: INT,
    types.FLOAT: FLOAT,
    types.BOOL: BOOL,
    types.STR: TEXT,
    types.NONE: NONE,
}
_C_SCALARS = {INT: "int64_t", FLOAT: "double", BOOL: "bool", TEXT: "ppy_text", NONE: "void"}
_C_ITEMS = {
    "d": "double", "f": "float", "q": "int64_t", "i": "int32_t", "B": "uint8_t", "b": "int8_t",
}  # fmt: skip
_LETTERS = {INT: "i", FLOAT: "f", BOOL: "b", TEXT: "s"}
_LAYOUTS = {INT: "ppy_ints", FLOAT: "ppy_floats", BOOL: "ppy_bools", TEXT: "ppy_texts"}


def kind_of(type_: types.Type | None) -> Kind | None:
    """The kind that holds every value of a type; None where none does."""
    match type_:
        case types.Scalar():
            return _SCALARS.get(type_)
        case types.Literal(base, _):
            return _SCALARS.get(base)
        case types.Tuple(items):
            kinds = [kind_of(item) for item in items]
            if all(kind is not None and may_be_item(kind) for kind in kinds):
                return TupleOf(tuple(kind for kind in kinds if kind is not None))
        case types.Collection("list" | "set" as name, item):
            kind = kind_of(item)
            if kind is None or not may_be_item(kind):
                return None
            if name == "list":
                return ListOf(kind)
            return SetOf(kind) if may_be_key(kind) else None
        case types.Dictionary("dict", key, value):
            pair = kind_of(key), kind_of(value)
            if pair[0] is None or pair[1] is None or not may_be_item(pair[1]):
                return None
            return DictOf(pair[0], pair[1]) if may_be_key(pair[0]) else None
        case types.Instance(name):
            return ObjectOf(name)
        case types.Union(members):
            return _kind_of_union([kind_of(member) for member in members])
        case types.Array(typecode) if typecode in ARRAYS:
            return ArrayOf(typecode)
        case types.Buffer(element):
            return ArrayOf(_BUFFERS[element])
    return None


def _kind_of_union(kinds: Sequence[Kind | None]) -> Kind | None:
    """An object that may be None; or the widest number, of which alone may come then."""
    match [kind for kind in kinds if kind != NONE]:
        case [ObjectOf() as found]:
            return found
        case numbers if len(numbers) == len(kinds) and set(kinds) <= set(NUMBERS):
            return FLOAT if FLOAT in kinds else INT
    return None


def may_be_item(kind: Kind) -> bool:
    """Whether a list may hold it."""
    return kind not in (NONE, ERROR)


def may_be_key(kind: Kind) -> bool:
    """Whether a dict or a set may hold it by its hash."""
    if isinstance(kind, TupleOf):
        return all(map(may_be_key, kind.items))
    return kind in _LETTERS


def is_flat(kind: Kind) -> bool:
    """Whether it is numbers alone, and one C variable holds it; a text is a slot, and a
    reference has to be reached."""
    if isinstance(kind, TupleOf):
        return all(map(is_flat, kind.items))
    return kind in NUMBERS


def letters(kind: Kind) -> str:
    """A tuple's structure as a part of a C name: `t2if` for an int and a float."""
    if isinstance(kind, TupleOf):
        return f"t{len(kind.items)}" + "".join(map(letters, kind.items))
    return _LETTERS[kind] if isinstance(kind, Scalar) else "r"


def c_type(kind: Kind) -> str:
    """The C type of a variable of this kind."""
    match kind:
        case TupleOf():
            return f"ppy_{letters(kind)}"
        case ListOf() | ArrayOf() | DictOf() | SetOf() | ObjectOf():
            return "ppy_list *"
        case _:
            return _C_SCALARS[kind]


def c_item(kind: ListOf | ArrayOf) -> str:
    """The C type of an item."""
    return _C_ITEMS[kind.typecode] if isinstance(kind, ArrayOf) else c_type(kind.item)


def layout(kind: Kind) -> str:
    """C for the `ppy_layout *` of an item of this kind."""
    match kind:
        case TupleOf():
            return f"&ppy_L_{letters(kind)}"
        case Scalar():
            return f"&{_LAYOUTS[kind]}"
        case _:
            return "&ppy_references"


def list_layout(kind: ListOf | ArrayOf) -> str:
    """C for the `ppy_layout *` of the items of a list or an array."""
    if isinstance(kind, ArrayOf):
        return f"&ppy_array_{ARRAYS[kind.typecode].lower()}"
    return layout(kind.item)


def has_order(kind: Kind) -> bool:
    """Whether items of this kind can be sorted."""
    match kind:
        case TupleOf(items):
            return all(map(has_order, items))
        case ListOf(item):
            return has_order(item)
        case ArrayOf():
            return True
        case _:
            return kind in _LETTERS


def show(kind: Kind) -> str:
    """As an annotation says it."""
    match kind:
        case TupleOf(items):
            return f"tuple[{', '.join(map(show, items))}]"
        case ListOf(item):
            return f"list[{show(item)}]"
        case ArrayOf(typecode):
            return f'array.array("{typecode}")'
        case DictOf(key, value):
            return f"dict[{show(key)}, {show(value)}]"
        case SetOf(item):
            return f"set[{show(item)}]"
        case ObjectOf(name):
            return name.rpartition(".")[2]
        case Scalar(name):
            return name


def has_text(kind: Kind) -> bool:
    """Whether a value holds a text that is not behind a reference."""
    if isinstance(kind, TupleOf):
        return any(map(has_text, kind.items))
    return kind == TEXT


def number_help(kind: Kind) -> str:
    """What to do where another number than this comes."""
    return f"make it {show(kind)}" if kind in NUMBERS else ""
