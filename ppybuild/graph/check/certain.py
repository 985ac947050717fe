"""Whether the type of an expression is more than a guess from the callers seen so far.

A parameter without an annotation has the type of what the program passes, but a library may
be called by others; an attribute may be set from anywhere. A finding needs types that hold
for every run: of displays and constants, of what libraries declare, of annotations, and of
what is computed from such.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from ppybuild.graph.check.bindings import binds_anything, collect
from ppybuild.graph.check.nodes import Nodes
from ppybuild.graph.check.place import Place
from ppybuild.graph.program import Facts, Function
from ppybuild.graph.program import Module as ModuleRecord
from ppybuild.graph.scopes import parameters_of, target_names
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import (
    UNKNOWN,
    Array,
    Class,
    Instance,
    Module,
    Never,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Unknown,
)
from ppybuild.graph.types import Function as FunctionType

DEPTH = 12


@dataclass
class Certainty:
    """Answers for one program; remembers."""

    facts: Facts
    nodes: Nodes
    stored: frozenset[str]
    """Names of attributes that the program sets on any object."""
    _bindings: dict[ast.AST, dict[str, list[ast.expr | None]]] = field(default_factory=dict)
    _names: dict[tuple[ast.AST, str], bool] = field(default_factory=dict)
    _inners: dict[str, frozenset[str]] = field(default_factory=dict)

    def _type(self, node: ast.expr) -> Type:
        return self.facts.types.get(node, UNKNOWN)

    def holds(self, place: Place, node: ast.expr, depth: int = 0) -> bool:
        """True where the type that facts give the expression is sure."""
        if depth > DEPTH or isinstance(self._type(node), Unknown | Never):
            return False

        def sure(*parts: ast.expr) -> bool:
            return all(self.holds(place, part, depth + 1) for part in parts)

        match node:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return isinstance(node, ast.List | ast.Set) or sure(*parts)
            case ast.Dict() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                return True
            case ast.Name():
                return self._name(place, node, depth)
            case ast.Attribute(value=owner):
                return self._attribute(place, owner, depth)
            case ast.Call(func=function):
                return self._call(place, node, function, depth)
            case ast.BinOp(left=left, right=right):
                return sure(left, right)
            case ast.UnaryOp(op=ast.Not()):
                return True
            case ast.UnaryOp(operand=operand):
                return sure(operand)
            case ast.IfExp(body=body, orelse=otherwise):
                return sure(body, otherwise)
            case ast.Subscript(value=owner):
                # What a list or dictionary holds, any alias of it may have changed.
                fixed = isinstance(self._type(owner), Scalar | Tensor | Array | Tuple)
                return fixed and sure(owner)
            case ast.NamedExpr(value=value):
                return sure(value)
            case ast.Compare(left=left, comparators=others):
                return sure(left, *others)
            case _:
                return False

    def _attribute(self, place: Place, owner: ast.expr, depth: int) -> bool:
        kind = self._type(owner)
        if isinstance(kind, Module):
            return kind.name not in self.facts.program.modules
        return isinstance(kind, Tensor) and self.holds(place, owner, depth + 1)

    def _call(self, place: Place, node: ast.Call, function: ast.expr, depth: int) -> bool:
        callee = self.facts.callees.get(node)
        if callee is None:
            return False
        if callee.kind == "project":
            signature = self.facts.signatures.get(callee.name)
            if signature is None or self.is_overloaded(callee.name):
                return False
            return signature.result_declared
        if callee.kind == "class":
            return True
        if callee.kind == "external" and not self.holds(place, function, depth + 1):
            return False  # a variable that only some assignments were seen of
        if callee.kind == "method":
            if not isinstance(function, ast.Attribute):
                return False
            if not self.holds(place, function.value, depth + 1):
                return False
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return False
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        return all(
            self.holds(place, argument, depth + 1)
            or isinstance(self._type(argument), Class | FunctionType | Module)
            for argument in arguments
        )

    def _name(self, place: Place, node: ast.Name, depth: int) -> bool:
        kind = self._type(node)
        if isinstance(kind, Module | Class | FunctionType):
            return not self._shadowed(place, node.id)
        if place.nested or place.in_class:
            return False
        key = (place.module.tree if place.function is None else place.function.node, node.id)
        known = self._names.get(key)
        if known is None:
            self._names[key] = False  # a name that depends on itself is not sure
            if place.function is None or self._is_global(place.function, node.id):
                known = self._variable(place.module, node.id, depth)
            else:
                known = self._local(place, place.function, node.id, depth)
            self._names[key] = known
        return known

    def _is_global(self, function: Function, name: str) -> bool:
        """True where no function around binds the name."""
        around: Function | None = function
        while around is not None:
            parameters = {parameter.arg for parameter in parameters_of(around.node)}
            if name in parameters or name in self.bindings_of(around.node):
                return False
            outer, _, _ = around.name.rpartition(".<locals>.")
            around = self.facts.program.functions.get(outer)
        return True

    def _variable(self, module: ModuleRecord, name: str, depth: int) -> bool:
        """A variable of a module: sure where its top level alone binds it."""
        if self._modules_are_open or name in self.stored or name in self._globals(module):
            return False
        bindings = self.bindings_of(module.tree)
        sources = bindings.get(name)
        if not sources or "*" in bindings:
            return False
        top = Place(module, None, False, frozenset(), False, False)
        return all(
            source is not None and self.holds(top, source, depth + 1) for source in sources
        )

    def _globals(self, module: ModuleRecord) -> frozenset[str]:
        """What functions of a module declare `global`."""
        found = self.nodes.find(module, ast.Global)
        return frozenset(name for node in found for name in node.names)

    @cached_property
    def _modules_are_open(self) -> bool:
        """True where something in the program may bind any variable of a module."""
        modules = self.facts.program.modules.values()
        return any(
            binds_anything(node)
            and not (
                isinstance(node, ast.Call)
                and isinstance(self.facts.types.get(node.args[0]), Instance | Class)
            )
            for module in modules
            for node in (*self.nodes.find(module, ast.Call), *self.nodes.find(module, ast.Name))
        )

    def _shadowed(self, place: Place, name: str) -> bool:
        """True where the name of an import or definition is a variable around here."""
        if place.nested and name in self._inner(place.module):
            return True
        around = place.function
        while around is not None:
            parameters = {parameter.arg for parameter in parameters_of(around.node)}
            if name in parameters or name in self.bindings_of(around.node):
                return True
            outer, _, _ = around.name.rpartition(".<locals>.")
            around = self.facts.program.functions.get(outer)
        return False

    def _inner(self, module: ModuleRecord) -> frozenset[str]:
        """What lambdas and comprehensions of a module bind."""
        if module.name not in self._inners:
            found = {each.arg for each in self.nodes.find(module, ast.arg)}
            for each in self.nodes.find(module, ast.comprehension):
                found.update(target_names(each.target))
            self._inners[module.name] = frozenset(found)
        return self._inners[module.name]

    def is_overloaded(self, name: str) -> bool:
        """True where a function is defined more than once, as overloads are."""
        return f"{name.partition('#')[0]}#2" in self.facts.program.functions

    def _local(self, place: Place, function: Function, name: str, depth: int) -> bool:
        bindings = self.bindings_of(function.node)
        parameter = self._parameter(function, name)
        if parameter is not None and not parameter:
            return False
        sources = bindings.get(name)
        if sources is None:
            return parameter is not None
        plain = Place(place.module, function, False, frozenset(), False, False)
        return all(
            source is not None and self.holds(plain, source, depth + 1) for source in sources
        )

    def _parameter(self, function: Function, name: str) -> bool | None:
        """Whether a parameter's type is sure; None where it is no parameter."""
        if name not in {parameter.arg for parameter in parameters_of(function.node)}:
            return None
        signature = self.facts.signatures.get(function.name)
        if signature is None:
            return False
        for parameter in signature.parameters:
            if parameter.name == name:
                return parameter.annotated or self._from_callers(function, name)
        return False

    def _from_callers(self, function: Function, name: str) -> bool:
        """True where every caller can be seen, and each passes something sure."""
        sites = self._sites.get(function.name)
        if function.owner is not None or not sites or function.node.decorator_list:
            return False
        if function.node.name in self._escaping or function.node.args.vararg is not None:
            return False
        names = [parameter.arg for parameter in parameters_of(function.node)]
        position = names.index(name)
        for place, call in sites:
            if any(isinstance(argument, ast.Starred) for argument in call.args):
                return False
            given = [k.value for k in call.keywords if k.arg == name]
            if position < len(call.args):
                given.append(call.args[position])
            if any(keyword.arg is None for keyword in call.keywords) or len(given) != 1:
                return False
            if not self.holds(place, given[0], DEPTH // 2):
                return False
        return True

    @cached_property
    def _sites(self) -> dict[str, list[tuple[Place, ast.Call]]]:
        """Calls of the program's functions, by function."""
        found: dict[str, list[tuple[Place, ast.Call]]] = {}
        program = self.facts.program
        inside: dict[ast.AST, Function] = {}
        for function in program.functions.values():
            for statement in function.node.body:
                for node in walk(statement):
                    if isinstance(node, ast.Call):
                        inside[node] = function  # the innermost one comes last
        for module in program.modules.values():
            for node in self.nodes.find(module, ast.Call):
                callee = self.facts.callees.get(node)
                if callee is not None and callee.kind == "project":
                    place = Place(module, inside.get(node), False, frozenset(), False, False)
                    found.setdefault(callee.name, []).append((place, node))
        return found

    @cached_property
    def _escaping(self) -> frozenset[str]:
        """Names that are used for more than being called: passed, stored, exported."""
        found: set[str] = set()
        for module in self.facts.program.modules.values():
            calls = self.nodes.find(module, ast.Call)
            called: set[ast.expr] = {node.func for node in calls}
            for name in self.nodes.find(module, ast.Name):
                if name not in called and isinstance(name.ctx, ast.Load):
                    found.add(name.id)
            for attribute in self.nodes.find(module, ast.Attribute):
                if attribute not in called:
                    found.add(attribute.attr)
            for constant in self.nodes.find(module, ast.Constant):
                text = constant.value
                if isinstance(text, str) and text.isidentifier():
                    found.add(text)  # `__all__`, or `getattr`
        return frozenset(found)

    def bindings_of(self, node: ast.AST) -> dict[str, list[ast.expr | None]]:
        """What each name of a function's body is bound to; None for what cannot be said."""
        if node not in self._bindings:
            found: dict[str, list[ast.expr | None]] = {}
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                collect(node.body, found)
            self._bindings[node] = found
        return self._bindings[node]
