"""Following a fragment's statements, one by one."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Listing
from typing import final

from ppybuild.graph.regions.inline import ProgramNames
from ppybuild.graph.regions.surroundings import Surroundings
from ppybuild.graph.regions.trainers import TrainerBody
from ppybuild.graph.regions.values import Object, Optimizer, Sequence, Symbol, Unsupported


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
    """None in functions that the fragment calls."""

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

    def _outer(self, node: ast.expr) -> Symbol | None:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if self.around is None or not isinstance(root, ast.Name) or root.id in self.variables:
            return None
        return self.around.find(node)

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
        around = self.around is not None and self.around.is_variable(name)
        return around or super().is_variable(name)

    def _name(self, node: ast.Name) -> Symbol:
        around = self.around
        if around is None or node.id in self.variables or not around.is_variable(node.id):
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
