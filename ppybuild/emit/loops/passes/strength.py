"""Divide and take remainders in a cheaper way where the operands are known well enough.

    mod.i64(i + 1, n)     with 0 <= i < n     →    select(i + 1 == n, 0, i + 1)
    mod.i64(i - 1, n)     with 0 <= i < n     →    select(i - 1 < 0, i - 1 + n, i - 1)
    mod.i64(a, n)         with 0 <= a < n     →    a
    mod.i64(a, n)         with 0 <= a, 0 < n  →    rem.i64(a, n)
    mod.i64(a, 8)         with any a          →    and.i64(a, 7)
    floordiv.i64(a, n)    with 0 <= a, 0 < n  →    quot.i64(a, n)
    floordiv.i64(a, 8)    with any a          →    shr.i64(a, 3)

Keeps: values, order of evaluation. Needs: ranges, so that the operators are total already.
Guards: none.
"""

from __future__ import annotations

from dataclasses import replace

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.passes.evaluator import Reached
from ppybuild.emit.loops.passes.known import ONE, Atoms, Prover, State
from ppybuild.emit.loops.passes.linear import Polynomial, TooLarge
from ppybuild.emit.loops.passes.ranges import Interpreter, Loop

ZERO = ir.Const(0, ir.Type.I64)


OPERATORS = ("mod.i64", "floordiv.i64")


def run(function: ir.Function) -> ir.Function:
    found = (part for part in tree.expressions(function.body) if isinstance(part, ir.Op))
    if not any(part.name in OPERATORS for part in found):
        return function
    interpreter = _Strength(function, Prover(Atoms()))
    body, _ = interpreter.block(function.body, interpreter.entry(), Loop())
    return replace(function, body=body)


class _Strength(Interpreter):
    def statement(
        self, statement: ir.Statement, state: State, loop: Loop
    ) -> tuple[ir.Block, Reached]:
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Op):
            try:
                cheaper = self.cheaper(statement.value, state)
            except TooLarge:
                cheaper = None
            if cheaper is not None:
                _, after = super().statement(statement, state, loop)
                return (replace(statement, value=cheaper),), after
        return super().statement(statement, state, loop)

    def versioned(
        self, statement: ir.Versioned, state: State, loop: Loop
    ) -> tuple[ir.Block, Reached]:
        """The fast body alone: the other one is for runs that are about to fail."""
        start = self.assume(statement.condition, True, state)
        left = Loop()
        fast, _ = self.block(statement.fast, start, left)
        changed = replace(statement, fast=fast)
        return (changed,), self.afterwards(statement, state, left, loop)

    def cheaper(self, op: ir.Op, state: State) -> ir.Expr | None:
        if self.settling or op.name not in OPERATORS:
            return None
        a, b = (self.evaluate(arg, state).number for arg in op.args)
        assert a is not None
        assert b is not None
        power = b.constant()
        if power is not None and power > 0 and power & (power - 1) == 0:
            return _by_power_of_two(op, power)
        if not self.prover.proves(state, b - ONE):
            return None
        if op.name == "mod.i64":
            return self.remainder(op.args, a, b, state)
        if self.prover.proves(state, a):
            return replace(op, name="quot.i64")
        return None

    def remainder(
        self, args: tuple[ir.Expr, ...], a: Polynomial, b: Polynomial, state: State
    ) -> ir.Expr | None:
        dividend = args[0]
        if self.prover.proves(state, a):
            if self.prover.proves(state, b - ONE - a):
                return dividend
            if self.prover.proves(state, b - a):
                same = ir.Op("eq.i64", args, ir.Type.BOOL)
                return ir.Select(same, ZERO, dividend, ir.Type.I64)
            if self.prover.proves(state, b + b - ONE - a):
                over = ir.Op("ge.i64", args, ir.Type.BOOL)
                less = ir.Op("sub.i64", args, ir.Type.I64)
                return ir.Select(over, less, dividend, ir.Type.I64)
            return ir.Op("rem.i64", args, ir.Type.I64)
        if self.prover.proves(state, a + b) and self.prover.proves(state, b - ONE - a):
            under = ir.Op("lt.i64", (dividend, ZERO), ir.Type.BOOL)
            more = ir.Op("add.i64", args, ir.Type.I64)
            return ir.Select(under, more, dividend, ir.Type.I64)
        return None


def _by_power_of_two(op: ir.Op, power: int) -> ir.Expr:
    """Two's complement masks and shifts round down, as Python does."""
    dividend = op.args[0]
    if op.name == "mod.i64":
        return ir.Op("and.i64", (dividend, ir.Const(power - 1, ir.Type.I64)), ir.Type.I64)
    shift = ir.Const(power.bit_length() - 1, ir.Type.I64)
    return ir.Op("shr.i64", (dividend, shift), ir.Type.I64)
