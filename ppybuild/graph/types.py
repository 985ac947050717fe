"""The type algebra: a small closed set of frozen values.

`UNKNOWN` is an honest answer and absorbs nothing: joining it with a known type gives
`UNKNOWN`. `NEVER` is the type of an expression that has no value yet (the identity of
`join`), and is what inference starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Scalar:
    """A built-in type without parts, by its Python name."""

    name: str


INT = Scalar("int")
FLOAT = Scalar("float")
BOOL = Scalar("bool")
COMPLEX = Scalar("complex")
STR = Scalar("str")
BYTES = Scalar("bytes")
NONE = Scalar("None")


@final
@dataclass(frozen=True, slots=True)
class Literal:
    """One of a closed set of values of one scalar type, in order of first appearance."""

    base: Scalar
    values: tuple[int | str | bool | bytes, ...]


@final
@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of known length."""

    items: tuple[Type, ...]


@final
@dataclass(frozen=True, slots=True)
class Collection:
    """A homogeneous collection: `kind` is list, tuple, set, frozenset, range, Sequence,
    Iterable, Iterator, or one of `lattice.DATA_CLASSES` (the `item` of a DataLoader is a batch
    as its parts, where PyTorch makes a list of them)."""

    kind: str
    item: Type


@final
@dataclass(frozen=True, slots=True)
class Dictionary:
    """`kind` is dict or Mapping."""

    kind: str
    key: Type
    value: Type


@final
@dataclass(frozen=True, slots=True)
class Array:
    """An `array.array` with a known typecode."""

    typecode: str


@final
@dataclass(frozen=True, slots=True)
class Buffer:
    """`ppy.Buffer[T]`: one-dimensional, C-contiguous numbers behind the buffer protocol.

    `element` is f64, i64, f32, i32, u8 or i8 (`Buffer[float]` is f64, `Buffer[int]` i64).
    """

    element: str


@final
@dataclass(frozen=True, slots=True)
class Tensor:
    """A `torch.Tensor`, or a `torch.nn.Parameter` where `parameter`.

    `dtype` is torch's name without the prefix ("float32"), None where not known.
    `shape` holds an int or a symbol's name per dimension, and is None where even the
    number of dimensions is not known. "?" is a size that is not known and equals no other,
    not even itself.
    """

    dtype: str | None = None
    shape: tuple[int | str, ...] | None = None
    parameter: bool = False


@final
@dataclass(frozen=True, slots=True)
class Instance:
    """An object of the class with this dotted name (`app.model.Net`, `torch.device`)."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Class:
    """The class object itself."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Module:
    """A module object."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Function:
    """A function object by its dotted name, of the project or of a library."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Method:
    """A bound method: what it is bound to, and its name."""

    receiver: Type
    name: str


@final
@dataclass(frozen=True, slots=True)
class Callable:
    """A callable of which only the signature is known; `parameters` None is `...`."""

    parameters: tuple[Type, ...] | None
    result: Type


@final
@dataclass(frozen=True, slots=True)
class Union:
    """Two or more types, flat, without duplicates, in a canonical order."""

    members: tuple[Type, ...]


@final
@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all."""


@final
@dataclass(frozen=True, slots=True)
class Never:
    """No value yet."""


UNKNOWN = Unknown()
NEVER = Never()

Type = (
    Scalar
    | Literal
    | Tuple
    | Collection
    | Dictionary
    | Array
    | Buffer
    | Tensor
    | Instance
    | Class
    | Module
    | Function
    | Method
    | Callable
    | Union
    | Unknown
    | Never
)
