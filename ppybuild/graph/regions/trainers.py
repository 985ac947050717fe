"""Modules and optimizers in a training step: what calling them does, as operators.

model(x)             →    the calls that the layers' forward makes
optimizer.step()     →    the update's arithmetic (`updates.py`)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.graph.regions.built import PROGRAM, Built
from ppybuild.graph.regions.inline import LIBRARIES, ProgramNames
from ppybuild.graph.regions.layers import (
    BATCH_NORM,
    FUNCTIONAL,
    IDENTITY,
    LAYERS,
    MODULE_LIST,
    SEQUENTIAL,
)
from ppybuild.graph.regions.optimizers import is_grouped, read_groups
from ppybuild.graph.regions.step_records import Optimized
from ppybuild.graph.regions.stepping import StepBody
from ppybuild.graph.regions.updates import CLIPPING, Updates, number_of
from ppybuild.graph.regions.values import (
    Group,
    Object,
    Optimizer,
    Sequence,
    Symbol,
    Unsupported,
)
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.match import NONE, literal

_INHERITED = ("parameters", "zero_grad")
"""Methods of `torch.nn.Module` that a step stands for itself."""


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
        callee = self._callee(node)
        if callee is not None and callee.name in CLIPPING:
            return self._clipped(node)
        copies = callee is not None and callee.name in ("builtins.list", "builtins.tuple")
        if copies and len(node.args) == 1:
            return Group(self._turns(node.args[0]))
        return super()._call(node)

    def object(self, node: ast.expr) -> Object | Optimizer | None:
        """The module or optimizer that an expression stands for."""
        match node:
            case ast.Name(id=name):
                found = self.variables.get(name)
                return found if isinstance(found, Object | Optimizer) else None
            case ast.Attribute(value=value, attr=name):
                return self._child(self.object(value), name)
            case ast.Subscript(value=value, slice=place):
                owner = self.object(value)
                if isinstance(owner, Object):
                    return self._child(owner, str(self._known_int(place)))
                return None
            case _:
                return None

    @staticmethod
    def _child(owner: Object | Optimizer | None, name: str) -> Object | None:
        child = owner.built.child(name) if isinstance(owner, Object) else None
        return _inside(owner, name, child) if isinstance(owner, Object) and child else None

    def _attribute(self, node: ast.Attribute) -> Symbol:
        owner = self.object(node.value)
        if isinstance(owner, Object):
            found = self.object(node)
            if found is not None:
                return found
            if node.attr in dict(owner.built.parameters):
                return self._parameter(owner, node.attr)
            if any(config.name == node.attr for config in owner.built.config):
                return literal_of(owner.built, node.attr)
            raise Unsupported(f"the attribute `{node.attr}` of a module", node)
        return super()._attribute(node)

    def _subscript(self, node: ast.Subscript) -> Symbol:
        found = self.object(node)
        return found if found is not None else super()._subscript(node)

    def _turns(self, node: ast.expr) -> tuple[Symbol, ...]:
        owner = self.object(node)
        if isinstance(owner, Object) and owner.built.kind in (MODULE_LIST, SEQUENTIAL):
            return tuple(_inside(owner, name, child) for name, child in owner.built.children)
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
            return self._method_of(target, "forward", positional, keywords, node)
        if built.kind == SEQUENTIAL and len(positional) == 1 and not keywords:
            value = positional[0]
            for name, child in built.children:
                value = self._apply(_inside(target, name, child), [value], {}, node)
            return value
        if built.kind == IDENTITY and len(positional) == 1:
            return positional[0]
        layer = LAYERS.get(built.kind)
        evaluates = layer is not None and layer.has_modes and not built.setting("training")
        if layer is None or len(positional) != layer.inputs or keywords:
            raise Unsupported("a layer that is called with other than its inputs", node)
        self._note_layer(layer.calls)
        if layer.calls == BATCH_NORM:
            source = self._given(positional[0], node)
            updates = Updates(self, self.step, node)
            if evaluates:
                return updates.normalized(target, source)
            return updates.normalize(target, source)
        if evaluates:
            return positional[0]  # dropout
        parameters = dict(built.parameters)
        named: dict[str, Symbol] = {}
        for name in layer.passes:
            if name not in parameters:
                named[name] = literal_of(built, name)
            elif parameters[name] is None:
                named[name] = NONE
            else:
                named[name] = self._parameter(target, name)
        return self._function(layer.calls, positional, named, node)

    def _note_layer(self, calls: str) -> None:
        """The function by which a layer's forward reaches what it calls: torch's layers go
        through `torch.nn.functional` where that has a function of the name."""
        torch, name = self.trace.torch, f"{FUNCTIONAL}.{calls.rpartition('.')[2]}"
        if torch.function(name) or torch.source(name) or torch.dispatched(name):
            self.note_own(name)
        if calls.rpartition(".")[0] in LIBRARIES:
            self.note_own(calls)

    def _method_of(
        self,
        target: Object,
        name: str,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.Call,
    ) -> Symbol:
        """Call a method that the program's own class defines."""
        owner = target.built.owner
        assert isinstance(self.names, ProgramNames)
        if f"{owner}.{name}" not in self.names.facts.program.functions:
            raise Unsupported(f"the method `{name}` of a module", node)
        self.step.methods.add((owner, name))
        return self.inline(f"{owner}.{name}", [target, *positional], keywords, node, None)

    def _of_module_object(self, owner: Object, name: str, node: ast.Call) -> Symbol:
        if name in _INHERITED and self._overridden(owner, name):
            raise Unsupported(f"a `{name}` of the program's own", node)
        if name == "parameters" and not node.args and not node.keywords:
            return Group(self.parameters(owner))
        if name == "zero_grad" and _only_unset(node):
            return self._zero_grad(self.parameters(owner))
        if owner.built.kind == PROGRAM:
            positional, keywords = self.arguments(node)
            return self._method_of(owner, name, positional, keywords, node)
        raise Unsupported(f"the method `{name}` of a module", node)

    def _overridden(self, owner: Object, name: str) -> bool:
        assert isinstance(self.names, ProgramNames)
        return f"{owner.built.owner}.{name}" in self.names.facts.program.functions

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
        groups = self._groups(optimizer, node)
        if name == "zero_grad" and _only_unset(node):
            self.step.zeroed[optimizer.place] = groups
            leaves = [leaf for group in groups for leaf in group.parameters]
            return self._zero_grad(tuple(Given("tensor", payload=leaf) for leaf in leaves))
        if name != "step" or node.args or node.keywords:
            raise Unsupported(f"`{name}` of an optimizer", node)
        Updates(self, self.step, node).optimize(groups)
        return NONE

    def _groups(self, optimizer: Optimizer, node: ast.Call) -> tuple[Optimized, ...]:
        """The optimizer's groups of parameters."""
        call = optimizer.made.call if optimizer.made is not None else None
        assert isinstance(self.names, ProgramNames)
        if call is None or not is_grouped(call):
            over = self.over(optimizer) or self._optimized(node)
            return (Optimized(optimizer.place, optimizer.form, tuple(map(number_of, over))),)
        groups = [
            (self.tensors_of(each, optimizer), form)
            for each, form in read_groups(self.names.facts, call)
        ]
        if not groups or not all(tensors for tensors, _ in groups):
            raise Unsupported("an optimizer over groups that are not seen", node)
        return tuple(
            Optimized(
                optimizer.place, form, tuple(map(number_of, tensors)), number, len(groups)
            )
            for number, (tensors, form) in enumerate(groups)
        )

    def tensors_of(self, node: ast.expr, optimizer: Optimizer) -> tuple[Given, ...]:
        """What an expression where an optimizer is made stands for: parameters of the one
        model, however it is called there; none where that is not seen."""
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters"), args=[]):
                found = self.seen(owner, optimizer)
                return self.parameters(found) if isinstance(found, Object) else ()
            case ast.List(elts=items) | ast.Tuple(elts=items):
                several = [self.tensors_of(item, optimizer) for item in items]
                whole = several and all(len(tensors) == 1 for tensors in several)
                return tuple(each for tensors in several for each in tensors) if whole else ()
            case _:
                tensor = self.seen(node, optimizer)
                is_tensor = isinstance(tensor, Given) and tensor.kind == "tensor"
                return (tensor,) if is_tensor and isinstance(tensor, Given) else ()

    def seen(self, node: ast.expr, optimizer: Optimizer) -> Symbol | None:
        """An expression where an optimizer is made, as a part of the one model."""
        models = [found for found in self.step.models.values() if self.parameters(found)]
        if len(models) != 1:
            return None
        *_, (_, names) = ways_to(node)
        parts = (self.part(models[0], names[start:]) for start in range(len(names) + 1))
        return next((found for found in parts if found is not None), None)

    def part(self, owner: Object, names: tuple[str, ...]) -> Object | Given | None:
        """What lies inside a module under these names."""
        for place, name in enumerate(names):
            child = self._child(owner, name)
            last = place == len(names) - 1
            if child is None and last and name in dict(owner.built.parameters):
                return self._parameter(owner, name)
            if child is None:
                return None
            owner = child
        return owner

    def over(self, optimizer: Optimizer) -> tuple[Given, ...]:
        """The tensors that an optimizer is made over, where that is seen; else none."""
        return ()

    def _optimized(self, node: ast.Call) -> tuple[Given, ...]:
        """What the optimizer is taken to be over: the one model's parameters, else the one
        list's tensors."""
        models = [found for found in self.step.models.values() if self.parameters(found)]
        if len(models) == 1:
            return self.parameters(models[0])
        lists = self.sequences()
        if models or len(lists) != 1:
            seen = "beside several models" if models else "of which no model is seen"
            unseen = "" if models else ": not all its layers are made where their sizes show"
            raise Unsupported(f"an optimizer {seen}{unseen}", node)
        items = self.all_items(lists[0], node)
        return tuple(item for item in items if isinstance(item, Given))

    def sequences(self) -> list[Sequence]:
        """Parameters that are sequences of tensors."""
        return [held for held in self.variables.values() if isinstance(held, Sequence)]

    def _zero_grad(self, parameters: tuple[Given, ...]) -> Symbol:
        for given in parameters:
            self.step.touched.add(number_of(given))
            self.step.gradients[number_of(given)] = NONE
        return NONE

    def _clipped(self, node: ast.Call) -> Symbol:
        """`clip_grad_norm_(parameters, max_norm)`."""
        if len(node.args) == 2 and not node.keywords:
            bound = node.args[1]
        elif len(node.args) == 1 and [k.arg for k in node.keywords] == ["max_norm"]:
            bound = node.keywords[0].value
        else:
            raise Unsupported("clipping with other settings than a norm", node)
        most = self.value(bound)
        if not isinstance(most, Given) or most.kind not in ("int", "float"):
            raise Unsupported("clipping by something that is not a number", node)
        found = self._turns(node.args[0])
        parameters = tuple(given for given in found if isinstance(given, Given))
        for given in parameters:
            self._gradient(self._leaf(given, node))
        return Updates(self, self.step, node).clip(parameters, most)


def ways_to(node: ast.expr) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """An expression as a shorter one and what is named in that: `net.body[0]`, then `net.body`
    and `0`, then `net` and `body`, `0`."""
    names: tuple[str, ...] = ()
    while True:
        yield node, names
        match node:
            case ast.Attribute(value=owner, attr=name):
                node, names = owner, (name, *names)
            case ast.Subscript(value=owner, slice=ast.Constant(value=int(place))):
                node, names = owner, (str(place), *names)
            case _:
                return


def literal_of(built: Built, name: str) -> Given:
    """A setting of a layer, as an argument."""
    value = built.setting(name)
    if isinstance(value, tuple):
        return Given("list", "tuple", tuple(literal(item) for item in value))
    return literal(value)


def _only_unset(node: ast.Call) -> bool:
    """Whether `zero_grad` is called so that it sets gradients to None."""
    return not node.args and all(
        keyword.arg == "set_to_none"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in node.keywords
    )


def _inside(owner: Object, name: str, child: Built) -> Object:
    return Object(f"{owner.name}.{name}", owner.place, (*owner.path, name), child)


def _modules(owner: Object) -> Iterator[Object]:
    yield owner
    for name, child in owner.built.children:
        yield from _modules(_inside(owner, name, child))
