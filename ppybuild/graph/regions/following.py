"""Following a fragment's statements, one by one."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Listing
from typing import final

from ppybuild.graph.program import Function
from ppybuild.graph.regions.inline import ProgramBody, ProgramNames
from ppybuild.graph.regions.sources import Scope
from ppybuild.graph.regions.surroundings import Surroundings
from ppybuild.graph.regions.trainers import TrainerBody
from ppybuild.graph.regions.values import (
    Object,
    Optimizer,
    Sequence,
    Symbol,
    Thing,
    Unsupported,
)
from ppybuild.graph.schemas import Given


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
        around = self.around
        sites = around.made.get(optimizer.place, ()) if around is not None else ()
        if around is None or len(sites) != 1 or not sites[0].call.args:
            return ()
        first, scope = sites[0].call.args[0], sites[0].scope
        shown = first.elts if isinstance(first, ast.List | ast.Tuple) else None
        if isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute):
            model = self._seen(first.func.value, scope)
            whole = first.func.attr == "parameters" and isinstance(model, Object)
            return self.parameters(model) if whole and isinstance(model, Object) else ()
        found = [self._seen(item, scope) for item in shown or ()]
        tensors = [each for each in found if isinstance(each, Given) and each.kind == "tensor"]
        return tuple(tensors) if len(tensors) == len(found) else ()

    def _seen(self, node: ast.expr, scope: Scope) -> Symbol | None:
        """A path of another place, where it means the same: in the same function, or from the
        same object's own method."""
        around = self.around
        assert around is not None
        root = ast.unparse(node).partition(".")[0]
        same = scope.function == around.scope.function and root not in self.variables
        own = root == "self" and around.owner_of(scope) == around.owner_of(around.scope)
        own = own and around.owner_of(scope) is not None
        return around.find(node, ast.unparse(node), scope) if same or own else None

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
            raise Unsupported(f"`{node.id}`, which is nothing that a region takes", node)
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


def _is_mangled(node: ast.AST) -> bool:
    """Whether a name in it would be another one outside its class."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")
