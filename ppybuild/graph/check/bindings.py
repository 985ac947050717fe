"""What the names of a body of code are bound to, and what may bind variables of modules by
other means."""

from __future__ import annotations

import ast

from ppybuild.graph.scopes import blocks_of, target_names
from ppybuild.graph.syntax import children, walk


def collect(body: list[ast.stmt], found: dict[str, list[ast.expr | None]]) -> None:
    """Add the bindings of statements. A loop's target, an unpacked tuple, a name that an
    inner function declares `nonlocal`: None."""
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    plain = isinstance(target, ast.Name)
                    for name in target_names(target):
                        found.setdefault(name, []).append(value if plain else None)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                found.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                found.setdefault(name, []).append(value)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.setdefault(name, []).append(None)
                for inner in walk(statement):
                    if isinstance(inner, ast.Nonlocal):
                        for outer in inner.names:
                            found.setdefault(outer, []).append(None)
            case ast.ClassDef(name=name):
                found.setdefault(name, []).append(None)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    found.setdefault(name, []).append(None)
            case ast.Import() | ast.ImportFrom():
                for alias in statement.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    found.setdefault(name, []).append(None)
            case ast.For(target=target) | ast.AsyncFor(target=target):
                for name in target_names(target):
                    found.setdefault(name, []).append(None)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        for name in target_names(item.optional_vars):
                            found.setdefault(name, []).append(None)
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                for handler in handlers:
                    if handler.name:
                        found.setdefault(handler.name, []).append(None)
            case ast.Match():
                for inner in walk(statement):
                    if isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
                        found.setdefault(inner.name, []).append(None)
            case _:
                pass
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for node in children(statement):
                if isinstance(node, ast.expr):
                    for inner in walk(node):
                        if isinstance(inner, ast.NamedExpr):
                            found.setdefault(inner.target.id, []).append(inner.value)
            for block in blocks_of(statement):
                collect(block, found)


def binds_anything(node: ast.expr) -> bool:
    """True for what may bind names that are computed: `globals()[name] = 1`, `exec(text)`,
    `setattr(thing, name, 1)`."""
    match node:
        case ast.Name(id="globals" | "exec" | "vars" | "locals"):
            return True
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(), *_]):
            return False
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[_, *_]):
            return True
    return False


REGISTERING = frozenset(
    {"setattr", "register_buffer", "register_parameter", "register_module", "add_module"}
)


def sets_anything(node: ast.expr) -> bool:
    """True for what may give an object attributes whose names are computed."""
    match node:
        case ast.Name(id="vars" | "exec") | ast.Attribute(attr="__dict__" | "__class__"):
            return True
        case ast.Call(func=ast.Name(id=name), args=[_, ast.Constant(), *_]):
            return False
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(), *_]):
            return False
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in REGISTERING or any(each.arg == "namespace" for each in node.keywords)
    return False
