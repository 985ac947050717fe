"""Whether a call of one of the program's functions is sure to run that very definition."""

from __future__ import annotations

import ast

from ppybuild.graph.check.context import Context
from ppybuild.graph.program import Function


def is_bound_once(context: Context, function: Function) -> bool:
    """True where the module's name is bound by this definition alone, at its top level."""
    module = context.facts.program.modules[function.module]
    if function.node not in module.tree.body:
        return False
    return function.node.name not in context.rebound(module)


def overridden(context: Context, function: Function) -> bool:
    """True where a subclass in the program defines the method again."""
    pending = [function.owner or ""]
    seen: set[str] = set()
    while pending:
        for child in context.subclasses.get(pending.pop(), ()):
            if child.name not in seen:
                seen.add(child.name)
                pending.append(child.name)
                if f"{child.name}.{function.node.name}" in context.facts.program.functions:
                    return True
    return False


def is_placeholder(function: Function) -> bool:
    """A method that only stands for what subclasses define."""
    body = function.node.body
    return all(
        isinstance(statement, ast.Pass | ast.Raise)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )
