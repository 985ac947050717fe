"""Modules and optimizers in a training step: what calling them does, as operators.

model(x)             →    the calls that the layers' forward makes
optimizer.step()     →    Adam's arithmetic on each parameter and its two averages
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import final

from ppybuild.graph.regions.built import PROGRAM, Built
from ppybuild.graph.regions.inline import ProgramNames
from ppybuild.graph.regions.modules import CALLS
from ppybuild.graph.regions.records import Input, InputKind
from ppybuild.graph.regions.seeds import Seed
from ppybuild.graph.regions.stepping import StepBody
from ppybuild.graph.regions.values import Object, Optimizer, Symbol, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.match import NONE
from ppybuild.graph.types import Tensor

NUMBERS = ("by", "root", "first", "second", "rest", "eps")
"""What Adam multiplies by in one step, by the names that `ppy::Adam` gives them."""


@final
class TrainerBody(StepBody):
    """Follows a training step that may go through modules and an optimizer."""

    def _call(self, node: ast.Call) -> Symbol:
        target = self.object(node.func)
        if isinstance(target, Object):
            positional, keywords = self.arguments(node)
            return self._apply(target, positional, keywords, node)
        if isinstance(node.func, ast.Attribute):
            owner = self.object(node.func.value)
            if isinstance(owner, Optimizer):
                return self._optimize(owner, node.func.attr, node)
            if isinstance(owner, Object):
                return self._of_module_object(owner, node.func.attr, node)
        return super()._call(node)

    def object(self, node: ast.expr) -> Object | Optimizer | None:
        """The module or optimizer that an expression stands for."""
        match node:
            case ast.Name(id=name):
                found = self.variables.get(name)
                return found if isinstance(found, Object | Optimizer) else None
            case ast.Attribute(value=value, attr=name):
                owner = self.object(value)
                child = owner.built.child(name) if isinstance(owner, Object) else None
                return (
                    _inside(owner, name, child) if isinstance(owner, Object) and child else None
                )
            case _:
                return None

    def _attribute(self, node: ast.Attribute) -> Symbol:
        owner = self.object(node.value)
        if isinstance(owner, Object):
            found = self.object(node)
            if found is not None:
                return found
            if node.attr in dict(owner.built.parameters):
                return self._parameter(owner, node.attr)
            raise Unsupported(f"the attribute `{node.attr}` of a module", node)
        return super()._attribute(node)

    def _turns(self, node: ast.expr) -> tuple[Symbol, ...]:
        match node:
            case ast.Call(
                func=ast.Attribute(value=value, attr="parameters"), args=[], keywords=[]
            ):
                owner = self.object(value)
                if isinstance(owner, Object):
                    return self.parameters(owner)
            case _:
                pass
        return super()._turns(node)

    # Modules

    def _apply(
        self,
        target: Object,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.Call,
    ) -> Symbol:
        built = target.built
        if built.kind == PROGRAM:
            forward = f"{built.owner}.forward"
            assert isinstance(self.names, ProgramNames)
            if forward not in self.names.facts.program.functions:
                raise Unsupported(f"`{built.owner}` has no `forward` of its own", node)
            return self.inline(forward, [target, *positional], keywords, node, None)
        if len(positional) != 1 or keywords:
            raise Unsupported("a layer that is called with other than one tensor", node)
        if built.kind == "torch.nn.Sequential":
            value = positional[0]
            for name, child in built.children:
                value = self._apply(_inside(target, name, child), [value], {}, node)
            return value
        parameters = [
            NONE if type is None else self._parameter(target, name)
            for name, type in built.parameters
        ]
        return self._function(CALLS[built.kind], [*positional, *parameters], {}, node)

    def _of_module_object(self, owner: Object, name: str, node: ast.Call) -> Symbol:
        if name == "zero_grad" and not node.args and not node.keywords:
            return self._zero_grad(self.parameters(owner))
        raise Unsupported(f"the method `{name}` of a module", node)

    def _parameter(self, owner: Object, name: str) -> Given:
        spelled = ".".join((owner.name, name))
        return self.step.new_leaf(spelled, owner.place, (*owner.path, name))

    def parameters(self, owner: Object) -> tuple[Given, ...]:
        """In the order of `Module.parameters()`."""
        return tuple(
            self._parameter(module, name)
            for module in _modules(owner)
            for name, type in module.built.parameters
            if type is not None
        )

    # Optimizers

    def _optimize(self, optimizer: Optimizer, name: str, node: ast.Call) -> Symbol:
        models = [found for found in self.step.models.values() if found.built.kind == PROGRAM]
        if len(models) != 1 or node.args or node.keywords:
            raise Unsupported(f"`{name}` of an optimizer, beside other than one model", node)
        parameters = self.parameters(models[0])
        if name == "zero_grad":
            return self._zero_grad(parameters)
        if name != "step" or self.step.optimized:
            raise Unsupported(f"`{name}` of an optimizer", node)
        self.step.optimized = (optimizer.place, tuple(_number(given) for given in parameters))
        before, self.step.recording = self.step.recording, False
        numbers = {name: self._number_of(optimizer, name) for name in NUMBERS}
        for place, given in enumerate(parameters):
            gradient = self._gradient(_number(given))
            if gradient == NONE:
                raise Unsupported("an optimizer step without every gradient", node)
            self._adam(optimizer, place, given, gradient, numbers, node)
        self.step.recording = before
        return NONE

    def _zero_grad(self, parameters: tuple[Given, ...]) -> Symbol:
        for given in parameters:
            self.step.touched.add(_number(given))
            self.step.gradients[_number(given)] = NONE
        return NONE

    def _adam(
        self,
        optimizer: Optimizer,
        place: int,
        given: Given,
        gradient: Given,
        numbers: dict[str, Given],
        node: ast.AST,
    ) -> None:
        average, square = (
            self._input(f"{name}[{place}]", "tensor", optimizer, (name, str(place)))
            for name in ("exp_avg", "exp_avg_sq")
        )
        like = self.step.seeds[_number(given)]
        for state in (average, square):
            self.step.seeds[_number(state)] = Seed(Tensor(like.type.dtype, like.type.shape))

        def call(name: str, one: Symbol, *other: Given) -> Given:
            found = self._reached(name, one, node, *other)
            assert isinstance(found, Given)
            return found

        moved = call("mul.Tensor", call("sub.Tensor", gradient, average), numbers["first"])
        self._write(average, call("add.Tensor", average, moved), 1)
        kept = call("mul.Tensor", square, numbers["second"])
        new = call("mul.Tensor", call("mul.Tensor", gradient, gradient), numbers["rest"])
        self._write(square, call("add.Tensor", kept, new), 2)
        scale = call("div.Tensor", call("sqrt", square), numbers["root"])
        scale = call("add.Tensor", scale, numbers["eps"])
        change = call("mul.Tensor", call("div.Tensor", average, scale), numbers["by"])
        self._write(given, call("add.Tensor", given, change), 1)

    def _write(self, target: Given, value: Given, times: int) -> None:
        number = _number(target)
        self.step.current[number] = _number(value)
        self.step.writes[number] = self.step.writes.get(number, 0) + times

    def _number_of(self, optimizer: Optimizer, name: str) -> Given:
        return self._input(f"adam.{name}", "float", optimizer, (name,))

    def _input(
        self, name: str, kind: InputKind, optimizer: Optimizer, path: tuple[str, ...]
    ) -> Given:
        value = self.step.new_value()
        self.step.inputs.append(Input(name, kind, value, optimizer.place, None, path))
        return Given(kind, payload=value)


def _number(given: Given) -> int:
    assert isinstance(given.payload, int)
    return given.payload


def _inside(owner: Object, name: str, child: Built) -> Object:
    return Object(f"{owner.name}.{name}", owner.place, (*owner.path, name), child)


def _modules(owner: Object) -> Iterator[Object]:
    yield owner
    for name, child in owner.built.children:
        yield from _modules(_inside(owner, name, child))
