"""What `owner.name` is."""

from __future__ import annotations

from ppybuild.graph.infer.options import NAMESPACE
from ppybuild.graph.infer.state import Slot
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import join, join_all, members_of, refined
from ppybuild.graph.types import (
    NONE,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Method,
    Module,
    Type,
    Unknown,
)


def attribute_type(visit: Visit, owner: Type, name: str) -> Type:
    """The type of an attribute, joined over a union's members (`None` has none of interest)."""
    results: list[Type] = []
    members = members_of(owner)
    for member in members:
        if member == NONE and len(members) > 1:
            continue
        found = member_attribute(visit, member, name)
        results.append(UNKNOWN if found is None else found)
    return join_all(results)


def member_attribute(visit: Visit, owner: Type, name: str) -> Type | None:
    """The type of an attribute of one type; None where it is known to have no such one."""
    engine = visit.engine
    if isinstance(owner, Unknown):
        return UNKNOWN
    if isinstance(owner, Module) and engine.is_project_module(owner.name):
        return engine.global_type(owner.name, name, visit.unit)
    if isinstance(owner, Instance):
        if engine.sites.of(owner) is not None:
            return Method(owner, name)
        if owner.name in engine.program.classes:
            return instance_attribute(visit, owner, name)
    if isinstance(owner, Class) and owner.name in engine.program.classes:
        return class_attribute(visit, owner, name)
    if isinstance(owner, Function | Method) and owner_is_own(visit, owner):
        return UNKNOWN
    if owner == Instance(NAMESPACE) and name in engine.options:
        return engine.options[name]
    return engine.library.member(visit.resolved(owner), name)


def owner_is_own(visit: Visit, owner: Function | Method) -> bool:
    """True for functions and methods of the project."""
    if isinstance(owner, Function):
        return owner.name in visit.engine.units
    receiver = owner.receiver
    return isinstance(receiver, Instance) and receiver.name in visit.engine.program.classes


def instance_attribute(visit: Visit, owner: Instance, name: str) -> Type | None:
    """An attribute of an object of one of the project's classes."""
    engine, hierarchy = visit.engine, visit.engine.hierarchy
    if name == "__class__":
        return Class(owner.name)
    method = hierarchy.method(owner.name, name)
    if method is not None:
        unit = engine.units[method.name]
        if unit.opaque:
            return UNKNOWN
        if any(each.endswith(("property", ".setter", ".getter")) for each in unit.decorators):
            getter = engine.units[method.name.partition("#")[0]]
            return engine.result_of(getter, visit.unit)
        if "staticmethod" in unit.decorators:
            return Function(method.name)
        if "classmethod" in unit.decorators:
            return Method(Class(owner.name), name)
        return Method(owner, name)
    found = field_type(visit, owner.name, name)
    if found is not None:
        return found
    bases = hierarchy.library_bases(owner.name)
    for base in bases:
        inherited = engine.library.member(Instance(base), name)
        if inherited is not None and not isinstance(inherited, Unknown):
            return _rebound(inherited, owner)
    if bases or hierarchy.method(owner.name, "__getattr__") is not None:
        return UNKNOWN
    for below in hierarchy.subclasses(owner.name):
        if name in engine.fields[below] or hierarchy.method(below, name) is not None:
            return UNKNOWN
    inherited = engine.library.member(Instance("builtins.object"), name)
    return None if isinstance(inherited, Unknown) else inherited


def _rebound(found: Type, owner: Instance) -> Type:
    return Method(owner, found.name) if isinstance(found, Method) else found


def field_type(visit: Visit, owner: str, name: str) -> Type | None:
    """A field set in any method of the class or of those that it derives from."""
    engine = visit.engine
    found: Type | None = None
    for ancestor in engine.hierarchy.order(owner):
        slot = engine.fields[ancestor].get(name)
        if slot is not None:
            here = visit.read(slot)
            found = here if found is None else join(found, here)
            if ancestor in engine.declared_fields and name in engine.declared_fields[ancestor]:
                return refined(found, engine.declared_fields[ancestor][name])
    if found is None:
        engine.misses.setdefault(name, {})[visit.unit] = None
    return found


def class_attribute(visit: Visit, owner: Class, name: str) -> Type | None:
    """An attribute read off one of the project's classes."""
    engine, hierarchy = visit.engine, visit.engine.hierarchy
    method = hierarchy.method(owner.name, name)
    if method is not None:
        if engine.units[method.name].opaque:
            return UNKNOWN
        if "classmethod" in engine.units[method.name].decorators:
            return Method(owner, name)
        return Function(method.name)
    nested = f"{owner.name}.{name}"
    if nested in engine.program.classes:
        return Class(nested)
    found = field_type(visit, owner.name, name)
    bases = hierarchy.library_bases(owner.name)
    if found is not None:
        return (
            Instance(owner.name)
            if any("Enum" in base or "Flag" in base for base in bases)
            else found
        )
    for base in bases:
        inherited = engine.library.member(Class(base), name)
        if inherited is not None and not isinstance(inherited, Unknown):
            return inherited
    if name in ("__name__", "__qualname__", "__module__"):
        return engine.library.member(Class("builtins.object"), name)
    return UNKNOWN if bases else None


def write_field(visit: Visit, owner: Type, name: str, found: Type) -> None:
    """Joins a type into the field of every class that the owner may be."""
    engine = visit.engine
    for member in members_of(owner):
        if isinstance(member, Instance | Class) and member.name in engine.program.classes:
            owner_class = member.name
            for ancestor in engine.hierarchy.order(owner_class):
                if name in engine.fields[ancestor]:
                    owner_class = ancestor
                    break
            fields = engine.fields[owner_class]
            if name not in fields:
                fields[name] = Slot()
                for reader in engine.misses.pop(name, {}):
                    engine.work.add(reader)
            visit.write(fields[name], found)
        elif isinstance(member, Module) and member.name in engine.units:
            visit.write(engine.units[member.name].variable(name), found)
