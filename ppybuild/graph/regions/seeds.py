"""What the program's calls pass to a function's parameters: shapes, and lengths of lists.

    train_step(x, y, params, 0.02)    →    x: float32[20000, 32], params: four tensors

What is found here is a guess to specialise on, never a promise: a region that uses it checks
it at run time. So a list counts as long as its display, whatever is done to it afterwards.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.records import Input
from ppybuild.graph.regions.sources import Scope, Site, Sources, Turn, around, own_nodes
from ppybuild.graph.shapes import Recorded, RecordedTensor
from ppybuild.graph.types import Collection, Instance, Tensor, Tuple, Type, Union

UNKNOWN_SIZE = "?"

VARIES = "*"
"""A size that was another from call to call while the program was recorded."""


_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}

_GIVE_THEMSELVES = ("to", "cpu", "cuda", "train", "eval", "requires_grad_")
"""Methods of modules that give the module itself."""


@final
@dataclass(frozen=True, slots=True)
class Seed:
    """A tensor as calls pass it. `grows`: made with `requires_grad=True`, or a Parameter."""

    type: Tensor
    grows: bool = False


@final
@dataclass(frozen=True, slots=True)
class Several:
    """The tensors of a list or tuple; None for one of which nothing is known."""

    items: tuple[Seed | None, ...]


Found = Seed | Several | None


class Seeds:
    """Answers by function and place of the parameter; follows parameters to their callers."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        sources = Sources(facts)
        self._sites, self._assigned = sources.sites, sources.assigned
        self._asked: set[tuple[str, int]] = set()
        """The parameters whose numbers are being looked for."""
        self._fields, self._turns = sources.fields, sources.turns

    def of(self, function: str, place: int, pending: frozenset[str] = frozenset()) -> Found:
        """What calls pass as the parameter at `place`: what most of them do, where they do
        not agree. None where nothing is known."""
        if function in pending:
            return None
        parameters = self._facts.signatures[function].parameters
        found = [
            self._value(argument, site.scope, pending | {function})
            for site in self._sites.get(function, ())
            if (argument := self._argument(function, site.call, place)) is not None
        ]
        result = _most(found) if found else _of_type(parameters[place].type)
        recorded = self._facts.program.shapes.get(function, {}).get(parameters[place].name)
        return result if recorded is None or _is_known(result) else _of_record(recorded)

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
                callee = self._facts.callees.get(node)
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
        found = self._facts.types.get(node)
        return found.name if isinstance(found, Instance) else ""

    def _returned_by(
        self, function: str, site: Site, pending: frozenset[str]
    ) -> Iterator[Site]:
        found = self._facts.program.functions[function]
        mark = f"{function}()"
        for node in own_nodes(found.node.body) if mark not in pending else ():
            if isinstance(node, ast.Return) and node.value is not None:
                inside = Scope(function, found.module, site)
                yield from self.makers_of(node.value, inside, pending | {mark})

    def _makers_of_name(
        self, name: str, scope: Scope, pending: frozenset[str]
    ) -> Iterator[Site]:
        assigned = next(
            (a for at in around(scope) if (a := self._assigned.get((at, name)))), ()
        )
        mark = f"{scope.function}:{name}"
        if assigned and mark not in pending:
            for value in assigned:
                yield from self.makers_of(value, scope, pending | {mark})
        elif not assigned and scope.function is not None:
            parameters = self._facts.signatures[scope.function].parameters
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
            case _:
                return None

    def _named_number(self, node: ast.Name, name: str, scope: Scope) -> int | None:
        constant = self._facts.constants.get(node)
        if type(constant) is int:
            return constant
        assigned = self._assigned.get((scope.name, name), ())
        if len(assigned) == 1:
            return self.number(assigned[0], scope)
        if assigned or scope.function is None:
            return None
        parameters = self._facts.signatures[scope.function].parameters
        places = [i for i, parameter in enumerate(parameters) if parameter.name == name]
        if not places:
            return None
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
        if argument is None:
            argument = self._facts.signatures[function].parameters[place].default
        return None if argument is None else self.number(argument, site.scope)

    def _argument(self, function: str, call: ast.Call, place: int) -> ast.expr | None:
        bound = self._facts.program.functions[function].owner is not None
        name = self._facts.signatures[function].parameters[place].name
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
        return self._value(node, scope, frozenset())

    def _value(self, node: ast.expr, scope: Scope, pending: frozenset[str]) -> Found:
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._display(items, scope, pending)
            case ast.Name(id=name):
                return self._variable(node, name, scope, pending)
            case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=int(index))):
                found = self._value(owner, scope, pending)
                if isinstance(found, Several) and index < len(found.items):
                    return found.items[index]
                return self._seed(node)
            case ast.Subscript(value=owner, slice=chosen) if self._takes_rows(chosen):
                return self._rows(self._value(owner, scope, pending), node)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="index_select"), args=[ast.Constant(0), _]
            ):
                return self._rows(self._value(owner, scope, pending), node)
            case _:
                return self._seed(node)

    def _takes_rows(self, chosen: ast.expr) -> bool:
        """Whether an index leaves all dimensions and changes the first one's size."""
        if isinstance(chosen, ast.Slice):
            return True
        found = self._facts.types.get(chosen)
        return isinstance(found, Tensor) and found.shape is not None and len(found.shape) == 1

    def _rows(self, owner: Found, node: ast.expr) -> Seed | None:
        known = self._seed(node)
        if known is not None and known.type.shape is not None:
            return known
        if not isinstance(owner, Seed) or not owner.type.shape:
            return known
        shape = (UNKNOWN_SIZE, *owner.type.shape[1:])
        return Seed(replace(owner.type, shape=shape, parameter=False))

    def _display(
        self, items: list[ast.expr], scope: Scope, pending: frozenset[str]
    ) -> Several | None:
        if any(isinstance(item, ast.Starred) for item in items):
            return None
        found = [self._value(item, scope, pending) for item in items]
        return Several(tuple(f if isinstance(f, Seed) else None for f in found))

    def _variable(
        self, node: ast.Name, name: str, scope: Scope, pending: frozenset[str]
    ) -> Found:
        for at in around(scope):
            assigned = self._assigned.get((at, name), ())
            if len(assigned) == 1:
                found = self._value(assigned[0], scope, pending | {f"{at}:{name}"})
                known = self._seed(node)
                if isinstance(found, Seed) and known is not None:
                    return _better(known, found)
                return found if found is not None else known
            turns = self._turns.get((at, name), ())
            if len(turns) == 1 and not assigned:
                return self._seed(node) or self._turn(turns[0], scope, pending)
            if assigned or turns:
                break
        if scope.function is not None:
            parameters = self._facts.signatures[scope.function].parameters
            for place, parameter in enumerate(parameters):
                if parameter.name == name:
                    known = self._seed(node)
                    if known is not None and _is_known(known):
                        return known
                    return self.of(scope.function, place, pending) or known
        return self._seed(node)

    def _turn(self, turn: Turn, scope: Scope, pending: frozenset[str]) -> Found:
        """Of a loop over a `DataLoader` of a `TensorDataset`: rows of one of its tensors."""
        for loader in self.makers_of(turn.over, scope, pending):
            for dataset in self._makers_of_first(loader, "DataLoader", pending):
                data = self._is_made(dataset, "TensorDataset")
                if data and len(turn.path) == 1 and turn.path[0] < len(data):
                    tensor = self._value(data[turn.path[0]], dataset.scope, pending)
                    if isinstance(tensor, Seed) and tensor.type.shape:
                        shape = (UNKNOWN_SIZE, *tensor.type.shape[1:])
                        return Seed(replace(tensor.type, shape=shape, parameter=False))
        return None

    def _makers_of_first(
        self, site: Site, kind: str, pending: frozenset[str]
    ) -> Iterator[Site]:
        arguments = self._is_made(site, kind)
        if arguments:
            yield from self.makers_of(arguments[0], site.scope, pending)

    def _is_made(self, site: Site, kind: str) -> list[ast.expr]:
        """The arguments of a call that makes an instance of a class of `torch.utils.data`."""
        callee = self._facts.callees.get(site.call)
        name = callee.name if callee is not None else ""
        inside = name.startswith("torch.utils.data.") and name.endswith(f".{kind}")
        return site.call.args if inside else []

    def _seed(self, node: ast.expr) -> Seed | None:
        found = _of_type(self._facts.types.get(node))
        return Seed(found.type, found.grows or _grows(node)) if found is not None else None


def _better(known: Seed, found: Seed) -> Seed:
    """What inference knows of a variable, and where it knows less, what is assigned to it."""
    shape = known.type.shape if known.type.shape is not None else found.type.shape
    type = Tensor(known.type.dtype or found.type.dtype, shape, known.type.parameter)
    return Seed(type, found.grows or known.grows)


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


def _is_known(found: Found) -> bool:
    if isinstance(found, Several):
        return all(item is not None and _is_known(item) for item in found.items)
    if found is None or found.type.dtype is None or found.type.shape is None:
        return False
    return UNKNOWN_SIZE not in found.type.shape


def _of_record(recorded: Recorded) -> Seed | Several:
    if isinstance(recorded, tuple):
        return Several(tuple(_of_recorded(one) for one in recorded))
    return _of_recorded(recorded)


def _of_recorded(recorded: RecordedTensor) -> Seed:
    shape = tuple(VARIES if size is None else size for size in recorded.shape)
    return Seed(Tensor(recorded.dtype, shape), recorded.trained)


def _of_type(type: Type | None) -> Seed | None:
    match type:
        case Tensor():
            return Seed(type, type.parameter)
        case Union(members=members):
            tensors = [member for member in members if isinstance(member, Tensor)]
            return Seed(tensors[0], tensors[0].parameter) if len(tensors) == 1 else None
        case _:
            return None


def _most(found: list[Found]) -> Found:
    """What most calls pass, the first of those that are as many; batches may differ in size."""
    trained = any(isinstance(one, Seed) and one.grows for one in found)
    found = _chosen(found, lambda seed: _sizes_of(seed, trained))
    found = _chosen(found, lambda seed: seed.type.dtype)
    result = found[0]
    for other in found[1:]:
        result = _joined(result, other)
    return result


def _chosen(found: list[Found], ballot: Callable[[Seed], object]) -> list[Found]:
    """Without the tensors that another ballot has more votes than; None is none."""
    votes = Counter(vote for one in found if isinstance(one, Seed) and (vote := ballot(one)))
    if not votes:
        return found
    winner = max(votes, key=lambda vote: votes[vote])
    return [one for one in found if not isinstance(one, Seed) or ballot(one) in (None, winner)]


def _sizes_of(seed: Seed, trained: bool) -> tuple[int | str, ...] | None:
    """The shape, with any size for the batch of what is not trained."""
    shape = seed.type.shape
    return shape if not shape or trained else (UNKNOWN_SIZE, *shape[1:])


def _joined(left: Found, right: Found) -> Found:
    """What fits both calls; one of which nothing is known says nothing against the other."""
    match left, right:
        case Seed(), Seed():
            return Seed(_join(left.type, right.type), left.grows or right.grows)
        case Several(items=one), Several(items=two) if len(one) == len(two):
            pairs = (_joined(a, b) for a, b in zip(one, two, strict=True))
            return Several(tuple(f if isinstance(f, Seed) else None for f in pairs))
        case None, _:
            return right
        case _, None:
            return left
        case _:
            return None


def _join(left: Tensor, right: Tensor) -> Tensor:
    one, two = left.shape, right.shape
    if one is None or two is None:
        shape = one if two is None else two
    elif len(one) == len(two):
        shape = tuple(a if a == b else UNKNOWN_SIZE for a, b in zip(one, two, strict=True))
    else:
        shape = None
    return Tensor(left.dtype if right.dtype in (None, left.dtype) else right.dtype, shape)


def is_sequence(type: Type) -> bool:
    """Whether a parameter of this type is a list or tuple of tensors."""
    match type:
        case Collection(kind=kind, item=Tensor()):
            return kind in ("list", "tuple", "Sequence")
        case Tuple(items=items):
            return bool(items) and all(isinstance(item, Tensor) for item in items)
        case _:
            return False


def seed_of(found: Found, given: Input) -> Seed | None:
    """What is known of an input, by what is passed for its parameter."""
    if given.kind != "tensor":
        return None
    if isinstance(found, Several) and given.index is not None:
        inside = -len(found.items) <= given.index < len(found.items)
        return found.items[given.index] if inside else None
    return found if isinstance(found, Seed) and given.index is None else None
