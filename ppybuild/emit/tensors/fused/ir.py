"""The fused form's IR: a region as work per row, reductions over rows, and work on weights.

A *row* value has the batch as its first dimension and `width` numbers in each row. A
*weight* value has no batch. Numbers are of one floating dtype; truth is 1 or 0.
Operations are numbered in an order in which they may run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Row:
    width: int


@final
@dataclass(frozen=True, slots=True)
class Weight:
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


Space = Row | Weight

Operand = int | float
"""An int is the number of an operation; a float is a literal."""


@final
@dataclass(frozen=True, slots=True)
class Load:
    """An input by position. `kind`: "real" (the region's dtype), "index" (int64 tensor),
    "bool", "float" and "int" (Python numbers, as double and int64)."""

    input: int
    kind: str


@final
@dataclass(frozen=True, slots=True)
class Count:
    """The batch size times `factor`."""

    factor: int


@final
@dataclass(frozen=True, slots=True)
class Element:
    """A row of `elements.ELEMENTS`, applied element by element with broadcasting."""

    name: str
    operands: tuple[Operand, ...]


@final
@dataclass(frozen=True, slots=True)
class Column:
    """The index of the column, in every row."""

    width: int


@final
@dataclass(frozen=True, slots=True)
class Product:
    """row [B, K] @ weight [K, N]; `transposed` when the weight lies as [N, K]."""

    row: int
    weight: int
    transposed: bool


@final
@dataclass(frozen=True, slots=True)
class Outer:
    """row [B, K], transposed, @ row [B, N]: a weight [K, N]."""

    left: int
    right: int


@final
@dataclass(frozen=True, slots=True)
class Along:
    """ "sum" or "max" of each row: a row value of width 1."""

    kind: str
    row: int


@final
@dataclass(frozen=True, slots=True)
class Over:
    """Sum over the rows; `total` sums the columns too."""

    row: int
    total: bool


@final
@dataclass(frozen=True, slots=True)
class Whole:
    """Sum of all elements of a weight."""

    weight: int


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """A weight laid out anew: element [i, j, ...] is source[i * strides[0] + ...]."""

    weight: int
    strides: tuple[int, ...]


Operation = Load | Count | Element | Column | Product | Outer | Along | Over | Whole | Spread


class NotFusible(Exception):
    """The region has something that the fused form does not hold; the message says what."""


def operands(operation: Operation) -> tuple[int, ...]:
    match operation:
        case Element(_, values):
            return tuple(value for value in values if isinstance(value, int))
        case Product(row, weight, _):
            return (row, weight)
        case Outer(left, right):
            return (left, right)
        case Along(_, row) | Over(row, _):
            return (row,)
        case Whole(weight) | Spread(weight, _):
            return (weight,)
        case Load() | Count() | Column():
            return ()


@final
@dataclass(frozen=True, slots=True)
class Output:
    """`value` with the shape that the caller expects; None stands for the batch."""

    value: int
    shape: tuple[int | None, ...]


@final
@dataclass(frozen=True, slots=True)
class Program:
    dtype: str
    inputs: tuple[str, ...]
    """Names, for comments."""
    operations: tuple[Operation, ...]
    spaces: tuple[Space, ...]
    outputs: tuple[Output, ...]
    checks: tuple[int, ...]
    """Weights that must come out zero, or the Python body runs: counts of bad indices."""
    notes: tuple[str, ...]
    """What each operation comes from: an input's name, or an ATen operator and its line."""
