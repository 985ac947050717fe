"""One pass over a function's body: its effects, and where its values come from."""

from __future__ import annotations

import ast
from collections.abc import Callable as Turn
from collections.abc import Mapping, Sequence

from ppybuild.graph.effects.summary import ANYWHERE, NOWHERE, Roots, Summary, may_share
from ppybuild.graph.effects.tables import (
    COPYING,
    external_effects,
    layer_effects,
    method_effects,
)
from ppybuild.graph.lattice import members_of, parts_of
from ppybuild.graph.program import Callee, Facts, Function
from ppybuild.graph.scopes import Scope, blocks_of, parameters_of, target_names
from ppybuild.graph.syntax import children
from ppybuild.graph.types import (
    UNKNOWN,
    Array,
    Callable,
    Class,
    Collection,
    Instance,
    Method,
    Module,
    Scalar,
    Tensor,
    Type,
    Unknown,
)
from ppybuild.graph.types import Function as FunctionType

Env = dict[str, Roots]
HARMLESS = frozenset({"builtins.isinstance", "builtins.getattr", "builtins.hasattr"})


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
            self.block(self.function.node.body)
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

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walks statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Walks one statement."""
        match node:
            case ast.Assign():
                found = self.roots(node.value)
                for target in node.targets:
                    self.assign(target, found, node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.roots(node.value), node.value)
            case ast.AugAssign():
                self._augmented(node)
            case ast.Return():
                if node.value is not None:
                    found = self.roots(node.value)
                    if may_share(self.type_of(node.value)):
                        inside = self.inside(found)
                        self.summary.returned |= {each for each in inside if each[0] != "#"}
            case ast.For() | ast.AsyncFor():
                self._for(node)
            case ast.While():
                self.roots(node.test)
                self._repeat(lambda: self._turn(node))
                self.block(node.orelse)
            case ast.If():
                self.roots(node.test)
                self._branches((node.body, node.orelse))
            case ast.Try() | ast.TryStar():
                self.weak += 1
                self._branches(list(blocks_of(node)))
                self.weak -= 1
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Attribute | ast.Subscript):
                        self.write(self.roots(target.value))
                    elif isinstance(target, ast.Name) and target.id in self.scope.globals:
                        self.assign(target, NOWHERE, target)
            case ast.Match():
                self.roots(node.subject)
                self.weak += 1
                for case in node.cases:
                    if case.guard is not None:
                        self.roots(case.guard)
                self._branches([case.body for case in node.cases])
                self.weak -= 1
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case _:
                for child in children(node):
                    if isinstance(child, ast.expr):
                        self.roots(child)

    def _turn(self, node: ast.While) -> None:
        self.block(node.body)
        self.roots(node.test)

    def _definition(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            self.summary.unknown = True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for each in (*node.decorator_list, *node.args.defaults):
                self.roots(each)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        own = isinstance(node, ast.ImportFrom) and node.level > 0
        if own or any(name in self.facts.program.modules for name in (*names, source)):
            self.summary.io = True

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]]) -> None:
        before = self.env
        joined: Env = {}
        for body in bodies:
            self.env = dict(before)
            self.block(body)
            joined = _join(joined, self.env)
        self.env = _join(joined, before) if self.weak else joined

    def _repeat(self, turn: Turn[[], None]) -> None:
        """Walks a loop's body, weakly, until the roots at its head settle."""
        self.weak += 1
        while True:
            before = dict(self.env)
            turn()
            self.env = _join(before, self.env)
            if self.env == before:
                break
        self.weak -= 1

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        found = self.roots(node.iter)
        self._special(node.iter, "__iter__", found)
        if isinstance(node, ast.AsyncFor):
            self.summary.unknown = True

        def turn() -> None:
            self.assign(node.target, self.inside(found), None)
            self.block(node.body)

        self._repeat(turn)
        self.block(node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        if isinstance(node, ast.AsyncWith):
            self.summary.unknown = True
        for item in node.items:
            found = self.roots(item.context_expr)
            self._special(item.context_expr, "__enter__", found)
            self._special(item.context_expr, "__exit__", found)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, found, None)
        self.block(node.body)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        value = self.roots(node.value)
        found = self.type_of(target)
        mutable = any(map(_changes_in_place, members_of(found)))
        if isinstance(target, ast.Name):
            if mutable:
                here = self.roots(target)
                self.write(here)
                self.hold(here, value)
            elif target.id in self.scope.globals | self.scope.nonlocals:
                self.assign(target, NOWHERE, target)
            return
        assert isinstance(target, ast.Attribute | ast.Subscript)
        owner = self.roots(target.value)
        if mutable:
            self.write(self.inside(owner))
        self._store(target, owner, value)
        self._operator(node.value, target)

    def assign(self, target: ast.expr, found: Roots, value: ast.expr | None) -> None:
        """A target gets a value with these roots."""
        match target:
            case ast.Name():
                self._bind(target, found)
            case ast.Tuple() | ast.List():
                parts: Sequence[ast.expr | None] = [None] * len(target.elts)
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(parts):
                    parts = value.elts
                for each, part in zip(target.elts, parts, strict=True):
                    plain = part is not None and not isinstance(part, ast.Starred)
                    roots = self.roots(part) if plain and part is not None else found
                    self.assign(each, self.inside(roots), part)
            case ast.Starred():
                self.assign(target.value, found, None)
            case ast.Attribute() | ast.Subscript():
                self._store(target, self.roots(target.value), found)

    def _bind(self, target: ast.Name, found: Roots) -> None:
        name = target.id
        if not may_share(self.type_of(target)):
            found = NOWHERE
        if name in self.scope.globals:
            self.summary.writes_globals.add(f"{self.function.module}.{name}")
            self.hold(frozenset({f"@{self.function.module}.{name}"}), found)
        elif name in self.scope.nonlocals:
            self.write(frozenset({f"^{name}"}))
            self.hold(frozenset({f"^{name}"}), found)
        else:
            self.env[name] = self.env.get(name, NOWHERE) | found if self.weak else found

    def _store(self, target: ast.Attribute | ast.Subscript, owner: Roots, found: Roots) -> None:
        if isinstance(target, ast.Subscript):
            self.roots(target.slice)
            self._special(target.value, "__setitem__", owner)
        kind = self.type_of(target.value)
        if isinstance(kind, Module) and isinstance(target, ast.Attribute):
            self.summary.writes_globals.add(f"{kind.name}.{target.attr}")
            return
        if isinstance(kind, Class):
            self.summary.writes_globals.add(kind.name)
            return
        if isinstance(kind, Unknown) and target in self.facts.types:
            self.summary.unknown = True
        self.write(owner)
        self.hold(owner, found)

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
                self._special(node.value, "__getitem__", owner)
                return self._item(node, owner)
            case ast.Call():
                return self._call(node)
            case ast.IfExp():
                self.roots(node.test)
                return self.roots(node.body) | self.roots(node.orelse)
            case ast.BoolOp():
                return frozenset().union(*map(self.roots, node.values))
            case ast.NamedExpr():
                found = self.roots(node.value)
                self.assign(node.target, found, node.value)
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
                self._operator(node.left, node.right)
                shared = not isinstance(self.type_of(node), Tensor | Scalar)
                return self._made(node, parts if shared else NOWHERE)
            case ast.Compare():
                for each in (node.left, *node.comparators):
                    self.roots(each)
                self._operator(node.left, *node.comparators)
                return NOWHERE
        parts = NOWHERE
        for child in children(node):
            if isinstance(child, ast.expr):
                parts |= self.roots(child)
        return self._made(node, parts)

    def _made(self, node: ast.expr, held: Roots) -> Roots:
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
        self._special(node.value, node.attr, owner, property_only=True)
        return self.inside(owner)

    def _item(self, node: ast.Subscript, owner: Roots) -> Roots:
        """An item is found inside; a slice of a list or array is new, its items are not."""
        kind = self.type_of(node.value)
        copied = isinstance(kind, Array) or (
            isinstance(kind, Collection) and kind.kind == "list"
        )
        if isinstance(node.slice, ast.Slice) and copied:
            items = any(map(may_share, parts_of(kind)))
            return self._made(node, self.inside(owner) if items else NOWHERE)
        return self.inside(owner)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Roots:
        before = dict(self.env)
        for generator in node.generators:
            found = self.roots(generator.iter)
            self._special(generator.iter, "__iter__", found)
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
        return self._made(node, held)

    def _suspend(self, node: ast.Yield | ast.YieldFrom | ast.Await) -> Roots:
        found = NOWHERE if node.value is None else self.roots(node.value)
        if isinstance(node, ast.Await):
            self.summary.unknown = True
        self.summary.returned |= {each for each in self.inside(found) if each[0] != "#"}
        return ANYWHERE

    # Calls

    def _call(self, node: ast.Call) -> Roots:
        receiver = NOWHERE
        if isinstance(node.func, ast.Attribute):
            receiver = self.roots(node.func.value)
        else:
            self.roots(node.func)
        given = [self.roots(each) for each in node.args]
        given.extend(self.roots(each.value) for each in node.keywords)
        if node not in self.facts.types:
            return NOWHERE
        callee = self.facts.callees.get(node)
        everything = frozenset().union(receiver, *given)
        if callee is None:
            return self._unknown_call(node, everything)
        if callee.kind == "project":
            bound = self._arguments(node, callee.name, receiver, given)
            return self.apply(callee.name, bound, everything)
        if callee.kind == "class":
            return self._construct(node, callee.name, given)
        self._callbacks(node, callee.name, everything)
        return self._external(
            node, callee, [receiver, *given] if callee.kind == "method" else given
        )

    def _unknown_call(self, node: ast.Call, everything: Roots) -> Roots:
        kind = self.type_of(node.func)
        if isinstance(kind, Instance) and not layer_effects(kind.name).unknown:
            return self._made(node, self.inside(everything)) | self.inside(everything)
        self.summary.unknown = True
        self.write(self.inside(everything))
        return self.inside(everything) | ANYWHERE

    def _external(self, node: ast.Call, callee: Callee, given: Sequence[Roots]) -> Roots:
        name = callee.name
        found = method_effects(name) if callee.kind == "method" else external_effects(name)
        self.summary.io = self.summary.io or found.io
        self.summary.unknown = self.summary.unknown or found.unknown
        for place, roots in enumerate(given):
            if found.writes is None:
                self.write(self.inside(roots))
            elif place in found.writes:
                self.write(roots)
                for other in given[place + 1 :]:
                    self.hold(roots, other)
        first = len(given) - len(node.keywords)
        for keyword, roots in zip(node.keywords, given[first:], strict=True):
            flagged = keyword.arg == "inplace" and not (
                isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            )
            if keyword.arg == "out":
                self.write(roots)
            elif flagged and given:
                self.write(given[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            self._backward()
        if name in COPYING:
            items = any(map(may_share, parts_of(self.type_of(node))))
            return self._made(
                node, self.inside(frozenset().union(*given)) if items else NOWHERE
            )
        shared: set[str] = set()
        for place, roots in enumerate(given):
            if found.shares is None or place in found.shares:
                shared |= self.inside(roots)
        return self._made(node, frozenset(shared)) | frozenset(shared)

    def _backward(self) -> None:
        """Gradients land on tensors that the graph holds: any that came in from outside."""
        for name in self.parameters:
            if may_share(self.facts.locals[self.function.name].get(name, UNKNOWN)):
                self.write(frozenset({name}))
        self.write(frozenset(f"@{name}" for name in self.summary.reads_globals))

    def _callbacks(self, node: ast.Call, callee: str, everything: Roots) -> None:
        """A function that is handed to a library is taken to be called with anything."""
        if callee in HARMLESS or callee.startswith("ppy."):
            return
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            for member in members_of(self.type_of(each)):
                if isinstance(member, FunctionType) and member.name in self.summaries:
                    self.apply(member.name, {}, everything)
                elif isinstance(member, Callable) or (
                    isinstance(member, Method) and isinstance(member.receiver, Instance)
                ):
                    self.summary.unknown = True
                elif isinstance(member, FunctionType) and "<lambda>" in member.name:
                    assert isinstance(each, ast.expr)
                    if isinstance(each, ast.Lambda):
                        self.roots(each.body)
                    else:
                        self.summary.unknown = True

    def _arguments(
        self, node: ast.Call, name: str, receiver: Roots, given: Sequence[Roots]
    ) -> dict[str, Roots]:
        """The roots of each parameter of a function of the project."""
        function = self.facts.program.functions[name]
        arguments = function.node.args
        places = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        bound: dict[str, Roots] = {}
        decorators = {getattr(each, "id", "") for each in function.node.decorator_list}
        if function.owner is not None and "staticmethod" not in decorators and places:
            kind = self.type_of(node.func)
            if not isinstance(kind, FunctionType) or "classmethod" in decorators:
                bound[places.pop(0)] = receiver or self._receiver(node)
        extra = NOWHERE
        for place, (each, found) in enumerate(zip(node.args, given, strict=False)):
            if isinstance(each, ast.Starred):
                for target in places[place:]:
                    bound[target] = bound.get(target, NOWHERE) | self.inside(found)
                extra |= self.inside(found)
            elif place < len(places):
                bound[places[place]] = bound.get(places[place], NOWHERE) | found
            else:
                extra |= found
        named = {each.arg for each in (*arguments.args, *arguments.kwonlyargs)}
        for keyword, found in zip(node.keywords, given[len(node.args) :], strict=True):
            if keyword.arg in named and keyword.arg is not None:
                bound[keyword.arg] = found
            else:
                extra |= self.inside(found)
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                bound[rest.arg] = extra
        return bound

    def _receiver(self, node: ast.Call) -> Roots:
        """`super().method()` is bound to the first parameter."""
        through = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(through, ast.Call) and self.parameters:
            return frozenset({self.parameters[0]})
        return self.roots(through)

    def apply(self, name: str, bound: Mapping[str, Roots], everything: Roots) -> Roots:
        """The effects of calling a function of the project; gives the result's roots."""
        self.used.add(name)
        callee, mine = self.summaries[name], self.summary
        local = self._captured(name)

        def here(root: str) -> Roots:
            if root[0] == "@" or root == "?":
                return frozenset({root})
            if root[0] == "^":
                return local.get(root, frozenset({root}))
            return bound.get(root, everything)

        mine.io = mine.io or callee.io
        mine.unknown = mine.unknown or callee.unknown
        mine.reads_globals |= callee.reads_globals
        mine.writes_globals |= callee.writes_globals
        for root in tuple(callee.writes):
            self.write(self.inside(here(root)))
        for owner, held in tuple(callee.stores):
            self.hold(here(owner), here(held))
        found: set[str] = set()
        for root in tuple(callee.returned):
            found |= self.inside(here(root))
        return frozenset(found)

    def _captured(self, name: str) -> dict[str, Roots]:
        """What `^name` of a nested function is here, for variables of this function."""
        if not name.startswith(f"{self.function.name}.<locals>."):
            return {}
        return {f"^{each}": roots for each, roots in self.env.items()}

    def _construct(self, node: ast.Call, name: str, given: Sequence[Roots]) -> Roots:
        everything = frozenset().union(*given)
        made = self._made(node, everything)
        for ancestor in self._order(name):
            init = f"{ancestor}.__init__"
            if init in self.facts.program.functions:
                bound = self._arguments(node, init, made, given)
                own = parameters_of(self.facts.program.functions[init].node)
                if own:
                    bound[own[0].arg] = made
                self.apply(init, bound, everything)
                break
        return made

    def _order(self, name: str) -> list[str]:
        found: list[str] = []
        pending = [name]
        while pending:
            current = pending.pop(0)
            known = self.facts.program.classes.get(current)
            if known is not None and current not in found:
                found.append(current)
                module = known.module
                pending.extend(known.bases)
                pending.extend(f"{module}.{base}" for base in known.bases)
        return found

    def _operator(self, *operands: ast.expr) -> None:
        """An operator on an object of the project may run any of its special methods."""
        for each in operands:
            if each not in self.facts.types:
                continue
            for member in members_of(self.type_of(each)):
                if isinstance(member, Unknown):
                    self.summary.unknown = True
                elif isinstance(member, Instance) and member.name in self.facts.program.classes:
                    self._specials(member.name, self.roots(each))

    def _specials(self, name: str, roots: Roots) -> None:
        for ancestor in self._order(name):
            for special in self.specials.get(ancestor, ()):
                self.apply(special, {}, roots)

    def _special(
        self, node: ast.expr, name: str, roots: Roots, *, property_only: bool = False
    ) -> None:
        """Runs a special method or property of an object of the project, where it has one."""
        for member in members_of(self.type_of(node)):
            if isinstance(member, Unknown) and node in self.facts.types:
                self.summary.unknown = True
            if (
                not isinstance(member, Instance)
                or member.name not in self.facts.program.classes
            ):
                continue
            for ancestor in self._order(member.name):
                function = self.facts.program.functions.get(f"{ancestor}.{name}")
                if function is None:
                    continue
                if not property_only or function.node.decorator_list:
                    self.apply(function.name, {}, roots)
                break


def _join(left: Env, right: Env) -> Env:
    joined = dict(left)
    for name, roots in right.items():
        joined[name] = joined.get(name, NOWHERE) | roots
    return joined


def _changes_in_place(member: Type) -> bool:
    return may_share(member) or isinstance(member, Unknown)
