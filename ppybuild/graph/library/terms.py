"""Annotations of libraries as values: what a stub says before type variables are solved."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from ppybuild.graph.library.resolve import Definition, Resolver
from ppybuild.graph.types import Type

Constant: TypeAlias = "int | str | bool | bytes | None"


@final
@dataclass(frozen=True, slots=True)
class AnyTerm:
    """`Any`, or an annotation that cannot be read."""


@final
@dataclass(frozen=True, slots=True)
class NoneTerm:
    """`None`."""


@final
@dataclass(frozen=True, slots=True)
class VariableTerm:
    """A type variable, by the dotted name of its definition."""

    name: str
    bound: Term | None = None
    constraints: tuple[Term, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class SelfTerm:
    """`Self`."""


@final
@dataclass(frozen=True, slots=True)
class ClassTerm:
    """An instance of a class by its public name, with its type arguments."""

    name: str
    arguments: tuple[Term, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class TupleTerm:
    """A tuple of known length."""

    items: tuple[Term, ...]


@final
@dataclass(frozen=True, slots=True)
class TypeTerm:
    """`type[...]`: the class object."""

    of: Term


@final
@dataclass(frozen=True, slots=True)
class LiteralTerm:
    values: tuple[Constant, ...]


@final
@dataclass(frozen=True, slots=True)
class CallableTerm:
    """`parameters` None is `...`."""

    parameters: tuple[Term, ...] | None
    result: Term


@final
@dataclass(frozen=True, slots=True)
class KnownTerm:
    """A type that is known already, where a term is wanted."""

    type: Type


@final
@dataclass(frozen=True, slots=True)
class UnionTerm:
    members: tuple[Term, ...]


Term = (
    AnyTerm
    | NoneTerm
    | VariableTerm
    | SelfTerm
    | ClassTerm
    | TupleTerm
    | TypeTerm
    | LiteralTerm
    | CallableTerm
    | KnownTerm
    | UnionTerm
)

ANY = AnyTerm()

ALIASES = {
    "typing.List": "builtins.list",
    "typing.Dict": "builtins.dict",
    "typing.Set": "builtins.set",
    "typing.FrozenSet": "builtins.frozenset",
    "typing.Tuple": "builtins.tuple",
    "typing.Type": "builtins.type",
    "typing.Deque": "collections.deque",
    "typing.DefaultDict": "collections.defaultdict",
    "typing.OrderedDict": "collections.OrderedDict",
    "typing.Counter": "collections.Counter",
    "typing.ChainMap": "collections.ChainMap",
}
WRAPPERS = frozenset(["Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"])
BOOLEAN_FORMS = frozenset({"TypeGuard", "TypeIs"})
UNREADABLE = frozenset(
    ["Any", "AnyStr_", "Concatenate", "ParamSpec", "TypeVarTuple", "Unpack", "Incomplete"]
)
MARKERS = frozenset({"Generic", "Protocol"})
STRINGS = frozenset({"LiteralString"})
DEPTH = 24
"""Aliases nested deeper are not read (they are recursive)."""


def read_term(resolver: Resolver, module: str, node: ast.expr | None, depth: int = 0) -> Term:
    """What an annotation written in the module means; `ANY` where that cannot be told."""
    if node is None or depth > DEPTH:
        return ANY
    match node:
        case ast.Constant(value=None):
            return NoneTerm()
        case ast.Constant(value=str(text)):
            try:
                parsed = ast.parse(text, mode="eval").body
            except (SyntaxError, ValueError):
                return ANY
            return read_term(resolver, module, parsed, depth + 1)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return union_term(
                read_term(resolver, module, left, depth + 1),
                read_term(resolver, module, right, depth + 1),
            )
        case ast.Subscript(value=value, slice=index):
            return read_subscript(resolver, module, value, index, depth)
        case ast.Name() | ast.Attribute():
            return read_name(resolver, module, node, depth)
        case _:
            return ANY


def special_name(definition: Definition) -> str | None:
    """The name of a special form of `typing`, which typeshed declares as a variable."""
    if definition.module in ("typing", "typing_extensions", "_typeshed"):
        return definition.name
    return None


def read_name(resolver: Resolver, module: str, node: ast.expr, depth: int) -> Term:
    definition = resolver.resolve_expression(module, node)
    name = special_name(definition)
    if name is not None:
        if name == "Self":
            return SelfTerm()
        if name in STRINGS:
            return ClassTerm("builtins.str")
        if name in ("NoReturn", "Never"):
            return UnionTerm(())
        if name == "Callable":
            return CallableTerm(None, ANY)
        if name in MARKERS:
            return ClassTerm(f"typing.{name}")
        if name in UNREADABLE:
            return ANY
        alias = ALIASES.get(f"typing.{name}")
        if alias is not None:
            return ClassTerm(alias)
    if definition.kind == "class":
        return ClassTerm(resolver.public_name(definition))
    if definition.kind == "variable":
        return read_variable(resolver, definition, depth)
    return ANY


def read_variable(resolver: Resolver, definition: Definition, depth: int) -> Term:
    """A type variable, or an alias of a type."""
    statement = definition.nodes[-1]
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return ANY
    match statement.value:
        case ast.Call(func=ast.Name(id="TypeVar") | ast.Attribute(attr="TypeVar")) as call:
            bound = next((k.value for k in call.keywords if k.arg == "bound"), None)
            return VariableTerm(
                definition.dotted,
                read_term(resolver, definition.module, bound, depth + 1) if bound else None,
                tuple(
                    read_term(resolver, definition.module, constraint, depth + 1)
                    for constraint in call.args[1:]
                ),
            )
        case ast.Call():
            return ANY
        case value:
            return read_term(resolver, definition.module, value, depth + 1)


def read_subscript(
    resolver: Resolver, module: str, value: ast.expr, index: ast.expr, depth: int
) -> Term:
    definition = resolver.resolve_expression(module, value)
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    name = special_name(definition)
    if name == "Literal":
        return read_literal(parts)
    if name == "Callable" or definition.dotted == "collections.abc.Callable":
        return read_callable(resolver, module, parts, depth)

    def read(part: ast.expr) -> Term:
        return read_term(resolver, module, part, depth + 1)

    if name == "Optional":
        return union_term(read(parts[0]), NoneTerm())
    if name == "Union":
        return union_term(*(read(part) for part in parts))
    if name in BOOLEAN_FORMS:
        return ClassTerm("builtins.bool")
    if name in WRAPPERS:
        return read(parts[0])
    base = read_name(resolver, module, value, depth)
    if not isinstance(base, ClassTerm):
        return substitute_alias(base, tuple(read(part) for part in parts))
    if base.name == "builtins.tuple":
        return read_tuple(parts, read)
    if base.name == "builtins.type":
        return TypeTerm(read(parts[0]))
    return ClassTerm(base.name, tuple(read(part) for part in parts))


def read_tuple(parts: list[ast.expr], read: Callable[[ast.expr], Term]) -> Term:
    match parts:
        case [item, ast.Constant(value=value)] if value is ...:
            return ClassTerm("builtins.tuple", (read(item),))
        case [ast.Tuple(elts=[])]:
            return TupleTerm(())
        case _:
            if any(isinstance(part, ast.Starred) for part in parts):
                return ClassTerm("builtins.tuple", (ANY,))
            return TupleTerm(tuple(read(part) for part in parts))


def read_literal(parts: list[ast.expr]) -> Term:
    values = []
    for part in parts:
        try:
            value = ast.literal_eval(part)
        except (ValueError, TypeError):
            return ANY
        if value is not None and not isinstance(value, int | str | bytes):
            return ANY
        values.append(value)
    return LiteralTerm(tuple(values))


def read_callable(resolver: Resolver, module: str, parts: list[ast.expr], depth: int) -> Term:
    if len(parts) != 2:
        return CallableTerm(None, ANY)
    result = read_term(resolver, module, parts[1], depth + 1)
    if not isinstance(parts[0], ast.List):
        return CallableTerm(None, result)
    return CallableTerm(
        tuple(read_term(resolver, module, part, depth + 1) for part in parts[0].elts), result
    )


def union_term(*terms: Term) -> Term:
    found: list[Term] = []
    for term in terms:
        if isinstance(term, AnyTerm):
            return ANY
        for member in term.members if isinstance(term, UnionTerm) else (term,):
            if member not in found:
                found.append(member)
    return found[0] if len(found) == 1 else UnionTerm(tuple(found))


def substitute_alias(alias: Term, arguments: tuple[Term, ...]) -> Term:
    """A generic alias applied to arguments: its variables in order of appearance."""
    names: list[str] = []
    collect_variables(alias, names)
    return substitute(alias, dict(zip(names, arguments, strict=False)))


def collect_variables(term: Term, names: list[str]) -> None:
    if isinstance(term, VariableTerm):
        if term.name not in names:
            names.append(term.name)
        return
    for child in children(term):
        collect_variables(child, names)


def children(term: Term) -> tuple[Term, ...]:
    match term:
        case ClassTerm(arguments=parts) | TupleTerm(items=parts) | UnionTerm(members=parts):
            return parts
        case TypeTerm(of=of):
            return (of,)
        case CallableTerm(parameters=parameters, result=result):
            return (*(parameters or ()), result)
        case _:
            return ()


def substitute(term: Term, values: dict[str, Term], receiver: Term | None = None) -> Term:
    """Replace type variables, and `Self` where a receiver is given."""

    def deep(part: Term) -> Term:
        return substitute(part, values, receiver)

    match term:
        case VariableTerm(name=name):
            return values.get(name, term)
        case SelfTerm():
            return receiver if receiver is not None else term
        case ClassTerm(name=name, arguments=arguments):
            return ClassTerm(name, tuple(map(deep, arguments)))
        case TupleTerm(items=items):
            return TupleTerm(tuple(map(deep, items)))
        case TypeTerm(of=of):
            return TypeTerm(deep(of))
        case UnionTerm(members=parts):
            return union_term(*map(deep, parts)) if parts else term
        case CallableTerm(parameters=parameters, result=result):
            kept = None if parameters is None else tuple(map(deep, parameters))
            return CallableTerm(kept, deep(result))
        case _:
            return term
