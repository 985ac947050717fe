"""Arguments and the parameters that take them, as a call pairs them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ppybuild.diagnostics import nearest
from ppybuild.graph.library.terms import Term
from ppybuild.graph.library.values import Argument, CallProblem
from ppybuild.graph.types import Type

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call something: an overload, as seen from the call."""

    name: str
    module: str
    node: FunctionNode
    values: Mapping[str, Term]
    """What the type variables of the class stand for."""
    result: Term
    bound: Type | None = None
    """What the first parameter is bound to already, for a method."""
    skips_first: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """An argument and the annotation of the parameter that takes it."""

    annotation: ast.expr | None
    argument: Argument
    key: int | str


def bind(
    form: Form, arguments: Sequence[Argument], keywords: Mapping[str, Argument], unpacked: bool
) -> list[Pair] | CallProblem:
    """Give each argument its parameter, as a call does."""
    spec = form.node.args
    positional = [*spec.posonlyargs, *spec.args]
    required = len(positional) - len(spec.defaults)
    skipped = 1 if form.skips_first else 0
    receiver = {parameter.arg for parameter in positional[:skipped]}
    taken = set(receiver)
    free = positional[skipped:]
    pairs: list[Pair] = []
    starred = False
    position = 0
    for index, argument in enumerate(arguments):
        if argument.starred:
            starred = True
            continue
        if starred:
            continue
        if position < len(free):
            parameter = free[position]
            taken.add(parameter.arg)
            pairs.append(Pair(parameter.annotation, argument, index))
            position += 1
        elif spec.vararg is not None:
            pairs.append(Pair(rest_annotation(spec.vararg), argument, index))
        else:
            return too_many(form, len(free), len(arguments), index)
    positional_only = {p.arg for p in spec.posonlyargs} | {
        p.arg for p in positional if p.arg.startswith("__") and not p.arg.endswith("__")
    }
    by_name = {p.arg: p for p in [*spec.args, *spec.kwonlyargs] if p.arg not in positional_only}
    for name, argument in keywords.items():
        if name in by_name and name not in taken:
            taken.add(name)
            pairs.append(Pair(by_name[name].annotation, argument, name))
        elif name in receiver and spec.kwarg is not None:
            pairs.append(Pair(rest_annotation(spec.kwarg), argument, name))  # as str.format
        elif name in by_name and not starred:
            message = f"`{form.name}` gets `{name}` twice"
            return CallProblem("name", message, name, argument.type)
        elif spec.kwarg is not None:
            pairs.append(Pair(rest_annotation(spec.kwarg), argument, name))
        elif name not in by_name:
            return no_parameter(form.name, name, argument, by_name)
    if starred or unpacked:
        return pairs
    needed = [p.arg for p in positional[:required]] + [
        p.arg
        for p, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        if default is None
    ]
    missing = [name for name in needed if name not in taken]
    if missing:
        listed = ", ".join(f"`{name.lstrip('_')}`" for name in missing)
        return CallProblem("count", f"`{form.name}` needs {listed}")
    return pairs


def too_many(form: Form, most: int, given: int, index: int) -> CallProblem:
    some = (
        "no arguments" if not most else f"at most {most} positional argument{'s' * (most > 1)}"
    )
    return CallProblem("count", f"`{form.name}` takes {some}, and gets {given}", index)


def no_parameter(
    function: str, name: str, argument: Argument, known: Iterable[str]
) -> CallProblem:
    close = nearest(name, known)
    hint = f"; did you mean `{close}`?" if close else ""
    message = f"`{function}` has no parameter `{name}`{hint}"
    return CallProblem("name", message, name, argument.type)


def unknown_keyword(
    forms: Sequence[Form], keywords: Mapping[str, Argument]
) -> CallProblem | None:
    """The first argument by a name that no way to call something has."""
    specs = [form.node.args for form in forms]
    if any(spec.kwarg is not None for spec in specs):
        return None
    known = {each.arg for spec in specs for each in (*spec.args, *spec.kwonlyargs)}
    for name, argument in keywords.items():
        if name not in known:
            return no_parameter(forms[0].name, name, argument, known)
    return None


def rest_annotation(parameter: ast.arg) -> ast.expr | None:
    """The annotation of each argument of `*args: T`; none for `*args: P.args`."""
    annotation = parameter.annotation
    if isinstance(annotation, ast.Attribute) and annotation.attr in ("args", "kwargs"):
        return None
    return None if isinstance(annotation, ast.Starred) else annotation
