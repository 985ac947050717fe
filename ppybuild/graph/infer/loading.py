"""PyTorch's data loaders and sets of data: what they hold, and the batches made of it.

A `DataLoader` stacks the items of what it is made of, part by part
(`torch.utils.data.default_collate`), so that what a training loop unpacks is known from the
`__getitem__` of a class of the program, or from the tensors of a `TensorDataset`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeGuard

from ppybuild.graph.infer.applying import Call
from ppybuild.graph.infer.arguments import Given
from ppybuild.graph.infer.containers import element_of
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import ANY_SIZE, base_scalar, join_all, members_of, without
from ppybuild.graph.types import (
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Collection,
    Dictionary,
    Instance,
    Tensor,
    Tuple,
    Type,
    Union,
)

PASSING = frozenset({"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.std.tqdm", "tqdm.notebook.tqdm"})
"""What gives, one by one, what its first argument gives."""

_NUMBERS = {FLOAT: "float64", INT: "int64", BOOL: "bool"}
"""The dtype of the tensor that `default_collate` makes of numbers."""


def loaded(visit: Visit, name: str, given: Given, call: Call) -> Type | None:
    """What calling one of PyTorch's makers of data makes; None for anything else."""
    maker = _MAKERS.get(name)
    return None if maker is None else maker(visit, given, call)


def turn_of(visit: Visit, node: ast.expr, found: Type, target: ast.expr) -> Type:
    """What one turn of a loop over a value binds: as `element_of`, and a loader's batch part
    by part where the loop unpacks it at once."""
    inner = _passed_through(visit, node)
    if inner is not None:
        return turn_of(visit, inner, visit.engine.types[inner], target)
    if not isinstance(target, ast.Tuple | ast.List):
        return element_of(visit, found)
    counted = _counted(visit, node)
    if counted is not None and len(target.elts) == 2:
        turn = turn_of(visit, counted, visit.engine.types[counted], target.elts[1])
        return Tuple((INT, turn))
    return join_all(
        member.item if _is_loader(member) else element_of(visit, member)
        for member in members_of(found)
        if member != NONE
    )


def settle_parts(visit: Visit, node: ast.expr, found: Type, target: ast.expr) -> None:
    """Settles the items of the variable that a loop gives a loader's batches, for
    `x, y = batch` and `batch[0]` in its body."""
    inner = _passed_through(visit, node)
    if inner is not None:
        settle_parts(visit, inner, visit.engine.types[inner], target)
    elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
        counted = _counted(visit, node)
        if counted is not None:
            settle_parts(visit, counted, visit.engine.types[counted], target.elts[1])
    elif isinstance(target, ast.Name) and visit.env is not None:
        loader = without(found, NONE)
        batch = loader.item if _is_loader(loader) else None
        for place, part in enumerate(batch.items if isinstance(batch, Tuple) else ()):
            visit.env[f"{target.id}[{place}]"] = part


def _is_loader(found: Type) -> TypeGuard[Collection]:
    return isinstance(found, Collection) and found.kind == "DataLoader"


def _passed_through(visit: Visit, node: ast.expr) -> ast.expr | None:
    """What a progress bar goes through."""
    match node:
        case ast.Call(args=[inner, *_]) if not isinstance(inner, ast.Starred):
            return inner if visit.engine.dotted(node.func, visit.unit) in PASSING else None
    return None


def _counted(visit: Visit, node: ast.expr) -> ast.expr | None:
    """What `enumerate` counts."""
    match node:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            named = visit.engine.dotted(node.func, visit.unit)
            return inner if named == "builtins.enumerate" else None
    return None


def _loader(visit: Visit, given: Given, call: Call) -> Type:
    item = _item_of(visit, _given(given, 0, "dataset"))
    collate = _given(given, 6, "collate_fn")
    if _given(given, 1, "batch_size") == NONE or given.mappings:
        batch: Type = item if isinstance(item, Tensor) else UNKNOWN
    elif collate is not NEVER and collate != NONE:
        several = Given([(Collection("list", item), False)], {}, [])
        batch = call(visit, collate, several, set())
    else:
        batch = _collated(visit.resolved(item))
    start = _given(given, 9, "worker_init_fn")
    if start is not NEVER and start != NONE:
        call(visit, start, Given([(INT, False)], {}, []), set())
    return Collection("DataLoader", batch)


def _tensors(visit: Visit, given: Given, call: Call) -> Type:
    if any(starred for _, starred in given.positional):
        return Collection("TensorDataset", UNKNOWN)
    rows = (element_of(visit, found) for found, _ in given.positional)
    return Collection("TensorDataset", Tuple(tuple(rows)))


def _subset(visit: Visit, given: Given, call: Call) -> Type:
    return Collection("Subset", _item_of(visit, _given(given, 0, "dataset")))


def _split(visit: Visit, given: Given, call: Call) -> Type:
    return Collection("list", _subset(visit, given, call))


def _concatenated(visit: Visit, given: Given, call: Call) -> Type:
    several = element_of(visit, _given(given, 0, "datasets"))
    return Collection("ConcatDataset", _item_of(visit, several))


_MAKERS: Mapping[str, Callable[[Visit, Given, Call], Type]] = MappingProxyType(
    {
        "torch.utils.data.DataLoader": _loader,
        "torch.utils.data.TensorDataset": _tensors,
        "torch.utils.data.Subset": _subset,
        "torch.utils.data.ConcatDataset": _concatenated,
        "torch.utils.data.random_split": _split,
    }
)


def _given(given: Given, place: int, name: str) -> Type:
    """An argument by its place or name; `NEVER` where there is none."""
    if place < len(given.positional):
        return given.positional[place][0]
    return given.keywords.get(name, NEVER)


def _item_of(visit: Visit, data: Type) -> Type:
    """What indexing a set of data gives, or iterating over one that cannot be indexed."""
    return join_all(_item_of_one(visit, member) for member in members_of(data))


def _item_of_one(visit: Visit, data: Type) -> Type:
    engine = visit.engine
    if isinstance(data, Collection):
        return data.item
    if isinstance(data, Instance) and data.name in engine.program.classes:
        if engine.hierarchy.method(data.name, "__getitem__") is None:
            if engine.hierarchy.method(data.name, "__iter__") is None:
                return UNKNOWN
            return element_of(visit, data)
        found = visit.special(data, "__getitem__", [INT])
        return UNKNOWN if found is None else found
    return element_of(visit, data)


def _collated(item: Type) -> Type:
    """A batch of items, as `default_collate` makes it; several parts stay apart here."""
    scalar = base_scalar(item)
    if scalar is not None:
        if scalar == STR:
            return Collection("list", STR)
        return Tensor(_NUMBERS[scalar], (ANY_SIZE,)) if scalar in _NUMBERS else UNKNOWN
    match item:
        case Union(members=several):
            return join_all(map(_collated, several))
        case Tensor(dtype=dtype, shape=shape):
            return Tensor(dtype, None if shape is None else (ANY_SIZE, *shape))
        case Tuple(items=parts):
            return Tuple(tuple(map(_collated, parts)))
        case Dictionary(kind="dict", key=key, value=value):
            return Dictionary("dict", key, _collated(value))
        case Collection(kind="list" | "tuple", item=part):
            return Collection("list", _collated(part))
    return NEVER if item is NEVER else UNKNOWN
