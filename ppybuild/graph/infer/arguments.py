"""The arguments of a call, and the parameters that they go to."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ppybuild.graph.infer.containers import element_of, value_of
from ppybuild.graph.infer.state import Input, named_inputs
from ppybuild.graph.infer.values import (
    known_value,
    plain_constant,
    value_type,
)
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import join_all, refined, widened
from ppybuild.graph.types import (
    INT,
    NEVER,
    Collection,
    Tuple,
    Type,
    Unknown,
)


@dataclass(slots=True)
class Given:
    """The arguments of one call."""

    positional: list[tuple[Type, bool]]
    """Type, and whether it is `*argument`."""
    keywords: dict[str, Type]
    mappings: list[Type]
    """`**argument`"""
    node: ast.Call | None = None

    @property
    def through_super(self) -> bool:
        """True for `super().method(...)`, which no subclass overrides."""
        function = self.node.func if self.node is not None else None
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Call):
            return False
        return isinstance(function.value.func, ast.Name) and function.value.func.id == "super"


def pass_in(visit: Visit, found: Input, given: Type) -> None:
    """One argument for one parameter."""
    if found.declared is not None and refined(given, found.declared) == found.declared:
        return
    if isinstance(given, Unknown) and not visit.unit.reached:
        return
    visit.write(found.slot, given)


def bind(visit: Visit, inputs: list[Input], given: Given) -> None:
    """Joins the arguments of a call into the parameters that they go to."""
    places = [found for found in inputs if found.kind in ("positional", "normal")]
    rest = next((found for found in inputs if found.kind == "rest"), None)
    over: list[Type] = []
    exact = True
    taken = 0
    for found, starred in given.positional:
        if starred and isinstance(found, Tuple):
            spread: tuple[Type, ...] = found.items
        elif starred:
            item = element_of(visit, found)
            for place in places[taken:]:
                pass_in(visit, place, item)
            taken = len(places)
            over.append(item)
            exact = False
            continue
        else:
            spread = (found,)
        for each in spread:
            if taken < len(places):
                pass_in(visit, places[taken], each)
                taken += 1
            else:
                over.append(each)
    if rest is not None and rest.declared is None:
        items = tuple(map(widened, over))
        pass_in(visit, rest, Tuple(items) if exact else Collection("tuple", join_all(items)))
    _bind_keywords(visit, inputs, given, {found.name for found in places[:taken]})


def _bind_keywords(visit: Visit, inputs: list[Input], given: Given, taken: set[str]) -> None:
    named = named_inputs(inputs)
    extra = next((found for found in inputs if found.kind == "keywords"), None)
    for name, found in given.keywords.items():
        if name in named:
            pass_in(visit, named[name], found)
        elif extra is not None:
            pass_in(visit, extra, found)
    for mapping in given.mappings:
        found = value_of(visit, mapping)
        if found is NEVER:
            continue
        for name, parameter in named.items():
            if name not in taken and name not in given.keywords:
                pass_in(visit, parameter, found)
        if extra is not None:
            pass_in(visit, extra, found)


def bind_values(visit: Visit, inputs: list[Input], given: Given) -> None:
    """Tells the parameters which ints they are given, where the call says so plainly."""
    if all(found.value.type is INT for found in inputs):
        return
    node = given.node
    plain = node is not None and not any(starred for _, starred in given.positional)
    values: dict[str, Type] = {}
    if node is not None and plain and len(node.args) == len(given.positional):
        for found, each in zip(inputs, node.args, strict=False):
            if found.kind in ("positional", "normal"):
                values[found.name] = value_type(known_value(visit, each))
        for keyword in node.keywords:
            if keyword.arg is not None:
                values[keyword.arg] = value_type(known_value(visit, keyword.value))
    for found in inputs:
        value = values.get(found.name)
        if value is None:
            default = found.default if plain and not given.mappings else None
            value = INT if default is None else value_type(plain_constant(default))
        if found.value.type is not NEVER and found.value.type != value:
            value = INT
        visit.engine.work.write(found.value, value)
