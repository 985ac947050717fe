"""The names that a stub or source file binds at its top level, and the statements that do.

A large stub is not parsed whole (torch's two hold 1.5 MB): its top-level statements are
found by their indentation and parsed one by one, when a name is asked for.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

LARGE = 60_000
"""Bytes from which a stub is read statement by statement."""

TOP_LEVEL = re.compile(r"^(?![ \t#)\]}\n]|else:|elif |except|finally)(.*)", re.MULTILINE)
NAMED = re.compile(r"(?:async def|def|class) (\w+)|(\w+)\s*(?::|=(?!=))")


@dataclass(slots=True)
class Source:
    """One file's top level. `bindings` by name, in order of appearance."""

    path: Path
    stub: bool
    text: str
    bindings: dict[str, list[ast.stmt]] = field(default_factory=dict)
    unparsed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Spans of `text` by the name they bind, not parsed yet."""
    stars: list[ast.ImportFrom] = field(default_factory=list)
    exports: frozenset[str] | None = None
    """`__all__`, where it is a literal."""
    dynamic: bool = False
    """Names may come about that no statement shows (`__getattr__`, `globals()[...] =`)."""

    def lookup(self, name: str) -> list[ast.stmt]:
        for start, end in self.unparsed.pop(name, ()):
            for statement in ast.parse(self.text[start:end]).body:
                self._bind(statement)
        return self.bindings.get(name, [])

    def names(self) -> set[str]:
        return self.bindings.keys() | self.unparsed.keys()

    def _bind(self, statement: ast.stmt) -> None:
        for name in bound_names(statement):
            self.bindings.setdefault(name, []).append(statement)
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            self.stars.append(statement)


@cache
def read_source(path: Path) -> Source | None:
    """Read a file, once; None where it is not Python that this version can parse."""
    try:
        text = path.read_text("utf-8")
        source = Source(path, path.suffix == ".pyi", text)
        if not (source.stub and len(text) > LARGE and index_statements(source)):
            for statement in live_statements(ast.parse(text).body):
                source._bind(statement)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    source.exports = literal_exports(source)
    source.dynamic = bool(source.lookup("__getattr__")) or (
        not source.stub and re.search(r"globals\(\)|sys\.modules|setattr\(", text) is not None
    )
    return source


def index_statements(source: Source) -> bool:
    """Find the top-level statements by indentation; False where that cannot be trusted."""
    text = source.text
    starts = [(found.start(), found.group(1)) for found in TOP_LEVEL.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    begin: int | None = None
    for (start, line), end in zip(starts, ends, strict=True):
        if begin is None:
            begin = start
        if line.startswith("@"):
            continue
        named = NAMED.match(line)
        if named:
            name = named.group(1) or named.group(2)
            source.unparsed.setdefault(name, []).append((begin, end))
        else:
            try:
                statements = ast.parse(text[begin:end]).body
            except SyntaxError:
                source.unparsed.clear()
                source.bindings.clear()
                source.stars.clear()
                return False
            for statement in live_statements(statements):
                source._bind(statement)
        begin = None
    return True


def bound_names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names):
            for alias in names:
                yield alias.asname or alias.name.partition(".")[0]
        case ast.ImportFrom(names=names):
            for alias in names:
                if alias.name != "*":
                    yield alias.asname or alias.name
        case ast.Assign(targets=targets):
            for target in targets:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield node.id
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.For() | ast.AsyncFor() | ast.With():
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
        case _:
            pass


def live_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run in this Python on this platform, out of their `if`s."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=then, orelse=otherwise):
                value = evaluate_condition(test)
                if value is not False:
                    yield from live_statements(then)
                if value is not True:
                    yield from live_statements(otherwise)
            case ast.Try():
                yield from live_statements(statement.body)
                for handler in statement.handlers:
                    yield from live_statements(handler.body)
                yield from live_statements(statement.orelse)
                yield from live_statements(statement.finalbody)
            case ast.With():
                yield statement
                yield from live_statements(statement.body)
            case ast.For() | ast.While():
                yield statement
                yield from live_statements(statement.body)
            case _:
                yield statement


COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def evaluate_condition(test: ast.expr) -> bool | None:
    """What a condition on version, platform or `TYPE_CHECKING` is here; None for others."""
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.Constant(value=bool(value)):
            return value
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = evaluate_condition(operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=operator, values=values):
            parts = [evaluate_condition(value) for value in values]
            decisive = isinstance(operator, ast.Or)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            compare = COMPARE.get(type(operator))
            known = environment_value(left)
            if compare is None or known is None:
                return None
            try:
                return bool(compare(known, ast.literal_eval(right)))
            except (ValueError, TypeError):
                return None
        case ast.Call(
            func=ast.Attribute(attr="startswith", value=value),
            args=[ast.Constant(value=str(p))],
        ):
            known = environment_value(value)
            return known.startswith(p) if isinstance(known, str) else None
        case _:
            return None


def environment_value(node: ast.expr) -> str | tuple[int, ...] | int | None:
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr="platform"):
            return sys.platform
        case ast.Attribute(value=ast.Name(id="sys"), attr="version_info"):
            return sys.version_info[:3]
        case ast.Attribute(value=ast.Name(id="os"), attr="name"):
            return "nt" if sys.platform == "win32" else "posix"
        case ast.Subscript(value=ast.Attribute(attr="version_info"), slice=ast.Slice(upper=u)):
            length = ast.literal_eval(u) if u is not None else None
            return sys.version_info[:3][:length] if isinstance(length, int) else None
        case ast.Subscript(
            value=ast.Attribute(attr="version_info"), slice=ast.Constant(value=int(index))
        ):
            return sys.version_info[index] if index < 3 else None
        case _:
            return None


def literal_exports(source: Source) -> frozenset[str] | None:
    """`__all__` and what is added to it, where all of it is literal."""
    names: set[str] = set()
    statements = source.lookup("__all__")
    if not statements:
        return None
    for statement in statements:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if not isinstance(value, ast.List | ast.Tuple):
            return None
        for item in value.elts:
            if not (isinstance(item, ast.Constant) and isinstance(item.value, str)):
                return None
            names.add(item.value)
    for found in re.finditer(r"^ *__all__ \+= \[([^\]]*)\]", source.text, re.MULTILINE):
        names.update(re.findall(r"['\"](\w+)['\"]", found.group(1)))
    if re.search(r"^ *__all__(?:\.| \+= [^\[])", source.text, re.MULTILINE):
        return None
    return frozenset(names)
