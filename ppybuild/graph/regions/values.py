"""What a name or an expression stands for while a function's body is followed.

A `Given` is an argument of operators: a tensor, a number, a literal, a list of them. The
rest are what Python code passes around on the way to a call.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import final

from ppybuild.graph.regions.built import Built
from ppybuild.graph.regions.optimizers import Form
from ppybuild.graph.regions.sources import Site
from ppybuild.graph.schemas import Given


@final
@dataclass(frozen=True, slots=True)
class Named:
    """A module, function or class of a library by its dotted name: `torch.relu`."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """A method of a value: `x.sum`."""

    receiver: Symbol
    name: str


@final
@dataclass(frozen=True, slots=True)
class Results:
    """The several results of one operator; `named` where Python sees a structseq."""

    items: tuple[Given, ...]
    named: bool


@final
@dataclass(frozen=True, slots=True)
class Size:
    """`x.size()`: only good for being compared."""

    tensor: int


@final
@dataclass(frozen=True, slots=True)
class Sequence:
    """A parameter that is a sequence of tensors; its items become inputs when used."""

    name: str
    place: int


@final
@dataclass(frozen=True, slots=True)
class Number:
    """The one number of a tensor, as `item` gives it; good for being returned."""

    value: int


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Several things in order that no operator takes: rows of `zip`, pairs of `enumerate`."""

    items: tuple[Symbol, ...]


@final
@dataclass(frozen=True, slots=True)
class Object:
    """A module of torch.nn, by the parameter that it is, or is reached from."""

    name: str
    place: int
    path: tuple[str, ...]
    built: Built


@final
@dataclass(frozen=True, slots=True)
class Thing:
    """An object of a class of the program that is no module, by the path that leads to it."""

    path: str
    owner: str
    """Its class."""


@final
@dataclass(frozen=True, slots=True)
class Optimizer:
    """A parameter that is an optimizer of torch.optim."""

    place: int
    form: Form
    made: Site | None = field(default=None, compare=False)
    """The one call that makes it, where there is one."""


Symbol = (
    Object
    | Thing
    | Optimizer
    | Given
    | Named
    | Bound
    | Results
    | Size
    | Sequence
    | Number
    | Group
)


class Unsupported(Exception):
    """The region cannot hold `node`; `reason` completes the sentence "... stays in Python"."""

    def __init__(self, reason: str, node: ast.AST) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
