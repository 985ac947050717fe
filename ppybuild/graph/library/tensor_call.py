"""A call of an operator as the rules about its result look at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ppybuild.graph.lattice import ANY_SIZE
from ppybuild.graph.library.tensor_dtypes import dtype_named
from ppybuild.graph.library.tensor_shapes import Shape
from ppybuild.graph.library.values import Argument, Value
from ppybuild.graph.types import INT, NONE, Tensor, Type


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one operator, looked up by position or keyword."""

    arguments: Sequence[Argument]
    keywords: Mapping[str, Argument]
    default: str | None
    """The dtype of new floating tensors."""

    def find(self, position: int, *names: str) -> Argument | None:
        if position < len(self.arguments):
            return self.arguments[position]
        return next((self.keywords[name] for name in names if name in self.keywords), None)

    def tensor(self, position: int, *names: str) -> Tensor:
        """A tensor argument; one of which nothing is known where it is not surely one."""
        found = self.find(position, *names)
        kind = found.type if found is not None else None
        return kind if isinstance(kind, Tensor) else Tensor()

    @property
    def first(self) -> Tensor:
        return self.tensor(0, "input", "self")

    def keyword_dtype(self, otherwise: str | None) -> str | None:
        """What `dtype=` says; None where it is given and not known."""
        given = self.keywords.get("dtype")
        if given is None or given.type == NONE:
            return otherwise
        return dtype_named(given.name)

    def sizes(self, position: int, *names: str) -> Shape | None:
        """Sizes given one by one from a position on, or as one sequence."""
        found = self.find(position, *names)
        if found is None:
            return () if position >= len(self.arguments) and not self.keywords else None
        if isinstance(found.value, tuple):
            return sizes_of(found.value)
        rest = self.arguments[position:]
        if any(argument.starred or argument.type != INT for argument in rest) or not rest:
            return None
        return sizes_of(tuple(argument.value for argument in rest))

    def integer(self, position: int, *names: str, otherwise: int | None = None) -> int | None:
        """A whole number's value; `otherwise` where it is not given."""
        found = self.find(position, *names)
        if found is None:
            return otherwise
        value = found.value
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def size(self, position: int, *names: str) -> int | str:
        """A whole number as a size; one that is not known equals no other."""
        found = self.find(position, *names)
        value = found.value if found is not None else None
        return value if isinstance(value, int | str) else ANY_SIZE

    def flag(self, position: int, name: str, otherwise: bool = False) -> bool | None:
        found = self.find(position, name)
        if found is None:
            return otherwise
        return found.value if isinstance(found.value, bool) else None

    def dimensions(self, position: int, *names: str) -> tuple[int, ...] | bool | None:
        """The dimensions of a reduction; None for all of them, False where not known."""
        found = self.find(position, *names)
        if found is None or found.type == NONE:
            return None
        value = found.value
        values = value if isinstance(value, tuple) else (value,)
        numbers = tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool))
        return numbers if len(numbers) == len(values) else False


def sizes_of(values: tuple[Value, ...]) -> Shape | None:
    sizes = tuple(v for v in values if isinstance(v, int | str) and not isinstance(v, bool))
    return sizes if len(sizes) == len(values) else None


Rule = Callable[[Call], Type | None]
