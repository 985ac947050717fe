"""What to write into each module: decided from facts, before any text is touched."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppybuild.convert.annotations import (
    Names,
    annotation,
    parameter_annotation,
    result_annotation,
)
from ppybuild.convert.tolerance import annotations_are_read, tolerates_annotations
from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.flow import Flow, Slot
from ppybuild.graph.flow.mutation import mutated_parameters
from ppybuild.graph.index import bindings_of
from ppybuild.graph.lattice import is_known, join_all, widened
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts, Function, Module, Parameter
from ppybuild.graph.promote import Promotion
from ppybuild.graph.scopes import statements_of
from ppybuild.graph.types import Array, Buffer, Collection, Instance, Tuple, Type, Union

Span = tuple[int, int, int, int]
"""First line, first column, last line, end column; lines from 1, columns from 0, in
characters."""

ELEMENTS = {"d": "f64", "q": "i64"}


@dataclass(frozen=True, slots=True)
class FunctionEdit:
    """What a `def` gets: annotations by parameter, the result's, and `@ppy.pure`."""

    parameters: Mapping[str, str]
    result: str | None
    pure: bool


@dataclass(frozen=True, slots=True)
class ModuleEdit:
    """What one module gets. Functions and assignments are numbered as
    `definitions_in_order` and `assignments_in_order` meet them."""

    functions: Mapping[int, FunctionEdit]
    assignments: Mapping[int, str]
    arrays: Mapping[Span, str]
    """Expressions to wrap in `array.array(typecode, ...)`."""
    names: Names
    diagnostics: tuple[Diagnostic, ...]


def statements_in_order(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement, nested ones included, in the order of the text."""
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            yield node
        children = [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)
        ]
        pending.extend(reversed(children))


def plan_module(
    facts: Facts, flow: Flow, promotion: Promotion | None, module: Module, *, partial: bool
) -> ModuleEdit:
    """Decide what the module gets. Errors E1304 name parameters that nothing types, as
    warnings where `partial`."""
    return _Planner(facts, flow, promotion, module, partial).plan()


class _Planner:
    def __init__(
        self,
        facts: Facts,
        flow: Flow,
        promotion: Promotion | None,
        module: Module,
        partial: bool,
    ) -> None:
        self.facts = facts
        self.promoted = promotion.slots if promotion else {}
        self.producers = promotion.producers if promotion else {}
        self.mutated = mutated_parameters(flow)
        self.module = module
        self.partial = partial
        classes = facts.program.classes
        defined = {found.node.name for found in classes.values() if found.module == module.name}
        own = frozenset(name.partition(".")[0] for name in facts.program.modules)
        self.names = Names(module.name, bindings_of(module), frozenset(defined), own)
        self.diagnostics: list[Diagnostic] = []
        functions = facts.program.functions.values()
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
        targets.update(self.constants())
        assigned = [node for node in order if isinstance(node, ast.Assign)]
        return ModuleEdit(
            functions,
            {number: targets[node] for number, node in enumerate(assigned) if node in targets},
            self.arrays(),
            self.names,
            tuple(self.diagnostics),
        )

    def may_annotate(self, function: Function) -> bool:
        reason = tolerates_annotations(self.facts, function) or annotations_are_read(
            self.facts, function
        )
        if reason:
            message = f"`{function.node.name}` is typed but not annotated: {reason}"
            self.diagnostics.append(
                Diagnostic("R3004", message, locate(self.module, function.node))
            )
        return not reason

    def function(self, function: Function) -> FunctionEdit:
        signature = self.facts.signatures[function.name]
        parameters: dict[str, str] = {}
        skipped = 1 if function.owner and not _is_static(function) else 0
        for parameter in signature.parameters[skipped:]:
            if parameter.annotated:
                continue
            text = self.parameter(function, parameter)
            if text is None:
                self.untyped(function, parameter)
            else:
                parameters[parameter.name] = text
        result = None
        if not signature.result_annotated:
            result = self.result(function, signature.result)
        effects = self.facts.effects.get(function.name)
        pure = effects is not None and effects.pure and self.worth_marking(function)
        if pure:
            self.names.plain("ppy")
        return FunctionEdit(parameters, result, pure)

    def worth_marking(self, function: Function) -> bool:
        """`@ppy.pure` stands on module-level functions that are not marked yet."""
        decorated = [ast.unparse(found) for found in function.node.decorator_list]
        top_level = function.owner is None and "<locals>" not in function.name
        return top_level and not decorated

    def parameter(self, function: Function, parameter: Parameter) -> str | None:
        slot = Slot("variable", function.name, parameter.name)
        type: Type = parameter.type
        if parameter.kind == "rest":
            type = _item(type)
        if slot in self.promoted:
            type = Buffer(ELEMENTS[self.promoted[slot]])
        if not is_known(type):
            return None
        return parameter_annotation(widened(type), self.names, mutated=slot in self.mutated)

    def result(self, function: Function, type: Type) -> str | None:
        slot = Slot("result", function.name)
        if slot in self.promoted:
            type = Buffer(ELEMENTS[self.promoted[slot]])
        return result_annotation(type, self.names) if is_known(type) else None

    def untyped(self, function: Function, parameter: Parameter) -> None:
        nodes = [found for found in ast.walk(function.node.args) if isinstance(found, ast.arg)]
        node = next(found for found in nodes if found.arg == parameter.name)
        message = f"nothing tells the type of `{parameter.name}` of `{function.node.name}`"
        help = "call it somewhere in the project, give it a default, or annotate it"
        code = "W1304" if self.partial else "E1304"
        self.diagnostics.append(Diagnostic(code, message, locate(self.module, node), help))

    def locals(self, function: Function) -> Iterator[tuple[ast.Assign, str]]:
        """The first binding of each local whose type is settled."""
        found = self.facts.locals.get(function.name, {})
        seen = {arg.arg for arg in ast.walk(function.node.args) if isinstance(arg, ast.arg)}
        for statement in statements_of(function.node.body):
            if isinstance(statement, ast.Global | ast.Nonlocal):
                seen.update(statement.names)
        for statement in statements_of(function.node.body):
            name = _single_name(statement)
            if name is not None and name not in seen and isinstance(statement, ast.Assign):
                slot = Slot("variable", function.name, name)
                text = None if slot in self.promoted else self.local(found.get(name))
                if text is not None:
                    yield statement, text
            seen.update(_bound_by(statement))

    def local(self, type: Type | None) -> str | None:
        if type is None or not is_known(type) or isinstance(type, Union | Array):
            return None
        return annotation(widened(type), self.names)

    def fields(self) -> Iterator[tuple[ast.Assign, str]]:
        """`self.x = ...`, where it is first assigned."""
        for name, found in self.facts.program.classes.items():
            if found.module != self.module.name:
                continue
            seen: set[str] = set()
            for method in found.node.body:
                if isinstance(method, ast.FunctionDef) and method.args.args:
                    receiver = method.args.args[0].arg
                    yield from self.fields_in(name, method, receiver, seen)

    def fields_in(
        self, owner: str, method: ast.FunctionDef, receiver: str, seen: set[str]
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
            if Slot("field", owner, target.attr) in self.promoted or isinstance(type, Instance):
                continue
            text = self.local(type)
            if text is not None:
                yield statement, text

    def constants(self) -> Iterator[tuple[ast.Assign, str]]:
        """Upper-case names of the module that are bound once in the whole program."""
        for statement in self.module.tree.body:
            name = _single_name(statement)
            if name is None or not isinstance(statement, ast.Assign) or not name.isupper():
                continue
            if isinstance(statement.value, ast.Constant) and self.is_constant(name):
                yield statement, self.names.member("typing", "Final")

    def is_constant(self, name: str) -> bool:
        """Bound once, and written nowhere else."""
        dotted = f"{self.module.name}.{name}"
        if any(dotted in effects.writes_globals for effects in self.facts.effects.values()):
            return False
        stores = [
            node
            for node in ast.walk(self.module.tree)
            if isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store | ast.Del)
        ]
        return len(stores) == 1

    def arrays(self) -> dict[Span, str]:
        found: dict[Span, str] = {}
        for node in ast.walk(self.module.tree):
            if isinstance(node, ast.expr) and node in self.producers:
                place = locate(self.module, node)
                span = (place.line, place.column - 1, place.end_line, place.end_column - 1)
                found[span] = self.producers[node]
        if found:
            self.names.plain("array")
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


def _single_name(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id
    return None


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement itself binds, those of blocks inside it left out."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        pending.extend(
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        )
