"""What the uses of a parameter say about it, where no call does.

Taken as evidence only for functions that nothing is known to call: `range(n)` takes an int,
`math.sqrt(x)` a float, an argument of a function of the project what that function takes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ppybuild.graph.infer.state import Input, Unit
from ppybuild.graph.lattice import is_known, join
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import FLOAT, INT, NEVER, NONE, UNKNOWN, Function, Type
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


def _taken(engine: Engine, unit: Unit, callee: ast.expr, place: int) -> Type:
    """What a callee takes at a position; `NEVER` where that is not said."""
    found = _callee(engine, unit, callee)
    if not isinstance(found, Function):
        if isinstance(callee, ast.Name) and callee.id == "range":
            return INT if callee.id not in engine.units[unit.module.name].scope.bound else NEVER
        return NEVER
    if found.name.startswith("math.") and place == 0:
        return FLOAT
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
        return engine.global_type(unit.module.name, callee.id, unit)
    if isinstance(callee, ast.Attribute):
        owner = _callee(engine, unit, callee.value)
        if isinstance(owner, ModuleType):
            if engine.is_project_module(owner.name):
                return engine.global_type(owner.name, callee.attr, unit)
            return engine.library.member(owner, callee.attr)
    return None
