"""Following a fragment's statements, one by one."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Listing
from typing import final

from ppybuild.graph.lattice import is_known, show
from ppybuild.graph.program import Function
from ppybuild.graph.regions.inline import ProgramBody, ProgramNames
from ppybuild.graph.regions.optimizers import KINDS
from ppybuild.graph.regions.sources import Scope
from ppybuild.graph.regions.surroundings import Surroundings
from ppybuild.graph.regions.trainers import TrainerBody, ways_to
from ppybuild.graph.regions.values import (
    Object,
    Optimizer,
    Sequence,
    Symbol,
    Thing,
    Unsupported,
)
from ppybuild.graph.schemas import Given
from ppybuild.graph.types import Instance, Type


class Stopped(Exception):
    """The fragment cannot hold the statement at that place of its block."""

    def __init__(self, at: int, reason: str, node: ast.AST) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason
        self.node = node


@final
class FragmentBody(TrainerBody):
    """`variables` holds what the statements bind; other names come from `around` them."""

    around: Surroundings | None = None
    scope: Scope | None = None
    """In a function that the fragment calls: that function."""

    def follow(self, statements: Listing[ast.stmt], start: int) -> None:
        """`start`: the place of the first one in its block."""
        for at, statement in enumerate(statements, start):
            for node in ast.walk(statement):
                if isinstance(node, ast.Return | ast.Continue | ast.Break) or _is_mangled(node):
                    raise Stopped(at, "a statement that leaves, or a private name", node)
            try:
                self._statement(statement)
            except Unsupported as stopped:
                raise Stopped(at, stopped.reason, stopped.node) from None

    def decided(self, test: ast.expr) -> bool:
        try:
            return super().decided(test)
        except Unsupported:
            outside = self.scope is None and self.site is None
            around = self.around if outside else None
            side = None if around is None else around.choose(test, self.variables)
            if side is None:
                raise
            return side

    def follow_value(self, node: ast.expr, at: int) -> Symbol:
        """An expression of the statement at that place."""
        try:
            return self.value(node)
        except Unsupported as stopped:
            raise Stopped(at, stopped.reason, stopped.node) from None

    def descend(self, inner: ProgramBody, function: Function) -> None:
        assert isinstance(inner, FragmentBody)
        inner.around, inner.scope = self.around, Scope(function.name, function.module)

    def _outer(self, node: ast.expr) -> Symbol | None:
        """What is reached from around the fragment by a name or path."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if self.around is None or not isinstance(root, ast.Name):
            return None
        held = self.variables.get(root.id)
        if isinstance(held, Thing):
            path = held.path + ast.unparse(node).removeprefix(root.id)
            return held if node is root else self.around.find(node, path, self.scope)
        outside = self.scope is None and held is None
        return self.around.find(node) if outside else None

    def _call(self, node: ast.Call) -> Symbol:
        callee, func = self._callee(node), node.func
        if callee is not None and callee.kind == "project" and isinstance(func, ast.Attribute):
            thing = self._outer(func.value)
            if isinstance(thing, Thing) and callee.name == f"{thing.owner}.{func.attr}":
                return self._call_method(thing, func.attr, node)
        return super()._call(node)

    def _call_method(self, thing: Thing, name: str, node: ast.Call) -> Symbol:
        assert self.around is not None
        self.around.call_method(thing, name)
        positional, keywords = self.arguments(node)
        method = f"{thing.owner}.{name}"
        return self.inline(method, [thing, *positional], keywords, node, None)

    def _assign(self, target: ast.expr, value: Symbol) -> None:
        if self.around is not None and self.scope is None and isinstance(target, ast.Name):
            taken = self.around.taken
            if value in taken.values() and taken.get(target.id) != value:
                raise Unsupported("another name for what comes from outside", target)
        super()._assign(target, value)

    def _subscript(self, node: ast.Subscript) -> Symbol:
        """Rows that variables choose are taken before; what numbers choose is followed."""
        names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        varies = any(isinstance(part, ast.Name) for part in ast.walk(node.slice))
        if varies and self.scope is None and self.around is not None:
            found = None if self.variables.keys() & names else self.around.find(node)
            if found is not None:
                return found
        return super()._subscript(node)

    def over(self, optimizer: Optimizer) -> tuple[Given, ...]:
        """By the call that makes it, where its argument means the same here."""
        call = optimizer.made.call if optimizer.made is not None else None
        if self.around is None or call is None or not call.args:
            return ()
        return self.tensors_of(call.args[0], optimizer)

    def seen(self, node: ast.expr, optimizer: Optimizer) -> Symbol | None:
        """A path where it is made, where it means the same here: in the same function, or from
        the same object's own method."""
        around = self.around
        assert around is not None
        assert optimizer.made is not None
        scope = optimizer.made.scope
        *_, (root, _) = ways_to(node)
        name = root.id if isinstance(root, ast.Name) else ""
        same = scope.function == around.scope.function and name not in self.variables
        own = name == "self" and around.owner_of(scope) == around.owner_of(around.scope)
        own = own and around.owner_of(scope) is not None
        for owner, names in ways_to(node) if same or own else ():
            found = around.find(owner, ast.unparse(owner), scope)
            if isinstance(found, Object):
                return self.part(found, names)
            if found is not None:
                return None if names else found
        return super().seen(node, optimizer)

    def object(self, node: ast.expr) -> Object | Optimizer | None:
        found = super().object(node)
        if found is None:
            outer = self._outer(node)
            found = outer if isinstance(outer, Object | Optimizer) else None
        return found

    def sequences(self) -> list[Sequence]:
        taken = () if self.around is None else self.around.taken.values()
        return [*super().sequences(), *(held for held in taken if isinstance(held, Sequence))]

    def is_variable(self, name: str) -> bool:
        outside = self.scope is None and self.around is not None
        around = self.around if outside else None
        return super().is_variable(name) or (around is not None and around.is_variable(name))

    def _name(self, node: ast.Name) -> Symbol:
        around = self.around
        known = node.id in self.variables or self.scope is not None
        if around is None or known or not around.is_variable(node.id):
            return super()._name(node)
        assert isinstance(self.names, ProgramNames)
        if self.names.facts.constants.get(node) is not None:
            return super()._name(node)
        found = around.find(node)
        if found is None:
            raise Unsupported(_untaken(node.id, self.names.facts.types.get(node)), node)
        return found

    def _attribute(self, node: ast.Attribute) -> Symbol:
        found = self._outer(node)
        return super()._attribute(node) if found is None else found

    def _method(
        self,
        receiver: Symbol,
        name: str,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.AST,
    ) -> Symbol:
        if name == "item":
            raise Unsupported("a number that is read from a tensor", node)
        return super()._method(receiver, name, positional, keywords, node)


def _untaken(name: str, found: Type | None) -> str:
    """Why a region does not take a variable of that type."""
    if found is None or not is_known(found):
        return f"`{name}`, whose type is not known"
    if isinstance(found, Instance) and found.name.startswith("torch.optim."):
        known = ", ".join(KINDS)
        return f"`{name}`, a `{found.name}`: steps look through {known} with plain arguments"
    return f"`{name}` of type `{show(found)}`, which a region does not take here"


def _is_mangled(node: ast.AST) -> bool:
    """Whether a name in it would be another one outside its class."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")
