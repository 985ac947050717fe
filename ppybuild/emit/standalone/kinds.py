"""What values can be without Python, and the C types that hold them."""

from __future__ import annotations

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


Kind = Scalar | TupleOf | ListOf | ArrayOf

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
_LETTERS = {INT: "i", FLOAT: "f", BOOL: "b"}


def kind_of(type_: types.Type | None) -> Kind | None:
    """The kind that holds every value of a type; None where none does."""
    match type_:
        case types.Scalar():
            return _SCALARS.get(type_)
        case types.Literal(base, _):
            return _SCALARS.get(base)
        case types.Tuple(items):
            kinds = [kind_of(item) for item in items]
            if all(kind in _LETTERS or isinstance(kind, TupleOf) for kind in kinds):
                return TupleOf(tuple(kind for kind in kinds if kind is not None))
        case types.Collection("list", item):
            kind = kind_of(item)
            return ListOf(kind) if kind is not None and may_be_item(kind) else None
        case types.Array(typecode) if typecode in ARRAYS:
            return ArrayOf(typecode)
        case types.Buffer(element):
            return ArrayOf(_BUFFERS[element])
    return None


def may_be_item(kind: Kind) -> bool:
    """Whether a list may hold it."""
    return kind not in (NONE, ERROR)


def is_flat(kind: Kind) -> bool:
    """Whether a tuple that is kept in a variable may hold it."""
    if isinstance(kind, TupleOf):
        return all(map(is_flat, kind.items))
    return kind in _LETTERS


def letters(kind: Kind) -> str:
    """A tuple's structure as a part of a C name: `if` for an int and a float."""
    if isinstance(kind, TupleOf):
        return f"t{len(kind.items)}" + "".join(map(letters, kind.items))
    assert isinstance(kind, Scalar)
    return _LETTERS[kind]


def c_type(kind: Kind) -> str:
    """The C type of a variable of this kind."""
    match kind:
        case TupleOf():
            return f"ppy_{letters(kind)}"
        case ListOf() | ArrayOf():
            return "ppy_list *"
        case _:
            return _C_SCALARS[kind]


def c_item(kind: ListOf | ArrayOf) -> str:
    """The C type of an item."""
    return _C_ITEMS[kind.typecode] if isinstance(kind, ArrayOf) else c_type(kind.item)


def holds(kind: ListOf | ArrayOf) -> str:
    """`ppy_holds`."""
    if isinstance(kind, ArrayOf):
        return f"PPY_ARRAY_{ARRAYS[kind.typecode]}"
    match kind.item:
        case TupleOf():
            return "PPY_TUPLES"
        case ListOf() | ArrayOf():
            return "PPY_LISTS"
        case item:
            return {INT: "PPY_INTS", FLOAT: "PPY_FLOATS", BOOL: "PPY_BOOLS", TEXT: "PPY_TEXTS"}[
                item
            ]


def holds_float(kind: Kind) -> bool:
    """Whether comparing it may compare a nan with itself, which CPython does by identity."""
    match kind:
        case TupleOf(items):
            return any(map(holds_float, items))
        case ListOf(item):
            return holds_float(item)
        case ArrayOf():
            return kind.item == FLOAT
        case _:
            return kind == FLOAT


def show(kind: Kind) -> str:
    """As an annotation says it."""
    match kind:
        case TupleOf(items):
            return f"tuple[{', '.join(map(show, items))}]"
        case ListOf(item):
            return f"list[{show(item)}]"
        case ArrayOf(typecode):
            return f'array.array("{typecode}")'
        case Scalar(name):
            return name
