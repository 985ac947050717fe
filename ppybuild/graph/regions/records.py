"""Tensor regions as facts: which calls a function makes of torch, on what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, final

from ppybuild.graph.schemas import Given, Operator
from ppybuild.graph.types import Type

InputKind = Literal["tensor", "optional_tensor", "int", "float", "bool", "tensors"]


@final
@dataclass(frozen=True, slots=True)
class Input:
    """A value from outside. `place` is the parameter's position, `index` the constant
    subscript where the value is an item of a sequence that is the parameter."""

    name: str
    """As the function spells it: `x`, `params[0]`."""
    kind: InputKind
    value: int
    place: int
    index: int | None = None
    path: tuple[str, ...] = ()
    """In a module `("first", "weight")`; in an optimizer, by
    group, `("0", "exp_avg", "2")`, `("0", "root")`."""


@final
@dataclass(frozen=True, slots=True)
class Call:
    """One operator call. A `Given` with a payload stands for the value of that number."""

    operator: Operator
    arguments: tuple[Given, ...]
    results: tuple[int, ...]
    line: int
    column: int


@final
@dataclass(frozen=True, slots=True)
class SameSize:
    """Two tensors must have equal sizes, else Python runs (it would warn or raise)."""

    first: int
    second: int
    line: int
    column: int


@final
@dataclass(frozen=True, slots=True)
class Unpack:
    """The tensors of a list that an operator returned; their number must be right."""

    many: int
    results: tuple[int, ...]
    line: int
    column: int


Step = Call | SameSize | Unpack


@final
@dataclass(frozen=True, slots=True)
class Reached:
    """One of the program's functions that a region looked through: it must still be there."""

    path: str
    """The calls that lead there from the region's function, as written: `f:module.g`; below a
    method from its module on: `@app.model:g`."""
    function: str
    file: str
    """Below the source root: `app/model.py`."""
    line: int
    """Of its first decorator, else of its `def`."""


@final
@dataclass(frozen=True, slots=True)
class Held:
    """What a name must still stand for: a constant of a module that a region holds as a
    number, or a function of torch whose operators it holds."""

    path: str
    """As in `Reached`: `f:config.SCALE`."""
    value: int | float | bool | str
    """The number, or the function's name: `torch.relu`."""


@final
@dataclass(frozen=True, slots=True)
class Region:
    """A function whose whole body is operator calls."""

    function: str
    parameters: int
    """How many the function has, used or not."""
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    result: Given
    """A tensor, or a `list` of tensors where the function returns a tuple of them."""
    names: tuple[tuple[int, str], ...]
    """What the function calls a value, for those that it names."""
    types: tuple[tuple[int, Type], ...]
    """What inference knows of a value, for those that an expression of the source gives."""
    line: int
    column: int
    functions: tuple[Reached, ...] = ()
    constants: tuple[Held, ...] = ()

    @property
    def restartable(self) -> bool:
        """Whether Python may run the body again after the region has failed halfway."""
        return all_restartable(self.steps)


def all_restartable(steps: Iterable[Step]) -> bool:
    return not any(
        isinstance(step, Call) and (step.operator.mutates or step.operator.random)
        for step in steps
    )
