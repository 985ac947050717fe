"""`try`, `except` and `finally`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ppybuild.emit.standalone.around import Clause, TryBody
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.exceptions import exception_of
from ppybuild.emit.standalone.kinds import ERROR
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value

Lower = Callable[[Body, Sequence[ast.stmt]], None]


def lower_try(body: Body, node: ast.Try, lower: Lower) -> None:
    """`try: … except E as e: … else: … finally: …`"""
    if not node.finalbody:
        _lower_clauses(body, node, lower)
        return
    for each in node.finalbody:
        _refuse_leaving(each)
    handler = body.fresh()
    before = set(body.bound or ())
    body.line(f"ppy_handler {handler};")
    with body.block(f"if (PPY_TRY(&{handler}))"):
        body.around.append(TryBody(handler, tuple(node.finalbody), dict(body.inner)))
        if node.handlers:
            _lower_clauses(body, node, lower)
        else:
            lower(body, node.body)
        body.around.pop()
        if body.bound is not None:
            body.line(f"ppy_try_end(&{handler});")
            lower(body, node.finalbody)
    end = body.bound
    body.bound = before
    body.lines.pop()
    with body.block("} else"):
        body.line("ppy_top_roots = ppy_own_roots;")
        lower(body, node.finalbody)
        if body.bound is not None:
            body.line("ppy_reraise();")
    body.bound = end


def _refuse_leaving(node: ast.stmt | ast.excepthandler, in_loop: bool = False) -> None:
    """A way out of `finally` forgets the exception: no C is written for that."""
    match node:
        case ast.Return():
            raise Refused(node, "`return` in `finally`")
        case ast.Break() | ast.Continue() if not in_loop:
            raise Refused(node, "a way out of `finally`")
        case ast.For() | ast.While():
            in_loop = True
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler):
            _refuse_leaving(child, in_loop)


def _lower_clauses(body: Body, node: ast.Try, lower: Lower) -> None:
    handler = body.fresh()
    before = set(body.bound or ())
    body.line(f"ppy_handler {handler};")
    with body.block(f"if (PPY_TRY(&{handler}))"):
        body.around.append(TryBody(handler))
        lower(body, node.body)
        body.around.pop()
        if body.bound is not None:
            body.line(f"ppy_try_end(&{handler});")
            lower(body, node.orelse)
    ends = [body.bound]
    for clause in node.handlers:
        body.bound = set(before)
        body.lines.pop()
        with body.block(f"}} else if ({_caught(body, clause)})"):
            body.line("ppy_top_roots = ppy_own_roots;")
            _handler(body, clause, lower)
        ends.append(body.bound)
    body.lines.pop()
    with body.block("} else"):
        body.line("ppy_reraise();")
    body.bound = None
    for end in ends:
        body.bound = end if body.bound is None else body.bound & end if end else body.bound


def _caught(body: Body, clause: ast.ExceptHandler) -> str:
    if clause.type is None:
        return "ppy_caught_is(PPY_BaseException)"
    named = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
    return " || ".join(f"ppy_caught_is({exception_of(body, each).c})" for each in named)


def _handler(body: Body, clause: ast.ExceptHandler, lower: Lower) -> None:
    shadowed = dict(body.inner)
    mark = body.fresh()
    body.line(f"const ppy_mark {mark} = ppy_arena_mark();")
    if clause.name is not None:
        text = body.fresh()
        body.line(f"const ppy_text {text} = ppy_caught_text();")
        body.line(f"(void){text};")
        body.inner[clause.name] = Value(ERROR, text, fixed=True)
    body.around.append(Clause(mark))
    lower(body, clause.body)
    body.around.pop()
    body.inner = shadowed
    if body.bound is not None:
        body.line("ppy_caught_end();")
        body.line(f"ppy_arena_release({mark});")


def leave_around(body: Body, lower: Lower, down_to: int = 0, *, release: bool = False) -> None:
    """Before a way out: ends what is around, the innermost first, but for so many.

    `release`: what the clauses made in the arena is given back.
    """
    around, inner = body.around, body.inner
    for at in range(len(around) - 1, down_to - 1, -1):
        each = around[at]
        if isinstance(each, Clause):
            body.line("ppy_caught_end();")
            if release:
                body.line(f"ppy_arena_release({each.mark});")
            continue
        body.line(f"ppy_try_end(&{each.handler});")
        if each.final and body.bound is not None:
            body.around, body.inner = around[:at], dict(each.inner)
            lower(body, each.final)
    body.around, body.inner = around, inner


def has_final(body: Body) -> bool:
    """Whether a way out runs statements."""
    return any(isinstance(each, TryBody) and each.final for each in body.around)
