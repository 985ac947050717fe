"""Whether an argument fits an annotation, and what that says of its type variables."""

from __future__ import annotations

import ast
from typing import Literal as Answer

from ppybuild.graph.lattice import join
from ppybuild.graph.library.classes import (
    ABSTRACT_KINDS,
    SCALARS,
    Member,
    Stubs,
    class_of,
    realise,
    realise_class,
)
from ppybuild.graph.library.terms import (
    AnyTerm,
    CallableTerm,
    ClassTerm,
    KnownTerm,
    LiteralTerm,
    NoneTerm,
    SelfTerm,
    Term,
    TupleTerm,
    TypeTerm,
    UnionTerm,
    VariableTerm,
    substitute,
)
from ppybuild.graph.types import (
    NONE,
    UNKNOWN,
    Buffer,
    Callable,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Method,
    Module,
    Never,
    Scalar,
    Tuple,
    Type,
    Union,
    Unknown,
)

Fit = Answer["yes", "no", "maybe"]
Solved = dict[str, Type]

PROMOTIONS = {
    "builtins.float": ("builtins.int", "builtins.bool"),
    "builtins.complex": ("builtins.int", "builtins.bool", "builtins.float"),
}
"""What Python's annotations accept beside subclasses."""
DEPTH = 6


class Fitter:
    """One matching of arguments to parameters; collects what type variables stand for."""

    def __init__(self, stubs: Stubs, receiver: Type = UNKNOWN) -> None:
        self.stubs = stubs
        self.receiver = receiver
        self.solved: Solved = {}
        self._depth = 0

    def fit(self, term: Term, kind: Type) -> Fit:
        if self._depth > DEPTH:
            return "maybe"
        self._depth += 1
        try:
            return self._fit(term, kind)
        finally:
            self._depth -= 1

    def _fit(self, term: Term, kind: Type) -> Fit:
        if isinstance(term, VariableTerm):
            return self._fit_variable(term, kind)
        if isinstance(term, AnyTerm):
            return "yes"
        if isinstance(kind, Unknown | Never):
            return "maybe"
        if isinstance(kind, Union):
            fits = {self.fit(term, member) for member in kind.members}
            return fits.pop() if len(fits) == 1 else "maybe"
        match term:
            case UnionTerm(members=members):
                return self._fit_union(members, kind)
            case NoneTerm():
                return "yes" if kind == NONE else "no"
            case KnownTerm(type=known):
                return "yes" if known == kind else "maybe"
            case SelfTerm():
                return "maybe"
            case TupleTerm(items=items):
                return self._fit_tuple(items, kind)
            case LiteralTerm(values=values):
                return fit_literal(values, kind)
            case TypeTerm(of=of):
                return self._fit_type(of, kind)
            case CallableTerm():
                return self._fit_callable(term, kind)
            case ClassTerm():
                return self._fit_class(term, kind)

    def _fit_variable(self, term: VariableTerm, kind: Type) -> Fit:
        if isinstance(kind, Unknown):
            self.solved[term.name] = UNKNOWN
            return "maybe"
        answer: Fit = "yes"
        for constraint in term.constraints:
            answer = self.fit(constraint, kind)
            if answer == "yes":
                kind = realise(constraint, {})
                break
        if term.bound is not None:
            answer = self.fit(term.bound, kind)
        if answer != "no":
            held = self.solved.get(term.name)
            self.solved[term.name] = kind if held is None else join(held, kind)
        return answer

    def _fit_union(self, members: tuple[Term, ...], kind: Type) -> Fit:
        answer: Fit = "no" if members else "maybe"
        for member in sorted(members, key=lambda m: isinstance(m, VariableTerm)):
            found = self.fit(member, kind)
            if found == "yes":
                return "yes"
            if found == "maybe":
                answer = "maybe"
        return answer

    def _fit_tuple(self, items: tuple[Term, ...], kind: Type) -> Fit:
        if isinstance(kind, Tuple):
            if len(items) != len(kind.items):
                return "no"
            fits = [self.fit(i, k) for i, k in zip(items, kind.items, strict=True)]
            return worst(fits)
        if isinstance(kind, Collection) and kind.kind in ("tuple", "Sequence", "Iterable"):
            for item in items:
                self.fit(item, kind.item)
            return "maybe"
        return "maybe" if isinstance(kind, Instance) else "no"

    def _fit_type(self, of: Term, kind: Type) -> Fit:
        if isinstance(kind, Class):
            return self.fit(of, realise_class(kind.name, ()))
        return "maybe" if isinstance(kind, Instance | Callable) else "no"

    def _fit_callable(self, term: CallableTerm, kind: Type) -> Fit:
        match kind:
            case Callable(result=result):
                self.fit(term.result, result)
                return "yes"
            case Class(name=name):
                self.fit(term.result, realise_class(name, ()))
                return "yes"
            case Function() | Method():
                self.fit(term.result, UNKNOWN)
                return "yes"
            case Instance() | Module():
                return "maybe"
            case _:
                return "no"

    def _fit_class(self, term: ClassTerm, kind: Type) -> Fit:
        if term.name == "builtins.object":
            return "yes"
        owner = class_of(kind)
        if owner is None:
            return self._fit_other(term, kind)
        seen = self.stubs.as_base(owner, term.name)
        if isinstance(seen, ClassTerm):
            return worst(
                [
                    self.fit(wanted, realise(given, {}))
                    for wanted, given in zip(term.arguments, seen.arguments, strict=False)
                ]
            )
        if owner.name in PROMOTIONS.get(term.name, ()):
            return "yes"
        if self.stubs.is_protocol(term.name):
            return self._fit_protocol(term, owner, kind)
        if seen is False or is_abstract(kind) or self.stubs.order(term.name) is None:
            return "maybe"
        return "no"

    def _fit_other(self, term: ClassTerm, kind: Type) -> Fit:
        """Classes, functions and modules as arguments of a class type."""
        if isinstance(kind, Buffer):
            return "maybe"
        if term.name in SCALARS or term.name in ("builtins.list", "builtins.dict"):
            return "no"
        return "maybe"

    def _fit_protocol(self, term: ClassTerm, owner: ClassTerm, kind: Type) -> Fit:
        """Structurally: the argument's class has each member, and its methods' results fit."""
        order = self.stubs.order(term.name)
        if order is None:
            return "maybe"
        environments = self.stubs.environments(term, order)
        answer: Fit = "yes"
        for info in order:
            if info.name in ("builtins.object", "typing.Protocol", "typing.Generic"):
                continue
            for name, statements in info.members.items():
                if name in ("__slots__", "__hash__", "__doc__"):
                    continue
                found = self.stubs.member(owner, name)
                if found is None:
                    return "maybe" if is_abstract(kind) else "no"
                if not isinstance(found, Member):
                    answer = "maybe"
                    continue
                wanted = result_term(self.stubs, info.definition.module, statements)
                given = result_term(self.stubs, found.owner.definition.module, found.statements)
                self.fit(
                    substitute(wanted, environments.get(info.name, {})),
                    realise(substitute(given, found.values), {}, kind),
                )
        return answer


def result_term(stubs: Stubs, module: str, statements: tuple[ast.stmt, ...]) -> Term:
    first = statements[0] if statements else None
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef):
        return stubs.term(module, first.returns)
    return AnyTerm()


def fit_literal(values: tuple[object, ...], kind: Type) -> Fit:
    match kind:
        case Literal(values=known):
            inside = [any(type(v) is type(w) and v == w for w in values) for v in known]
            return "yes" if all(inside) else "maybe" if any(inside) else "no"
        case Scalar():
            if kind == NONE:
                return "yes" if None in values else "no"
            same = any(
                v is not None and SCALARS.get(f"builtins.{type(v).__name__}") == kind
                for v in values
            )
            return "maybe" if same else "no"
        case Instance():
            return "maybe"
        case _:
            return "no"


def is_abstract(kind: Type) -> bool:
    """True where a value's class surely says more than the type does."""
    return isinstance(kind, Collection | Dictionary) and kind.kind in ABSTRACT_KINDS


def worst(fits: list[Fit]) -> Fit:
    return "no" if "no" in fits else "maybe" if "maybe" in fits else "yes"
