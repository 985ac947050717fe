"""C++ that looks into the modules and the optimizer of a training step.

Each statement takes one thing out of an object, or leaves the call to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from ppybuild.graph.regions.built import PROGRAM, Built, Setting
from ppybuild.graph.regions.optimizers import KINDS
from ppybuild.graph.regions.step_records import Model, Optimized, Owner, StepRegion

LAYER_METHODS = ("forward", "__call__")
"""What calling a layer runs; must be as torch defines them."""


def looks_into_objects(region: StepRegion) -> bool:
    return bool(region.models or region.optimized or region.zeroed or region.owners)


def emit_objects(
    region: StepRegion, tensor: Callable[[int], str], used: Callable[[int], bool]
) -> list[str]:
    """Statements that fill the tensors and numbers that are reached through objects.

    `tensor` gives the C++ name of an input that is a tensor; `used` says whether a number
    is read."""
    if not looks_into_objects(region):
        return []
    writer = _Writer(region, tensor, used)
    for owner in region.owners:
        writer.owner(owner)
    for model in region.models:
        writer.model(model)
    for zeroed in region.zeroed:
        writer.zeroed(zeroed)
    for optimized in region.optimized:
        writer.optimizer(optimized)
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
    used: Callable[[int], bool]
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

    def owner(self, owner: Owner) -> None:
        for method in owner.methods:
            self._check(
                f"ppy::has_method(self, given[{owner.place}], {self._name(method.name)}, "
                f'"{method.qualified}", {method.line})'
            )

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
            self._check(f"ppy::is_program_module({variable})")
            for method in self.region.methods:
                if method.owner == built.owner:
                    self._check(
                        f"ppy::has_method(self, {variable}, {self._name(method.name)}, "
                        f'"{method.qualified}", {method.line})'
                    )
        else:
            self._check(f"ppy::is_layer({variable}, {self._class(built.kind)})")
            self._check(f"ppy::has_buffers({variable}, {len(built.buffers)})")
        self._check(f"ppy::has_modules({variable}, {len(built.children)})")
        self._check(f"ppy::has_parameters({variable}, {len(built.parameters)})")
        for config in built.config:
            held = f"ppy::own({variable}, {self._name(config.name)})"
            self._check(_is_setting(held, config.value))
        for name, type in built.parameters:
            reached = f"ppy::parameter({variable}, {self._name(name)})"
            spelled = ".".join((*path, name))
            if type is None:
                self._check(f"{reached} == Py_None")
                continue
            value = inputs[*path, name]
            self.objects[value] = self._found(reached, spelled)
            self._check(f"ppy::is_parameter({self.objects[value]}, {self.tensor(value)})")
        for name, _ in built.buffers:
            kept = inputs.get((*path, name))
            if kept is not None:
                reached = f"ppy::buffer({variable}, {self._name(name)})"
                buffer = self._found(reached, ".".join((*path, name)))
                self._check(f"ppy::is_parameter({buffer}, {self.tensor(kept)})")
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

    def _optimizer_class(self, kind: str) -> str:
        variable = f"class_{kind}"
        self.classes[kind] = (
            f'static ppy::Class {variable}("torch.optim", "{kind}", "step", "zero_grad");'
        )
        return variable

    def _parameters_of(self, optimized: Optimized, variable: str) -> str:
        objects = ", ".join(self._object(value) for value in optimized.parameters)
        self.lines.append(f"PyObject *const {variable}[] = {{{objects}}};")
        return variable

    def zeroed(self, zeroed: Optimized) -> None:
        """One of which it only matters whose gradients it clears."""
        place, kind = zeroed.place, self._optimizer_class(zeroed.form.kind)
        cleared = self._parameters_of(zeroed, f"cleared{_suffix(zeroed)}")
        group = f"ppy::Group<{len(zeroed.parameters)}>({_which(zeroed)})"
        self._check(f"{group}.takes(given[{place}], {kind}, {cleared})")

    def optimizer(self, optimized: Optimized) -> None:
        form, place = optimized.form, optimized.place
        count = len(optimized.parameters)
        kind = self._optimizer_class(form.kind)
        trained = self._parameters_of(optimized, f"trained{_suffix(optimized)}")
        variable = optimizer_name(optimized)
        flags = ["decay" in form.terms]
        if form.kind == "SGD":
            flags += ["momentum" in form.terms, "nesterov" in form.terms]
        else:
            flags.insert(0, form.kind == "AdamW")
        states = KINDS[form.kind].states
        spelled = ", ".join("true" if flag else "false" for flag in flags)
        name = "Sgd" if form.kind == "SGD" else "Adam"
        arrays = {state: f"{state}{_suffix(optimized)}" for state in states}
        self.lines += [
            *(f"std::array<at::Tensor, {count}> {array};" for array in arrays.values()),
            f"ppy::{name}<{count}> {variable}({spelled}, {_which(optimized)});",
        ]
        held = "".join(f", {array}.data()" for array in arrays.values())
        self._check(f"{variable}.takes(given[{place}], {kind}, {trained}{held})")
        for given in self.region.inputs:
            if given.place != place or given.path[:1] != (str(optimized.group),):
                continue
            if given.kind == "tensor":
                _, which, index = given.path
                self.lines.append(f"{self.tensor(given.value)} = {arrays[which]}[{index}];")
            elif self.used(given.value):
                self.lines.append(f"n{given.value} = {variable}.{given.path[1]};")

    def _object(self, value: int) -> str:
        """The Python object of a parameter: a module's, or an item of a sequence."""
        if value not in self.objects:
            given = next(given for given in self.region.inputs if given.value == value)
            if given.index is None:
                self.objects[value] = self._found(f"given[{given.place}]", given.name)
                return self.objects[value]
            sequence = f"given[{given.place}]"
            length = dict(self.region.lengths)[given.place]
            self._check(f"ppy::has_length({sequence}, {length})")
            item = f"PySequence_Fast_GET_ITEM({sequence}, {given.index})"
            self.objects[value] = self._found(item, given.name)
        return self.objects[value]


def optimizer_name(optimized: Optimized) -> str:
    """The C++ variable of a group of an optimizer."""
    return f"optimizer{_suffix(optimized)}"


def _suffix(optimized: Optimized) -> str:
    return f"_{optimized.place}_{optimized.group}"


def _which(optimized: Optimized) -> str:
    """Which group of how many."""
    return f"{optimized.group}, {optimized.groups}"


def _is_setting(held: str, value: Setting) -> str:
    """The condition that an attribute is what the region was made for."""
    match value:
        case None:
            return f"{held} == Py_None"
        case bool():
            return f"{held} == {'Py_True' if value else 'Py_False'}"
        case str():
            return f'ppy::is_text({held}, "{value}")'
        case tuple():
            return f"ppy::are_values({held}, {{{', '.join(map(str, value))}}})"
        case _:
            return f"ppy::is_value({held}, {value!r})"
