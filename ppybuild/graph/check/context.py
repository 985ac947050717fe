"""What every family of findings looks things up in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.certain import Certainty
from ppybuild.graph.check.place import Place
from ppybuild.graph.imports import Exports
from ppybuild.graph.library import Library
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Class, Facts, Function, Module
from ppybuild.graph.types import UNKNOWN, Type

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Context:
    """The facts of a program, and indexes over them that findings share."""

    facts: Facts
    library: Library
    broken: set[ast.AST] = field(default_factory=set)
    """Nodes that a finding stands at, or that hold one: what follows from it stays quiet."""
    _rebound: dict[str, frozenset[str]] = field(default_factory=dict)

    def type(self, node: ast.expr) -> Type:
        """The type of an expression; `UNKNOWN` where it is not reached."""
        return self.facts.types.get(node, UNKNOWN)

    def reached(self, node: ast.expr) -> bool:
        return node in self.facts.types

    @cached_property
    def certainty(self) -> Certainty:
        return Certainty(self.facts)

    def sure(self, place: Place, node: ast.expr) -> bool:
        """True where the expression's type holds for every run."""
        return self.certainty.holds(place, node)

    @cached_property
    def exports(self) -> Exports:
        return Exports(self.facts.program.modules)

    @cached_property
    def stored_attributes(self) -> frozenset[str]:
        """Names of attributes that the program sets on any object, by whatever means."""
        found: set[str] = set()
        for module in self.facts.program.modules.values():
            for node in ast.walk(module.tree):
                match node:
                    case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                        found.add(name)
                    case ast.Call(
                        func=ast.Name(id="setattr" | "hasattr" | "getattr" | "delattr"),
                        args=[_, ast.Constant(value=str(name)), *_],
                    ):
                        found.add(name)
                    case _:
                        pass
        return frozenset(found)

    def rebound(self, module: Module) -> frozenset[str]:
        """Names that the module assigns, deletes or imports, at any depth."""
        known = self._rebound.get(module.name)
        if known is None:
            found: set[str] = set()
            for node in ast.walk(module.tree):
                match node:
                    case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                        found.add(name)
                    case ast.Global(names=names):
                        found.update(names)
                    case ast.alias(name=name, asname=other):
                        found.add(other or name)
                    case _:
                        pass
            known = self._rebound[module.name] = frozenset(found)
        return known

    @cached_property
    def subclasses(self) -> dict[str, list[Class]]:
        """The program's classes by the names of their direct bases."""
        found: dict[str, list[Class]] = {}
        for one in self.facts.program.classes.values():
            for base in one.bases:
                found.setdefault(base, []).append(one)
        return found

    def functions_of(self, module: Module) -> Iterator[Function]:
        for function in self.facts.program.functions.values():
            if function.module == module.name:
                yield function

    def report(
        self,
        code: str,
        message: str,
        place: Place,
        node: ast.AST,
        *,
        help: str = "",
        label: str = "",
    ) -> Diagnostic:
        return Diagnostic(code, message, locate(place.module, node), help=help, label=label)


def text_of(node: ast.expr, longest: int = 40) -> str:
    """The source of an expression, for a message."""
    text = ast.unparse(node)
    return text if len(text) <= longest else text[: longest - 3] + "..."
