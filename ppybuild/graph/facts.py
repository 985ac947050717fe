"""From what inference knows to the `Facts` that others look up."""

from __future__ import annotations

import ast

from ppybuild.graph.infer.engine import Engine
from ppybuild.graph.infer.state import Input, Unit
from ppybuild.graph.lattice import join_all, widened
from ppybuild.graph.program import Facts, Parameter, Signature
from ppybuild.graph.types import (
    NEVER,
    UNKNOWN,
    Callable,
    Collection,
    Dictionary,
    Instance,
    Method,
    Tuple,
    Type,
    Union,
)


def gather(engine: Engine) -> Facts:
    """The facts of a finished inference."""
    program = engine.program
    settled = _Settled(engine)
    return Facts(
        program=program,
        types={node: settled(found) for node, found in engine.types.items()},
        signatures={
            name: _signature(engine.units[name], settled) for name in program.functions
        },
        locals={name: _locals(engine.units[name], settled) for name in program.functions},
        fields={
            name: {
                field: engine.declared_fields[name].get(field) or settled(slot.type)
                for field, slot in fields.items()
            }
            for name, fields in engine.fields.items()
        },
        callees=engine.callees,
        constants=engine.constants,
        effects={},
        diagnostics=(),
    )


class _Settled:
    """Types with the contents of containers in them, each resolved once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[Type, Type] = {}

    def __call__(self, found: Type) -> Type:
        if not isinstance(
            found, Instance | Union | Tuple | Collection | Dictionary | Callable | Method
        ):
            return found
        known = self._known.get(found)
        if known is None:
            known = self._known[found] = _closed(self._engine.sites.resolved(found))
        return known


def _closed(found: Type) -> Type:
    """Contents that nothing was found to be put in are unknown."""
    match found:
        case Collection(kind, item):
            return Collection(kind, UNKNOWN if item is NEVER else _closed(item))
        case Dictionary(kind, key, value):
            return Dictionary(
                kind,
                UNKNOWN if key is NEVER else _closed(key),
                UNKNOWN if value is NEVER else _closed(value),
            )
        case Tuple(items):
            return Tuple(tuple(map(_closed, items)))
        case Union(members):
            return _as_sequence(tuple(map(_closed, members)))
    return found


def _as_sequence(members: tuple[Type, ...]) -> Type:
    """A list here and a tuple there are a `Sequence`."""
    ordered = [
        each for each in members if isinstance(each, Tuple | Collection) and _ordered(each)
    ]
    if len(ordered) < 2:
        return join_all(members)
    items = (
        join_all(map(widened, each.items)) if isinstance(each, Tuple) else each.item
        for each in ordered
    )
    rest = (each for each in members if each not in ordered)
    return join_all((Collection("Sequence", join_all(items)), *rest))


def _ordered(found: Tuple | Collection) -> bool:
    return isinstance(found, Tuple) or found.kind in ("list", "tuple", "range", "Sequence")


def _signature(unit: Unit, settled: _Settled) -> Signature:
    node = unit.node
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    result = unit.declared_result
    return Signature(
        tuple(_parameter(found, settled) for found in unit.inputs),
        settled(unit.result.type) if result is None else result,
        node.returns is not None,
        result is not None,
    )


def _parameter(found: Input, settled: _Settled) -> Parameter:
    inferred = found.declared if found.declared is not None else settled(found.slot.type)
    if found.kind == "rest" and found.declared is None:
        inferred = _item(inferred)
    return Parameter(
        found.name,
        UNKNOWN if inferred is NEVER else inferred,
        found.kind,
        found.default,
        found.declared is not None and found.annotated,
    )


def _item(found: Type) -> Type:
    """What `*args` is annotated with: the type of each argument."""
    if isinstance(found, Tuple):
        return join_all(map(widened, found.items))
    return found.item if isinstance(found, Collection) else found


def _locals(unit: Unit, settled: _Settled) -> dict[str, Type]:
    return {
        name: unit.declared.get(name) or widened(settled(slot.type))
        for name, slot in unit.variables.items()
    }
