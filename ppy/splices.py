"""Put native code in the place of statements inside a module's functions.

    optimizer.zero_grad()              loss = None
    loss = loss_of(self.model, x)      try:
    loss.backward()                        .ppy = (optimizer, self.model, x)
    optimizer.step()                   except Exception:
                                  →        .ppy = None
                                       else:
                                           .ppy = SPLICE.run(*.ppy)
                                       if .ppy is None:
                                           the statements themselves
                                       else:
                                           (loss,) = .ppy
                                       del .ppy

With `value`, the place of an expression in the statement that follows, that statement stands
in both branches, in the second one with the last item of `.ppy` in the expression's place.

Several that stand in the same place are tried in turn, each in the place of the last one's
statements.

The native code gives None, and has changed nothing, where Python is to run the statements; so
exceptions and tracebacks are those of the statements. What they bind anew is let go first, so
that no graph of the turn before is alive. On its first call it runs a function
that has the statements as its body, to compare with it.
"""

from __future__ import annotations

import ast
import copy
import sys
from types import CodeType, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

_HIDDEN = ".ppy"
"""A variable that no program can name."""
_ABSENT = (Exception,)
"""Whatever reading a variable or rows of a tensor may raise; the statements raise it again."""


class Splice:
    """Native code for some statements, bound when it is first run."""

    def __init__(self, bind: Callable[[FunctionType], object], code: CodeType) -> None:
        self.bind = bind
        self.code = code
        self.native: Any = None

    def run(self, *arguments: object) -> object:
        if self.native is None:
            self.native = self.bind(FunctionType(self.code, sys._getframe(1).f_globals))
        return self.native(*arguments)


def insert(
    tree: ast.Module,
    path: str,
    splices: Iterable[tuple[Mapping[str, Any], Callable[[FunctionType], object]]],
    optimize: int = -1,
) -> dict[object, object]:
    """Change the tree; gives what to put in the place of constants in its code. Each splice is
    described as in `bundle.json`, and comes with what binds its function."""
    constants: dict[object, object] = {}
    places: dict[tuple[int, int], list[tuple[int, Mapping[str, Any], Any]]] = {}
    for number, (found, bind) in enumerate(splices):
        place = found["line"], found["column"]
        places.setdefault(place, []).append((number, found, bind))
    for (line, column), several in places.items():
        for block, start in list(_places(tree, line, column)):
            _, first, _ = several[0]
            own = first.get("value")
            stop = start + first["count"] + (own is not None)
            statements = replaced = block[start:stop]
            value = None if own is None else _at(statements[-1], own)
            for number, found, bind in reversed(several):
                mark = f"\0ppy splice {number}"
                code = _outlined(statements[: found["count"]], value, found, path, optimize)
                constants[mark] = Splice(bind, code)
                constants[f"{mark} absent"] = _ABSENT
                hidden = f"{_HIDDEN}{number or ''}"
                replaced = _replacement(replaced, statements[-1], found, mark, hidden)
            block[start:stop] = replaced
    return constants


def _places(tree: ast.AST, line: int, column: int) -> Iterator[tuple[list[ast.stmt], int]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            for index, statement in enumerate(block if isinstance(block, list) else ()):
                if (statement.lineno, statement.col_offset) == (line, column):
                    yield block, index  # type: ignore[misc]


def _at(statement: ast.stmt, place: Sequence[int]) -> ast.expr:
    """The expression that stands exactly there."""
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.expr))
    return next(node for node in nodes if _span(node) == tuple(place))


def _span(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _outlined(
    statements: Sequence[ast.stmt],
    value: ast.expr | None,
    found: Mapping[str, Any],
    path: str,
    optimize: int,
) -> CodeType:
    """The code of a function that has the statements as its body."""
    takes, gives = found["takes"], found["gives"]
    names = [path if path.isidentifier() else f".{at}" for at, path in enumerate(takes)]
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    given: list[ast.expr] = [ast.Name(name, ast.Load()) for name in gives]
    own: list[ast.expr] = [] if value is None else [value]
    end = ast.Return(ast.Tuple([*given, *own], ast.Load()))
    function = ast.FunctionDef("splice", arguments, [*statements, end], [])
    if sys.version_info >= (3, 12):
        function.type_params = []
    parts: list[ast.stmt | ast.expr] = [*statements, *own]
    _put(function, parts[0], set(map(id, parts)))
    made = compile(ast.Module([function], []), path, "exec", 0, True, optimize)
    return next(each for each in made.co_consts if isinstance(each, CodeType))


def _replacement(
    statements: list[ast.stmt],
    follows: ast.stmt,
    found: Mapping[str, Any],
    mark: str,
    hidden: str,
) -> list[ast.stmt]:
    """`follows`: the statement with `value`."""
    takes, gives, renews = found["takes"], found["gives"], found["renews"]
    read, write = ast.Name(hidden, ast.Load()), ast.Name(hidden, ast.Store())
    run = ast.Attribute(ast.Constant(mark), "run", ast.Load())
    given: list[ast.expr] = [ast.Name(name, ast.Store()) for name in gives]
    last: list[ast.stmt] = []
    if found.get("value") is not None:
        given.append(write)
        last.append(copy.deepcopy(follows))
        _Put(found["value"], hidden).visit(last[0])
    bound: list[ast.stmt] = [ast.Assign([ast.Tuple(given, ast.Store())], read), *last]
    handler = ast.ExceptHandler(
        ast.Constant(f"{mark} absent"), None, [ast.Assign([write], ast.Constant(None))]
    )
    called = ast.Call(run, [ast.Starred(read, ast.Load())], [])
    anew: list[ast.expr] = [ast.Name(name, ast.Store()) for name in renews]
    made: list[ast.stmt] = [ast.Assign(anew, ast.Constant(None))] if anew else []
    made += [
        ast.Try(
            [ast.Assign([write], ast.Tuple([_read(name) for name in takes], ast.Load()))],
            [handler],
            [ast.Assign([write], called)],
            [],
        ),
        ast.If(
            ast.Compare(read, [ast.Is()], [ast.Constant(None)]),
            statements,
            bound if given else [ast.Pass()],
        ),
        ast.Delete([ast.Name(hidden, ast.Del())]),
    ]
    for statement in made:
        _put(statement, statements[0], set(map(id, [*statements, *last])))
    return made


class _Put(ast.NodeTransformer):
    """Puts the hidden variable in the place of an expression."""

    def __init__(self, place: Sequence[int], hidden: str) -> None:
        self.place = tuple(place)
        self.hidden = hidden

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and _span(node) == self.place:
            return ast.copy_location(ast.Name(self.hidden, ast.Load()), node)
        return super().generic_visit(node)


def _read(path: str) -> ast.expr:
    return ast.parse(path, mode="eval").body


def _put(node: ast.AST, place: ast.stmt | ast.expr, kept: set[int]) -> None:
    """Give what was made here the position of the first statement."""
    if id(node) in kept:
        return
    if "lineno" in node._attributes:
        ast.copy_location(node, place)
        node.end_lineno, node.end_col_offset = place.lineno, place.col_offset  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        _put(child, place, kept)
