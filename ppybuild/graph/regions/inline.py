"""Follow a function through the program: calls of its functions, loops of known length.

def step(x, y, params, rate):          every statement of `forward_loss` and, for each
    loss = forward_loss(x, y, params)  parameter, of the loop in `descend`, as if it
    loss.backward()                    stood here
    descend(params, rate)
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.graph.locations import function_span, source_path
from ppybuild.graph.program import Callee, Facts, Function
from ppybuild.graph.regions.binding import bind
from ppybuild.graph.regions.body import Body
from ppybuild.graph.regions.records import Held, Reached
from ppybuild.graph.regions.trace import Trace
from ppybuild.graph.regions.values import Group, Results, Sequence, Symbol, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.match import literal
from ppybuild.graph.types import Class, Module
from ppybuild.graph.types import Function as FunctionType

LONGEST = 256
"""Turns of a loop that is written out."""


@final
@dataclass(frozen=True, slots=True)
class ProgramNames:
    """Names in the program's own code, as inference understood them."""

    facts: Facts

    def constant(self, node: ast.expr) -> int | float | bool | str | None:
        return self.facts.constants.get(node)

    def named(self, node: ast.expr) -> str | None:
        match self.facts.types.get(node):
            case Module(name=name) | FunctionType(name=name) | Class(name=name):
                return name
            case _:
                return None


LIBRARIES = frozenset(
    {"torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft"}
)
"""Modules whose functions are looked up again, to be found unchanged."""


class _Continue(Exception):
    pass


class _Break(Exception):
    pass


class ProgramBody(Body):
    """Follows a function of the program, and those that it calls."""

    route = ""
    """The calls that led here, from the region's own function: `f:module.g`; from a method on,
    which no path leads to, the module that it is in: `@model:g`."""

    # Statements

    def _statement(self, statement: ast.stmt) -> Symbol | None:
        match statement:
            case ast.For():
                return self._loop(statement)
            case ast.Continue():
                raise _Continue
            case ast.Break():
                raise _Break
            case ast.Assert() if self.site is None:
                if not self.decided(statement.test):
                    raise Unsupported("an assertion that fails", statement)
                return None
            case _:
                return super()._statement(statement)

    def _loop(self, statement: ast.For) -> Symbol | None:
        for item in self._turns(statement.iter):
            self._assign(statement.target, item)
            try:
                returned = self._block(statement.body)
            except _Continue:
                continue
            except _Break:
                return None
            if returned is not None:
                return returned
        return self._block(statement.orelse)

    def _turns(self, node: ast.expr) -> tuple[Symbol, ...]:
        """What a loop over the expression goes through, one by one."""
        if isinstance(node, ast.Call):
            callee = self._callee(node)
            strict = callee is not None and callee.name == "builtins.zip" and _is_strict(node)
            if (
                callee is not None
                and callee.kind == "external"
                and (strict or not node.keywords)
            ):
                found = self._generated(callee.name, node)
                if found is not None:
                    return found
        return self.all_items(self.value(node), node)

    def _generated(self, name: str, node: ast.Call) -> tuple[Symbol, ...] | None:
        match name:
            case "builtins.range":
                bounds = [self._known_int(argument) for argument in node.args]
                turns = range(*bounds)
                if len(turns) > LONGEST:
                    raise Unsupported("a loop of many turns", node)
                return tuple(literal(turn) for turn in turns)
            case "builtins.zip":
                columns = [self._turns(argument) for argument in node.args]
                if node.keywords and len({len(column) for column in columns}) > 1:
                    raise Unsupported("a `zip` whose parts differ in length", node)
                return tuple(Group(row) for row in zip(*columns, strict=False))
            case "builtins.enumerate" if len(node.args) == 1:
                items = self._turns(node.args[0])
                return tuple(Group((literal(i), item)) for i, item in enumerate(items))
            case "builtins.reversed" if len(node.args) == 1:
                return self._turns(node.args[0])[::-1]
            case _:
                return None

    def _known_int(self, node: ast.expr) -> int:
        value = self.value(node)
        if isinstance(value, Given) and value.kind == "int" and isinstance(value.value, int):
            return value.value
        raise Unsupported("a loop whose number of turns is not known", node)

    def all_items(self, value: Symbol, node: ast.AST) -> tuple[Symbol, ...]:
        match value:
            case Sequence():
                length = self.trace.lengths.get(value.place)
                if length is None or length > LONGEST:
                    raise Unsupported("a loop over a sequence of unknown length", node)
                return tuple(self._item(value, index) for index in range(length))
            case Results() | Group():
                return value.items
            case Given(kind="list"):
                return value.items
            case _:
                raise Unsupported("a loop over something that is not a sequence here", node)

    def _item(self, sequence: Sequence, index: int) -> Given:
        name = f"{sequence.name}[{index}]"
        return self.trace.new_input(name, "tensor", sequence.place, index)

    def _items(self, value: Symbol, node: ast.AST, count: int) -> tuple[Symbol, ...]:
        if isinstance(value, Sequence | Group):
            return self.all_items(value, node)
        return super()._items(value, node, count)

    def _given(self, value: Symbol, node: ast.AST) -> Given:
        if isinstance(value, Group) and all(isinstance(item, Given) for item in value.items):
            items = tuple(item for item in value.items if isinstance(item, Given))
            return Given("list", "tuple", items)
        return super()._given(value, node)

    def _subscript(self, node: ast.Subscript) -> Symbol:
        owner = self.value(node.value)
        if isinstance(owner, Group) or (
            isinstance(owner, Sequence) and owner.place in self.trace.lengths
        ):
            return self._picked(owner, node)
        return super()._subscript(node)

    def _picked(self, owner: Sequence | Group, node: ast.Subscript) -> Symbol:
        """An item, or a slice of the items, by the length that the region requires."""
        items = self.all_items(owner, node)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [None if part is None else self._known_int(part) for part in parts]
            return Group(items[slice(*bounds)])
        index = self._known_int(node.slice)
        if not -len(items) <= index < len(items):
            raise Unsupported("an index out of range", node)
        return items[index]

    # Calls

    def _callee(self, node: ast.Call) -> Callee | None:
        names = self.names
        return names.facts.callees.get(node) if isinstance(names, ProgramNames) else None

    def _call(self, node: ast.Call) -> Symbol:
        callee = self._callee(node)
        if callee is None:
            return super()._call(node)
        if callee.kind == "project":
            positional, keywords = self.arguments(node)
            return self.inline(callee.name, positional, keywords, node, ast.unparse(node.func))
        if callee.name == "builtins.len" and len(node.args) == 1:
            return self._length(node)
        return super()._call(node)

    def _length(self, node: ast.Call) -> Symbol:
        value = self.value(node.args[0])
        if isinstance(value, Given) and value.kind == "tensor":
            raise Unsupported("the length of a tensor", node)
        return literal(len(self.all_items(value, node)))

    def inline(
        self,
        name: str,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.AST,
        spelled: str | None,
    ) -> Symbol:
        """Go through the body of one of the program's functions. `spelled`: how the call
        names it; None for a method, which is found through the object that has it."""
        assert isinstance(self.names, ProgramNames)
        facts = self.names.facts
        function = facts.program.functions[name]
        simple = function.name.removeprefix(function.module + ".")
        definition = function.node
        if isinstance(definition, ast.AsyncFunctionDef) or is_generator(definition):
            raise Unsupported(f"`{simple}` is not a plain function", node)
        if function.name in self.inside:
            raise Unsupported(f"`{simple}` calls itself", node)
        if (function.owner is not None) != (spelled is None) or ".<locals>." in function.name:
            raise Unsupported(f"`{simple}` is a method or an inner function", node)
        without_grad = no_grad_decorated(facts, definition)
        if without_grad is None:
            raise Unsupported(f"`{simple}` is decorated", node)
        variables = bind(definition, positional, keywords, node)
        inner = type(self)(
            self.trace, self.names, variables, None, (*self.inside, function.name)
        )
        self.descend(inner, function)
        if spelled is None:
            inner.route = f"@{function.module}"
        else:
            inner.route = f"{self.route}:{spelled}" if self.route else spelled
            self.trace.functions[inner.route] = function.name
        if without_grad:
            return inner.without_grad(definition.body, node)
        return inner.run(definition.body)

    def _held(self, value: int | float | bool | str, node: ast.expr) -> Given:
        if isinstance(value, str):
            raise Unsupported(f"`{ast.unparse(node)}`, a variable of a module", node)
        path = ast.unparse(node)
        self.trace.constants[f"{self.route}:{path}" if self.route else path] = value
        return self._constant(value, node)

    def _function(
        self, name: str, positional: list[Symbol], keywords: dict[str, Symbol], node: ast.Call
    ) -> Symbol:
        self._note_library(name, node)
        return super()._function(name, positional, keywords, node)

    def _note_library(self, name: str, node: ast.Call) -> None:
        """The program may put another function in the place of torch's."""
        if name.rpartition(".")[0] not in LIBRARIES:
            return
        if self.site is not None:
            self.note_own(name)
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if self.site is None and isinstance(root, ast.Name) and not self.is_variable(root.id):
            path = ast.unparse(node.func)
            self.trace.constants[f"{self.route}:{path}" if self.route else path] = name

    def note_own(self, name: str) -> None:
        """A function that torch's own code calls, by the name that it has there."""
        module, _, simple = name.rpartition(".")
        self.trace.constants[f"@{module}:{simple}"] = name

    def descend(self, inner: ProgramBody, function: Function) -> None:
        """What the body of a called function is told of this one."""

    def is_variable(self, name: str) -> bool:
        """Whether a name is a variable of the function that is followed."""
        return name in self.variables

    def without_grad(self, body: list[ast.stmt], node: ast.AST) -> Symbol:
        raise Unsupported("a function under `torch.no_grad`", node)


def _is_strict(node: ast.Call) -> bool:
    """Whether the only keyword is `strict=True`."""
    return [(k.arg, ast.unparse(k.value)) for k in node.keywords] == [("strict", "True")]


def reached(facts: Facts, trace: Trace) -> tuple[Reached, ...]:
    """The functions that were looked through, as something to be found there again."""
    found = []
    for path, name in trace.functions.items():
        function = facts.program.functions[name]
        module = facts.program.modules[function.module]
        first = function_span(module, function.node).line
        found.append(Reached(path, name, source_path(module), first))
    return tuple(found)


def held(trace: Trace) -> tuple[Held, ...]:
    """The constants that were taken for their values, and torch's functions, in order."""
    return tuple(Held(path, value) for path, value in trace.constants.items())


def is_generator(node: ast.FunctionDef) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))


_MARKS: Mapping[str, bool] = {"ppy.pure": False, "ppy.export": False, "torch.no_grad": True}
"""Decorators that a region looks through, and whether they turn gradients off."""


def no_grad_decorated(facts: Facts, node: ast.FunctionDef) -> bool | None:
    """Whether decorators turn gradients off; None where they may do anything."""
    off = False
    for decorator in node.decorator_list:
        called = isinstance(decorator, ast.Call)
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = ProgramNames(facts).named(plain)
        if name is None or name not in _MARKS or called != _MARKS[name]:
            return None
        off = off or _MARKS[name]
    return off
