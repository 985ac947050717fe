"""E1305, E1301, E1401, E1402: calls of libraries, and of methods of built-in values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.place import Place
from ppybuild.graph.check.tensors import report_problem, trusts_tensors
from ppybuild.graph.lattice import show
from ppybuild.graph.library import UNKNOWN_VALUE, Argument, CallProblem, Value
from ppybuild.graph.types import Class, Instance, Method, Module, Tensor, Type, Unknown
from ppybuild.graph.types import Function as FunctionType

BUILT_IN = ("builtins.", "math.", "cmath.", "time.", "torch.", "itertools.", "operator.")
"""Modules written in C, whose functions refuse other types than they declare."""


def check_library(context: Context, place: Place, node: ast.Call) -> Iterator[Diagnostic]:
    """A call of a library's function, or of a method of a built-in value or tensor."""
    callee = context.type(node.func)
    if not isinstance(callee, FunctionType | Method | Class):
        return
    if isinstance(callee, Method) and isinstance(callee.receiver, Instance | Unknown | Module):
        return
    if isinstance(callee, Class) and callee.name in context.facts.program.classes:
        return
    if not context.sure(place, node.func) and not is_sure_method(context, place, node.func):
        return
    arguments, keywords, unpacked = arguments_of(context, node)
    problem = context.problem(callee, arguments, keywords, unpacked=unpacked)
    if problem is None:
        return
    at = node_of(node, problem)
    if problem.kind in ("shape", "dtype"):
        surely = all(context.sure(place, part) for part in tensors_of(context, node))
        if surely and trusts_tensors(context, place):
            yield report_problem(context, place, node, problem)
    elif problem.kind in ("count", "name"):
        yield context.report("E1305", problem.message, place, at)
    elif is_built_in(callee) and surely_wrong(context, place, node, problem):
        yield context.report(
            "E1301",
            problem.message,
            place,
            at,
            label=show(problem.found) if not isinstance(problem.found, Unknown) else "",
            help=f"it takes `{problem.expected}`" if problem.expected else "",
        )


def is_sure_method(context: Context, place: Place, function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and context.sure(place, function.value)


def is_built_in(callee: Type) -> bool:
    match callee:
        case FunctionType(name=name) | Class(name=name):
            return name.startswith(BUILT_IN) and not name.endswith("__")
        case Method():
            return not isinstance(callee.receiver, Class)
        case _:
            return False


def surely_wrong(context: Context, place: Place, node: ast.Call, problem: CallProblem) -> bool:
    at = node_of(node, problem)
    parts = [at] if at is not node and isinstance(at, ast.expr) else [*node.args]
    parts = [part.value if isinstance(part, ast.keyword) else part for part in parts]
    return bool(parts) and all(
        isinstance(part, ast.expr) and context.sure(place, part) for part in parts
    )


def node_of(node: ast.Call, problem: CallProblem) -> ast.expr:
    """The argument at fault, or the call."""
    at = problem.argument
    if isinstance(at, int) and at < len(node.args):
        return node.args[at]
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg == at:
            return keyword.value
    return node


def tensors_of(context: Context, node: ast.Call) -> list[ast.expr]:
    """The arguments whose shapes and dtypes the finding is about."""
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        parts.append(node.func.value)
    return [part for part in parts if isinstance(context.type(part), Tensor)]


def arguments_of(
    context: Context, node: ast.Call
) -> tuple[list[Argument], Mapping[str, Argument], bool]:
    arguments = [argument_of(context, argument) for argument in node.args]
    keywords = {
        keyword.arg: argument_of(context, keyword.value)
        for keyword in node.keywords
        if keyword.arg is not None
    }
    return arguments, keywords, any(keyword.arg is None for keyword in node.keywords)


def argument_of(context: Context, node: ast.expr) -> Argument:
    if isinstance(node, ast.Starred):
        return Argument(context.type(node.value), starred=True)
    name = None
    if isinstance(node, ast.Attribute):
        owner = context.type(node.value)
        name = f"{owner.name}.{node.attr}" if isinstance(owner, Module) else None
    return Argument(context.type(node), value_of(context, node), name)


def value_of(context: Context, node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=value) if value is None or isinstance(
            value, int | float | str | bytes
        ):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(value_of(context, part) for part in parts)
        case _:
            return context.facts.constants.get(node, UNKNOWN_VALUE)
