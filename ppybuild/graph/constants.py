"""Module-level names that are bound once, to a number, bool or string, and never again."""

from __future__ import annotations

import ast
import math
from collections import ChainMap, Counter
from collections.abc import Mapping

from ppybuild.graph.imports import absolute_name
from ppybuild.graph.program import Constant, Module, Program
from ppybuild.graph.scopes import pattern_names, statements_of, target_names
from ppybuild.graph.syntax import walk

Constants = dict[str, dict[str, Constant]]
"""By module, then name."""

MAX_BITS = 4096

LIBRARY: Mapping[str, Mapping[str, Constant]] = {
    "math": {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")},
}
"""Constants of the standard library, by module, then name."""


def find_constants(program: Program) -> Constants:
    """The constants of every module, with those that an import brings from another."""
    stored = _stored_attributes(program)
    found: Constants = {}
    aliases: dict[str, dict[str, tuple[str, str]]] = {}
    library = {name: each for name, each in LIBRARY.items() if name not in program.modules}
    for module in program.modules.values():
        found[module.name], aliases[module.name] = {}, {}
        if _binds_unseen(module):
            continue
        _read_module(module, stored, library, found[module.name], aliases[module.name])
    changed = True
    while changed:
        changed = False
        for module_name, names in aliases.items():
            for name, (source, original) in names.items():
                value = found.get(source, {}).get(original)
                if value is not None and name not in found[module_name]:
                    found[module_name][name] = value
                    changed = True
    return found


def _binds_unseen(module: Module) -> bool:
    """Whether the module may bind its names in ways that its statements do not show."""
    if "globals()" in module.text or "vars()" in module.text:
        return True
    return "import *" in module.text and any(
        isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
        for statement in statements_of(module.tree.body)
    )


def _read_module(
    module: Module,
    stored: frozenset[str],
    library: Mapping[str, Mapping[str, Constant]],
    constants: dict[str, Constant],
    aliases: dict[str, tuple[str, str]],
) -> None:
    counts = _bindings(module)
    imported: dict[str, Constant] = {}  # by dotted name
    known = ChainMap(constants, imported)
    for statement in module.tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                if counts[name] == 1 and name not in stored and statement.value is not None:
                    value = fold(statement.value, known)
                    if value is not None:
                        constants[name] = value
            case ast.Import():
                for alias in statement.names:
                    name = alias.asname or alias.name
                    if counts[name] == 1:
                        values = library.get(alias.name, {}).items()
                        imported |= {f"{name}.{each}": value for each, value in values}
            case ast.ImportFrom():
                for alias in statement.names:
                    name = alias.asname or alias.name
                    source = absolute_name(module, statement)
                    if counts[name] != 1 or name in stored:
                        continue
                    if alias.name in library.get(source, {}):
                        constants[name] = library[source][alias.name]
                    else:
                        aliases[name] = (source, alias.name)


def _bindings(module: Module) -> Counter[str]:
    """How often each name is bound in the module's own body, or in a function below that
    declares it global."""
    counts: Counter[str] = Counter()
    for statement in statements_of(module.tree.body):
        counts.update(bound_by(statement))
    if "global " in module.text or ":=" in module.text or "match " in module.text:
        for node in walk(module.tree):
            if isinstance(node, ast.Global):
                counts.update(node.names * 2)
            elif isinstance(node, ast.NamedExpr):
                counts.update([node.target.id] * 2)
            elif (isinstance(node, ast.MatchAs | ast.MatchStar) and node.name) or (
                isinstance(node, ast.ExceptHandler) and node.name
            ):
                counts.update([node.name] * 2)
    return counts


def bound_by(statement: ast.stmt) -> list[str]:
    """The names that a statement binds; twice what it may bind again, or unbind."""
    match statement:
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign():
            targets = [statement.target] if statement.value is not None else []
        case ast.AugAssign() | ast.For() | ast.AsyncFor():
            targets = [statement.target, statement.target]
        case ast.Delete():
            targets = statement.targets * 2
        case ast.With() | ast.AsyncWith():
            targets = [each.optional_vars for each in statement.items if each.optional_vars]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [each.asname or each.name.partition(".")[0] for each in statement.names]
        case ast.Try() | ast.TryStar():
            return [each.name for each in statement.handlers if each.name] * 2
        case ast.Match():
            return [
                name for case in statement.cases for name in pattern_names(case.pattern)
            ] * 2
        case _:
            return []
    return [name for target in targets for name in target_names(target)]


def _stored_attributes(program: Program) -> frozenset[str]:
    """Names of attributes that are stored or deleted anywhere but on `self`: any of them may
    be a module's."""
    found: set[str] = set()
    for module in program.modules.values():
        for function_body in _bodies(module.tree):
            for statement in statements_of(function_body):
                match statement:
                    case ast.Assign() | ast.Delete():
                        targets = statement.targets
                    case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.AsyncFor():
                        targets = [statement.target]
                    case ast.With() | ast.AsyncWith():
                        targets = [
                            each.optional_vars for each in statement.items if each.optional_vars
                        ]
                    case _:
                        continue
                for target in targets:
                    found.update(_attributes(target))
        if "setattr(" in module.text:
            for node in walk(module.tree):
                if isinstance(node, ast.Call) and len(node.args) > 1:
                    name = node.args[1]
                    if isinstance(name, ast.Constant) and isinstance(name.value, str):
                        found.add(name.value)
    return frozenset(found)


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    bodies: list[list[ast.stmt]] = []
    pending: list[list[ast.stmt]] = [getattr(tree, "body", [])]
    while pending:
        body = pending.pop()
        bodies.append(body)
        for statement in statements_of(body):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                pending.append(statement.body)
    return bodies


def _attributes(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Attribute):
        own = isinstance(target.value, ast.Name) and target.value.id == "self"
        return [] if own else [target.attr]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for each in target.elts for name in _attributes(each)]
    return _attributes(target.value) if isinstance(target, ast.Starred) else []


def fold(node: ast.expr, names: Mapping[str, Constant]) -> Constant | None:
    """What an expression of constants is worth; None where it is not one."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
        case ast.Name():
            return names.get(node.id)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return names.get(f"{owner}.{name}")
        case ast.UnaryOp(op=ast.USub()):
            operand = fold(node.operand, names)
            return -operand if isinstance(operand, int | float) else None
        case ast.BinOp():
            left, right = fold(node.left, names), fold(node.right, names)
            if isinstance(left, int | float) and isinstance(right, int | float):
                return calculate(node.op, left, right)
    return None


def calculate(
    operator: ast.operator, left: int | float, right: int | float
) -> int | float | None:
    """The result of an operation on two constants; None where it raises or is too large."""
    try:
        match operator:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return left // right
            case ast.Mod():
                return left % right
            case ast.Pow() if abs(right) <= MAX_BITS and abs(left) <= 2**64:
                result = left**right
                return result if isinstance(result, int | float) else None
            case ast.LShift() if isinstance(left, int) and isinstance(right, int):
                return left << right if 0 <= right <= MAX_BITS else None
            case ast.RShift() if isinstance(left, int) and isinstance(right, int):
                return left >> right
    except (ArithmeticError, ValueError):
        return None
    return None
