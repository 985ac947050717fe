"""`try` and `except`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.exceptions import CAUGHT
from ppybuild.emit.standalone.kinds import ERROR
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value

Lower = Callable[[Body, Sequence[ast.stmt]], None]


def lower_try(body: Body, node: ast.Try, lower: Lower) -> None:
    """`try: … except E as e: … else: …`"""
    if node.finalbody:
        raise Refused(node.finalbody[0], "`finally`")
    handler = body.fresh()
    before = set(body.bound or ())
    body.line(f"ppy_handler {handler};")
    with body.block(f"if (PPY_TRY(&{handler}))"):
        body.tries.append(handler)
        lower(body, node.body)
        body.tries.pop()
        if body.bound is not None:
            body.line(f"ppy_try_end(&{handler});")
            lower(body, node.orelse)
    ends = [body.bound]
    for clause in node.handlers:
        body.bound = set(before)
        body.lines.pop()
        with body.block(f"}} else if ({_caught(clause)})"):
            body.line("ppy_top_roots = ppy_own_roots;")
            _handler(body, clause, lower)
        ends.append(body.bound)
    body.lines.pop()
    with body.block("} else"):
        body.line("ppy_reraise();")
    body.bound = None
    for end in ends:
        body.bound = end if body.bound is None else body.bound & end if end else body.bound


def _caught(clause: ast.ExceptHandler) -> str:
    if clause.type is None:
        return "ppy_caught_is(PPY_BaseException)"
    named = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
    tests = []
    for each in named:
        name = ast.unparse(each)
        if name not in CAUGHT:
            raise Refused(each, f"catching `{name}`", "catch built-in exceptions")
        tests.append(f"ppy_caught_is(PPY_{name})")
    return " || ".join(tests)


def _handler(body: Body, clause: ast.ExceptHandler, lower: Lower) -> None:
    shadowed = dict(body.inner)
    mark = body.fresh()
    body.line(f"const ppy_mark {mark} = ppy_arena_mark();")
    if clause.name is not None:
        text = body.fresh()
        body.line(f"const ppy_text {text} = ppy_caught_text();")
        body.line(f"(void){text};")
        body.inner[clause.name] = Value(ERROR, text, fixed=True)
    body.handlers.append(mark)
    lower(body, clause.body)
    body.handlers.pop()
    body.inner = shadowed
    if body.bound is not None:
        body.line("ppy_caught_end();")
        body.line(f"ppy_arena_release({mark});")


def leave_tries(body: Body, tries: int = 0, handlers: int = 0) -> None:
    """Before a way out: ends what is around, but for so many bodies of `try` and clauses."""
    for outermost in body.tries[tries : tries + 1]:
        body.line(f"ppy_try_end(&{outermost});")
    for _ in body.handlers[handlers:]:
        body.line("ppy_caught_end();")
