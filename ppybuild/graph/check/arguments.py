"""E1305, E1301: the arguments of a call against the parameters of the program's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ppybuild.diagnostics import Diagnostic, nearest
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.place import Place
from ppybuild.graph.check.values import contradicts
from ppybuild.graph.lattice import show
from ppybuild.graph.program import Parameter


@dataclass(frozen=True, slots=True)
class Taker:
    """What is called, as its caller sees it: without `self`."""

    name: str
    parameters: Sequence[Parameter]
    declared: str
    """How it is declared, for a help line."""


def check_arguments(
    context: Context, place: Place, node: ast.Call, taker: Taker
) -> Iterator[Diagnostic]:
    """Arguments that are too many, missing or of other names, or of other types than are
    declared."""
    problem = bind(taker, node)
    if problem is not None:
        yield context.report("E1305", problem[0], place, problem[1], help=taker.declared)
        return
    for parameter, argument in pairs(taker.parameters, node):
        found = context.type(argument)
        if not parameter.annotated or not contradicts(found, parameter.type):
            continue
        if context.sure(place, argument):
            yield context.report(
                "E1301",
                f"`{taker.name}` takes `{show(parameter.type)}` as `{parameter.name}`",
                place,
                argument,
                label=show(found),
                help=f"pass `{show(parameter.type)}`, or declare the parameter otherwise",
            )


def bind(taker: Taker, node: ast.Call) -> tuple[str, ast.AST] | None:
    """Why the arguments do not match, and where."""
    name, parameters = taker.name, taker.parameters
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    positional = [p for p in parameters if p.kind in ("positional", "normal")]
    kinds = {parameter.kind for parameter in parameters}
    if len(node.args) > len(positional) and "rest" not in kinds:
        most = len(positional)
        text = f"`{name}` takes {most} positional argument{'s' * (most != 1)}"
        return f"{text}, and gets {len(node.args)}", node.args[most]
    taken = {parameter.name for parameter in positional[: len(node.args)]}
    by_name = {p.name for p in parameters if p.kind in ("normal", "keyword")}
    for keyword in node.keywords:
        if keyword.arg is None:
            return None
        if keyword.arg in taken and keyword.arg in by_name:
            return f"`{name}` gets `{keyword.arg}` twice", keyword
        if keyword.arg not in by_name and "keywords" not in kinds:
            close = nearest(keyword.arg, by_name)
            hint = f"; did you mean `{close}`?" if close else ""
            return f"`{name}` has no parameter `{keyword.arg}`{hint}", keyword
        taken.add(keyword.arg)
    needed = [
        p.name
        for p in parameters
        if p.default is None and p.kind in ("positional", "normal", "keyword")
    ]
    missing = [f"`{needs}`" for needs in needed if needs not in taken]
    if missing:
        return f"`{name}` needs {', '.join(missing)}", node
    return None


def pairs(
    parameters: Sequence[Parameter], node: ast.Call
) -> Iterator[tuple[Parameter, ast.expr]]:
    """Each argument with its parameter."""
    positional = [p for p in parameters if p.kind in ("positional", "normal")]
    for parameter, argument in zip(positional, node.args, strict=False):
        if isinstance(argument, ast.Starred):
            return
        yield parameter, argument
    by_name = {p.name: p for p in parameters if p.kind in ("normal", "keyword")}
    for keyword in node.keywords:
        if keyword.arg in by_name:
            yield by_name[keyword.arg], keyword.value
