"""What the program's calls pass to a function's parameters: shapes, and lengths of lists.

    train_step(x, y, params, 0.02)    →    x: float32[20000, 32], params: four tensors

What is found here is a guess to specialise on, never a promise: a region that uses it checks
it at run time. So a list counts as long as its display, whatever is done to it afterwards.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.records import Input
from ppybuild.graph.shapes import Recorded, RecordedTensor
from ppybuild.graph.types import Collection, Tensor, Tuple, Type, Union

UNKNOWN_SIZE = "?"

VARIES = "*"
"""A size that was another from call to call while the program was recorded."""


_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


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


@final
@dataclass(frozen=True, slots=True)
class Site:
    """A call, and where it stands."""

    call: ast.Call
    inside: str | None
    """The function that calls, None for a module's own code."""
    module: str


class Seeds:
    """Answers by function and place of the parameter; follows parameters to their callers."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._sites: dict[str, list[Site]] = {}
        self._assigned: dict[tuple[str, str], list[ast.expr]] = {}
        """By scope (function or module) and variable: what is assigned to it."""
        for name, module in facts.program.modules.items():
            self._gather(module.tree.body, None, name)
        for name, function in facts.program.functions.items():
            self._gather(function.node.body, name, function.module)

    def of(self, function: str, place: int, pending: frozenset[str] = frozenset()) -> Found:
        """What calls pass as the parameter at `place`; None where they do not agree."""
        if function in pending:
            return None
        parameters = self._facts.signatures[function].parameters
        found = [
            self._value(argument, site, pending | {function})
            for site in self._sites.get(function, ())
            if (argument := self._argument(function, site.call, place)) is not None
        ]
        result = found[0] if found else _of_type(parameters[place].type)
        for other in found[1:]:
            result = _joined(result, other)
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
            for found in self._makers_of(argument, site, pending | {function})
        ]

    def _makers_of(self, node: ast.expr, site: Site, pending: frozenset[str]) -> Iterator[Site]:
        match node:
            case ast.Call():
                callee = self._facts.callees.get(node)
                if callee is not None and callee.kind in ("class", "external"):
                    yield Site(node, site.inside, site.module)
            case ast.Name(id=name):
                scopes = [scope for scope in (site.inside, site.module) if scope is not None]
                assigned = next(
                    (a for scope in scopes if (a := self._assigned.get((scope, name)))), None
                )
                if assigned is not None:
                    mark = f"{site.inside}:{name}"
                    if mark not in pending:
                        for value in assigned:
                            yield from self._makers_of(value, site, pending | {mark})
                elif site.inside is not None:
                    parameters = self._facts.signatures[site.inside].parameters
                    for place, parameter in enumerate(parameters):
                        if parameter.name == name:
                            yield from self.made(site.inside, place, pending)
            case _:
                pass

    def number(self, node: ast.expr, site: Site) -> int | None:
        """What an integer expression is worth, if every call agrees."""
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int(value)):
                return value
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                a, b = self.number(left, site), self.number(right, site)
                return None if a is None or b is None else _ARITHMETIC[type(op)](a, b)
            case ast.Name(id=name):
                return self._named_number(node, name, site)
            case _:
                return None

    def _named_number(self, node: ast.Name, name: str, site: Site) -> int | None:
        constant = self._facts.constants.get(node)
        if type(constant) is int:
            return constant
        assigned = self._assigned.get((site.inside or site.module, name), ())
        if len(assigned) == 1:
            return self.number(assigned[0], site)
        if assigned or site.inside is None:
            return None
        parameters = self._facts.signatures[site.inside].parameters
        places = [i for i, parameter in enumerate(parameters) if parameter.name == name]
        return self.number_passed(site.inside, places[0]) if places else None

    def number_passed(self, function: str, place: int) -> int | None:
        """The integer that every call passes as the parameter at `place`."""
        parameter = self._facts.signatures[function].parameters[place]
        found = set()
        for site in self._sites.get(function, ()):
            argument = self._argument(function, site.call, place)
            if argument is None:
                argument = parameter.default
            found.add(None if argument is None else self.number(argument, site))
        return found.pop() if len(found) == 1 else None

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

    def _value(self, node: ast.expr, site: Site, pending: frozenset[str]) -> Found:
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._display(items, site, pending)
            case ast.Name(id=name):
                return self._variable(node, name, site, pending)
            case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=int(index))):
                found = self._value(owner, site, pending)
                if isinstance(found, Several) and index < len(found.items):
                    return found.items[index]
                return self._seed(node)
            case ast.Subscript(value=owner, slice=chosen) if self._takes_rows(chosen):
                return self._rows(self._value(owner, site, pending), node)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="index_select"), args=[ast.Constant(0), _]
            ):
                return self._rows(self._value(owner, site, pending), node)
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
        self, items: list[ast.expr], site: Site, pending: frozenset[str]
    ) -> Several | None:
        if any(isinstance(item, ast.Starred) for item in items):
            return None
        found = [self._value(item, site, pending) for item in items]
        return Several(tuple(f if isinstance(f, Seed) else None for f in found))

    def _variable(
        self, node: ast.Name, name: str, site: Site, pending: frozenset[str]
    ) -> Found:
        for scope in (site.inside, site.module):
            assigned = self._assigned.get((scope, name), ()) if scope is not None else ()
            if len(assigned) == 1:
                found = self._value(assigned[0], site, pending | {f"{scope}:{name}"})
                known = self._seed(node)
                if isinstance(found, Seed) and known is not None:
                    return Seed(known.type, found.grows or known.grows)
                return found if found is not None else known
            if assigned:
                break
        if site.inside is not None:
            parameters = self._facts.signatures[site.inside].parameters
            for place, parameter in enumerate(parameters):
                if parameter.name == name:
                    known = self._seed(node)
                    if known is not None and known.type.shape is not None:
                        return known
                    return self.of(site.inside, place, pending)
        return self._seed(node)

    def _seed(self, node: ast.expr) -> Seed | None:
        found = _of_type(self._facts.types.get(node))
        return Seed(found.type, found.grows or _grows(node)) if found is not None else None

    def _gather(self, body: list[ast.stmt], inside: str | None, module: str) -> None:
        scope = inside if inside is not None else module
        for node in _own(body):
            match node:
                case ast.Call():
                    callee = self._facts.callees.get(node)
                    if callee is not None and callee.kind in ("project", "class"):
                        made = ".__init__" if callee.kind == "class" else ""
                        site = Site(node, inside, module)
                        self._sites.setdefault(callee.name + made, []).append(site)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assigned.setdefault((scope, name), []).append(value)
                case ast.Assign(
                    targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
                ) if len(targets) == len(values):
                    for target, value in zip(targets, values, strict=True):
                        if isinstance(target, ast.Name):
                            self._assigned.setdefault((scope, target.id), []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._assigned.setdefault((scope, name), []).append(value)
                case _:
                    pass


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body without those of functions in it."""
    work: list[ast.AST] = list(body)
    while work:
        node = work.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        yield node
        work.extend(ast.iter_child_nodes(node))


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
