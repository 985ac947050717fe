"""E1305, E1301, E1401, E1402: calls that cannot succeed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from ppybuild.diagnostics import Diagnostic, nearest
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.check.tensors import report_problem, trusts_tensors
from ppybuild.graph.check.values import contradicts
from ppybuild.graph.lattice import show
from ppybuild.graph.library import UNKNOWN_VALUE, Argument, CallProblem, Value
from ppybuild.graph.program import Function, Parameter
from ppybuild.graph.types import Class, Instance, Method, Module, Tensor, Type, Unknown
from ppybuild.graph.types import Function as FunctionType

TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "pure", "export", "no_grad", "inference_mode", "lru_cache",
     "cache"}
)  # fmt: skip
"""Decorators after which a function takes what its definition says."""
BUILT_IN = ("builtins.", "math.", "cmath.", "time.", "torch.", "itertools.", "operator.")
"""Modules written in C, whose functions refuse other types than they declare."""


def check_call(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    assert isinstance(node, ast.Call)
    if place.conditional or is_caught(place, "TypeError"):
        return
    callee = context.facts.callees.get(node)
    if callee is None or not context.reached(node.func):
        return
    if callee.kind == "project":
        yield from check_own(context, place, node, callee.name)
    elif callee.kind in ("external", "method"):
        yield from check_library(context, place, node)


def check_own(
    context: Context, place: Place, node: ast.Call, name: str
) -> Iterator[Diagnostic]:
    """A call of one of the program's functions."""
    function = context.facts.program.functions.get(name)
    signature = context.facts.signatures.get(name)
    if function is None or signature is None or not is_plain(context, function, node):
        return
    parameters = signature.parameters
    if function.owner is not None and not isinstance(node.func, ast.Name):
        parameters = parameters if is_static(function) else parameters[1:]
    problem = bind(function, parameters, node)
    if problem is not None:
        yield context.report("E1305", problem[0], place, problem[1], help=declared(function))
        return
    for parameter, argument in pairs(parameters, node):
        found = context.type(argument)
        if not parameter.annotated or not contradicts(found, parameter.type):
            continue
        if context.sure(place, argument):
            yield context.report(
                "E1301",
                f"`{function.node.name}` takes `{show(parameter.type)}` as `{parameter.name}`",
                place,
                argument,
                label=show(found),
                help=f"pass `{show(parameter.type)}`, or declare the parameter otherwise",
            )


def is_plain(context: Context, function: Function, node: ast.Call) -> bool:
    """True where the call is sure to reach this very definition."""
    for decorator in function.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name not in TRANSPARENT:
            return False
    if "#" in function.name or "<locals>" in function.name:
        return False
    if function.node.name in context.stored_attributes:
        return False
    if function.name + "#2" in context.facts.program.functions:
        return False
    if function.owner is None:
        through = node.func.value if isinstance(node.func, ast.Attribute) else None
        if through is not None and not isinstance(context.type(through), Module):
            return False  # a function that a class took over as a method
        return is_bound_once(context, function)
    if not isinstance(node.func, ast.Attribute) or is_super(node.func.value):
        return False
    if isinstance(context.type(node.func.value), Class):
        return False
    return not overridden(context, function) and not is_placeholder(function)


def is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


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


def is_static(function: Function) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
        for decorator in function.node.decorator_list
    )


def declared(function: Function) -> str:
    return f"it is declared as `{function.node.name}({ast.unparse(function.node.args)})`"


def bind(
    function: Function, parameters: Sequence[Parameter], node: ast.Call
) -> tuple[str, ast.AST] | None:
    """Why the arguments do not match, and where."""
    name = function.node.name
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
