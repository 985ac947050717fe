"""The nodes of each module by class, found in one walk."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TypeVar, cast

from ppybuild.graph.program import Module
from ppybuild.graph.syntax import walk

Node = TypeVar("Node", bound=ast.AST)


class Nodes:
    """Answers for any module; remembers."""

    def __init__(self) -> None:
        self._found: dict[str, dict[type[ast.AST], list[ast.AST]]] = {}

    def find(self, module: Module, kind: type[Node]) -> list[Node]:
        """The nodes of one class in a module, level by level."""
        found = self._found.get(module.name)
        if found is None:
            found = self._found[module.name] = defaultdict(list)
            for node in walk(module.tree):
                found[type(node)].append(node)
        return cast("list[Node]", found.get(kind, []))
