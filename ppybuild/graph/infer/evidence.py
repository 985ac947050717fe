"""What the uses of a parameter say about it, where no call does.

Taken as evidence only for functions that nothing is known to call: `range(n)` takes an int,
`math.sqrt(x)` a float, an argument of a function of the project what that function takes,
`torch.relu(x)` and a layer `self.first(x)` a tensor. A loader asks a data set's `__getitem__`
for the item at an int.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ppybuild.graph.infer.state import Input, Unit
from ppybuild.graph.lattice import is_known, join
from ppybuild.graph.library import takes_tensors
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import (
    FLOAT,
    INT,
    NEVER,
    NONE,
    UNKNOWN,
    Function,
    Instance,
    Tensor,
    Type,
)
from ppybuild.graph.types import Module as ModuleType

if TYPE_CHECKING:
    from ppybuild.graph.infer.engine import Engine


def settle_inputs(engine: Engine, unit: Unit) -> None:
    """Gives each parameter that nothing is known about the type that its uses say, or
    `UNKNOWN`."""
    open_inputs = {
        found.name: found
        for found in unit.inputs
        if found.declared is None and found.slot.type in (NEVER, NONE)
    }
    if not open_inputs:
        return
    said = {} if unit.opaque else _read_uses(engine, unit, open_inputs)
    if _is_item_of_data(engine, unit):
        said[unit.inputs[1].name] = INT
    for name, found in open_inputs.items():
        evidence = said.get(name, UNKNOWN)
        engine.work.write(found.slot, evidence if is_known(evidence) else UNKNOWN)


def _read_uses(engine: Engine, unit: Unit, names: Mapping[str, Input]) -> dict[str, Type]:
    said: dict[str, Type] = {}
    rebound = unit.scope.bound | unit.rebound
    for node in walk(unit.node):
        if isinstance(node, ast.Call) and not node.keywords:
            for place, argument in enumerate(node.args):
                if isinstance(argument, ast.Starred):
                    break
                if not isinstance(argument, ast.Name) or argument.id not in names:
                    continue
                found = _taken(engine, unit, node.func, place)
                if found is not NEVER and argument.id not in rebound:
                    said[argument.id] = join(said.get(argument.id, NEVER), found)
    return said


def _is_item_of_data(engine: Engine, unit: Unit) -> bool:
    if unit.owner is None or not unit.name.endswith(".__getitem__") or len(unit.inputs) != 2:
        return False
    return "torch.utils.data.Dataset" in engine.hierarchy.library_bases(unit.owner)


def _taken(engine: Engine, unit: Unit, callee: ast.expr, place: int) -> Type:
    """What a callee takes at a position; `NEVER` where that is not said."""
    found = _callee(engine, unit, callee)
    if isinstance(found, Instance) and place == 0:
        return (
            Tensor() if "torch.nn.Module" in (engine.library.bases(found.name) or ()) else NEVER
        )
    if not isinstance(found, Function):
        if isinstance(callee, ast.Name) and callee.id == "range":
            return INT if callee.id not in engine.units[unit.module.name].scope.bound else NEVER
        return NEVER
    if found.name.startswith("math.") and place == 0:
        return FLOAT
    if found.name.startswith("torch.") and place < takes_tensors(found.name):
        return Tensor()
    target = engine.units.get(found.name)
    if target is None or place >= len(target.inputs):
        return NEVER
    taking = target.inputs[place]
    if taking.kind not in ("positional", "normal") or target is unit:
        return NEVER
    taken = taking.declared if taking.declared is not None else taking.slot.type
    return taken if is_known(taken) else NEVER


def _callee(engine: Engine, unit: Unit, callee: ast.expr) -> Type | None:
    if isinstance(callee, ast.Name):
        if callee.id in unit.scope.bound:
            return None
        if unit.owner is not None and callee.id == unit.inputs[0].name:
            return unit.inputs[0].declared
        return engine.global_type(unit.module.name, callee.id, unit)
    if isinstance(callee, ast.Attribute):
        owner = _callee(engine, unit, callee.value)
        if isinstance(owner, ModuleType):
            if engine.is_project_module(owner.name):
                return engine.global_type(owner.name, callee.attr, unit)
            return engine.library.member(owner, callee.attr)
        if isinstance(owner, Instance) and owner.name in engine.program.classes:
            return _field(engine, owner.name, callee.attr)
    return None


def _field(engine: Engine, owner: str, name: str) -> Type | None:
    for ancestor in engine.hierarchy.order(owner):
        if name in engine.fields[ancestor]:
            return engine.fields[ancestor][name].type
    return None
