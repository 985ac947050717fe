"""What an optimizer's `step`, clipping by norm and batch normalisation compute, as operators.

optimizer.step()     →    for each parameter, the arithmetic of torch's own default form
norm(x)              →    the layer's result, and what its running statistics then are
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from ppybuild.graph.regions.body import Body
from ppybuild.graph.regions.found import Seed
from ppybuild.graph.regions.optimizers import KINDS
from ppybuild.graph.regions.records import Input, InputKind
from ppybuild.graph.regions.step_records import Optimized
from ppybuild.graph.regions.stepping import StepTrace
from ppybuild.graph.regions.values import Object, Results, Symbol, Unsupported
from ppybuild.graph.schemas import Given, Mismatch, match
from ppybuild.graph.schemas.match import NONE, literal
from ppybuild.graph.types import Tensor

CLIPPING = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad.clip_grad_norm_")
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
_ZERO_GUARD = 1e-6
"""What clipping adds to the norm, as torch does."""


def number_of(given: Given) -> int:
    """The value that stands for a tensor or a number."""
    assert isinstance(given.payload, int)
    return given.payload


@final
@dataclass(slots=True)
class Updates:
    """Notes the operators in a step's trace."""

    body: Body
    step: StepTrace
    node: ast.AST
    numbers: dict[str, Given] = field(default_factory=dict)

    def optimize(self, groups: tuple[Optimized, ...]) -> None:
        """`optimizer.step()` over these groups, where each parameter has a gradient."""
        place = groups[0].place
        if place in self.step.optimized:
            raise Unsupported("a second step of an optimizer", self.node)
        self.step.optimized[place] = groups
        before, self.step.recording = self.step.recording, False
        for group in groups:
            self._update(group)
        self.step.recording = before

    def _update(self, group: Optimized) -> None:
        form = group.form
        self.numbers = {
            name: self._input(f"{form.kind}.{name}", "float", group, name)
            for name in KINDS[form.kind].numbers
        }
        for place, number in enumerate(group.parameters):
            given = Given("tensor", payload=number)
            gradient = self.step.gradients.get(number, NONE)
            if gradient == NONE:
                raise Unsupported("an optimizer step without every gradient", self.node)
            states = [
                self._input(f"{name}[{place}]", "tensor", group, name, str(place))
                for name in form.states
            ]
            if form.kind == "SGD":
                self._sgd(form.terms, given, gradient, states)
            else:
                self._adam(form.kind, form.terms, given, gradient, states)

    def _adam(
        self,
        kind: str,
        terms: tuple[str, ...],
        given: Given,
        gradient: Given,
        states: list[Given],
    ) -> None:
        average, square = states
        if "decay" in terms and kind == "AdamW":
            self._write(given, self._call("mul.Tensor", given, self.numbers["decay"]), 1)
        elif "decay" in terms:
            gradient = self._call("add.Tensor", gradient, given, alpha=self.numbers["decay"])
        moved = self._call("lerp.Scalar", average, gradient, self.numbers["first"])
        self._write(average, moved, 1)
        kept = self._call("mul.Tensor", square, self.numbers["second"])
        new = self._call("addcmul", kept, gradient, gradient, value=self.numbers["rest"])
        self._write(square, new, 2)
        scale = self._call("div.Tensor", self._call("sqrt", square), self.numbers["root"])
        scale = self._call("add.Tensor", scale, self.numbers["eps"])
        changed = self._call("addcdiv", given, average, scale, value=self.numbers["by"])
        self._write(given, changed, 1)

    def _sgd(
        self, terms: tuple[str, ...], given: Given, gradient: Given, states: list[Given]
    ) -> None:
        if "decay" in terms:
            gradient = self._call("add.Tensor", gradient, given, alpha=self.numbers["decay"])
        if states:
            (buffer,) = states
            kept = self._call("mul.Tensor", buffer, self.numbers["momentum"])
            new = self._call("add.Tensor", kept, gradient, alpha=self.numbers["rest"])
            self._write(buffer, new, 2)
            ahead = {"alpha": self.numbers["momentum"]}
            gradient = (
                self._call("add.Tensor", gradient, buffer, **ahead)
                if "nesterov" in terms
                else buffer
            )
        self._write(
            given, self._call("add.Tensor", given, gradient, alpha=self.numbers["by"]), 1
        )

    def clip(self, parameters: tuple[Given, ...], most: Given) -> Given:
        """Scale the gradients so that their common norm is at most that; gives the norm."""
        gradients = [self.step.gradients.get(number_of(given), NONE) for given in parameters]
        found = [gradient for gradient in gradients if gradient != NONE]
        if not found:
            raise Unsupported("clipping without a gradient", self.node)
        before, self.step.recording = self.step.recording, False
        two = Given("float", 2.0)
        norms = tuple(self._call("linalg_vector_norm", one, two) for one in found)
        together = self._call("stack", None, Given("list", "list", norms))
        total = self._call("linalg_vector_norm", together, two)
        raised = self._call("add.Tensor", total, Given("float", _ZERO_GUARD))
        scale = self._call("mul.Tensor", self._call("reciprocal", raised), most)
        scale = self._call("clamp", scale, NONE, Given("float", 1.0))
        for one in found:
            self._write(one, self._call("mul.Tensor", one, scale), 1)
        self.step.recording = before
        return total

    def normalize(self, layer: Object, source: Given) -> Given:
        """A layer of batch normalisation in training, which keeps running statistics."""
        built = layer.built
        momentum, eps = literal(built.setting("momentum")), literal(built.setting("eps"))
        if momentum == NONE:
            raise Unsupported("batch normalisation by an average of all batches", self.node)
        affine, buffers = self._of_norm(layer, _STATISTICS)
        before, self.step.recording = self.step.recording, False
        # Copies, for the step must not write what is there before all has been computed.
        mean, variance, batches = (self._call("clone", buffer) for buffer in buffers)
        batches = self._call("add.Tensor", batches, Given("int", 1))
        self.step.recording = before
        settings = (Given("bool", True), momentum, eps)
        found = self._several("native_batch_norm", source, *affine, mean, variance, *settings)
        # The operator has written the copies. PyTorch counts only what `add_` writes.
        for buffer, value, times in zip(
            buffers, (mean, variance, batches), (0, 0, 1), strict=True
        ):
            self._write(buffer, value, times)
        return found[0]

    def normalized(self, layer: Object, source: Given) -> Given:
        """The same layer in evaluation: by the statistics that it has."""
        built = layer.built
        momentum, eps = literal(built.setting("momentum")), literal(built.setting("eps"))
        if momentum == NONE:
            momentum = Given("float", 0.0)  # what the layer passes, of which nothing is read
        affine, (mean, variance) = self._of_norm(layer, _STATISTICS[:2])
        settings = (Given("bool", False), momentum, eps)
        found = self._several("native_batch_norm", source, *affine, mean, variance, *settings)
        return found[0]

    # Helpers

    def _of_norm(
        self, layer: Object, statistics: Sequence[str]
    ) -> tuple[list[Given], list[Given]]:
        """Its parameters, and those of its running statistics."""
        affine = [
            NONE if type is None else self._reached(layer, name, type, trained=True)
            for name, type in layer.built.parameters
        ]
        buffers = [
            self._reached(layer, name, type, trained=False)
            for name, type in layer.built.buffers
            if type is not None and name in statistics
        ]
        return affine, buffers

    def _reached(self, layer: Object, name: str, type: Tensor, *, trained: bool) -> Given:
        spelled = ".".join((layer.name, name))
        found = self.step.new_leaf(spelled, layer.place, (*layer.path, name))
        self.step.seeds[number_of(found)] = Seed(type, grows=trained)
        return found

    def _several(self, name: str, *given: Given) -> tuple[Given, ...]:
        """An operator with several results."""
        found = self._noted(name, None, given, {})
        assert isinstance(found, Results)
        return found.items

    def _call(
        self, name: str, receiver: Given | None, *given: Given, **keywords: Given
    ) -> Given:
        found = self._noted(name, receiver, given, keywords)
        assert isinstance(found, Given)
        return found

    def _noted(
        self,
        name: str,
        receiver: Given | None,
        given: tuple[Given, ...],
        keywords: dict[str, Given],
    ) -> Symbol:
        """An operator by its name in ATen."""
        operator = self.step.torch.schemas.operator(f"aten::{name}")
        bound = match([operator], given, keywords, receiver=receiver)
        if isinstance(bound, Mismatch):
            raise Unsupported(f"`{name}`: {bound.reason}", self.node)
        return self.body._noted(operator, bound.arguments, self.node)

    def _write(self, target: Given, value: Given, times: int) -> None:
        number = number_of(target)
        self.step.write(number, self.step.now(number_of(value)), times)

    def _input(self, name: str, kind: InputKind, group: Optimized, *path: str) -> Given:
        value = self.step.new_value()
        whole = (str(group.group), *path)
        self.step.inputs.append(Input(name, kind, value, group.place, None, whole))
        return Given(kind, payload=value)
