"""What each turn of a loop gives, as far as it can be told from where it comes.

for x, y in DataLoader(TensorDataset(X, Y), batch_size=32):    rows of X, rows of Y
for x, y in batches(X, Y):                                     what that generator yields
for x, y in zip(X.split(32), Y.split(32)):                     parts of X, parts of Y
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.found import UNKNOWN_SIZE, Found, Seed, most
from ppybuild.graph.regions.sources import Scope, Site, own_nodes
from ppybuild.graph.types import Collection, Tensor

Path = tuple[int, ...]
"""Which part of an item is meant: `()` all of it, `(0,)` its first."""
Pending = frozenset[str]

_DATA = "torch.utils.data."
_PASS_ON = (
    "tqdm",
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
    "builtins.list",
    "builtins.iter",
    "builtins.sorted",
)
"""Functions that go through their first argument."""


class Values(Protocol):
    """What is asked about other expressions."""

    @property
    def facts(self) -> Facts: ...
    @property
    def assigned(self) -> Mapping[tuple[str, str], list[ast.expr]]: ...

    def value_of(self, node: ast.expr, scope: Scope, pending: Pending) -> Found: ...

    def makers_of(
        self, node: ast.expr, scope: Scope, pending: Pending = ...
    ) -> Iterator[Site]: ...


def item_of(
    values: Values, over: ast.expr, path: Path, scope: Scope, pending: Pending
) -> Found:
    """A part of what iterating over an expression gives."""
    match over:
        case ast.Call():
            return _of_call(values, over, path, scope, pending)
        case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item):
            return _part(values, item, path, scope, pending)
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            return _part(values, first, path, scope, pending)
        case ast.Name(id=name):
            mark = f"{scope.name}:{name}"
            assigned = values.assigned.get((scope.name, name), [])
            if len(assigned) == 1 and mark not in pending:
                found = item_of(values, assigned[0], path, scope, pending | {mark})
                if found is not None:
                    return found
        case _:
            pass
    return _loaded(values, over, path, scope, pending) or _rows(
        values, over, path, scope, pending
    )


def _of_call(
    values: Values, over: ast.Call, path: Path, scope: Scope, pending: Pending
) -> Found:
    callee = values.facts.callees.get(over)
    name = callee.name if callee is not None else ""
    if callee is not None and callee.kind == "project":
        return _yielded(values, name, Site(over, scope), path, pending)
    if name == "builtins.zip" and path and path[0] < len(over.args):
        return item_of(values, over.args[path[0]], path[1:], scope, pending)
    if name in _PASS_ON and over.args:
        return item_of(values, over.args[0], path, scope, pending)
    parts = isinstance(over.func, ast.Attribute) and over.func.attr in ("split", "chunk")
    if parts and not path and isinstance(over.func, ast.Attribute):
        return _batch(values.value_of(over.func.value, scope, pending))
    return _loaded(values, over, path, scope, pending)


def _yielded(values: Values, function: str, site: Site, path: Path, pending: Pending) -> Found:
    found = values.facts.program.functions[function]
    mark = f"{function}()"
    if mark in pending:
        return None
    inside = Scope(function, found.module, site)
    given = [
        _part(values, node.value, path, inside, pending | {mark})
        for node in own_nodes(found.node.body)
        if isinstance(node, ast.Yield) and node.value is not None
    ]
    return most(given) if given else None


def _part(values: Values, item: ast.expr, path: Path, scope: Scope, pending: Pending) -> Found:
    for place in path:
        if not isinstance(item, ast.Tuple | ast.List) or place >= len(item.elts):
            return None
        item = item.elts[place]
    return values.value_of(item, scope, pending)


def _loaded(
    values: Values, over: ast.expr, path: Path, scope: Scope, pending: Pending
) -> Found:
    """Of a `DataLoader` of a `TensorDataset`: rows of one of its tensors."""
    for loader in values.makers_of(over, scope, pending):
        for dataset in _first_of(values, loader, "DataLoader", pending):
            data = _is_made(values, dataset, "TensorDataset")
            if len(path) == 1 and path[0] < len(data):
                return _batch(values.value_of(data[path[0]], dataset.scope, pending))
    return None


def _first_of(values: Values, site: Site, kind: str, pending: Pending) -> Iterator[Site]:
    arguments = _is_made(values, site, kind)
    if arguments:
        yield from values.makers_of(arguments[0], site.scope, pending)


def _is_made(values: Values, site: Site, kind: str) -> list[ast.expr]:
    """The arguments of a call that makes an instance of a class of `torch.utils.data`."""
    callee = values.facts.callees.get(site.call)
    name = callee.name if callee is not None else ""
    return site.call.args if name.startswith(_DATA) and name.endswith(f".{kind}") else []


def _rows(values: Values, over: ast.expr, path: Path, scope: Scope, pending: Pending) -> Found:
    """Of a tensor: what is below its first dimension. Of several tensors: one of them."""
    type = values.facts.types.get(over)
    if path:
        return None
    if isinstance(type, Collection) and isinstance(type.item, Tensor):
        return Seed(type.item)
    found = values.value_of(over, scope, pending)
    if isinstance(type, Tensor) and isinstance(found, Seed) and found.type.shape:
        return Seed(Tensor(found.type.dtype, found.type.shape[1:]))
    return None


def _batch(found: Found) -> Found:
    if not isinstance(found, Seed) or not found.type.shape:
        return None
    shape = (UNKNOWN_SIZE, *found.type.shape[1:])
    return Seed(replace(found.type, shape=shape, parameter=False))
