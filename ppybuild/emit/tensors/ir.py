"""The tensor IR: a region as a graph of ATen operators in SSA form.

Nodes stand in an order in which they may run. Operators are named as in ATen's schemas
("aten::add.Tensor"), with every argument of the schema present, in its order, so that a
node can be printed as a dispatcher call without looking anything up again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

Dim = int | str
"""A known size, or the name of a symbol: equal names are equal sizes."""


@final
@dataclass(frozen=True, slots=True)
class TensorType:
    """`dtype` is torch's name without the prefix; None where it is not known.
    `shape` is None where the number of dimensions is not known."""

    dtype: str | None
    shape: tuple[Dim, ...] | None


@final
@dataclass(frozen=True, slots=True)
class Value:
    """The result of a node or an input of the region, by number, unique in a graph."""

    id: int


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """A literal argument. None stands for an absent optional."""

    value: int | float | bool | str | None


@final
@dataclass(frozen=True, slots=True)
class Symbolic:
    """An argument that is an enumerator of torch: kind "dtype", "layout", "device" or
    "memory_format", name as in Python ("float32", "strided", "cpu", "contiguous_format")."""

    kind: str
    name: str


@final
@dataclass(frozen=True, slots=True)
class Items:
    """A list argument: sizes, dimensions, tensors."""

    items: tuple[Argument, ...]


Argument = Value | Constant | Symbolic | Items


@final
@dataclass(frozen=True, slots=True)
class Location:
    """Where in the Python source; counts from 1. `function` is the dotted name."""

    function: str
    line: int
    column: int


@final
@dataclass(frozen=True, slots=True)
class Node:
    op: str
    args: tuple[Argument, ...]
    results: tuple[Value, ...]
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Input:
    """A value that comes from outside: `name` says how the region's function spells it
    (`x`, `params[0]`, `self.weight`), `kind` is "tensor", "optional_tensor", "int",
    "float", "bool" or "tensors" (a sequence of them)."""

    name: str
    kind: str
    value: Value


@final
@dataclass(frozen=True, slots=True)
class Graph:
    """A region: `name` is the function's dotted name, or its first line's."""

    name: str
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Argument, ...]
    types: tuple[tuple[Value, TensorType], ...]
    """The type of every tensor value, in order of number."""
    location: Location
    names: tuple[tuple[Value, str], ...] = ()
    """What the program calls a value, for those that it names."""
