"""Who reads a variable after a run of statements has bound it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.sources import Scope
from ppybuild.graph.scopes import target_names

_BY_NAME = frozenset({"locals", "globals", "vars", "dir", "eval", "exec"})
"""Functions that read or bind variables which the text does not show."""

_GRAPHLESS = frozenset({"item", "detach", "argmax", "argmin", "size", "dim", "numel", "tolist"})
"""Methods of tensors whose results have no graph; `tolist` and `item` are of numbers."""
_PLAIN = frozenset({"data", "shape", "dtype", "device", "ndim"})
"""Attributes that are the same of a tensor without its graph."""


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

    def reads(self, name: str, inside: Sequence[ast.AST]) -> list[ast.Name] | None:
        """The reads of a variable outside these statements; None where not all are known."""
        if self._is_imported or name in self._shared:
            return None
        own = {node for statement in inside for node in ast.walk(statement)}
        own |= set(self._above(inside[0]))
        return [
            node
            for node in self._names.get(name, ())
            if node not in own and self._reads(node) and not self._is_bound_anew(node, own)
        ]

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self._parents:
            node = self._parents[node]
            yield node

    def _is_bound_anew(self, read: ast.Name, own: set[ast.AST]) -> bool:
        """Whether every way to a read leads through another assignment, which comes after the
        statements: `own` has them and all that they are in."""
        node: ast.AST = read
        for above in self._above(read):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return False
            if self._is_turn(above, node, read.id) and above not in own:
                return True
            for block in (getattr(above, field, None) for field in _BLOCKS):
                if isinstance(block, list) and node in block:
                    place = block.index(node)
                    bound = [i for i in range(place) if _binds(block[i], read.id)]
                    if bound and own.isdisjoint(block[bound[-1] : place + 1]):
                        return True
            node = above
        return False

    def _reads(self, node: ast.Name) -> bool:
        parent = self._parents[node]
        augmented = isinstance(parent, ast.AugAssign) and parent.target is node
        return augmented or not isinstance(node.ctx, ast.Store)

    @staticmethod
    def _is_turn(above: ast.AST, node: ast.AST, name: str) -> bool:
        """Whether each turn of a loop or a comprehension binds the name for the node in it."""
        match above:
            case ast.For(target=target, body=body):
                return node in body and name in target_names(target)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inside = above.generators  # what the first one goes through is read outside
                return node is not inside[0] and any(
                    name in target_names(each.target) for each in inside
                )
            case _:
                return False

    def asks_number(self, read: ast.Name, shown: bool) -> bool:
        """Whether a read of a tensor gives the same with a graph and without: `x.item()`,
        `float(x)`, `x.argmax(1)`, `x < 0.1`, and of one number (`shown`) `f"{x:.3f}"`."""
        parent = self._parents[read]
        match parent:
            case ast.Attribute(attr=name) if name in _GRAPHLESS:
                called = self._parents[parent]
                return isinstance(called, ast.Call) and called.func is parent
            case ast.Attribute(attr=name):
                return name in _PLAIN
            case ast.Call(func=ast.Name(id="float" | "len"), args=[only], keywords=[]):
                return only is read
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="argmax")):
                return parent.args[:1] == [read]
            case ast.FormattedValue(conversion=-1):
                return shown
            case ast.Compare():
                return True  # what it gives has no graph
            case _:
                return False


_BLOCKS = ("body", "orelse", "finalbody")


def _binds(statement: ast.AST, name: str) -> bool:
    """Whether a statement surely binds a variable."""
    match statement:
        case ast.Assign(targets=targets):
            return any(name in target_names(target) for target in targets)
        case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr()):
            return found == name
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
