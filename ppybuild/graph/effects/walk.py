"""One pass over a function's body: its effects, and where its values come from."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ppybuild.graph.effects.calls import call, operator, special
from ppybuild.graph.effects.statements import assign, block
from ppybuild.graph.effects.summary import (
    ANYWHERE,
    NOWHERE,
    Env,
    Roots,
    Summary,
    may_share,
)
from ppybuild.graph.lattice import parts_of
from ppybuild.graph.program import Facts, Function
from ppybuild.graph.scopes import Scope, parameters_of, target_names
from ppybuild.graph.syntax import children
from ppybuild.graph.types import (
    UNKNOWN,
    Array,
    Class,
    Collection,
    Module,
    Scalar,
    Tensor,
    Type,
)
from ppybuild.graph.types import Function as FunctionType


class Walk:
    """Walks one function with the summaries of all as they stand, and grows its own."""

    def __init__(
        self,
        facts: Facts,
        function: Function,
        scopes: Mapping[str, Scope],
        summaries: Mapping[str, Summary],
        specials: Mapping[str, Sequence[str]],
    ) -> None:
        self.facts = facts
        self.function = function
        self.scope = scopes[function.name]
        self.scopes = scopes
        self.summaries = summaries
        self.specials = specials
        """By class: its special methods, `__init__` apart."""
        self.summary = summaries[function.name]
        self.parameters = [each.arg for each in parameters_of(function.node)]
        self.held: dict[str, Roots] = {}
        self.env: Env = {name: self._parameter(name) for name in self.parameters}
        self.weak = 0
        self.used: set[str] = set()
        """The functions whose summaries were looked at."""

    def run(self) -> None:
        """Walks the body until nothing new is found."""
        entry = dict(self.env)
        while True:
            before = self.summary.size(), dict(self.held)
            self.env = dict(entry)
            block(self, self.function.node.body)
            if (self.summary.size(), self.held) == before:
                return

    def _parameter(self, name: str) -> Roots:
        found = self.facts.locals.get(self.function.name, {}).get(name, UNKNOWN)
        return frozenset({name}) if may_share(found) else NOWHERE

    def type_of(self, node: ast.expr) -> Type:
        """The expression's type; `UNKNOWN` where it is not reached."""
        return self.facts.types.get(node, UNKNOWN)

    # Effects

    def write(self, roots: Roots) -> None:
        """The contents of whatever has these roots may change."""
        for root in roots:
            if root[0] == "?":
                self.summary.unknown = True
            elif root[0] != "#":
                self.summary.writes.add(root)

    def hold(self, owners: Roots, held: Roots) -> None:
        """Whatever has the first roots may hold what has the second from now on."""
        for owner in owners:
            new = self.held.get(owner, NOWHERE) | held
            if held and new != self.held.get(owner):
                self.held[owner] = new - {owner}
            if owner[0] not in "#?":
                self.summary.stores.update((owner, each) for each in held if each[0] != "#")

    def inside(self, roots: Roots) -> Roots:
        """The roots of what may be found inside: by item, by attribute, at any depth."""
        found = set(roots)
        pending = list(roots)
        while pending:
            for each in self.held.get(pending.pop(), NOWHERE):
                if each not in found:
                    found.add(each)
                    pending.append(each)
        return frozenset(found)

    # Expressions

    def roots(self, node: ast.expr) -> Roots:
        """Walks an expression; gives what its value may share contents with."""
        found = self._roots(node)
        return found if may_share(self.type_of(node)) else NOWHERE

    def _roots(self, node: ast.expr) -> Roots:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Constant():
                return NOWHERE
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                owner = self.roots(node.value)
                self.roots(node.slice)
                special(self, node.value, "__getitem__", owner)
                return self._item(node, owner)
            case ast.Call():
                return call(self, node)
            case ast.IfExp():
                self.roots(node.test)
                return self.roots(node.body) | self.roots(node.orelse)
            case ast.BoolOp():
                return frozenset().union(*map(self.roots, node.values))
            case ast.NamedExpr():
                found = self.roots(node.value)
                assign(self, node.target, found, node.value)
                return found
            case ast.Starred() | ast.FormattedValue():
                return self.roots(node.value)
            case ast.Lambda():
                return NOWHERE
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                return self._suspend(node)
            case ast.BinOp():
                parts = self.roots(node.left) | self.roots(node.right)
                operator(self, node.left, node.right)
                shared = not isinstance(self.type_of(node), Tensor | Scalar)
                return self.made(node, parts if shared else NOWHERE)
            case ast.Compare():
                for each in (node.left, *node.comparators):
                    self.roots(each)
                operator(self, node.left, *node.comparators)
                return NOWHERE
        parts = NOWHERE
        for child in children(node):
            if isinstance(child, ast.expr):
                parts |= self.roots(child)
        return self.made(node, parts)

    def made(self, node: ast.expr, held: Roots) -> Roots:
        """The root of something that an expression makes."""
        made = frozenset({f"#{node.lineno}:{node.col_offset}"})
        self.hold(made, held)
        return made

    def _name(self, node: ast.Name) -> Roots:
        name = node.id
        if name in self.env:
            return self.env[name]
        if node in self.facts.constants:
            return NOWHERE
        if name in self.scope.bound:
            return NOWHERE
        if isinstance(self.type_of(node), FunctionType | Class | Module):
            return NOWHERE
        outer = self.function.name
        while ".<locals>." in outer:
            outer = outer.rpartition(".<locals>.")[0]
            if outer in self.scopes and self._binds(outer, name):
                return frozenset({f"^{name}"})
        scope = self.scopes[self.function.module]
        if name in scope.bound or name in self.scope.globals:
            return self._global(self.function.module, name)
        return NOWHERE

    def _binds(self, function: str, name: str) -> bool:
        if name in self.scopes[function].bound:
            return True
        node = self.facts.program.functions[function].node
        return any(each.arg == name for each in parameters_of(node))

    def _global(self, module: str, name: str) -> Roots:
        self.summary.reads_globals.add(f"{module}.{name}")
        return frozenset({f"@{module}.{name}"})

    def _attribute(self, node: ast.Attribute) -> Roots:
        owner = self.roots(node.value)
        kind = self.type_of(node.value)
        if isinstance(kind, Module):
            own = kind.name in self.facts.program.modules
            fixed = isinstance(self.type_of(node), FunctionType | Class | Module)
            if own and not fixed and node not in self.facts.constants:
                return self._global(kind.name, node.attr)
            return NOWHERE
        if isinstance(kind, Class) and may_share(self.type_of(node)):
            return self._global(kind.name, node.attr)
        special(self, node.value, node.attr, owner, property_only=True)
        return self.inside(owner)

    def _item(self, node: ast.Subscript, owner: Roots) -> Roots:
        """An item is found inside; a slice of a list or array is new, its items are not."""
        kind = self.type_of(node.value)
        copied = isinstance(kind, Array) or (
            isinstance(kind, Collection) and kind.kind == "list"
        )
        if isinstance(node.slice, ast.Slice) and copied:
            items = any(map(may_share, parts_of(kind)))
            return self.made(node, self.inside(owner) if items else NOWHERE)
        return self.inside(owner)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Roots:
        before = dict(self.env)
        for generator in node.generators:
            found = self.roots(generator.iter)
            special(self, generator.iter, "__iter__", found)
            inside = self.inside(found)
            for name in target_names(generator.target):
                self.env[name] = inside
            for test in generator.ifs:
                self.roots(test)
        if isinstance(node, ast.DictComp):
            held = self.roots(node.key) | self.roots(node.value)
        else:
            held = self.roots(node.elt)
        self.env = before
        return self.made(node, held)

    def _suspend(self, node: ast.Yield | ast.YieldFrom | ast.Await) -> Roots:
        found = NOWHERE if node.value is None else self.roots(node.value)
        if isinstance(node, ast.Await):
            self.summary.unknown = True
        self.summary.returned |= {each for each in self.inside(found) if each[0] != "#"}
        return ANYWHERE
