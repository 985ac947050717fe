"""The variables with which a call enters a function."""

from __future__ import annotations

import ast

from ppybuild.graph.regions.values import Symbol, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.match import literal


def bind(
    function: ast.FunctionDef,
    positional: list[Symbol],
    keywords: dict[str, Symbol],
    node: ast.AST,
) -> dict[str, Symbol]:
    """The variables with which a call enters a function; defaults must be constants."""
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    variables: dict[str, Symbol] = {}
    if arguments.vararg is not None:
        rest = positional[len(places) :]
        if not all(isinstance(value, Given) for value in rest):
            raise Unsupported("arguments that no operator takes", node)
        items = tuple(value for value in rest if isinstance(value, Given))
        variables[arguments.vararg.arg] = Given("list", "tuple", items)
    elif len(positional) > len(places):
        raise Unsupported("too many arguments", node)
    for place, value in zip(places, positional, strict=False):
        variables[place.arg] = value
    known = {argument.arg for argument in [*places, *arguments.kwonlyargs]}
    for name, value in keywords.items():
        if name not in known or name in variables:
            raise Unsupported(f"an argument `{name}`", node)
        variables[name] = value
    defaults = dict(
        zip(
            [place.arg for place in places[-len(arguments.defaults) or len(places) :]],
            arguments.defaults,
            strict=False,
        )
    ) | {
        argument.arg: default
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    }
    for name in known - variables.keys():
        try:
            variables[name] = literal(ast.literal_eval(defaults[name]))
        except (KeyError, ValueError):
            raise Unsupported(f"no value for `{name}`", node) from None
    return variables
