"""A training step as facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from ppybuild.graph.regions.built import Built
from ppybuild.graph.regions.found import Seed
from ppybuild.graph.regions.optimizers import Form
from ppybuild.graph.regions.records import Held, Input, Reached, Step


@final
@dataclass(frozen=True, slots=True)
class Backward:
    """`loss.backward()`. `gradients` pairs an input with the value that is its gradient."""

    loss: int
    gradients: tuple[tuple[int, int], ...]
    line: int
    column: int
    held: tuple[tuple[int, int], ...] = ()
    """Of inputs that were written before: the value that each held in this pass."""


@final
@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor that is trained, or only written: what becomes of it and of its gradient."""

    input: int
    trained: bool
    """Whether it requires a gradient; what is only written must not."""
    last: int
    """The value it ends with; its own number where it is not written."""
    writes: int
    """How often it is written in place."""
    gradient: int | None
    """The value that its `.grad` ends with, None where that ends as None."""
    gradient_writes: int
    """How often that tensor is written in place after it was made."""
    none_on_entry: bool
    """Whether the step holds only where its `.grad` is None at first."""


@final
@dataclass(frozen=True, slots=True)
class Returned:
    """What the step returns: nothing, the number in a tensor, or a tensor without a graph."""

    kind: Literal["none", "number", "tensor", "tuple"]
    value: int = -1
    items: tuple[Returned, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Method:
    """A method of a class of the program that was looked through; `line` is where it starts."""

    owner: str
    name: str
    qualified: str
    line: int


@final
@dataclass(frozen=True, slots=True)
class Model:
    """A parameter of the function that is a module."""

    place: int
    built: Built


@final
@dataclass(frozen=True, slots=True)
class Owner:
    """A parameter that is an object of the program, and its methods that are looked through."""

    place: int
    methods: tuple[Method, ...]


@final
@dataclass(frozen=True, slots=True)
class Optimized:
    """A group of an optimizer that steps, or clears gradients, by the optimizer's place, and
    the inputs that the group is over, in order."""

    place: int
    form: Form
    parameters: tuple[int, ...]
    group: int = 0
    groups: int = 1
    """How many the optimizer has."""


@final
@dataclass(frozen=True, slots=True)
class Assumed:
    """A parameter that is a condition, and what it must be."""

    place: int
    condition: str
    truth: bool


@final
@dataclass(frozen=True, slots=True)
class StepRegion:
    function: str
    parameters: int
    inputs: tuple[Input, ...]
    lengths: tuple[tuple[int, int], ...]
    """How long a parameter that is a sequence must be, by its place."""
    steps: tuple[Step | Backward, ...]
    leaves: tuple[Leaf, ...]
    returned: Returned
    names: tuple[tuple[int, str], ...]
    seeds: tuple[tuple[int, Seed], ...]
    """What calls are seen to pass, by input; to be checked when it runs."""
    functions: tuple[Reached, ...]
    """The program's functions that are part of it, beside its own."""
    line: int
    column: int
    models: tuple[Model, ...] = ()
    methods: tuple[Method, ...] = ()
    optimized: tuple[Optimized, ...] = ()
    """By optimizer, in the order of their steps."""
    zeroed: tuple[Optimized, ...] = ()
    """Of other optimizers, which only clear gradients."""
    constants: tuple[Held, ...] = ()
    owners: tuple[Owner, ...] = ()
    fragment: bool = False
    """Whether it is a run of statements inside a function, which gives a tuple."""
    assumes: tuple[Assumed, ...] = ()
    evaluates: bool = False
    """Whether it is one where gradients are off: no step, but a forward pass."""

    @property
    def side(self) -> str:
        """The way branches go that it is for, for a person; "" where it has none."""
        return " and ".join(f"`{one.condition}` is {one.truth}" for one in self.assumes)
