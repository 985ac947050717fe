"""One pass over one unit: types as they flow from statement to statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ppybuild.graph.infer.engine import Engine
from ppybuild.graph.infer.state import Slot, Unit, outer_units
from ppybuild.graph.lattice import join
from ppybuild.graph.types import NEVER, NONE, Type

Env = dict[str, Type]
"""Types by variable, and by path for what a test or an assignment has settled about an
attribute or item: `self.x`, `p.grad`, `xs[0]`."""

Handler = Callable[["Visit", ast.expr], Type]


@dataclass(slots=True, eq=False)
class Visit:
    """Where a pass over a unit stands. `env` is None where control does not arrive."""

    engine: Engine
    unit: Unit
    expressions: Mapping[type[ast.expr], Handler]
    env: Env | None
    special: Callable[[Type, str, list[Type]], Type | None] = lambda owner, name, given: None
    """Calls a special method (`__iter__`) of an object of the project; None without one."""
    breaks: list[list[Env]] = field(default_factory=list)
    continues: list[list[Env]] = field(default_factory=list)
    caught: list[list[Env]] = field(default_factory=list)
    """What is known at each point of the `try` bodies around that may raise."""
    unbound: set[str] = field(default_factory=set)
    """Variables that were read before anything was known to bind them."""
    hidden: set[str] = field(default_factory=set)
    """Names that belong to a comprehension around."""
    class_name: str | None = None
    """The class whose body is being run."""
    returned: Type = NEVER
    yielded: Type = NEVER

    def infer(self, node: ast.expr) -> Type:
        """The type of an expression here; it is written down."""
        found = self.expressions[type(node)](self, node)
        self.engine.types[node] = found
        return found

    def here(self) -> Env:
        """The environment; an empty one where control does not arrive."""
        return self.env if self.env is not None else {}

    def read(self, slot: Slot) -> Type:
        """A slot's type; the unit is visited again when it grows."""
        return self.engine.read(slot, self.unit)

    def write(self, slot: Slot, found: Type) -> None:
        """Joins a type into a slot."""
        self.engine.write(slot, found, self.unit)

    def resolved(self, found: Type) -> Type:
        """The type with the contents of containers in it."""
        return self.engine.sites.resolved(found, self.unit)

    def bind(self, name: str, found: Type) -> None:
        """Gives a variable of this unit a type from here on."""
        if self.env is None:
            return
        if name in self.hidden:
            self.env[name] = found
            return
        scope = self.unit.scope
        if name in scope.globals:
            self.write(self.engine.units[self.unit.module.name].variable(name), found)
            return
        if name in scope.nonlocals:
            for outer in outer_units(self.unit):
                if binds(outer, name):
                    self.write(outer.variable(name), found)
                    return
        self.forget(name)
        self.env[name] = found
        if self.class_name is not None:
            fields = self.engine.fields[self.class_name]
            self.write(fields.setdefault(name, Slot()), found)
        else:
            self.write(self.unit.variable(name), found)

    def forget(self, name: str) -> None:
        """Drops what was settled about attributes and items below a variable or path."""
        env = self.here()
        dot, bracket = f"{name}.", f"{name}["
        stale = [path for path in env if path.startswith((dot, bracket))]
        for path in stale:
            del env[path]

    def forget_attribute(self, attribute: str) -> None:
        """Drops what was settled about any attribute of that name: it may be the same one."""
        env = self.here()
        for path in [path for path in env if f".{attribute}" in path]:
            del env[path]

    def forget_none(self) -> None:
        """After a call: what was None by assignment may have been set."""
        env = self.here()
        for path in [
            path
            for path, found in env.items()
            if found is NONE and ("." in path or "[" in path)
        ]:
            del env[path]


def binds(unit: Unit, name: str) -> bool:
    """True where a name is a local variable or parameter of a unit."""
    return name in unit.scope.bound or any(found.name == name for found in unit.inputs)


def path_of(node: ast.expr) -> str | None:
    """The path that names an attribute or item whose type a test can settle."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = path_of(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript):
        owner = path_of(node.value)
        index = node.slice
        if owner is None:
            return None
        if isinstance(index, ast.Constant) and isinstance(index.value, int | str):
            return f"{owner}[{index.value!r}]"
    return None


def join_envs(left: Env | None, right: Env | None) -> Env | None:
    """What is known where two ways meet: variables join, settled paths hold on both."""
    if left is None or right is None:
        return left if right is None else right
    if left is right:
        return left
    joined: Env = {}
    for name, found in left.items():
        other = right.get(name)
        if other is not None:
            joined[name] = found if found is other else join(found, other)
        elif "." not in name and "[" not in name:
            joined[name] = found
    for name, found in right.items():
        if name not in left and "." not in name and "[" not in name:
            joined[name] = found
    return joined


def lookup(visit: Visit, name: str) -> Type | None:
    """The type of a name here; None where nothing defines it."""
    env = visit.here()
    found = env.get(name)
    if found is not None:
        return found
    unit, engine = visit.unit, visit.engine
    is_module = isinstance(unit.node, ast.Module)
    if visit.class_name is None and not is_module and binds(unit, name):
        visit.unbound.add(name)
        return NEVER
    for outer in outer_units(unit):
        if binds(outer, name):
            return visit.read(outer.variable(name))
    if is_module and name in unit.scope.bound:
        visit.unbound.add(name)
    found = engine.global_type(unit.module.name, name, unit)
    if found is not None:
        return found
    found = builtin(engine, name)
    return found if found is not None else None


def builtin(engine: Engine, name: str) -> Type | None:
    """The type of a built-in name; None where there is none."""
    return engine.library.name(f"builtins.{name}")
