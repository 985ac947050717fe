"""The engine: every unit of the program, the worklist over them, and what they share."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable as Visitor
from collections.abc import Iterator, Mapping, Sequence

from ppybuild.graph.imports import Exports, absolute_name, provides
from ppybuild.graph.index import bindings_of
from ppybuild.graph.infer.annotations import (
    ALIASES,
    BUFFER_MARKS,
    CLASSES,
    COLLECTIONS,
    MAPPINGS,
    read_annotation,
)
from ppybuild.graph.infer.evidence import settle_inputs
from ppybuild.graph.infer.hierarchy import Hierarchy
from ppybuild.graph.infer.mentions import Mentions
from ppybuild.graph.infer.options import find_options
from ppybuild.graph.infer.sites import Sites
from ppybuild.graph.infer.state import Input, Kind, Slot, Unit, Work, outer_units
from ppybuild.graph.lattice import (
    DATA_CLASSES,
    anonymous,
    is_bare,
    optional,
    refined,
    refines,
    widened,
)
from ppybuild.graph.library import Argument, Library
from ppybuild.graph.program import Callee, Constant, FunctionNode, Module, Program
from ppybuild.graph.scopes import parameters_of, scope_of
from ppybuild.graph.types import (
    NEVER,
    STR,
    UNKNOWN,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Type,
    Unknown,
)
from ppybuild.graph.types import Module as ModuleType

MAX_NESTED_VISITS = 12
"""How deep a call is followed while its caller is being visited; deeper ones wait in the
worklist."""

Visit = Visitor[["Engine", Unit], None]


class Engine:
    """Inference over one program. `visit` infers one unit's body once."""

    def __init__(
        self,
        program: Program,
        library: Library,
        constants: dict[str, dict[str, Constant]],
        visit: Visit,
    ) -> None:
        self.program = program
        self.library = library
        self.constant_names = constants
        self.hierarchy = Hierarchy(program, library)
        self.options = find_options(program.modules.values())
        self.sites = Sites()
        self.work = Work()
        self.types: dict[ast.expr, Type] = {}
        self.callees: dict[ast.Call, Callee] = {}
        self.constants: dict[ast.expr, Constant] = {}
        self.fields: dict[str, dict[str, Slot]] = {}
        self.declared_fields: dict[str, dict[str, Type]] = {}
        self.misses: dict[str, dict[Unit, None]] = {}
        """Who asked for a field that nothing had set yet, by its name."""
        self.units: dict[str, Unit] = {}
        self.lambdas: dict[ast.Lambda, Unit] = {}
        self._visit = visit
        self._canonical_names: dict[str, str] = {}
        self._children = self._find_children()
        self._exports = Exports(program.modules)
        self._bindings: dict[str, dict[str, str]] = {}
        self._answers: dict[tuple[object, ...], Type] = {}
        self._active: list[Unit] = []
        self._by_node: dict[ast.AST, str] = {}
        self._globals: dict[tuple[str, str], Type | None] = {}
        for module in program.modules.values():
            self.units[module.name] = self._module_unit(module)
        for name, function in program.functions.items():
            self._by_node[function.node] = name
        for name, found in program.classes.items():
            self._by_node[found.node] = name
            self.fields[name] = {}
            self.declared_fields[name] = {}
        for name in program.functions:
            self.units[name] = self._function_unit(name)

    def run(self) -> None:
        """Visits everything until nothing changes."""
        for name in self.program.modules:
            self.visit(self.units[name])
        self._drain()  # what modules construct is known before methods are looked at
        for unit in list(self.units.values()):
            if not unit.visits and all(
                found.declared is not None
                or (unit.owner is not None and found is unit.inputs[0])
                for found in unit.inputs
            ):
                self.visit(unit)
        self._drain()
        self._visit_uncalled()

    def _visit_uncalled(self) -> None:
        """Visits what nothing is known to call, callers before what they call."""
        while waiting := {unit.name: unit for unit in self.units.values() if not unit.visits}:
            mentions = Mentions(waiting)
            ready = deque(mentions.unmentioned())
            rest = deque(waiting)
            while ready or rest:
                name = ready.popleft() if ready else rest.popleft()
                unit = waiting.pop(name, None)
                if unit is None:
                    continue
                if not unit.visits:
                    settle_inputs(self, unit)
                    self._visit_now(unit)
                    self._drain()
                ready.extend(mentions.forget(name))

    def _drain(self) -> None:
        while (unit := self.work.take()) is not None:
            self._visit_now(unit)

    def visit(self, unit: Unit) -> None:
        """Visits a unit that something is known to run."""
        unit.reached = True
        self._visit_now(unit)

    def result_of(self, unit: Unit, reader: Unit) -> Type:
        """What calling a unit gives, as far as is known; the reader is told of changes."""
        if not unit.reached and reader.reached:
            unit.reached = True
            if unit.visits:
                self.work.add(unit)
        if not unit.visits:
            if not reader.reached:
                settle_inputs(self, unit)
            if len(self._active) > MAX_NESTED_VISITS:
                self.work.add(unit)
            else:
                self._visit_now(unit)
        declared = unit.declared_result
        if declared is not None and not is_bare(declared):
            return declared
        found = self.read(unit.result, reader)
        return declared if declared is not None and not refines(found, declared) else found

    def record_fields(self, name: str) -> list[str]:
        """The fields of a dataclass or NamedTuple in order of its generated `__init__`."""
        found: dict[str, None] = {}
        for ancestor in reversed(self.hierarchy.order(name)):
            for statement in self.program.classes[ancestor].node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(
                    statement.target, ast.Name
                ):
                    found[statement.target.id] = None
        return list(found)

    def imported_name(self, unit: Unit, name: str) -> str | None:
        """The dotted name that a module's import gives a name, of what is not the project's."""
        bound = self._imports(unit.module).get(name)
        if bound is None or "." not in bound or bound in self.program.classes:
            return None
        return None if self.is_project_module(bound.rpartition(".")[0]) else bound

    def read(self, slot: Slot, reader: Unit) -> Type:
        """A slot's type; the reader is told of changes."""
        slot.readers[reader] = None
        return slot.type

    def write(self, slot: Slot, found: Type, writer: Unit) -> None:
        """Joins a type into a slot."""
        if found is not slot.type and found is not NEVER:
            self.work.write(slot, self.sites.narrowed(widened(found)), writer=writer)

    def _visit_now(self, unit: Unit) -> None:
        self.work.drop(unit)
        unit.visits += 1
        self._active.append(unit)
        try:
            self._visit(self, unit)
        except RecursionError:
            self.work.write(unit.result, UNKNOWN)
        finally:
            self._active.pop()

    # The library's answers, kept

    def ask_call(
        self,
        callee: Type,
        arguments: Sequence[Argument],
        keywords: Mapping[str, Argument],
        *,
        unpacked: bool,
    ) -> Type:
        """The result of calling what is the library's."""
        key = (callee, *arguments, *keywords.items(), unpacked)
        found = self._answers.get(key)
        if found is None:
            answer = self.library.call(callee, arguments, keywords, unpacked=unpacked)
            found = self._answers[key] = anonymous(answer)
        return found

    def canonical(self, name: str) -> str:
        """The library's own name of what it offers under a name."""
        found = self._canonical_names.get(name)
        if found is None:
            found = self._canonical_names[name] = self.library.canonical(name)
        return found

    def ask_binary(self, symbol: str, left: Argument, right: Argument) -> Type:
        """The result of an operator; `NEVER` where Python raises TypeError."""
        key = (symbol, left, right)
        found = self._answers.get(key)
        if found is None:
            answer = self.library.binary(symbol, left, right)
            found = self._answers[key] = NEVER if answer is None else anonymous(answer)
        return found

    # Units

    def _module_unit(self, module: Module) -> Unit:
        scope = scope_of(module.tree.body, expressions=":=" in module.text)
        return Unit(module.name, module, module.tree, scope)

    def _function_unit(self, name: str) -> Unit:
        function = self.program.functions[name]
        module = self.program.modules[function.module]
        text = module.text
        scope = scope_of(function.node.body, expressions=":=" in text or "yield" in text)
        self.units[module.name].scope.bound |= scope.globals
        unit = Unit(name, module, function.node, scope, owner=function.owner)
        outer, _, _ = name.rpartition(".<locals>.")
        while outer and outer not in self.units:
            outer = outer.rpartition(".")[0]
        if outer:
            unit.parent = self.units[outer]
            for around in outer_units(unit):
                around.rebound |= scope.nonlocals
        if function.node.returns is not None:
            unit.declared_result = self.annotation(function.node.returns, unit)
            if isinstance(unit.declared_result, Unknown):
                unit.declared_result = None
        unit.decorators = tuple(map(_decorator, function.node.decorator_list))
        unit.inputs = self._inputs(function.node, unit)
        return unit

    def lambda_unit(self, node: ast.Lambda, parent: Unit) -> Unit:
        """The unit of a lambda, made when its expression is first inferred."""
        unit = self.lambdas.get(node)
        if unit is None:
            scope = scope_of([ast.Expr(node.body)], expressions=":=" in parent.module.text)
            name = f"{parent.name}.<lambda>:{len(self.lambdas)}"
            unit = Unit(name, parent.module, node, scope)
            unit.parent = None if isinstance(parent.node, ast.Module) else parent
            unit.inputs = self._inputs(node, unit)
            self.lambdas[node] = unit
            self.units[name] = unit
        return unit

    def _inputs(self, node: FunctionNode | ast.Lambda, unit: Unit) -> tuple[Input, ...]:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        given: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults: dict[ast.arg, ast.expr | None] = dict(
            zip(positional, [*given, *arguments.defaults], strict=True)
        )
        defaults.update(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
        found = []
        for place, parameter in enumerate(parameters_of(node)):
            kind = _kind(arguments, parameter)
            declared: Type | None = None
            default = defaults.get(parameter)
            if parameter.annotation is not None:
                declared = self.annotation(parameter.annotation, unit)
                if isinstance(default, ast.Constant) and default.value is None:
                    declared = optional(declared)
            elif place == 0 and unit.owner is not None:
                declared = self._receiver(unit)
            found.append(
                Input(
                    parameter.arg,
                    kind,
                    declared,
                    default,
                    Slot(),
                    parameter.annotation is not None,
                )
            )
        return tuple(found)

    def _receiver(self, unit: Unit) -> Type | None:
        assert unit.owner is not None
        if "staticmethod" in unit.decorators:
            return None
        name = unit.name.rpartition(".")[2].partition("#")[0]
        if self.hierarchy.is_rebound(unit.owner, name):
            return None
        if "classmethod" in unit.decorators or name in ("__new__", "__init_subclass__"):
            return Class(unit.owner)
        return Instance(unit.owner)

    def owner_of(self, node: ast.AST) -> str:
        """The dotted name of a function or class statement of the project."""
        return self._by_node[node]

    def input_type(self, found: Input, unit: Unit) -> Type:
        """What a parameter is inside the body."""
        item = self.read(found.slot, unit)
        if found.declared is not None:
            item = refined(item, found.declared)
        if found.kind == "keywords":
            return Dictionary("dict", STR, item)
        if found.kind == "rest" and (found.declared is not None or item is UNKNOWN):
            return Collection("tuple", item)
        return item

    # Names

    def global_type(self, module: str, name: str, reader: Unit) -> Type | None:
        """The type of a module variable of the project; None where nothing binds it."""
        if name in self._submodules(module):
            unit = self.units.get(module)
            if unit is None or name not in unit.scope.bound:
                return ModuleType(f"{module}.{name}")
        unit = self.units.get(module)
        if unit is None:
            return None
        if name in unit.scope.bound or name in unit.variables:
            return self.read(unit.variable(name), reader)
        for star in reversed(unit.scope.stars):
            source = absolute_name(unit.module, star)
            if provides(self.program.modules, source):
                if source != module and self._exports.offers(source, name):
                    found = self.global_type(source, name, reader)
                    if found is not None:
                        return found
            else:
                found = self.library.member(ModuleType(source), name)
                if found is not None and not isinstance(found, Unknown):
                    return found
        if name in ("__name__", "__file__", "__doc__"):
            return STR if name != "__doc__" else optional(STR)
        if "__getattr__" in unit.scope.bound:
            return UNKNOWN
        if unit.scope.stars and self._exports.has(module, name):
            return UNKNOWN
        return None

    def _submodules(self, module: str) -> frozenset[str]:
        return self._children.get(module, frozenset())

    def _find_children(self) -> dict[str, frozenset[str]]:
        children: dict[str, set[str]] = {}
        for name in self.program.modules:
            package, _, last = name.rpartition(".")
            while package:
                children.setdefault(package, set()).add(last)
                package, _, last = package.rpartition(".")
        return {name: frozenset(found) for name, found in children.items()}

    def is_project_module(self, name: str) -> bool:
        """True for a module of the project, or a folder of some."""
        return name in self.program.modules or bool(self._submodules(name))

    def annotation(self, node: ast.expr, unit: Unit) -> Type:
        """The type that an annotation in a unit says."""
        return read_annotation(node, lambda name: self.dotted(name, unit))

    def dotted(self, node: ast.expr, unit: Unit) -> str | None:
        """The canonical name of the class (or typing form) that an expression names."""
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value, unit)
            return None if owner is None else self._canonical(f"{owner}.{node.attr}")
        if not isinstance(node, ast.Name):
            return None
        for name in self._local_classes(node.id, unit):
            return name
        bound = self._imports(unit.module).get(node.id)
        if bound is not None:
            return self._canonical(bound)
        if node.id in self.units[unit.module.name].scope.bound:
            return None
        return f"builtins.{node.id}"

    def _local_classes(self, name: str, unit: Unit) -> Iterator[str]:
        prefix = unit.name
        classes = self.program.classes
        while len(prefix) > len(unit.module.name):
            for candidate in (f"{prefix}.<locals>.{name}", f"{prefix}.{name}"):
                if candidate in classes:
                    yield candidate
            prefix = prefix.rpartition(".")[0]
        if f"{unit.module.name}.{name}" in classes:
            yield f"{unit.module.name}.{name}"

    def _imports(self, module: Module) -> dict[str, str]:
        found = self._bindings.get(module.name)
        if found is None:
            found = self._bindings[module.name] = bindings_of(module)
        return found

    def _canonical(self, name: str) -> str | None:
        """Follows re-exports inside the project, then asks the library."""
        for _ in range(20):
            if name in self.program.classes or self.is_project_module(name):
                return name
            module, _, last = name.rpartition(".")
            if module not in self.program.modules:
                break
            bound = self._imports(self.program.modules[module]).get(last)
            if bound is None or bound == name:
                return None
            name = bound
        known = (CLASSES, ALIASES, COLLECTIONS, MAPPINGS, DATA_CLASSES, BUFFER_MARKS)
        if any(name in table for table in known) or name.startswith(("typing", "ppy.")):
            return name
        found = self.library.name(name)
        return found.name if isinstance(found, Class | Function) else name


def _kind(arguments: ast.arguments, parameter: ast.arg) -> Kind:
    if parameter is arguments.vararg:
        return "rest"
    if parameter is arguments.kwarg:
        return "keywords"
    if parameter in arguments.kwonlyargs:
        return "keyword"
    return "positional" if parameter in arguments.posonlyargs else "normal"


def _decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return ast.unparse(node)
