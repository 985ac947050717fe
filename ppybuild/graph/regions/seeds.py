"""What the program's calls pass to a function's parameters: shapes, and lengths of lists.

    train_step(x, y, params, 0.02)    →    x: float32[20000, 32], params: four tensors

What is found here is a guess to specialise on, never a promise: a region that uses it checks
it at run time. So a list counts as long as its display, whatever is done to it afterwards.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.found import (
    UNKNOWN_SIZE,
    Found,
    Seed,
    Several,
    better,
    is_enough,
    is_known,
    most,
    of_record,
    of_type,
)
from ppybuild.graph.regions.sources import Scope, Site, Sources, around, own_nodes
from ppybuild.graph.regions.turns import item_of
from ppybuild.graph.types import Class, Instance, Tensor

_KEEP = ("to", "cpu", "cuda", "clone", "detach", "contiguous", "requires_grad_")
"""Methods of tensors that keep the shape, and the dtype as long as none is given."""

_FILLED = ("randn", "rand", "zeros", "ones", "empty")
"""Functions of torch whose arguments are sizes."""

_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}

_GIVE_THEMSELVES = ("to", "cpu", "cuda", "train", "eval", "requires_grad_")
"""Methods of modules that give the module itself."""


class Seeds:
    """Answers by function and place of the parameter; follows parameters to their callers."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        sources = Sources(facts)
        self._sites, self.assigned = sources.sites, sources.assigned
        self._asked: set[tuple[str, int]] = set()
        """The parameters whose numbers are being looked for."""
        self._fields, self._turns = sources.fields, sources.turns
        self._grown, self._options = sources.grown, sources.options

    def of(self, function: str, place: int, pending: frozenset[str] = frozenset()) -> Found:
        """What calls pass as the parameter at `place`: what most of them do, where they do
        not agree. None where nothing is known."""
        if function in pending:
            return None
        parameters = self.facts.signatures[function].parameters
        found = [
            self.value_of(argument, site.scope, pending | {function})
            for site in self._sites.get(function, ())
            if (argument := self._argument(function, site.call, place)) is not None
        ]
        result = most(found) if found else of_type(parameters[place].type)
        recorded = self.facts.program.shapes.get(function, {}).get(parameters[place].name)
        return result if recorded is None or is_known(result) else of_record(recorded)

    def makers(self, owner: str) -> list[Site]:
        """The calls that make instances of a class of the program."""
        return self._sites.get(f"{owner}.__init__", [])

    def made(
        self, function: str, place: int, pending: frozenset[str] = frozenset()
    ) -> list[Site]:
        """The calls that make what is passed for a parameter, as far as names lead there."""
        if function in pending:
            return []
        return [
            found
            for site in self._sites.get(function, ())
            if (argument := self._argument(function, site.call, place)) is not None
            for found in self.makers_of(argument, site.scope, pending | {function})
        ]

    def makers_of(
        self, node: ast.expr, scope: Scope, pending: frozenset[str] = frozenset()
    ) -> Iterator[Site]:
        """The calls that make what an expression stands for, as far as names lead there."""
        match node:
            case ast.Call(func=func):
                callee = self.facts.callees.get(node)
                if callee is not None and callee.kind in ("class", "external"):
                    yield Site(node, scope)
                elif callee is not None and callee.kind == "project":
                    yield from self._returned_by(callee.name, Site(node, scope), pending)
                elif isinstance(func, ast.Attribute) and func.attr in _GIVE_THEMSELVES:
                    yield from self.makers_of(func.value, scope, pending)
            case ast.Name(id=name):
                yield from self._makers_of_name(name, scope, pending)
            case ast.Attribute(value=owner, attr=name):
                mark = f"{scope.name}:{ast.unparse(node)}"
                if mark not in pending:
                    for value, at in self._fields.get((self._class_of(owner), name), ()):
                        yield from self.makers_of(value, at, pending | {mark})
            case _:
                pass

    def _class_of(self, node: ast.expr) -> str:
        found = self.facts.types.get(node)
        return found.name if isinstance(found, Instance) else ""

    def _returned_by(
        self, function: str, site: Site, pending: frozenset[str]
    ) -> Iterator[Site]:
        found = self.facts.program.functions[function]
        mark = f"{function}()"
        for node in own_nodes(found.node.body) if mark not in pending else ():
            if isinstance(node, ast.Return) and node.value is not None:
                inside = Scope(function, found.module, site)
                yield from self.makers_of(node.value, inside, pending | {mark})

    def _makers_of_name(
        self, name: str, scope: Scope, pending: frozenset[str]
    ) -> Iterator[Site]:
        assigned = next((a for at in around(scope) if (a := self.assigned.get((at, name)))), ())
        mark = f"{scope.function}:{name}"
        if assigned and mark not in pending:
            for value in assigned:
                yield from self.makers_of(value, scope, pending | {mark})
        elif not assigned and scope.function is not None:
            parameters = self.facts.signatures[scope.function].parameters
            for place, parameter in enumerate(parameters):
                if parameter.name == name:
                    yield from self.made(scope.function, place, pending)

    def number(self, node: ast.expr, scope: Scope) -> int | None:
        """What an integer expression is worth, if every call agrees."""
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int(value)):
                return value
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                a, b = self.number(left, scope), self.number(right, scope)
                return None if a is None or b is None else _ARITHMETIC[type(op)](a, b)
            case ast.Name(id=name):
                return self._named_number(node, name, scope)
            case ast.Attribute(value=owner, attr=name):
                constant = self.facts.constants.get(node)
                return constant if type(constant) is int else self._field(owner, name, scope)
            case _:
                return None

    def _field(self, owner: ast.expr, name: str, scope: Scope) -> int | None:
        """The integer that is an attribute: of a class, of its instances, or an option of the
        command line."""
        found: set[int | None] = set()
        match self.facts.types.get(owner):
            case Class(name=kind):
                found = {self._default(kind, name)}
            case Instance(name="argparse.Namespace"):
                defaults = self._options.get(name, ())
                found = {self.number(default, scope) for default in defaults}
            case Instance(name=kind):
                makers = list(self.makers_of(owner, scope)) or self.makers(kind)
                found = {self._held(site, kind, name) for site in makers}
            case _:
                pass
        return found.pop() if len(found) == 1 else None

    def _default(self, kind: str, name: str) -> int | None:
        """What the class itself says of an attribute."""
        owner = self.facts.program.classes.get(kind)
        for statement in owner.node.body if owner is not None else ():
            match statement:
                case (
                    ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
                    | ast.Assign(targets=[ast.Name(id=found)], value=value)
                ) if found == name:
                    return self.number(value, Scope(None, kind.rpartition(".")[0]))
                case _:
                    pass
        return None

    def _held(self, site: Site, kind: str, name: str) -> int | None:
        """An attribute of the instance that a call makes."""
        assigned = self._fields.get((kind, name), ())
        if len(assigned) == 1:
            value, scope = assigned[0]
            return self.number(value, replace(scope, entered=site))
        owner = self.facts.program.classes.get(kind)
        for keyword in site.call.keywords:
            if keyword.arg == name:
                return self.number(keyword.value, site.scope)
        fields = [
            statement.target.id
            for statement in (owner.node.body if owner is not None else ())
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        ]
        if name in fields and fields.index(name) < len(site.call.args):
            return self.number(site.call.args[fields.index(name)], site.scope)
        return self._default(kind, name)

    def _named_number(self, node: ast.Name, name: str, scope: Scope) -> int | None:
        constant = self.facts.constants.get(node)
        if type(constant) is int:
            return constant
        assigned = self.assigned.get((scope.name, name), ())
        if assigned or scope.function is None:
            return self.number(assigned[0], scope) if len(assigned) == 1 else None
        parameters = self.facts.signatures[scope.function].parameters
        places = [i for i, parameter in enumerate(parameters) if parameter.name == name]
        if not places:
            return self._named_number(node, name, Scope(None, scope.module))
        if scope.entered is not None:
            return self._number_at(scope.entered, scope.function, places[0])
        return self.number_passed(scope.function, places[0])

    def number_passed(self, function: str, place: int) -> int | None:
        """The integer that every call passes as the parameter at `place`."""
        if (function, place) in self._asked:
            return None  # a recursive function's own call
        self._asked.add((function, place))
        sites = self._sites.get(function, ())
        found = {self._number_at(site, function, place) for site in sites}
        self._asked.remove((function, place))
        return found.pop() if len(found) == 1 else None

    def _number_at(self, site: Site, function: str, place: int) -> int | None:
        argument = self._argument(function, site.call, place)
        parameter = self.facts.signatures[function].parameters[place]
        module = self.facts.program.functions[function].module
        found = None
        if argument is not None:
            found = self.number(argument, site.scope)
        elif parameter.default is not None:
            found = self.number(parameter.default, Scope(None, module))
        recorded = self.facts.program.shapes.get(function, {}).get(parameter.name)
        return recorded if found is None and isinstance(recorded, int) else found

    def _argument(self, function: str, call: ast.Call, place: int) -> ast.expr | None:
        bound = self.facts.program.functions[function].owner is not None
        name = self.facts.signatures[function].parameters[place].name
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        made = function.endswith(".__init__")
        place -= bound and (made or isinstance(call.func, ast.Attribute))
        if 0 <= place < len(call.args) and not any(
            isinstance(given, ast.Starred) for given in call.args
        ):
            return call.args[place]
        return None

    def value(self, node: ast.expr, scope: Scope) -> Found:
        """What an expression gives."""
        return self.value_of(node, scope, frozenset())

    def value_of(self, node: ast.expr, scope: Scope, pending: frozenset[str]) -> Found:
        """The same, without what is being looked for: `pending`."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._display(items, scope, pending)
            case ast.Name(id=name):
                found = self._variable(node, name, scope, pending)
                return found if is_enough(found) else self._recorded(name, scope) or found
            case ast.Attribute(value=owner, attr=name):
                assigned = self._fields.get((self._class_of(owner), name), ())
                mark = f"{self._class_of(owner)}.{name}"
                if len(assigned) == 1 and mark not in pending:
                    found = self.value_of(*assigned[0], pending | {mark})
                    return self._known(node, found, False)
                return self._seed(node)
            case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=int(index))):
                found = self.value_of(owner, scope, pending)
                if isinstance(found, Several) and index < len(found.items):
                    return found.items[index]
                return self._seed(node)
            case ast.Subscript(value=owner, slice=chosen) if self._takes_rows(chosen):
                return self._rows(self.value_of(owner, scope, pending), node)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="index_select"), args=[ast.Constant(0), _]
            ):
                return self._rows(self.value_of(owner, scope, pending), node)
            case ast.Call(func=ast.Attribute(attr=name)) if name in _FILLED:
                return self._filled(node, scope)
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _KEEP:
                known = self._seed(node)
                found = self.value_of(owner, scope, pending)
                if isinstance(found, Seed) and (known is None or known.type.shape is None):
                    return found
                return known
            case _:
                return self._seed(node)

    def _takes_rows(self, chosen: ast.expr) -> bool:
        """Whether an index leaves all dimensions and changes the first one's size."""
        if isinstance(chosen, ast.Slice):
            return True
        found = self.facts.types.get(chosen)
        return isinstance(found, Tensor) and found.shape is not None and len(found.shape) == 1

    def _rows(self, owner: Found, node: ast.expr) -> Seed | None:
        known = self._seed(node)
        if not isinstance(owner, Seed) or not owner.type.shape:
            return known
        shape = (UNKNOWN_SIZE, *owner.type.shape[1:])
        found = Seed(replace(owner.type, shape=shape, parameter=False))
        return found if known is None else better(known, found)

    def _filled(self, node: ast.Call, scope: Scope) -> Seed | None:
        """A new tensor whose sizes are the arguments: `torch.randn(64, config.width)`."""
        known = self._seed(node)
        shape = known.type.shape if known is not None else None
        if known is None or shape is None or len(shape) > len(node.args):
            return known
        sizes = (self.number(size, scope) for size in node.args)
        numbers = tuple(UNKNOWN_SIZE if size is None else size for size in sizes)
        return better(known, Seed(Tensor(None, numbers[: len(shape)])))

    def _display(
        self, items: list[ast.expr], scope: Scope, pending: frozenset[str]
    ) -> Several | None:
        if any(isinstance(item, ast.Starred) for item in items):
            return None
        found = [self.value_of(item, scope, pending) for item in items]
        return Several(tuple(f if isinstance(f, Seed) else None for f in found))

    def _variable(
        self, node: ast.Name, name: str, scope: Scope, pending: frozenset[str]
    ) -> Found:
        for at in around(scope):
            mark = f"{at}:{name}"
            assigned = () if mark in pending else self.assigned.get((at, name), ())
            turns = self._turns.get((at, name), ())
            if len(assigned) == 1:
                found = self.value_of(assigned[0], scope, pending | {mark})
                return self._known(node, found, (at, name) in self._grown)
            if len(turns) == 1 and not assigned:
                found = item_of(self, turns[0].over, turns[0].path, scope, pending | {mark})
                return self._known(node, found, False)
            if assigned or turns:
                break
        if scope.function is not None:
            parameters = self.facts.signatures[scope.function].parameters
            for place, parameter in enumerate(parameters):
                if parameter.name == name:
                    known = self._seed(node)
                    if known is not None and is_known(known):
                        return known
                    passed = self.of(scope.function, place, pending)
                    if isinstance(passed, Seed) and known is not None:
                        return better(known, passed)
                    return passed or known
        return self._seed(node)

    def _recorded(self, name: str, scope: Scope) -> Found:
        """What the variable held while the program was recorded."""
        tables = (self.facts.program.shapes.get(at, {}) for at in around(scope))
        recorded = next((table[name] for table in tables if name in table), None)
        return None if recorded is None else of_record(recorded)

    def _known(self, node: ast.expr, found: Found, grown: bool) -> Found:
        """What is known of a variable: by inference, and by where its value comes from."""
        known = self._seed(node)
        if isinstance(found, Several):
            items = (each and replace(each, grows=each.grows or grown) for each in found.items)
            return Several(tuple(items))
        if isinstance(found, Seed) and known is not None:
            found = better(known, found)
        found = known if found is None else found
        return replace(found, grows=found.grows or grown) if found is not None else None

    def _seed(self, node: ast.expr) -> Seed | None:
        found = of_type(self.facts.types.get(node))
        return Seed(found.type, found.grows or _grows(node)) if found is not None else None


def _grows(node: ast.expr) -> bool:
    """Whether the expression itself makes a tensor that requires a gradient."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        return True
    return any(
        keyword.arg == "requires_grad"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in node.keywords
    )
