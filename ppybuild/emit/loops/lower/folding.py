"""Functions of a generator expression: one loop, and nothing that holds what it gives.

    sum(x * x for x in xs)    →    total = 0; for each x: total = total + x * x
    any(x < 0 for x in xs)    →    found = False; for each x: if x < 0: found = True; break
    max(f(x) for x in xs)     →    best = f(x) of the first, then the greater of the two

Python makes no other use of the generator, so that nobody sees that there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    BOOL,
    F64,
    I64,
    Builder,
    at,
    op,
    require_scalar,
)
from ppybuild.emit.loops.lower.calls import rely_on_library
from ppybuild.emit.loops.lower.expressions import lower_scalar, lower_test
from ppybuild.emit.loops.lower.operators import negation, to_float, to_int
from ppybuild.emit.loops.lower.sequences import COMPENSATED_SUM
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.turns import Turns, lower_turns, plan_turns, stored_outside
from ppybuild.emit.loops.lower.values import Value

_FALSE, _TRUE = ir.Const(False, BOOL), ir.Const(True, BOOL)


@dataclass(frozen=True, slots=True)
class Fold:
    """A call of a function of one generator expression."""

    builder: Builder
    node: ast.Call
    given: ast.GeneratorExp
    others: list[ast.expr]
    """The arguments after it."""

    def turns(self, then: Callable[[], None]) -> Turns:
        """The loop around what `then` lowers, of each item."""
        (loop,) = self.given.generators
        iteration = plan_turns(self.builder, self.given, loop)
        turns = lower_turns(self.builder, self.given, loop, iteration, lambda _: then())
        if stored_outside(self.builder, turns):
            raise Stay(self.given, "a generator that stores into a buffer", "write it out")
        return turns

    def item(self) -> ir.Expr:
        return lower_scalar(self.builder, self.given.elt)

    def assign(self, target: ir.Var, value: ir.Expr) -> None:
        self.builder.emit(ir.Assign(target.name, value, at(self.node)))

    @property
    def may_be_empty(self) -> bool:
        """Whether only its turns tell if there are items."""
        return bool(self.given.generators[0].ifs)

    def emit_some(self, turns: Turns, some: ir.Var) -> None:
        """The loop, which must give an item; one that may not sets `some`."""
        over = turns.iteration
        if not self.may_be_empty:
            count = op("stride_length", over.start, over.stop, over.step)
            kept = op("gt.i64", count, ir.Const(0, I64))
            self.builder.emit(ir.Guard(kept, "nothing generated", at(self.node)))
            turns.emit(self.builder, self.given)
            return
        self.assign(some, _FALSE)
        turns.emit(self.builder, self.given)
        self.builder.emit(ir.Guard(some, "nothing generated", at(self.node)))


def lower_folded(builder: Builder, node: ast.expr) -> Value | None:
    """None where an expression is no such call."""
    match node:
        case ast.Call(args=[ast.GeneratorExp() as given, *others], keywords=[]):
            callee = builder.facts.callees.get(node)
            rule = FOLDS.get(callee.name) if callee else None
            if callee is None or rule is None:
                return None
            if len(given.generators) > 1:
                raise Stay(given, "a generator with several loops", "write the loops out")
            rely_on_library(builder, node, callee)
            return rule(Fold(builder, node, given, others))
    return None


def _sum(fold: Fold) -> Value:
    """What no items give is the int 0, which a sum of floats is not."""
    start = _start(fold)
    totals: list[ir.Var] = []
    some = fold.builder.temporary(BOOL, "some")

    def add() -> None:
        item = to_int(fold.item())
        total = fold.builder.temporary(item.type, "sum")
        totals.append(total)
        if item.type is F64:
            fold.assign(total, op("add.f64", total, item))
        else:
            fold.builder.emit(ir.Checked(total.name, "add.i64", (total, item), at(fold.node)))
        if item.type is not start.type and fold.may_be_empty:
            fold.assign(some, _TRUE)

    turns = fold.turns(add)
    (total,) = totals
    if total.type is F64 and COMPENSATED_SUM:
        raise Stay(fold.node, "`sum` of floats", "write the loop out")
    if total.type is I64 and start.type is F64:
        raise Stay(fold.node, "a sum of ints from a float", "write the loop out")
    fold.assign(total, to_float(start) if total.type is F64 else start)
    if total.type is start.type:
        turns.emit(fold.builder, fold.given)
    else:
        fold.emit_some(turns, some)
    return total


def _start(fold: Fold) -> ir.Const:
    match fold.others:
        case []:
            return ir.Const(0, I64)
        case [ast.Constant() as given]:
            value = lower_scalar(fold.builder, given)
            # From a bool, the sum of nothing is that bool.
            if isinstance(value, ir.Const) and value.type is not BOOL:
                return value
    raise Stay(fold.node, "`sum` from anything but a constant number", "write the loop out")


def _found(fold: Fold, is_any: bool) -> Value:
    """`any`, or `all`: no turn after the one that settles it."""
    builder = fold.builder
    if fold.others:
        raise Stay(fold.node, "this form of `any` or `all`")
    answer = builder.temporary(BOOL, "any" if is_any else "all")

    def look() -> None:
        test = lower_test(builder, fold.given.elt)
        settles = test if is_any else negation(test)
        ends = (ir.Assign(answer.name, ir.Const(is_any, BOOL), at(fold.node)),)
        builder.emit(ir.If(settles, (*ends, ir.Break(at(fold.node))), (), at(fold.node)))

    turns = fold.turns(look)
    fold.assign(answer, ir.Const(not is_any, BOOL))
    turns.emit(builder, fold.given)
    return answer


def _extreme(fold: Fold, name: str) -> Value:
    builder = fold.builder
    if fold.others:
        raise Stay(fold.node, f"`{name}` of a generator and more", "write the loop out")
    found: list[ir.Var] = []
    some = builder.temporary(BOOL, "some")

    def compare() -> None:
        item = require_scalar(fold.node, builder.settled(fold.item(), at(fold.node)))
        if item.type is BOOL:
            raise Stay(fold.node, f"`{name}` of bools")
        best = builder.temporary(item.type, name)
        found.append(best)
        here = at(fold.node)
        better = ir.Assign(best.name, op(f"{name}.{item.type.value}", best, item), here)
        first = ir.Assign(best.name, item, here)
        begun = ir.Assign(some.name, _TRUE, here)
        builder.emit(ir.If(some, (better,), (first, begun), here))

    turns = fold.turns(compare)
    (best,) = found
    fold.assign(best, ir.Const(0.0, F64) if best.type is F64 else ir.Const(0, I64))
    fold.assign(some, _FALSE)
    turns.emit(builder, fold.given)
    builder.emit(ir.Guard(some, "nothing generated", at(fold.node)))
    return best


FOLDS: dict[str, Callable[[Fold], Value]] = {
    "builtins.sum": _sum,
    "builtins.any": lambda fold: _found(fold, True),
    "builtins.all": lambda fold: _found(fold, False),
    "builtins.min": lambda fold: _extreme(fold, "min"),
    "builtins.max": lambda fold: _extreme(fold, "max"),
}
"""By canonical dotted name."""
