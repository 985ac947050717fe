"""What comes into a training step from outside, as symbols: a row for each kind of type.

x: torch.Tensor               an input
params: list[torch.Tensor]    a sequence, whose items become inputs when they are read
rate: float                   an input
model: Net                    a module, with an input for each parameter
optimizer: torch.optim.SGD    an optimizer
"""

from __future__ import annotations

from collections.abc import Sequence as Listing
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.built import Built
from ppybuild.graph.regions.found import Found, Seed, Several, is_sequence
from ppybuild.graph.regions.modules import NotKnown, read_module
from ppybuild.graph.regions.optimizers import read_optimizer
from ppybuild.graph.regions.records import InputKind
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sources import Site
from ppybuild.graph.regions.stepping import StepTrace
from ppybuild.graph.regions.values import Object, Optimizer, Sequence, Symbol
from ppybuild.graph.types import BOOL, FLOAT, INT, Instance, Scalar, Tensor, Type

_SCALARS: dict[Scalar, InputKind] = {INT: "int", FLOAT: "float", BOOL: "bool"}


@final
class Entrance:
    """Makes the symbols of one step."""

    def __init__(self, facts: Facts, seeds: Seeds, trace: StepTrace) -> None:
        self._facts = facts
        self._seeds = seeds
        self._trace = trace

    def enter(
        self, name: str, place: int, type: Type, passed: Found, made: Listing[Site]
    ) -> Symbol | None:
        """What `name` stands for, the parameter at `place`; None for what a step must not
        look at. `passed`, `made`: what is known of it, and the calls that make it."""
        if is_sequence(type):
            if isinstance(passed, Several):
                self._trace.lengths[place] = len(passed.items)
            return Sequence(name, place)
        if isinstance(type, Tensor):
            return self._trace.new_input(name, "tensor", place, None)
        if isinstance(type, Scalar) and type in _SCALARS:
            return self._trace.new_input(name, _SCALARS[type], place, None)
        return self._object(name, place, type, made) if isinstance(type, Instance) else None

    def _object(
        self, name: str, place: int, type: Instance, made: Listing[Site]
    ) -> Symbol | None:
        form = read_optimizer(self._facts, made, type)
        if form is not None:
            return Optimizer(place, form, made[0] if len(made) == 1 else None)
        try:
            built = read_module(
                self._facts, self._seeds, made, type, training=not self._trace.evaluates
            )
        except NotKnown:
            return None
        model = Object(name, place, (), built)
        self._trace.models[place] = model
        _seed(self._trace, model, built)
        return model


def _seed(trace: StepTrace, model: Object, built: Built, path: tuple[str, ...] = ()) -> None:
    """An input for every parameter, whether it is used or not: all are trained."""
    for name, type in built.parameters:
        if type is not None:
            spelled = ".".join((model.name, *path, name))
            leaf = trace.new_leaf(spelled, model.place, (*path, name))
            assert isinstance(leaf.payload, int)
            trace.seeds[leaf.payload] = Seed(type, grows=True)
    for name, child in built.children:
        _seed(trace, model, child, (*path, name))
