"""The loop inside a comprehension or a generator expression.

    x for x in xs if x > 0    →    for i in range(0, len(xs)): x.c = xs[i]; if x.c > 0: ...

Its variables are its own, under names that no others have.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import I64, Builder, at
from ppybuild.emit.loops.lower.expressions import lower_test
from ppybuild.emit.loops.lower.iteration import Iteration, plan_iteration
from ppybuild.emit.loops.lower.statements import bind_turn
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.tree import statements


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop that has been lowered, to be emitted once what it fills is there."""

    iteration: Iteration
    index: str
    body: ir.Block

    def emit(self, builder: Builder, site: ast.expr) -> None:
        over = (self.iteration.start, self.iteration.stop, self.iteration.step)
        builder.emit(ir.For(self.index, *over, self.body, (), at(site)))


def plan_turns(builder: Builder, site: ast.expr, loop: ast.comprehension) -> Iteration:
    """What the loop goes over, evaluated here."""
    if loop.is_async or any(isinstance(each, ast.NamedExpr) for each in ast.walk(site)):
        raise Stay(site, "a comprehension that binds variables around it", "write the loop out")
    iteration = plan_iteration(builder, loop.iter)
    if iteration is None:
        raise Dead("iteration")
    return iteration


def lower_turns(
    builder: Builder,
    site: ast.expr,
    loop: ast.comprehension,
    iteration: Iteration,
    then: Callable[[ir.Var], None],
) -> Turns:
    """The loop around what `then` lowers, which gets the counter."""
    assert builder.env is not None
    outside, names = dict(builder.env), dict(builder.inner)
    inner = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    try:
        builder.inner |= {name: f"{builder.inner.get(name, name)}.c" for name in inner}
        with builder.sub_block() as body:
            index = bind_turn(builder, loop.target, iteration)
            _where(builder, site, loop.ifs, lambda: then(ir.Var(index, I64)))
    except Dead:
        raise Stay(site, "a comprehension that always fails") from None
    finally:
        builder.inner, builder.env = names, outside
    builder.keep(loop.iter, iteration.over, builder.written(body))
    return Turns(iteration, index, tuple(body))


def stored_outside(builder: Builder, turns: Turns) -> frozenset[str]:
    """The buffers that the loop stores into and has not made itself."""
    made = {each.buffer for each in statements(turns.body) if isinstance(each, ir.Make)}
    return builder.written(turns.body) - made


def _where(
    builder: Builder, site: ast.expr, tests: Sequence[ast.expr], then: Callable[[], None]
) -> None:
    """`then` where every test holds."""
    if not tests:
        then()
        return
    condition = lower_test(builder, tests[0])
    with builder.sub_block() as inner:
        _where(builder, site, tests[1:], then)
    builder.emit(ir.If(condition, tuple(inner), (), at(site)))
