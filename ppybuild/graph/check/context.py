"""What every family of findings looks things up in."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.bindings import sets_anything
from ppybuild.graph.check.certain import Certainty
from ppybuild.graph.check.conditions import find_flags
from ppybuild.graph.check.nodes import Nodes
from ppybuild.graph.check.place import Place
from ppybuild.graph.imports import Exports
from ppybuild.graph.infer.hierarchy import Hierarchy
from ppybuild.graph.library import Argument, CallProblem, Library
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Class, Facts, Function, Module
from ppybuild.graph.types import UNKNOWN, Type

Question = tuple[Type, tuple[Argument, ...], tuple[tuple[str, Argument], ...], bool]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Context:
    """The facts of a program, and indexes over them that findings share."""

    facts: Facts
    library: Library
    broken: set[ast.AST] = field(default_factory=set)
    """Nodes that a finding stands at, or that hold one: what follows from it stays quiet."""
    _rebound: dict[str, frozenset[str]] = field(default_factory=dict)
    _nodes: Nodes = field(default_factory=Nodes)
    _binary: dict[tuple[str, Type, Type], Type | None] = field(default_factory=dict)
    _problems: dict[Question, CallProblem | None] = field(default_factory=dict)

    def type(self, node: ast.expr) -> Type:
        """The type of an expression; `UNKNOWN` where it is not reached."""
        return self.facts.types.get(node, UNKNOWN)

    def reached(self, node: ast.expr) -> bool:
        return node in self.facts.types

    @cached_property
    def certainty(self) -> Certainty:
        return Certainty(self.facts, self._nodes, self.stored_attributes)

    def sure(self, place: Place, node: ast.expr) -> bool:
        """True where the expression's type holds for every run."""
        return self.certainty.holds(place, node)

    @cached_property
    def flags(self) -> frozenset[str]:
        """Variables that hold what a test of the machine gave."""
        return find_flags(self.facts.program.modules)

    @cached_property
    def exports(self) -> Exports:
        return Exports(self.facts.program.modules)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        return Hierarchy(self.facts.program, self.library)

    @cached_property
    def constructed(self) -> frozenset[str]:
        """The classes of the program that it makes objects of."""
        callees = self.facts.callees.values()
        return frozenset(callee.name for callee in callees if callee.kind == "class")

    def provides(self, name: str) -> bool:
        """True for a module of the project and for a folder that holds some."""
        return name in self.facts.program.modules or name in self._folders

    @cached_property
    def _folders(self) -> frozenset[str]:
        found: set[str] = set()
        for name in self.facts.program.modules:
            package = name.rpartition(".")[0]
            while package and package not in found:
                found.add(package)
                package = package.rpartition(".")[0]
        return frozenset(found)

    @cached_property
    def stored_attributes(self) -> frozenset[str]:
        """Names of attributes that the program sets on any object, by whatever means."""
        found: set[str] = set()
        for module in self.facts.program.modules.values():
            for node in self._nodes.find(module, ast.Attribute):
                if not isinstance(node.ctx, ast.Load):
                    found.add(node.attr)
            for call in self._nodes.find(module, ast.Call):
                match call:
                    case ast.Call(
                        func=ast.Name(id="setattr" | "hasattr" | "getattr" | "delattr"),
                        args=[_, ast.Constant(value=str(name)), *_],
                    ):
                        found.add(name)
                    case _:
                        pass
        return frozenset(found)

    @cached_property
    def stores(self) -> dict[str, list[tuple[str | None, ast.expr]]]:
        """By attribute, where the program sets it: the class whose method does so by
        `self.x = value`, or None, and the value (the target where that cannot be told)."""
        found: dict[str, list[tuple[str | None, ast.expr]]] = {}
        plain: set[ast.expr] = set()
        for function in self.facts.program.functions.values():
            for statement in function.node.body if function.owner else ():
                match statement:
                    case (
                        ast.Assign(
                            targets=[ast.Attribute(value=ast.Name(id="self")) as target],
                            value=value,
                        )
                        | ast.AnnAssign(
                            target=ast.Attribute(value=ast.Name(id="self")) as target,
                            value=ast.expr() as value,
                        )
                    ):
                        plain.add(target)
                        found.setdefault(target.attr, []).append((function.owner, value))
        for module in self.facts.program.modules.values():
            for node in self._nodes.find(module, ast.Attribute):
                if not isinstance(node.ctx, ast.Load) and node not in plain:
                    found.setdefault(node.attr, []).append((None, node))
        return found

    @cached_property
    def texts(self) -> frozenset[str]:
        """Texts of the program that may be the name of an attribute."""
        return frozenset(
            node.value
            for module in self.facts.program.modules.values()
            for node in self._nodes.find(module, ast.Constant)
            if isinstance(node.value, str) and node.value.isidentifier()
        )

    @cached_property
    def objects_are_open(self) -> bool:
        """True where the program gives some object attributes of names that it computes."""
        return any(
            sets_anything(node)
            for module in self.facts.program.modules.values()
            for kind in (ast.Call, ast.Name, ast.Attribute)
            for node in self._nodes.find(module, kind)
        )

    def rebound(self, module: Module) -> frozenset[str]:
        """Names that the module assigns, deletes or imports, at any depth."""
        known = self._rebound.get(module.name)
        if known is None:
            found = {
                node.id
                for node in self._nodes.find(module, ast.Name)
                if not isinstance(node.ctx, ast.Load)
            }
            for node in self._nodes.find(module, ast.Global):
                found.update(node.names)
            found.update(
                node.asname or node.name for node in self._nodes.find(module, ast.alias)
            )
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

    def functions_of(self, module: Module) -> tuple[Function, ...]:
        """The functions of a module, in order of the program's."""
        return tuple(self._functions.get(module.name, ()))

    @cached_property
    def _functions(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for function in self.facts.program.functions.values():
            found.setdefault(function.module, []).append(function)
        return found

    def binary(self, symbol: str, left: Type, right: Type) -> Type | None:
        """The result of an operator; None where it is refused. Asked once for each."""
        key = (symbol, left, right)
        if key not in self._binary:
            self._binary[key] = self.library.binary(symbol, Argument(left), Argument(right))
        return self._binary[key]

    def problem(
        self,
        callee: Type,
        arguments: Sequence[Argument],
        keywords: Mapping[str, Argument],
        *,
        unpacked: bool,
    ) -> CallProblem | None:
        """Why a call of the library is certain to raise, or None; asked once for each."""
        key = (callee, tuple(arguments), tuple(keywords.items()), unpacked)
        if key not in self._problems:
            self._problems[key] = self.library.problem(
                callee, arguments, keywords, unpacked=unpacked
            )
        return self._problems[key]

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
