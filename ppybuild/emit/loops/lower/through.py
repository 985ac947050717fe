"""Whether a function goes through a list that it is passed.

A kernel gets the numbers of a list by a copy. That is worth it for a function that looks at
all of them anyway; one that looks at a few (`xs[i]`, a binary search) would become slower the
longer the list is, and stays in Python.
"""

from __future__ import annotations

from collections import Counter

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.tree import own_expressions, own_targets, parts, statements
from ppybuild.emit.loops.verify import has_break

_ONE = ir.Const(1, ir.Type.I64)


def goes_through(body: ir.Block, name: str) -> bool:
    """Whether every run that comes to its end has looked at the list from end to end."""
    lengths: list[ir.Expr] = [ir.Length(name)]
    bindings = Counter(target for each in statements(body) for target in own_targets(each))
    for statement in body:
        match statement:
            case ir.Assign(target=target, value=value) if (
                value in lengths and bindings[target] == 1
            ):
                lengths.append(ir.Var(target, ir.Type.I64))
            case ir.For(start=ir.Const(), stop=stop, step=step) if (
                step == _ONE and stop in lengths and not _leaves_early(statement)
            ):
                return True
            case ir.Checked() if any(
                isinstance(part, ir.Elements) and part.buffer == name and part.start is None
                for whole in own_expressions(statement)
                for part in parts(whole)
            ):
                return True
            case ir.Return():
                return False
    return False


def _leaves_early(loop: ir.For) -> bool:
    returns = any(isinstance(each, ir.Return) for each in statements(loop.body))
    return returns or has_break(loop.body)
