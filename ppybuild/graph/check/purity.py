"""E1601: functions that promise by `@ppy.pure` to change nothing, and do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context
from ppybuild.graph.effects.tables import external_effects
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Callee, Function, Module
from ppybuild.graph.scopes import parameters_of
from ppybuild.graph.syntax import children, walk
from ppybuild.graph.types import Module as ModuleType

INPUT_OUTPUT = frozenset(
    {
        "builtins.print",
        "builtins.input",
        "builtins.open",
        "time.time",
        "time.perf_counter",
        "time.sleep",
    }
)
MUTATING = frozenset(
    {
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "update",
        "add",
        "discard",
        "setdefault",
    }
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A statement that changes something, or depends on more than the arguments."""

    node: ast.AST
    what: str


def check_purity(context: Context, module: Module) -> Iterator[Diagnostic]:
    for function in context.functions_of(module):
        if not is_promised(function):
            continue
        found = find_evidence(context, function, frozenset())
        if found is not None:
            yield Diagnostic(
                "E1601",
                f"`{function.node.name}` is declared pure, and {found.what}",
                locate(module, found.node),
                help="take `@ppy.pure` away, or give the result back instead",
            )


def is_promised(function: Function) -> bool:
    return any(
        (isinstance(decorator, ast.Attribute) and ast.unparse(decorator) == "ppy.pure")
        or (isinstance(decorator, ast.Name) and decorator.id == "pure")
        for decorator in function.node.decorator_list
    )


def find_evidence(
    context: Context, function: Function, seen: frozenset[str]
) -> Evidence | None:
    """The first thing in a body that a pure function does not do; looks into callees for
    what is seen from everywhere."""
    parameters = {parameter.arg for parameter in parameters_of(function.node)}
    bindings = context.certainty.bindings_of(function.node)
    untouched = {name for name in parameters if name not in bindings}
    shared = {
        name
        for node in walk(function.node)
        if isinstance(node, ast.Global)
        for name in node.names
    }
    for statement in function.node.body:
        for node in walk_own(statement):
            found = evidence_at(context, node, untouched, shared, seen | {function.name})
            if found is not None:
                return found
    return None


def walk_own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, without nested functions, which need not run."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        yield node
        pending.extend(children(node))


def evidence_at(
    context: Context,
    node: ast.AST,
    parameters: set[str],
    shared: set[str],
    seen: frozenset[str],
) -> Evidence | None:
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            if name in parameters:
                return Evidence(node, f"writes into its parameter `{name}`")
        case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            if name in parameters:
                return Evidence(node, f"sets an attribute of its parameter `{name}`")
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            if name in shared:
                return Evidence(node, f"assigns the global `{name}`")
        case ast.Call(func=function):
            return call_evidence(context, node, function, parameters, seen)
        case _:
            pass
    return None


def is_output(callee: Callee) -> bool:
    """True for what is seen outside, or differs from call to call: torch's generator too."""
    if callee.kind != "external":
        return False
    return callee.name in INPUT_OUTPUT or (
        callee.name.startswith("torch.") and external_effects(callee.name).io
    )


def is_shared_generator(context: Context, callee: Callee, function: ast.expr) -> bool:
    """True for `random.random()`, whose generator the whole process shares."""
    if callee.kind != "method" or not callee.name.startswith("random.Random."):
        return False
    if isinstance(function, ast.Attribute):
        return isinstance(context.type(function.value), ModuleType)
    return isinstance(function, ast.Name)


def call_evidence(
    context: Context,
    node: ast.Call,
    function: ast.expr,
    parameters: set[str],
    seen: frozenset[str],
) -> Evidence | None:
    callee = context.facts.callees.get(node)
    if callee is None:
        return None
    if is_output(callee) or is_shared_generator(context, callee, function):
        return Evidence(node, f"calls `{ast.unparse(function)}`")
    if callee.kind == "method":
        owner, _, name = callee.name.rpartition(".")
        changes = name in MUTATING or (
            owner.endswith("Tensor") and name.endswith("_") and not name.endswith("__")
        )
        receiver = function.value if isinstance(function, ast.Attribute) else function
        if changes and isinstance(receiver, ast.Name) and receiver.id in parameters:
            return Evidence(node, f"changes its parameter `{receiver.id}`")
    if callee.kind == "project" and callee.name not in seen:
        called = context.facts.program.functions.get(callee.name)
        if called is not None:
            inner = find_evidence(context, called, seen)
            if inner is not None and "parameter" not in inner.what:
                return Evidence(node, f"calls `{called.node.name}`, which {inner.what}")
    return None
