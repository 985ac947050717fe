"""The whole program while it becomes C: its variables, functions and tuples."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.names import mangle
from ppybuild.emit.standalone.classes import ClassForm
from ppybuild.emit.standalone.kinds import (
    Kind,
    Reference,
    TupleOf,
    c_type,
    is_flat,
    kind_of,
    may_be_item,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value
from ppybuild.graph import types
from ppybuild.graph.imports import absolute_name, imported_modules
from ppybuild.graph.lattice import join_all, show
from ppybuild.graph.load import reachable
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Facts, Module
from ppybuild.graph.scopes import statements_of
from ppybuild.graph.syntax import children, walk

CODE = "E2113"


@dataclass(frozen=True, slots=True)
class Variable:
    """A global variable."""

    key: tuple[str, str]
    """Its module, and its name there."""
    place: Value
    flag: str
    """Set once it is bound."""
    early: bool
    """Bound before anything of the module can be called."""


@dataclass(frozen=True, slots=True)
class FunctionForm:
    """What a caller has to know of a function."""

    name: str
    parameters: Mapping[str, Kind]
    result: Kind

    @property
    def c(self) -> str:
        return f"w_{mangle(self.name)}"


@dataclass(slots=True)
class Whole:
    """What is found and asked for on the way."""

    facts: Facts
    main: str
    variables: dict[tuple[str, str], Variable] = field(default_factory=dict)
    flagged: set[tuple[str, str]] = field(default_factory=set)
    defined_late: set[str] = field(default_factory=set)
    """Functions of which a call asks whether their `def` has run."""
    exceptions: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)
    """Classes of exceptions: number in C, name, name in tracebacks, what it is a kind of."""
    classes: dict[str, ClassForm] = field(default_factory=dict)
    stored: frozenset[str] | None = None
    """Every attribute that the program assigns to, once that is asked for."""
    lists: int = 0
    globals: list[tuple[str, Kind]] = field(default_factory=list)
    """The C variables of global variables."""
    tuples: set[TupleOf] = field(default_factory=set)
    forms: dict[str, FunctionForm] = field(default_factory=dict)
    queue: list[str] = field(default_factory=list)
    """Functions that are called, and not yet written."""
    modules: list[str] = field(default_factory=list)
    """Modules that are imported, and not yet written."""
    refused: dict[tuple[str, int, int], Diagnostic] = field(default_factory=dict)
    _stores: dict[str, dict[str, list[types.Type | None]]] = field(default_factory=dict)
    _early: dict[str, frozenset[str]] = field(default_factory=dict)

    def refuse(self, module: Module, refused: Refused, statement: ast.AST) -> None:
        """Remember why; the first reason at a place is told."""
        node = refused.node if hasattr(refused.node, "lineno") else statement
        place = locate(module, node)
        found = Diagnostic(CODE, f"{refused.reason}: this needs Python", place, refused.help)
        self.refused.setdefault((module.name, place.line, place.column), found)

    # Functions

    def form(self, name: str, node: ast.AST) -> FunctionForm:
        """A function that is called, which has to be written then."""
        if name in self.forms:
            return self.forms[name]
        function, signature = self.facts.program.functions[name], self.facts.signatures[name]
        parameters = {}
        for each in signature.parameters:
            kind = kind_of(each.type)
            if each.kind in ("rest", "keywords"):
                raise Refused(node, f"`{name}` takes any number of arguments")
            if kind is None:
                raise Refused(node, f"`{each.name}` of `{name}` is {show(each.type)}")
            parameters[each.name] = kind
        result = kind_of(signature.result)
        if signature.result is types.NEVER:
            result = kind_of(types.NONE)
        if result is None:
            raise Refused(node, f"`{name}` returns {show(signature.result)}")
        if name != f"{function.owner or function.module}.{function.node.name}":
            raise Refused(node, f"`{name}` lies in a function", "move it out")
        self.forms[name] = FunctionForm(name, parameters, result)
        self.queue.append(name)
        return self.forms[name]

    # Variables

    def variable(
        self, module: str, name: str, node: ast.AST, kind: Kind | None = None
    ) -> Variable:
        """A global variable by the name that code of `module` has for it.

        `kind` is that of what is assigned: it counts where the program's types do not tell.
        """
        module, name = self._origin(module, name, node)
        key = (module, name)
        if key not in self.variables:
            self.variables[key] = self._variable(key, node, kind)
        return self.variables[key]

    def is_settled(self, module: str, name: str, node: ast.AST) -> bool:
        """Whether a constant has its value before anything could read it."""
        module, name = self._origin(module, name, node)
        return name not in self.stores(module) or name in self.early(module)

    def _variable(self, key: tuple[str, str], node: ast.AST, assigned: Kind | None) -> Variable:
        module, name = key
        found = self.stores(module).get(name)
        if found is None:
            raise Refused(node, f"`{name}` is no variable of the program")
        known = [type_ for type_ in found if type_ is not None]
        joined = join_all(known)
        kind = kind_of(joined) if len(known) == len(found) else None
        kind = kind or assigned
        if kind is None or not may_be_item(kind):
            raise Refused(node, f"`{name}` is {show(joined)}")
        plain = mangle(f"{module}.{name}")
        place = self._place(f"ppy_G_{plain}", kind)
        return Variable(key, place, f"ppy_D_{plain}", name in self.early(module))

    def _place(self, c: str, kind: Kind) -> Value:
        if isinstance(kind, Reference):
            self.lists += 1
            return Value(kind, f"ppy_global_lists[{self.lists - 1}]")
        if isinstance(kind, TupleOf) and not is_flat(kind):
            parts = tuple(
                self._place(f"ppy_part{at}_{c}", each) for at, each in enumerate(kind.items)
            )
            return Value(kind, "", parts=parts)
        if isinstance(kind, TupleOf):
            self.tuples.add(kind)
        self.globals.append((c, kind))
        return Value(kind, c)

    def _origin(self, module: str, name: str, node: ast.AST) -> tuple[str, str]:
        """Through `from … import`, where the variable is bound only once."""
        seen: set[tuple[str, str]] = set()
        while (module, name) not in seen:
            seen.add((module, name))
            source = self._imported(module).get(name)
            if source is None or name in self.stores(module):
                break
            module, name = source
            if len(self.stores(module).get(name, ())) > 1:
                raise Refused(
                    node,
                    f"`{name}` of `{module}` is imported by name and bound more than once",
                    f"write `{module}.{name}`",
                )
        return module, name

    def _imported(self, module: str) -> dict[str, tuple[str, str]]:
        found = {}
        source = self.facts.program.modules[module]
        for statement in statements_of(source.tree.body):
            if isinstance(statement, ast.ImportFrom):
                origin = absolute_name(source, statement)
                if origin in self.facts.program.modules:
                    for alias in statement.names:
                        found[alias.asname or alias.name] = (origin, alias.name)
        return found

    def stores(self, module: str) -> dict[str, list[types.Type | None]]:
        """The types of what is bound to each global variable of a module, by statements."""
        if module not in self._stores:
            found: dict[str, list[types.Type | None]] = {}
            tree = self.facts.program.modules[module].tree
            for name in _own_stores(tree):
                found.setdefault(name.id, []).append(self.facts.types.get(name))
            for function in self.facts.program.functions.values():
                if function.module != module:
                    continue
                said = {
                    name
                    for each in walk(function.node)
                    if isinstance(each, ast.Global)
                    for name in each.names
                }
                for each in walk(function.node):
                    if isinstance(each, ast.Name) and each.id in said and _is_bound(each):
                        found.setdefault(each.id, []).append(self.facts.types.get(each))
            self._stores[module] = found
        return self._stores[module]

    def early(self, module: str) -> frozenset[str]:
        """What is bound before the module's code can run anything that could read it."""
        if module not in self._early:
            self._early[module] = frozenset(_early_names(self.facts, module))
        return self._early[module]

    def declarations(self) -> Iterator[str]:
        """C for the global variables."""
        for variable in self.variables.values():
            yield f"static bool {variable.flag};"
        for c, kind in self.globals:
            yield f"static {c_type(kind)} {c};"


def _own_stores(tree: ast.AST) -> Iterator[ast.Name]:
    """Names that a body binds, without those of what has a scope of its own."""
    for child in children(tree):
        if isinstance(child, ast.Name) and _is_bound(child):
            yield child
        elif isinstance(child, ast.comprehension):
            yield from _own_stores(child.iter)
        elif not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            yield from _own_stores(child)


def _is_bound(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _early_names(facts: Facts, module: str) -> Iterator[str]:
    source = facts.program.modules[module]
    for statement in source.tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                single = Module(
                    module,
                    source.path,
                    source.text,
                    ast.Module([statement], []),
                    source.is_package,
                )
                imported = set(imported_modules(facts.program.modules, single))
                if any(module in reachable(facts.program, each) for each in imported):
                    return
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant()):
                yield name
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.UnaryOp(operand=ast.Constant())
            ):
                yield name
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                return
