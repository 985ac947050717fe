"""What to write into each module: decided from facts, before any text is touched."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppybuild.convert.annotations import abstract, annotation, result_annotation
from ppybuild.convert.bindings import Constants, bound_by, single_name, statements_in_order
from ppybuild.convert.names import Names, is_for_types, names_of
from ppybuild.convert.promoted import Promoted
from ppybuild.convert.tolerance import Tolerance
from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.flow import Slot
from ppybuild.graph.imports import absolute_name, imports_of, provides
from ppybuild.graph.lattice import is_known, join_all, widened
from ppybuild.graph.locations import locate, source_path
from ppybuild.graph.program import Facts, Function, Module, Parameter
from ppybuild.graph.scopes import scope_of, statements_of
from ppybuild.graph.types import (
    Array,
    Buffer,
    Collection,
    Dictionary,
    Never,
    Tuple,
    Type,
    Union,
    Unknown,
)

Span = tuple[int, int, int, int]
"""First line, first column, last line, end column; lines from 1, columns from 0, in
characters."""


@dataclass(frozen=True, slots=True)
class Wrap:
    """`function(typecode, ...)`"""

    function: str
    """`array.array` or `ppy.grid`, as the module calls it."""
    typecode: str


@dataclass(frozen=True, slots=True)
class FunctionEdit:
    """What a `def` gets: annotations by parameter, the result's, and the decorator that
    says it is pure."""

    parameters: Mapping[str, str]
    result: str | None
    pure: str | None


@dataclass(frozen=True, slots=True)
class ModuleEdit:
    """What one module gets. Functions and assignments are numbered as
    `statements_in_order` meets them."""

    functions: Mapping[int, FunctionEdit]
    assignments: Mapping[int, str]
    wraps: Mapping[Span, Wrap]
    """Expressions that become the last argument of a call."""
    names: Names
    diagnostics: tuple[Diagnostic, ...]
    settled: bool
    """False where something was left as it is because its type is not known."""


@dataclass(frozen=True, slots=True)
class Plans:
    """What planning any module needs, found once for the program."""

    facts: Facts
    promoted: Promoted
    tolerance: Tolerance
    constants: Constants
    starred: frozenset[str]
    partial: bool

    def module(self, module: Module) -> ModuleEdit:
        """Decide what the module gets. Errors E1304 name parameters that nothing types, as
        warnings where `partial`."""
        return _Planner(self, module).plan()

    def first_call(self, function: Function) -> str | None:
        """Where the program calls a function first, as `app/train.py:12`."""
        callees = self.facts.callees
        for module in self.facts.program.modules.values():
            for node in ast.walk(module.tree):
                if not isinstance(node, ast.Call):
                    continue
                callee = callees.get(node)
                if callee is not None and callee.name == function.name:
                    return f"{source_path(module)}:{node.lineno}"
        return None


class _Planner:
    def __init__(self, plans: Plans, module: Module) -> None:
        self.plans = plans
        self.facts = plans.facts
        self.promoted = plans.promoted
        self.module = module
        self.names = names_of(plans.facts, module, plans.starred)
        self.diagnostics: list[Diagnostic] = []
        self.settled = True
        functions = plans.facts.program.functions.values()
        self.functions = {
            found.node: found for found in functions if found.module == module.name
        }

    def plan(self) -> ModuleEdit:
        functions: dict[int, FunctionEdit] = {}
        targets: dict[ast.Assign, str] = {}
        order = list(statements_in_order(self.module.tree))
        definitions = [
            node for node in order if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        for number, node in enumerate(definitions):
            function = self.functions.get(node)
            if function is None:
                continue
            if self.may_annotate(function):
                functions[number] = self.function(function)
            targets.update(self.locals(function))
        targets.update(self.fields())
        targets.update(self.finals())
        wraps = self.wraps()
        if self.imports_own():
            self.names.plain("ppy")
        assigned = [node for node in order if isinstance(node, ast.Assign)]
        return ModuleEdit(
            functions,
            {number: targets[node] for number, node in enumerate(assigned) if node in targets},
            wraps,
            self.names,
            tuple(self.diagnostics),
            self.settled,
        )

    def imports_own(self) -> bool:
        """Whether it imports modules of the project, which `import ppy` lets Python find."""
        modules = self.facts.program.modules
        body = [node for node in self.module.tree.body if not is_for_types(node)]
        for statement, _ in imports_of(body):
            if isinstance(statement, ast.ImportFrom):
                if statement.level or provides(modules, absolute_name(self.module, statement)):
                    return True
            elif any(provides(modules, alias.name) for alias in statement.names):
                return True
        return False

    def may_annotate(self, function: Function) -> bool:
        reason = self.plans.tolerance.objection(function)
        if reason:
            message = f"`{function.node.name}` is typed but not annotated: {reason}"
            self.diagnostics.append(
                Diagnostic("R3004", message, locate(self.module, function.node))
            )
        return not reason

    def function(self, function: Function) -> FunctionEdit:
        signature = self.facts.signatures[function.name]
        names = self.names.at(function.node.lineno)
        parameters: dict[str, str] = {}
        skipped = 1 if function.owner and not _is_static(function) else 0
        for parameter in signature.parameters[skipped:]:
            if parameter.annotated:
                continue
            type = self.parameter(function, parameter)
            if isinstance(type, Unknown | Never):
                self.untyped(function, parameter)
                continue
            text = annotation(type, names)
            if text is not None and not self.shadowed(function, text):
                parameters[parameter.name] = text
        result = None
        if not signature.result_annotated and not _generates(function):
            result = self.result(function, signature.result, names)
        return FunctionEdit(parameters, result, self.pure(function, names))

    def shadowed(self, function: Function, text: str) -> bool:
        """Whether the class around binds a name that the annotation means otherwise."""
        if function.owner is None or self.names.lazy:
            return False
        body = self.facts.program.classes[function.owner].node.body
        bound = scope_of(body, expressions=False).bound
        return bool(bound) and any(
            isinstance(node, ast.Name) and node.id in bound
            for node in ast.walk(ast.parse(text))
        )

    def pure(self, function: Function, names: Names) -> str | None:
        """`@ppy.pure` stands on functions and methods that have no decorator yet."""
        effects = self.facts.effects.get(function.name)
        node = function.node
        nested = "<locals>" in function.name
        dunder = node.name.startswith("__") and node.name.endswith("__")
        deferred = isinstance(node, ast.AsyncFunctionDef) or _generates(function)
        if effects is None or not effects.pure or nested or dunder or deferred:
            return None
        if node.decorator_list:
            return None
        text = f"{names.plain('ppy')}.pure"
        return None if self.shadowed(function, text) else text

    def parameter(self, function: Function, parameter: Parameter) -> Type:
        slot = Slot("variable", function.name, parameter.name)
        type: Type = parameter.type
        if parameter.kind == "rest":
            return widened(_item(type))
        if parameter.kind == "keywords":
            return widened(type.value if isinstance(type, Dictionary) else type)
        type = self.promoted.type_of(slot, widened(type))
        return type if self.promoted.is_mutated(slot) else abstract(type)

    def result(self, function: Function, type: Type, names: Names) -> str | None:
        type = self.promoted.type_of(Slot("result", function.name), type)
        self.settled = self.settled and is_known(type)
        text = result_annotation(type, names) if is_known(type) else None
        return None if text is None or self.shadowed(function, text) else text

    def untyped(self, function: Function, parameter: Parameter) -> None:
        nodes = [found for found in ast.walk(function.node.args) if isinstance(found, ast.arg)]
        node = next(found for found in nodes if found.arg == parameter.name)
        message = f"nothing tells the type of `{parameter.name}` of `{function.node.name}`"
        called = self.plans.first_call(function)
        help = (
            "call it somewhere in the project, give it a default, or annotate it"
            if called is None
            else f"what it is called with at {called} is not known there; annotate it"
        )
        self.settled = False
        code = "W1304" if self.plans.partial else "E1304"
        if not self.plans.partial:
            help += "; `--partial` leaves it untyped"
        self.diagnostics.append(Diagnostic(code, message, locate(self.module, node), help))

    def locals(self, function: Function) -> Iterator[tuple[ast.Assign, str]]:
        """The first binding of each local whose type is settled."""
        found = self.facts.locals.get(function.name, {})
        seen = {arg.arg for arg in ast.walk(function.node.args) if isinstance(arg, ast.arg)}
        for statement in statements_of(function.node.body):
            if isinstance(statement, ast.Global | ast.Nonlocal):
                seen.update(statement.names)
        for statement in statements_of(function.node.body):
            name = single_name(statement)
            if name is not None and name not in seen and isinstance(statement, ast.Assign):
                slot = Slot("variable", function.name, name)
                text = self.local(slot, found.get(name))
                if text is not None:
                    yield statement, text
            seen.update(bound_by(statement))

    def local(self, slot: Slot, type: Type | None) -> str | None:
        """Of a buffer, `array.array(...)` says it all."""
        if type is None or isinstance(type, Array):
            return None
        if not is_known(type):
            self.settled = False
            return None
        type = self.promoted.type_of(slot, widened(type))
        if isinstance(type, Union | Buffer):
            return None
        return annotation(type, self.names.at(None))

    def fields(self) -> Iterator[tuple[ast.Assign, str]]:
        """`self.x = ...`, where it is first assigned."""
        for name, found in self.facts.program.classes.items():
            if found.module != self.module.name:
                continue
            seen: set[str] = set()
            for method in found.node.body:
                if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if method.args.args and not method.decorator_list:
                    receiver = method.args.args[0].arg
                    yield from self.fields_in(name, method, receiver, seen)

    def fields_in(
        self,
        owner: str,
        method: ast.FunctionDef | ast.AsyncFunctionDef,
        receiver: str,
        seen: set[str],
    ) -> Iterator[tuple[ast.Assign, str]]:
        for statement in statements_of(method.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(
                statement.target, ast.Attribute
            ):
                seen.add(statement.target.attr)
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target = statement.targets[0]
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                continue
            if target.value.id != receiver or target.attr in seen:
                continue
            seen.add(target.attr)
            type = self.facts.fields.get(owner, {}).get(target.attr)
            text = self.local(Slot("field", owner, target.attr), type)
            if text is not None:
                yield statement, text

    def finals(self) -> Iterator[tuple[ast.Assign, str]]:
        """Upper-case constants of the module that are bound once in the whole program."""
        if self.plans.tolerance.everywhere:
            return
        for statement in self.module.tree.body:
            if isinstance(statement, ast.Assign) and self.plans.constants.holds(
                self.module, statement
            ):
                yield statement, self.names.member("typing", "Final")

    def wraps(self) -> dict[Span, Wrap]:
        makers = (
            ("array", "array", self.promoted.producers),
            ("ppy", "grid", self.promoted.grid_producers),
        )
        found: dict[Span, Wrap] = {}
        for node in ast.walk(self.module.tree):
            for home, function, typecodes in makers:
                if isinstance(node, ast.expr) and node in typecodes:
                    place = locate(self.module, node)
                    span = (place.line, place.column - 1, place.end_line, place.end_column - 1)
                    called = f"{self.names.plain(home)}.{function}"
                    found[span] = Wrap(called, typecodes[node])
        return found


def _item(type: Type) -> Type:
    """The type of each of `*args`."""
    if isinstance(type, Tuple):
        return join_all(type.items)
    return type.item if isinstance(type, Collection) else type


def _is_static(function: Function) -> bool:
    return any(
        isinstance(found, ast.Name) and found.id == "staticmethod"
        for found in function.node.decorator_list
    )


def _generates(function: Function) -> bool:
    return scope_of(function.node.body, expressions=True).yields
