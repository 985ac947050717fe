"""Which lists of rows can be one buffer with its width: `ppy.grid`.

A class of slots that holds buffers (`graph.promote`) becomes a grid where every expression
that makes one of its lists makes rows of one length, and neither the list nor its rows are
used in a way that would tell them from a tuple of memoryviews.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ppybuild.graph.flow.calls import MAKERS
from ppybuild.graph.program import Facts, FunctionNode
from ppybuild.graph.scopes import parameters_of, scope_of
from ppybuild.graph.types import (
    Array,
    Buffer,
    Class,
    Collection,
    Function,
    Literal,
    Module,
    Scalar,
    Tuple,
)

ALLOWED = frozenset({"made", "index", "store", "len", "iterate", "truth", "identity"})
"""Uses of rows that a memoryview has, with a list's meaning."""
ALLOWED_OF_ALL = ALLOWED - {"store"}
"""Uses of the list of rows that a tuple has."""

INERT = Scalar | Literal | Tuple | Array | Buffer | Module | Function | Class
"""Types of values that run no code of the program when they are used."""
REPEATABLE = Array | Buffer | Tuple
_PLAIN = frozenset(
    f"builtins.{name}"
    for name in ("abs", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "range",
                 "round", "sum")
)  # fmt: skip
"""With all of `math`: what calls no function of the program."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why rows may not be equally long, and what to do instead."""

    why: str
    instead: str


UNEQUAL = Doubt("its rows may differ in length", "give all rows one length, by one variable")
SHARED = Doubt("its rows are one list", "make each anew: `[[0.0] * n for _ in range(n)]`")
ELSEWHERE = Doubt("its rows are made elsewhere", "make the rows where the list is made")


def rows_of(
    facts: Facts, node: ast.AST, function: FunctionNode | None
) -> tuple[ast.expr, ...] | Doubt:
    """The expressions that make the rows of a list that `node` makes, all of one length.

    `function` is the one around, None at a module's top level.
    """
    match node:
        case ast.ListComp(elt=row):
            width = _width(facts, row)
            if width is None:
                return ELSEWHERE
            steady = _Steady(facts, node, function)
            return (row,) if all(map(steady.holds, width.parts)) else UNEQUAL
        case ast.List(elts=rows):
            widths = [_width(facts, row) for row in rows]
            known = [width for width in widths if width is not None]
            if len(known) < len(widths):
                return ELSEWHERE
            steady = _Steady(facts, node, function)
            alike = len({width.key for width in known}) <= 1
            fixed = all(steady.holds(part) for width in known for part in width.parts)
            return tuple(rows) if alike and fixed else UNEQUAL
        case ast.BinOp(op=ast.Mult()):
            return SHARED
        case ast.Call() if (callee := facts.callees.get(node)) and callee.name in MAKERS:
            return (node,)
    return ELSEWHERE


@dataclass(frozen=True, slots=True)
class _Width:
    """How long a row is: the same wherever `key` is, while its parts stay what they are."""

    key: str
    parts: tuple[ast.expr, ...]


def _width(facts: Facts, row: ast.expr) -> _Width | None:
    """None where the expression does not make a new list of known length each time."""
    match row:
        case ast.List(elts=items) if not _starred(items):
            return _Width(str(len(items)), ())
        case ast.BinOp(
            left=ast.List(elts=items), op=ast.Mult(), right=ast.Constant(value=int() as times)
        ) if not _starred(items):
            return _Width(str(len(items) * max(times, 0)), ())
        case ast.BinOp(left=ast.List(elts=items), op=ast.Mult(), right=times) if not (
            _starred(items)
        ):
            return _Width(f"{len(items)} * {ast.unparse(times)}", (times,))
        case ast.ListComp(generators=[ast.comprehension(ifs=[], is_async=0, iter=over)]):
            parts = _counted(facts, over)
            return None if parts is None else _Width(ast.unparse(over), parts)
    return None


def _starred(items: Sequence[ast.expr]) -> bool:
    return any(isinstance(item, ast.Starred) for item in items)


def _counted(facts: Facts, over: ast.expr) -> tuple[ast.expr, ...] | None:
    """What a comprehension's number of turns depends on."""
    if isinstance(over, ast.Call) and not over.keywords and not _starred(over.args):
        callee = facts.callees.get(over)
        return tuple(over.args) if callee and callee.name == "builtins.range" else None
    found = facts.types.get(over)
    again = isinstance(found, REPEATABLE) or (
        isinstance(found, Collection) and found.kind in ("list", "tuple", "Sequence", "range")
    )
    if isinstance(over, ast.Name) and again:
        length = ast.Call(ast.Name("len", ast.Load()), [over], [])
        return (length,)
    return None


class _Steady:
    """What gives the same each time while an expression is evaluated."""

    def __init__(self, facts: Facts, node: ast.AST, function: FunctionNode | None) -> None:
        self.constants = facts.constants
        inside = list(ast.walk(node))
        self.quiet = all(_is_quiet(facts, each) for each in inside)
        """Whether nothing that it does can run code of the program."""
        self.bound = set(_bound(inside))
        self.private = set[str]() if function is None else _private(function)
        """Variables that only the function around binds."""

    def holds(self, part: ast.expr) -> bool:
        match part:
            case ast.Constant():
                return True
            case ast.Name() if part in self.constants:
                return True
            case ast.Name(id=name):
                return name not in self.bound and (self.quiet or name in self.private)
            case ast.BinOp(left=left, right=right):
                return self.holds(left) and self.holds(right)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as measured]):
                return self.quiet and self.holds(measured)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript() as row]):
                return self.quiet and self.holds(row.value) and self.holds(row.slice)
        return False


def _private(function: FunctionNode) -> set[str]:
    if any(isinstance(each, ast.Global | ast.Nonlocal) for each in ast.walk(function)):
        return set()
    bound = scope_of(function.body, expressions=True).bound
    return bound | {each.arg for each in parameters_of(function)}


def _is_quiet(facts: Facts, node: ast.AST) -> bool:
    if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
        found = facts.types.get(node)
        if isinstance(found, Collection):
            if found.kind in ("Iterator", "Iterable"):
                return False
        elif not isinstance(found, INERT):
            return False
    match node:
        case ast.Call(keywords=[]):
            callee = facts.callees.get(node)
            return callee is not None and (
                callee.name in _PLAIN or callee.name.startswith("math.")
            )
        case ast.Call() | ast.Await():
            return False
        case ast.Attribute(value=value):
            return isinstance(facts.types.get(value), Module)
    return True


def _bound(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for each in nodes:
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
