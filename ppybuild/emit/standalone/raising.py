"""`raise` and `assert`."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.around import Clause
from ppybuild.emit.standalone.body import FRAME, Body
from ppybuild.emit.standalone.calls import lower_exit
from ppybuild.emit.standalone.exceptions import (
    Raised,
    exception_of,
)
from ppybuild.emit.standalone.kinds import (
    ERROR,
    TEXT,
    show,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.texts import repr_of, str_of


def lower_raise(body: Body, node: ast.Raise) -> None:
    if node.exc is None:
        if not any(isinstance(each, Clause) for each in body.around):
            raise Refused(node, "`raise` alone outside a handler")
        body.line("ppy_reraise();")
        body.bound = None
        return
    match node.cause:
        case None | ast.Constant(value=None):
            pass
        case ast.Name(id=name) if name in body.inner and body.inner[name].kind == ERROR:
            pass  # it would be told before the last line
        case _:
            raise Refused(node, "`raise … from …` of what was not caught here")
    call = node.exc if isinstance(node.exc, ast.Call) else None
    raised = exception_of(body, call.func if call else node.exc)
    if raised.is_a("SystemExit"):
        if raised.own:
            raise Refused(node, "raising a kind of SystemExit")
        lower_exit(body, call or ast.Call(node.exc, [], []))
    else:
        message = _message(body, node, call, raised)
        body.at(node)
        body.line(f"ppy_raise({raised.c}, {message});")
    body.bound = None


def _message(body: Body, node: ast.Raise, call: ast.Call | None, raised: Raised) -> str:
    if call is not None and (call.keywords or len(call.args) > 1):
        raise Refused(node, "an exception of several arguments")
    if not raised.may_be_raised:
        raise Refused(node, f"raising `{raised.name}`")
    if call is None or not call.args:
        if raised.is_a("SyntaxError"):
            raise Refused(node, "a `SyntaxError` without a message")
        return "(ppy_text){0}"
    value = body.value(call.args[0])
    if raised.is_a("KeyError"):
        return repr_of(body, node, value).c
    of_texts = ("OSError", "UnicodeError", "StopIteration", "SyntaxError")
    if any(map(raised.is_a, of_texts)) and value.kind != TEXT:
        raise Refused(node, f"a `{raised.name}` of {show(value.kind)}")
    return str_of(body, node, value).c


def lower_assert(body: Body, node: ast.Assert) -> None:
    test = body.test(node.test)
    with body.block(f"if (PPY_UNLIKELY(!{test}))"):
        message = "(ppy_text){0}"
        if node.msg is not None:
            message = str_of(body, node, body.value(node.msg)).c
        body.line(f"{FRAME}.line = {node.lineno};")
        body.line(f"ppy_raise(PPY_AssertionError, {message});")
