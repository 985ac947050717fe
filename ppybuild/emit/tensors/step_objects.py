"""C++ that looks into the modules and the optimizer of a training step.

Each statement takes one thing out of an object, or leaves the call to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from ppybuild.graph.regions.built import PROGRAM, Built
from ppybuild.graph.regions.step_records import Model, StepRegion

LAYER_METHODS = ("forward", "__call__")
"""What calling a layer runs; must be as torch defines them."""


def emit_objects(region: StepRegion, tensor: Callable[[int], str]) -> list[str]:
    """Statements that fill the tensors and numbers that are reached through objects.

    `tensor` gives the C++ name of an input that is a tensor."""
    if not region.models and region.optimized is None:
        return []
    writer = _Writer(region, tensor)
    for model in region.models:
        writer.model(model)
    if region.optimized is not None:
        writer.optimizer(*region.optimized)
    return [
        *(f'static ppy::Name {name}("{text}");' for text, name in writer.names.items()),
        *writer.classes.values(),
        *_guard("ppy::all_quiet()"),
        *writer.lines,
    ]


def _guard(condition: str) -> tuple[str, str]:
    return f"if (!({condition}))", "    return nullptr;"


@final
@dataclass(slots=True)
class _Writer:
    region: StepRegion
    tensor: Callable[[int], str]
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    objects: dict[int, str] = field(default_factory=dict)
    """By input: the Python object of a parameter."""
    count: int = 0

    def _name(self, text: str) -> str:
        return self.names.setdefault(text, f"name{len(self.names)}")

    def _check(self, condition: str) -> None:
        self.lines += _guard(condition)

    def _found(self, expression: str, comment: str) -> str:
        self.count += 1
        variable = f"object{self.count}"
        self.lines.append(f"PyObject *{variable} = {expression}; // {comment}")
        return variable

    def model(self, model: Model) -> None:
        inputs = {
            given.path: given.value
            for given in self.region.inputs
            if given.place == model.place
        }
        name = self._found(f"given[{model.place}]", "the model")
        self._module(model, model.built, name, (), inputs)

    def _module(
        self,
        model: Model,
        built: Built,
        variable: str,
        path: tuple[str, ...],
        inputs: Mapping[tuple[str, ...], int],
    ) -> None:
        if built.kind == PROGRAM:
            qualified, line = {owner: rest for owner, *rest in model.forwards}[built.owner]
            self._check(f'ppy::is_program_module(self, {variable}, "{qualified}", {line})')
        else:
            self._check(f"ppy::is_layer({variable}, {self._class(built.kind)})")
        self._check(f"ppy::has_modules({variable}, {len(built.children)})")
        self._check(f"ppy::has_parameters({variable}, {len(built.parameters)})")
        for config in built.config:
            held = f"ppy::own({variable}, {self._name(config.name)})"
            self._check(
                f'ppy::is_text({held}, "{config.value}")'
                if isinstance(config.value, str)
                else f"{held} == {'Py_True' if config.value else 'Py_False'}"
            )
        for name, type in built.parameters:
            reached = f"ppy::parameter({variable}, {self._name(name)})"
            spelled = ".".join((*path, name))
            if type is None:
                self._check(f"{reached} == Py_None")
                continue
            value = inputs[*path, name]
            self.objects[value] = self._found(reached, spelled)
            self._check(f"ppy::is_parameter({self.objects[value]}, {self.tensor(value)})")
        for name, child in built.children:
            spelled = ".".join((*path, name))
            inner = self._found(f"ppy::child({variable}, {self._name(name)})", spelled)
            self._module(model, child, inner, (*path, name), inputs)

    def _class(self, kind: str) -> str:
        module, _, name = kind.rpartition(".")
        variable = f"class_{name}"
        methods = ", ".join(f'"{method}"' for method in LAYER_METHODS)
        self.classes[kind] = f'static ppy::Class {variable}("{module}", "{name}", {methods});'
        return variable

    def optimizer(self, place: int, parameters: tuple[int, ...]) -> None:
        count = len(parameters)
        objects = ", ".join(self.objects[value] for value in parameters)
        self.lines += [
            f"PyObject *const trained[] = {{{objects}}};",
            f"std::array<at::Tensor, {count}> averages, squares;",
            f"ppy::Adam<{count}> adam;",
        ]
        self._check(f"adam.takes(given[{place}], trained, averages.data(), squares.data())")
        held = {"exp_avg": "averages", "exp_avg_sq": "squares"}
        for given in self.region.inputs:
            if given.place != place:
                continue
            if given.kind == "tensor":
                which, index = given.path
                self.lines.append(f"{self.tensor(given.value)} = {held[which]}[{index}];")
            else:
                self.lines.append(f"n{given.value} = adam.{given.path[0]};")
