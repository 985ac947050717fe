"""Who reads a variable after a run of statements has bound it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.sources import Scope

_BY_NAME = frozenset({"locals", "globals", "vars", "dir", "eval", "exec"})
"""Functions that read or bind variables which the text does not show."""


@final
class Liveness:
    """The variables of one function, with those inside it, or of one module."""

    def __init__(self, facts: Facts, scope: Scope, root: ast.AST) -> None:
        self._parents: dict[ast.AST, ast.AST] = {}
        self._names: dict[str, list[ast.Name]] = {}
        self._shared: set[str] = set()
        """Declared `global` or `nonlocal`: others may read them."""
        self.watched: ast.AST | None = None
        """What reads variables by name, so that nothing can be said of them."""
        for node in ast.walk(root):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            match node:
                case ast.Name(id=name):
                    self._names.setdefault(name, []).append(node)
                    if name in _BY_NAME:
                        self.watched = node
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    self._shared |= set(names)
                case _:
                    pass
        self._is_imported = scope.function is None and _is_imported(facts, scope.module)

    def reads(self, name: str, inside: Sequence[ast.stmt]) -> list[ast.Name] | None:
        """The reads of a variable outside these statements; None where not all are known."""
        if self._is_imported or name in self._shared:
            return None
        own = {node for statement in inside for node in ast.walk(statement)}
        return [
            node for node in self._names.get(name, ()) if node not in own and self._reads(node)
        ]

    def _reads(self, node: ast.Name) -> bool:
        parent = self._parents[node]
        augmented = isinstance(parent, ast.AugAssign) and parent.target is node
        return augmented or not isinstance(node.ctx, ast.Store)

    def asks_number(self, read: ast.Name, shown: bool) -> bool:
        """Whether a read of a tensor gives the same with a graph and without: `x.item()`,
        `float(x)`, `x.detach()`, `x < 0.1`, and of one number (`shown`) `f"{x:.3f}"`."""
        parent = self._parents[read]
        match parent:
            case ast.Attribute(attr="item" | "detach"):
                called = self._parents[parent]
                return isinstance(called, ast.Call) and called.func is parent
            case ast.Call(func=ast.Name(id="float"), args=[only], keywords=[]):
                return only is read
            case ast.FormattedValue(conversion=-1):
                return shown
            case ast.Compare():
                return True  # what it gives has no graph
            case _:
                return False


def _is_imported(facts: Facts, module: str) -> bool:
    """Whether another module of the program may read this one's variables."""
    last = module.rpartition(".")[2]
    for other in facts.program.modules.values():
        for node in ast.walk(other.tree) if other.name != module else ():
            names: list[str] = []
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            if any(name.rpartition(".")[2] == last for name in names):
                return True
    return False
