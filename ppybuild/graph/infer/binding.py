"""Assignments: what targets become when they are given a value."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.graph.infer.attributes import write_field
from ppybuild.graph.infer.containers import hint, store_item
from ppybuild.graph.infer.expressions import unpacked
from ppybuild.graph.infer.operands import infer_binary
from ppybuild.graph.infer.visit import Visit, path_of
from ppybuild.graph.lattice import fits, members_of, refined
from ppybuild.graph.types import (
    NONE,
    Buffer,
    Collection,
    Dictionary,
    Instance,
    Never,
    Tuple,
    Type,
    Unknown,
)
from ppybuild.graph.types import (
    Callable as CallableType,
)


def assign(visit: Visit, target: ast.expr, found: Type, value: ast.expr | None = None) -> None:
    """Gives a target a value of a type."""
    match target:
        case ast.Name():
            found = as_declared(visit, visit.unit.declared.get(target.id), found)
            visit.bind(target.id, found)
            visit.engine.types[target] = found
        case ast.Attribute():
            owner = visit.infer(target.value)
            visit.engine.types[target] = found
            write_field(visit, owner, target.attr, found)
            visit.forget_attribute(target.attr)
            path = path_of(target)
            if path is not None and visit.env is not None:
                visit.env[path] = found
        case ast.Subscript():
            owner = visit.infer(target.value)
            index = visit.infer(target.slice)
            visit.engine.types[target] = found
            store_item(visit, owner, index, found)
            base = path_of(target.value)
            if base is not None and visit.env is not None:
                visit.forget(base)
                path = path_of(target)
                if path is not None:
                    visit.env[path] = found
        case ast.Tuple() | ast.List():
            visit.engine.types[target] = found
            found = _parts(visit, value, found, target.elts)
            for place, item in enumerate(target.elts):
                assign(visit, item, unpacked(visit, found, place, target.elts))
        case ast.Starred():
            visit.engine.types[target] = found
            assign(visit, target.value, found)


def _parts(
    visit: Visit, value: ast.expr | None, found: Type, targets: Sequence[ast.expr]
) -> Type:
    """What is unpacked: the items one by one where each of them is settled."""
    path = None if value is None else path_of(value)
    if path is None or any(isinstance(target, ast.Starred) for target in targets):
        return found
    settled = [visit.here().get(f"{path}[{place}]") for place in range(len(targets))]
    known = [part for part in settled if part is not None]
    return Tuple(tuple(known)) if len(known) == len(targets) else found


_CONTAINERS = (Collection, Dictionary, CallableType)


def as_declared(visit: Visit, declared: Type | None, found: Type) -> Type:
    """What a variable with an annotation holds after an assignment: the value's own type
    where that says more, the annotation otherwise."""
    if declared is None or isinstance(declared, Unknown):
        return found
    declared = refined(found, declared)
    hint(visit, found, declared)
    if isinstance(found, Unknown | Never):
        return declared
    if isinstance(declared, Buffer):
        return found
    for member in members_of(declared):
        if isinstance(member, _CONTAINERS) and found != NONE:
            return member if fits(visit.resolved(found), NONE) is not True else found
    return declared if fits(visit.resolved(found), declared) is False else found


def run_assign(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assign)
    found = visit.infer(node.value)
    for target in node.targets:
        assign(visit, target, found, node.value)


def run_annotated(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.AnnAssign)
    engine, unit = visit.engine, visit.unit
    declared = engine.annotation(node.annotation, unit)
    found = visit.infer(node.value) if node.value is not None else None
    if isinstance(node.target, ast.Name):
        name = node.target.id
        if visit.class_name is not None:
            engine.declared_fields[visit.class_name][name] = declared
            visit.bind(name, declared)
        else:
            if not (isinstance(node.annotation, ast.Name) and node.annotation.id == "Final"):
                unit.declared[name] = declared
            if found is not None:
                assign(visit, node.target, found)
    elif isinstance(node.target, ast.Attribute):
        owner = visit.infer(node.target.value)
        for member in members_of(owner):
            if isinstance(member, Instance) and member.name in engine.declared_fields:
                engine.declared_fields[member.name][node.target.attr] = declared
        if found is None or refined(found, declared) == declared:
            write_field(visit, owner, node.target.attr, declared)
        if found is not None:
            assign(visit, node.target, as_declared(visit, declared, found))
    elif found is not None:
        assign(visit, node.target, found)


def run_augmented(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.AugAssign)
    target = node.target
    old = visit.infer(target)
    right = visit.infer(node.value)
    site = visit.engine.sites.of(old)
    if site is not None and isinstance(node.op, ast.Add | ast.BitOr):
        store_item(visit, old, Instance("builtins.slice"), right)
        found: Type = old
    else:
        found = infer_binary(visit, node, node.op, target, old, node.value, right)
    assign(visit, target, found)


def run_delete(visit: Visit, node: ast.stmt) -> None:
    assert isinstance(node, ast.Delete)
    for target in node.targets:
        path = path_of(target)
        if path is not None and visit.env is not None:
            visit.forget(path)
            visit.env.pop(path, None)
        if isinstance(target, ast.Attribute | ast.Subscript):
            visit.infer(target.value)
            if isinstance(target, ast.Subscript):
                visit.infer(target.slice)
