"""Where the text of an exception is looked at: `list index out of range` names the type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ppybuild.graph.program import Facts

SILENT = frozenset(
    {"KeyError", "StopIteration", "ImportError", "ModuleNotFoundError", "OSError",
     "FileNotFoundError", "ZeroDivisionError", "AttributeError", "KeyboardInterrupt",
     "NameError", "OverflowError", "UnicodeError", "RecursionError"}
)  # fmt: skip
"""Exceptions that no list raises of itself."""

SHOWING = frozenset({"print_exc", "format_exc", "exc_info", "exception", "print_exception"})
"""Functions that look at the exception that is being handled."""


@dataclass(frozen=True, slots=True)
class Handler:
    """An `except` that may show the exception's text."""

    node: ast.ExceptHandler
    module: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What such a handler guards."""

    guarded: dict[int, Handler]
    """By identity of a syntax node."""

    def at(self, node: ast.AST) -> Handler | None:
        """The handler that may show what fails here; None where there is none."""
        return self.guarded.get(id(node))


def shown_failures(facts: Facts) -> Shown:
    """Every node that runs below such a `try`, in the functions it calls as well."""
    guarded: dict[int, Handler] = {}
    bodies = {name: found.node for name, found in facts.program.functions.items()}
    named: dict[str, list[str]] = {}
    for name, found in facts.program.functions.items():
        named.setdefault(found.node.name, []).append(name)
    for module in facts.program.modules.values():
        if "except" not in module.text:
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Try | ast.TryStar):
                for handler in filter(_shows, node.handlers):
                    _guard(facts, bodies, named, node, Handler(handler, module.name), guarded)
                    break
    return Shown(guarded)


def _guard(
    facts: Facts,
    bodies: dict[str, ast.FunctionDef | ast.AsyncFunctionDef],
    named: dict[str, list[str]],
    node: ast.Try | ast.TryStar,
    handler: Handler,
    guarded: dict[int, Handler],
) -> None:
    pending: list[ast.AST] = list(node.body)
    seen: set[str] = set()
    while pending:
        for inner in ast.walk(pending.pop()):
            guarded.setdefault(id(inner), handler)
            for name in _reached(facts, named, inner):
                if name in bodies and name not in seen:
                    seen.add(name)
                    pending.append(bodies[name])


def _reached(facts: Facts, named: dict[str, list[str]], node: ast.AST) -> Iterator[str]:
    """Functions that a node may run: what it calls, and any method of a name it mentions."""
    callee = facts.callees.get(node) if isinstance(node, ast.Call) else None
    if callee is not None and callee.kind == "class":
        yield f"{callee.name}.__init__"
    elif callee is not None:
        yield callee.name
    if isinstance(node, ast.Attribute):
        yield from named.get(node.attr, ())


def _shows(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [ast.unparse(found) if found is not None else "" for found in types]
    if all(name in SILENT for name in names):
        return False
    for statement in handler.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == handler.name:
                return True
            if isinstance(node, ast.Attribute) and node.attr in SHOWING:
                return True
            if isinstance(node, ast.Name) and node.id in SHOWING:
                return True
    return False
