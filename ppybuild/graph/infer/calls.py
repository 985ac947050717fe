"""Calls: of the project's functions, methods and classes, of containers, of libraries."""

from __future__ import annotations

import ast
from itertools import count

from ppybuild.graph.infer.annotations import ALIASES, CLASSES
from ppybuild.graph.infer.applying import apply
from ppybuild.graph.infer.arguments import Given, bind, bind_values, pass_in
from ppybuild.graph.infer.attributes import member_attribute, owner_is_own
from ppybuild.graph.infer.containers import call_container, element_of, fill, fresh, value_of
from ppybuild.graph.infer.loading import loaded
from ppybuild.graph.infer.state import Unit
from ppybuild.graph.infer.values import (
    Sizes,
    argument,
    sizes_of,
)
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import join_all, members_of
from ppybuild.graph.library import Argument
from ppybuild.graph.program import Callee
from ppybuild.graph.types import (
    INT,
    NEVER,
    NONE,
    UNKNOWN,
    Callable,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Method,
    Scalar,
    Tuple,
    Type,
    Unknown,
)


def infer_call(visit: Visit, node: ast.expr) -> Type:
    """The type of a call's result."""
    assert isinstance(node, ast.Call)
    callee = visit.infer(node.func)
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        return _super(visit, node)
    given = Given([], {}, [], node)
    for each in node.args:
        given.positional.append((visit.infer(each), isinstance(each, ast.Starred)))
    for keyword in node.keywords:
        found = visit.infer(keyword.value)
        if keyword.arg is None:
            given.mappings.append(found)
        else:
            given.keywords[keyword.arg] = found
    visit.engine.callees.pop(node, None)
    members = [member for member in members_of(callee) if member != NONE]
    targets: set[Callee] = set()
    results: list[Type] = []
    resolved = True
    for member in members:
        reached: set[Callee] = set()
        results.append(_call(visit, member, given, reached))
        resolved = resolved and bool(reached)
        targets |= reached
    found = join_all(results)
    if resolved and len(targets) == 1:
        visit.engine.callees[node] = targets.pop()
    visit.forget_none()
    return found


def _call(visit: Visit, callee: Type, given: Given, targets: set[Callee]) -> Type:
    engine = visit.engine
    match callee:
        case Function():
            if callee.name in engine.units:
                if callee.name in engine.program.functions:
                    targets.add(Callee("project", callee.name))
                return call_unit(visit, engine.units[callee.name], given, None)
            targets.add(Callee("external", engine.canonical(callee.name)))
            return _call_library(visit, callee, given)
        case Method():
            return _call_method(visit, callee, given, targets)
        case Class():
            return _call_class(visit, callee, given, targets)
        case Instance() if callee.name in engine.program.classes:
            return _call_instance(visit, callee, given, targets)
        case Callable():
            return callee.result
        case Unknown():
            escape_all(visit, given)
            return UNKNOWN
    return _call_library(visit, callee, given)


def _call_instance(visit: Visit, callee: Instance, given: Given, targets: set[Callee]) -> Type:
    hierarchy = visit.engine.hierarchy
    for name in ("__call__", "forward"):
        method = hierarchy.method(callee.name, name)
        if method is not None and (name == "__call__" or hierarchy.library_bases(callee.name)):
            return _call_method(visit, Method(callee, name), given, targets)
    escape_all(visit, given)
    for base in hierarchy.library_bases(callee.name):
        return _call_library(visit, Instance(base), given)
    return UNKNOWN


def _call_method(visit: Visit, callee: Method, given: Given, targets: set[Callee]) -> Type:
    engine = visit.engine
    receiver = callee.receiver
    site = engine.sites.of(receiver)
    if site is not None:
        targets.add(Callee("method", f"{site.kind}.{callee.name}"))
        plain = [found for found, starred in given.positional if not starred]
        if given.node is not None and not given.mappings:
            answer = call_container(visit, given.node, site, callee.name, plain)
            if answer is not None:
                return answer
        return _call_library(visit, Method(visit.resolved(receiver), callee.name), given)
    if isinstance(receiver, Instance | Class) and receiver.name in engine.program.classes:
        found = engine.hierarchy.method(receiver.name, callee.name)
        if found is not None:
            return _call_own(visit, receiver, callee.name, found.name, given, targets)
        for base in engine.hierarchy.library_bases(receiver.name):
            targets.add(Callee("method", f"{base}.{callee.name}"))
            return _call_library(visit, Method(Instance(base), callee.name), given)
        return UNKNOWN
    targets.add(Callee("method", f"{receiver_name(receiver)}.{callee.name}"))
    return _call_library(visit, callee, given)


def _call_own(
    visit: Visit,
    receiver: Instance | Class,
    name: str,
    found: str,
    given: Given,
    targets: set[Callee],
) -> Type:
    engine = visit.engine
    functions = {found: None}
    if isinstance(receiver, Instance) and name != "__init__" and not given.through_super:
        functions.update(
            {each.name: None for each in engine.hierarchy.overriding(receiver.name, name)}
        )
    results = []
    for each in functions:
        targets.add(Callee("project", each))
        unit = engine.units[each]
        bound = None if "staticmethod" in unit.decorators else receiver
        results.append(call_unit(visit, unit, given, bound))
    return join_all(results)


def receiver_name(receiver: Type) -> str:
    """What stands before the dot in the name of a library type's method."""
    match receiver:
        case Instance() | Class():
            return receiver.name
        case Collection() | Dictionary():
            return receiver.kind
        case Scalar():
            return receiver.name
        case Literal():
            return receiver.base.name
        case Tuple():
            return "tuple"
    return {"Tensor": "torch.Tensor", "Array": "array.array", "Buffer": "ppy.Buffer"}.get(
        type(receiver).__name__, "object"
    )


def _call_class(visit: Visit, callee: Class, given: Given, targets: set[Callee]) -> Type:
    engine = visit.engine
    if callee.name in engine.program.classes:
        targets.add(Callee("class", callee.name))
        construct(visit, callee.name, given)
        return Instance(callee.name)
    name = engine.canonical(callee.name)
    targets.add(Callee("external", name))
    kind = name.removeprefix("builtins.")
    if name in ("builtins.list", "builtins.set", "builtins.dict") and given.node is not None:
        return _construct_container(visit, kind, given, given.node)
    found = _call_library(visit, callee, given)
    if isinstance(found, Unknown):
        known = CLASSES.get(ALIASES.get(name, name))
        if isinstance(known, Scalar):
            return known
    return found


def _construct_container(visit: Visit, kind: str, given: Given, node: ast.Call) -> Type:
    site = visit.engine.sites.at(node, kind)
    for found, _ in given.positional:
        if kind != "dict":
            fill(visit, site, element_of(visit, found))
            continue
        for member in members_of(found):
            mapping = value_of(visit, member)
            if not isinstance(mapping, Unknown):
                fill(visit, site, mapping, element_of(visit, member))
                continue
            pair = element_of(visit, member)
            if isinstance(pair, Tuple) and len(pair.items) == 2:
                fill(visit, site, pair.items[1], pair.items[0])
            else:
                fill(visit, site, element_of(visit, pair), element_of(visit, pair))
    for found in given.keywords.values():
        fill(visit, site, found, Scalar("str"))
    for found in given.mappings:
        fill(visit, site, value_of(visit, found), element_of(visit, found))
    return site.type


def construct(visit: Visit, name: str, given: Given) -> None:
    """Calls what making an object of one of the project's classes calls."""
    engine = visit.engine
    method = engine.hierarchy.method(name, "__init__")
    if method is not None:
        call_unit(visit, engine.units[method.name], given, Instance(name))
        return
    method = engine.hierarchy.method(name, "__new__")
    if method is not None:
        call_unit(visit, engine.units[method.name], given, Class(name))
        return
    fields = engine.record_fields(name)
    slots = engine.fields[name]
    for field, (found, _) in zip(fields, given.positional, strict=False):
        if field in slots:
            visit.write(slots[field], found)
    for field, found in given.keywords.items():
        if field in slots:
            visit.write(slots[field], found)


def call_unit(visit: Visit, unit: Unit, given: Given, receiver: Type | None) -> Type:
    """Binds the arguments of a call to a unit's parameters; gives its result."""
    inputs = list(unit.inputs)
    if receiver is not None and inputs and inputs[0].kind in ("positional", "normal"):
        first = inputs.pop(0)
        if first.declared is None:
            pass_in(visit, first, receiver)
    bind(visit, inputs, given)
    bind_values(visit, inputs, given)
    return visit.engine.result_of(unit, visit.unit)


HARMLESS = frozenset(
    f"builtins.{name}"
    for name in [
        "callable",
        "dir",
        "getattr",
        "hasattr",
        "hash",
        "id",
        "isinstance",
        "issubclass",
        "len",
        "print",
        "repr",
        "setattr",
        "str",
        "type",
        "vars",
        "format",
        "bool",
        "list",
        "tuple",
        "set",
        "dict",
        "enumerate",
        "zip",
    ]
)
"""Built-ins that take a function as a value and do not call it."""


def _call_library(visit: Visit, callee: Type, given: Given) -> Type:
    engine = visit.engine
    name = engine.canonical(callee.name) if isinstance(callee, Function | Class) else ""
    applied = apply(visit, callee, name, given, _call)
    made = loaded(visit, name, given, _call) if applied is None else applied
    if made is None and name not in HARMLESS and not name.startswith("ppy."):
        escape_all(visit, given)
    arguments, keywords = _arguments(visit, given, _sizes(callee))
    found = engine.ask_call(callee, arguments, keywords, unpacked=bool(given.mappings))
    if made is not None and made is not NEVER:
        found = made
    return fresh(visit, given.node, found) if given.node is not None else found


def _sizes(callee: Type) -> Sizes | None:
    if isinstance(callee, Method):
        return sizes_of(callee.receiver)
    name = callee.name if isinstance(callee, Function | Class | Instance) else ""
    return count() if name.startswith("torch.") else None


def _arguments(
    visit: Visit, given: Given, sizes: Sizes | None
) -> tuple[list[Argument], dict[str, Argument]]:
    if given.node is None:
        return [Argument(visit.resolved(found)) for found, _ in given.positional], {}
    arguments = [
        argument(visit, node, found, sizes)
        for node, (found, _) in zip(given.node.args, given.positional, strict=False)
    ]
    keywords = {
        keyword.arg: argument(visit, keyword.value, given.keywords[keyword.arg], sizes)
        for keyword in given.node.keywords
        if keyword.arg is not None
    }
    return arguments, keywords


def escape_all(visit: Visit, given: Given) -> None:
    """Arguments go where nothing is known: functions may be called with anything, containers
    may be given anything."""
    for found in (
        *(each for each, _ in given.positional),
        *given.keywords.values(),
        *given.mappings,
    ):
        escape(visit, found)


def escape(visit: Visit, found: Type) -> None:
    """One value goes where nothing is known: whoever has it may call it with anything."""
    for member in members_of(found):
        unit = None
        if isinstance(member, Function):
            unit = visit.engine.units.get(member.name)
        elif isinstance(member, Method) and owner_is_own(visit, member):
            assert isinstance(member.receiver, Instance)
            method = visit.engine.hierarchy.method(member.receiver.name, member.name)
            unit = None if method is None else visit.engine.units[method.name]
        if unit is not None:
            for each in unit.inputs:
                if each.declared is None and each.default is None:
                    visit.write(each.slot, UNKNOWN)
                visit.engine.work.write(each.value, INT)
            visit.engine.result_of(unit, visit.unit)


def call_method(visit: Visit, owner: Type, name: str, arguments: list[Type]) -> Type | None:
    """Calls a special method of an object of the project; None where it has none."""
    if not isinstance(owner, Instance):
        return None
    if visit.engine.hierarchy.method(owner.name, name) is None:
        inherited = member_attribute(visit, owner, name)
        if inherited is None or isinstance(inherited, Unknown):
            return None
    given = Given([(found, False) for found in arguments], {}, [])
    return _call_method(visit, Method(owner, name), given, set())


def _super(visit: Visit, node: ast.Call) -> Type:
    owner = visit.unit.owner
    if owner is None:
        return UNKNOWN
    bases = visit.engine.hierarchy.order(owner)[1:]
    if bases:
        return Instance(bases[0])
    base = next(iter(visit.engine.hierarchy.library_bases(owner)), "object")
    return Instance(base if "." in base else f"builtins.{base}")
