"""What `torch.nn` modules of the program are made of, read from their `__init__`.

    self.first = nn.Linear(20, width)     →    first: Linear, weight [64, 20], bias [64]
    self.rest = nn.Sequential(nn.GELU(), nn.Linear(width, 10))

As with seeds, what is found is a guess that the region checks when it runs.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.built import PROGRAM, Built, Config, Setting
from ppybuild.graph.regions.layers import (
    DTYPE,
    IDENTITY,
    LAYERS,
    MODULE_LIST,
    REQUIRED,
    SEQUENTIAL,
    Layer,
)
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sources import Scope, Site
from ppybuild.graph.types import Instance, Tensor, Type

PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


class NotKnown(Exception):
    """The module's make cannot be read; the message says why."""


def read_module(
    facts: Facts, seeds: Seeds, made: Sequence[Site], type: Type, *, training: bool = True
) -> Built:
    """The make of a module: of what the calls `made` make, where it could be followed to
    them; else of the class that is its type. `training`: the mode it is taken to be in."""
    reader = _Reader(facts, seeds, training)
    found = {reader.made(site.call, site.scope) for site in made}
    if not found and isinstance(type, Instance):
        found = {reader.program(type.name, site) for site in seeds.makers(type.name)}
    if len(found) != 1:
        raise NotKnown("the module is not made in just one way")
    return found.pop()


@final
class _Reader:
    def __init__(self, facts: Facts, seeds: Seeds, training: bool) -> None:
        self._facts = facts
        self._seeds = seeds
        self._training = training

    def program(self, owner: str, site: Site) -> Built:
        function = self._facts.program.functions.get(f"{owner}.__init__")
        found = self._facts.program.classes.get(owner)
        if found is None or function is None or found.bases != ("torch.nn.Module",):
            raise NotKnown(f"`{owner}` is not a plain module")
        children: list[tuple[str, Built]] = []
        parameters: list[tuple[str, Tensor | None]] = []
        config: list[Config] = []
        inside = Scope(function.name, function.module, site)
        for statement in function.node.body:
            match statement:
                case (
                    ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                        value=value,
                    )
                    | ast.AnnAssign(
                        target=ast.Attribute(value=ast.Name(id="self"), attr=name),
                        value=ast.expr() as value,
                    )
                ):
                    if self._is_parameter(value):
                        parameters.append((name, self._parameter(value)))
                    elif isinstance(value, ast.Call):
                        children.append((name, self.made(value, inside)))
                    else:
                        config += self._kept(name, value, inside)
                case ast.Expr(value=ast.Call() | ast.Constant()) | ast.Pass():
                    pass  # super().__init__(), a docstring
                case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()):
                    pass
                case _:
                    raise NotKnown(f"`{owner}.__init__` does more than make layers")
        config += self._mode(owner)
        return Built(PROGRAM, owner, tuple(parameters), tuple(children), tuple(config))

    def _mode(self, owner: str) -> Iterator[Config]:
        """`self.training`, where the class looks at it."""
        methods = (f for f in self._facts.program.functions.values() if f.owner == owner)
        nodes = (node for method in methods for node in ast.walk(method.node))
        if any(isinstance(node, ast.Attribute) and node.attr == "training" for node in nodes):
            yield Config("training", self._training)

    def _is_parameter(self, node: ast.expr) -> bool:
        callee = self._facts.callees.get(node) if isinstance(node, ast.Call) else None
        return callee is not None and callee.name in PARAMETERS

    def _parameter(self, node: ast.expr) -> Tensor:
        found = self._facts.types.get(node)
        if not isinstance(found, Tensor) or found.shape is None:
            raise NotKnown(f"`{ast.unparse(node)}` has an unknown shape")
        return Tensor(found.dtype or DTYPE, found.shape, parameter=True)

    def _kept(self, name: str, node: ast.expr, scope: Scope) -> Iterator[Config]:
        """An attribute that is a constant; another one is not looked at."""
        with contextlib.suppress(NotKnown):
            yield Config(name, self._setting(node, scope))

    def made(self, call: ast.Call, scope: Scope) -> Built:
        callee = self._facts.callees.get(call)
        if callee is not None and callee.kind == "class":
            return self.program(callee.name, Site(call, scope))
        name = callee.name if callee is not None else ""
        if name == IDENTITY:
            return Built(IDENTITY)
        if name in (SEQUENTIAL, MODULE_LIST):
            return self._several(name, call, scope)
        layer = LAYERS.get(name)
        if layer is None:
            raise NotKnown(f"`{ast.unparse(call.func)}` is not a layer that regions hold")
        return self._layer(name, layer, call, scope)

    def _several(self, kind: str, call: ast.Call, scope: Scope) -> Built:
        """A Sequential of layers, or a ModuleList of a display of them."""
        items = call.args
        if kind == MODULE_LIST:
            display = items[0] if len(items) == 1 else None
            items = display.elts if isinstance(display, ast.List | ast.Tuple) else []
        made = [self.made(item, scope) for item in items if isinstance(item, ast.Call)]
        if call.keywords or not made or len(made) != len(items):
            raise NotKnown(f"`{kind}` of other things than layers made there")
        return Built(kind, children=tuple((str(i), child) for i, child in enumerate(made)))

    def _layer(self, kind: str, layer: Layer, call: ast.Call, scope: Scope) -> Built:
        settings = dict(layer.takes)
        given = [*zip(settings, call.args, strict=False)]
        given += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        if len(call.args) > len(settings) or any(name not in settings for name, _ in given):
            raise NotKnown(f"`{ast.unparse(call)}` has other arguments than regions know")
        settings |= {name: self._setting(value, scope) for name, value in given}
        for name, other in layer.follows:
            if settings[name] is None:
                settings[name] = settings[other]
        for name, count in layer.widened:
            if isinstance(wide := settings[name], int):
                settings[name] = (wide,) * count
        if REQUIRED in settings.values():
            raise NotKnown(f"`{ast.unparse(call)}` lacks an argument")
        try:
            parameters, buffers = layer.parameters(settings), layer.buffers(settings)
        except AssertionError:
            raise NotKnown(f"`{ast.unparse(call)}` has an unknown size") from None
        held = [*((name, settings[name]) for name in layer.checked), *layer.held]
        if layer.has_modes:
            held.append(("training", self._training))
        return Built(kind, "", parameters, (), tuple(Config(*pair) for pair in held), buffers)

    def _setting(self, node: ast.expr, scope: Scope) -> Setting:
        match node:
            case ast.Constant(value=bool() | float() | str() | None as value):
                return value
            case ast.UnaryOp(
                op=ast.USub(), operand=ast.Constant(value=int() | float() as value)
            ):
                return -value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self._number(item, scope) for item in items)
            case _:
                constant = self._facts.constants.get(node)
                return constant if constant is not None else self._number(node, scope)

    def _number(self, node: ast.expr, scope: Scope) -> int:
        found = self._seeds.number(node, scope)
        if found is None:
            raise NotKnown(f"`{ast.unparse(node)}` is not a known size")
        return found
