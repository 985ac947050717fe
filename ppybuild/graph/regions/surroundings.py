"""What a run of statements reads of the code around it.

for x, y in batches:
    optimizer.zero_grad()                  the names `optimizer`, `x`, `y` and the path
    loss = F.mse_loss(self.model(x), y)    `self.model` become parameters in that order,
    loss.backward()                        as if the statements were a function's body
    optimizer.step()
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import final

from ppybuild.graph.constants import bound_by
from ppybuild.graph.program import Facts
from ppybuild.graph.regions.entering import Entrance
from ppybuild.graph.regions.found import Found, Seed
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sides import Sides, is_settled
from ppybuild.graph.regions.sources import Scope, Site
from ppybuild.graph.regions.step_records import Assumed
from ppybuild.graph.regions.stepping import StepTrace
from ppybuild.graph.regions.values import Named, Symbol, Thing
from ppybuild.graph.scopes import statements_of
from ppybuild.graph.types import INT, Instance, Literal, Tensor, Type, Unknown

_DEFINITIONS = (
    ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
)

_INDEX = (ast.Slice, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple)


@final
class Surroundings:
    """Makes a parameter of each variable and attribute when it is first read."""

    def __init__(
        self, facts: Facts, seeds: Seeds, trace: StepTrace, scope: Scope, sides: Sides
    ) -> None:
        self.sides = sides
        self._facts = facts
        self._seeds = seeds
        self.scope = scope
        self._entrance = Entrance(facts, seeds, trace)
        self._variables = variables_at(facts, scope)
        self.taken: dict[str, Symbol] = {}
        """By name or dotted path, in the order of their places."""
        self.passed: dict[int, Found] = {}
        """What is known of each, by its place."""
        self.made: dict[int, tuple[Site, ...]] = {}
        """The calls that make it, by its place."""
        self.methods: dict[str, set[str]] = {}
        """Of objects of the program's classes, by path: the methods that are looked through."""

    def is_variable(self, name: str) -> bool:
        return name in self._variables

    def find(
        self, node: ast.expr, path: str | None = None, scope: Scope | None = None
    ) -> Symbol | None:
        """What a name or an attribute stands for; None where a step must not look at it.
        `path`: how the statements would reach it, where that is not how it is written."""
        if not (self._is_path(node, path) or (path is None and self._is_rows(node))):
            return None
        path = ast.unparse(node) if path is None else path
        scope = self.scope if scope is None else scope
        if path not in self.taken:
            place = len(self.taken)
            passed = self._seeds.value(node, scope)
            made = tuple(self._seeds.makers_of(node, scope))
            symbol = self._entrance.enter(path, place, self._type(node, passed), passed, made)
            if symbol is None:
                return self._thing(node, path)
            self.taken[path] = symbol
            self.passed[place] = passed
            self.made[place] = made
        return self.taken[path]

    def choose(self, test: ast.expr, bound: Collection[str]) -> bool | None:
        """The side of a branch that is followed, by a condition that is worked out before;
        None where that cannot be done. `bound`: variables that are bound here by now."""

        def is_path(node: ast.expr) -> bool:
            *_, root = _owners(node)
            return self._is_path(node, None) and ast.unparse(root) not in bound

        if not is_settled(self._facts, test, is_path):
            return None
        truth = self.sides.take(test)
        condition = f"not not ({ast.unparse(test)})"
        self.passed.setdefault(len(self.taken), None)
        self.taken.setdefault(condition, Named(condition))
        return truth

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """By the places of the conditions."""
        places = {path: place for place, path in enumerate(self.taken)}
        return tuple(
            Assumed(places[f"not not ({text})"], text, truth)
            for text, truth in self.sides.taken.items()
        )

    def owner_of(self, scope: Scope) -> str | None:
        """The class whose method that is."""
        functions = self._facts.program.functions
        return functions[scope.function].owner if scope.function is not None else None

    def _thing(self, node: ast.expr, path: str) -> Thing | None:
        found = self._facts.types.get(node)
        own = isinstance(found, Instance) and self._is_plain(found.name)
        return Thing(path, found.name) if own and isinstance(found, Instance) else None

    def call_method(self, thing: Thing, name: str) -> None:
        """Take the object itself too: it must have that method when the step runs."""
        self.taken.setdefault(thing.path, thing)
        self.passed.setdefault(list(self.taken).index(thing.path), None)
        self.methods.setdefault(thing.path, set()).add(name)

    def _is_plain(self, owner: str) -> bool:
        """Whether it is a class of the program without bases, so that its text says all."""
        found = self._facts.program.classes.get(owner)
        return found is not None and found.bases in ((), ("builtins.object",), ("object",))

    def _type(self, node: ast.expr, passed: Found) -> Type:
        found = self._facts.types.get(node, Unknown())
        return passed.type if isinstance(found, Unknown) and isinstance(passed, Seed) else found

    def _is_path(self, node: ast.expr, path: str | None) -> bool:
        """Whether it is a variable, or plain attributes from one on: nothing is run by
        reading it, and reading it early gives the same."""
        match node:
            case ast.Name(id=name):
                return path is not None or self.is_variable(name)
            case ast.Attribute(value=owner, attr=name):
                return self._is_field(owner, name) and self._is_path(owner, path)
            case _:
                return False

    def _is_rows(self, node: ast.expr) -> bool:
        """Whether it is `x[rows]` or `x[i : i + 32]`, which gives a new tensor or a view and
        changes nothing."""
        if not isinstance(node, ast.Subscript) or not self._is_path(node.value, None):
            return False
        if not isinstance(self._facts.types.get(node.value), Tensor):
            return False
        parts = [part for part in ast.walk(node.slice) if isinstance(part, ast.expr)]
        return all(isinstance(part, _INDEX) or self._is_index(part) for part in parts)

    def _is_index(self, part: ast.expr) -> bool:
        found = self._facts.types.get(part)
        return self._is_path(part, None) and (
            found == INT or isinstance(found, Tensor | Literal | Instance)
        )

    def _is_field(self, owner: ast.expr, name: str) -> bool:
        """Whether the attribute is one that methods of the program's own class assign."""
        found = self._facts.types.get(owner)
        if not isinstance(found, Instance) or not self._is_plain(found.name):
            return False
        functions = self._facts.program.functions
        computed = (name, "__getattr__", "__getattribute__")
        return name in self._facts.fields.get(found.name, {}) and not any(
            f"{found.name}.{each}" in functions for each in computed
        )


def _owners(node: ast.expr) -> Iterator[ast.expr]:
    yield node
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def variables_at(facts: Facts, scope: Scope) -> frozenset[str]:
    """The variables that code may read there: its function's, those of functions around it,
    and its module's; constants, functions, classes and imports are none."""
    program = facts.program
    found = _bound(program.modules[scope.module].tree.body)
    function = scope.function
    while function is not None:
        node = program.functions[function].node
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        found |= {each.arg for each in named} | _bound(node.body)
        outer, inner, _ = function.rpartition(".<locals>.")
        function = outer if inner and outer in program.functions else None
    return frozenset(found)


def _bound(body: list[ast.stmt]) -> set[str]:
    return {
        name
        for statement in statements_of(body)
        if not isinstance(statement, _DEFINITIONS)
        for name in bound_by(statement)
    }
