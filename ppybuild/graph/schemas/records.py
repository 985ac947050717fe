"""One operator of ATen as its schema describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class SchemaType:
    """A type as schemas spell it: `Tensor(a!)`, `SymInt[2]`, `Tensor?[]`, `int[1]?`."""

    base: str
    """`Tensor`, `Scalar`, `int`, `SymInt`, `float`, `bool`, `str`, `ScalarType`, ..."""
    optional: bool = False
    is_list: bool = False
    size: int | None = None
    """The list's length where the schema gives one; one number then stands for all."""
    item_optional: bool = False
    alias: str | None = None
    """`a` for a view of the argument with the same mark, `a!` for one that is written."""

    @property
    def writes(self) -> bool:
        return self.alias is not None and self.alias.endswith("!")

    def __str__(self) -> str:
        text = self.base + ("?" if self.item_optional else "")
        if self.is_list:
            text += f"[{'' if self.size is None else self.size}]"
        return text + ("?" if self.optional else "")


@final
@dataclass(frozen=True, slots=True)
class Argument:
    """`default` is the schema's own text (`None`, `1e-05`, `Mean`, `[0,1]`), None if absent."""

    name: str
    type: SchemaType
    default: str | None
    keyword_only: bool


@final
@dataclass(frozen=True, slots=True)
class Operator:
    """A schema with what the file says about how Python reaches it."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[SchemaType, ...]
    function: bool
    """Whether it is a function of its module."""
    method: bool
    """Whether it is a method of `Tensor`."""
    module: str | None
    """None for `torch` itself, else nn, linalg, special, fft, sparse or nested."""
    tags: frozenset[str]
    schema: str
    """The whole line, as in the file."""

    @property
    def qualified(self) -> str:
        """`aten::add.Tensor`, `aten::relu`."""
        return f"aten::{self.name}" + (f".{self.overload}" if self.overload else "")

    @property
    def mutates(self) -> bool:
        """Whether it writes to an argument."""
        return any(argument.type.writes for argument in self.arguments)

    @property
    def has_out(self) -> bool:
        """Whether it writes to tensors that only hold results."""
        return any(a.type.writes and a.keyword_only for a in self.arguments)

    @property
    def random(self) -> bool:
        """Whether it draws from a generator, so that running it twice differs."""
        return "nondeterministic_seeded" in self.tags
