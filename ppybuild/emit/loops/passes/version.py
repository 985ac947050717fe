"""Give a loop a fast body without checks, under a condition that is tested once before it.

    for row in range(0, rows, 1):           fast if rows >= 0 and cols >= 0
        check t0 = mul.i64(row, cols)               and rows*cols <= len(a):
        for i in range(0, cols, 1):             for row in range(0, rows, 1):
            check t1 = add.i64(t0, i)               t0 = row*cols
            check t2 = index(t1, len(a))   →        for i in range(0, cols, 1):
            total = total + a[t2]                       t1 = t0 + i
                                                        t2 = t1
                                                        total = total + a[t2]
                                            checked:
                                                (the loop as it was)

What an operator needs is a polynomial that must not be negative. In it the values that
change inside the loop (its counters, and what is computed from them) are replaced by their
bounds, until only values are left that the loop does not change; that is the condition. It
is written with saturating arithmetic on numbers that it first finds not to be negative, so
that it cannot overflow, and where it cannot be exact it is false.

Versions the outermost loops that it can, whole. A check for which there is no condition
stays in the fast body.

Keeps: values, order of evaluation, every failure that can happen. Needs: ranges, and that
`eliminate` has left out of the checked body what needs no condition.
Guards: moved before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.passes import linear
from ppybuild.emit.loops.passes.evaluator import Reached
from ppybuild.emit.loops.passes.known import GREATEST, LEAST, ONE, Atoms, Prover, State
from ppybuild.emit.loops.passes.linear import (
    Interval,
    Intervals,
    Monomial,
    Polynomial,
    TooLarge,
)
from ppybuild.emit.loops.passes.ranges import Interpreter, Loop
from ppybuild.emit.loops.passes.signs import Sign

# A fast body under more conditions than this is not likely to be taken.
MOST_CONDITIONS = 16


def run(function: ir.Function) -> ir.Function:
    interpreter = _Versioning(function, Prover(Atoms()))
    body, _ = interpreter.block(function.body, interpreter.entry(), Loop())
    return replace(function, body=body)


class _Versioning(Interpreter):
    """Runs a function, and versions each loop that it comes to outside versioned loops."""

    def __init__(self, function: ir.Function, prover: Prover) -> None:
        super().__init__(function, prover)
        self.function = function

    def loop(
        self, statement: ir.For | ir.While, state: State, outer: Loop
    ) -> tuple[ir.Block, Reached]:
        if self.settling:
            return super().loop(statement, state, outer)
        bargain = _Bargain(self.atoms, self._invariants(state), tree.assigned((statement,)))
        runner, left = self._plain(bargain), Loop()
        fast, _ = runner.loop(statement, state, left)
        if bargain.taken() and any(map(_is_check, tree.statements(fast))):
            # What was taken for granted late in the body may show what is early in it.
            fast, _ = runner.loop(statement, state, Loop())
        condition = bargain.condition(state)
        if condition is None or fast == (statement,):
            return super().loop(statement, state, outer)
        versioned = ir.Versioned(condition, fast, (statement,), statement.location)
        return (versioned,), self.afterwards(statement, state, left, outer)

    def _plain(self, prover: Prover) -> Interpreter:
        """Leaves checks out, and versions nothing."""
        runner = Interpreter(self.function, prover)
        runner.depth = self.depth
        return runner

    def _invariants(self, state: State) -> dict[int, ir.Expr]:
        """The atoms whose values can be written before a loop, and how."""
        found: dict[int, ir.Expr] = {}
        for name, value in state.values.items():
            atom = None if value.number is None else value.number.atom()
            if self.types[name] is ir.Type.I64 and atom is not None:
                found.setdefault(atom, ir.Var(name, ir.Type.I64))
        for buffer in self.elements:
            (atom,) = self.length(buffer).atoms()
            found[atom] = ir.Length(buffer)
        return found


@dataclass(frozen=True, slots=True)
class _Taken:
    """What has been taken for granted."""

    least: Mapping[int, int]
    """Invariants that are at least so much."""
    polynomials: tuple[Polynomial, ...] = ()
    """Of invariants; none is negative."""
    floats: tuple[ir.Expr, ...] = ()
    """Conditions on invariant floats."""


class _Bargain(Prover):
    """Takes for granted what a condition on invariants can stand for, and records it."""

    def __init__(
        self, atoms: Atoms, invariants: Mapping[int, ir.Expr], changed: frozenset[str]
    ) -> None:
        super().__init__(atoms)
        self.invariants = invariants
        self.changed = changed
        self.history = [_Taken({})]
        self._raised: tuple[Mapping[int, Interval], Mapping[int, int], Intervals]
        self._raised = {}, {}, Intervals({}, {})

    def taken(self) -> bool:
        return self.history[-1] != _Taken({})

    def mark(self) -> int:
        return len(self.history)

    def take_back(self, mark: int) -> None:
        del self.history[mark:]

    def intervals(self, state: State) -> Mapping[int, Interval]:
        known = super().intervals(state)
        least = self.history[-1].least
        if not least:
            return known
        if self._raised[0] is not known or self._raised[1] is not least:
            raised = {
                atom: (max(low, known[atom][0]), known[atom][1]) for atom, low in least.items()
            }
            self._raised = known, least, Intervals(raised, known)
        return self._raised[2]

    # What may be taken for granted

    def requires(self, state: State, goal: Polynomial) -> bool:
        if self.proves(state, goal):
            return True
        found = self._weakest(state, goal)
        if found is None:
            return False
        residual, invariants = found
        taken = self.history[-1]
        least = dict(taken.least)
        for atom in invariants:
            least[atom] = max(least.get(atom, 0), 0)
        single = _at_least(residual)
        if residual.constant() is not None:
            self.history.append(replace(taken, least=least))
        elif single is not None:
            if single[1] > self.intervals(state)[single[0]][1]:
                return False
            least[single[0]] = max(least.get(single[0], 0), single[1])
            self.history.append(replace(taken, least=least))
        else:
            polynomials = (*taken.polynomials, residual)
            self.history.append(replace(taken, least=least, polynomials=polynomials))
        return True

    def requires_nonzero(self, state: State, value: Polynomial) -> bool:
        return self.proves_nonzero(state, value) or self.requires(state, value - ONE)

    def requires_float(self, operand: ir.Expr, outside: Sign) -> bool:
        if tree.loaded(operand):
            return False
        if tree.variables(operand) & self.changed:
            return False
        zero = ir.Const(0.0, ir.Type.F64)
        match outside:
            case Sign.ZERO:
                condition = ir.Op("ne.f64", (operand, zero), ir.Type.BOOL)
            case Sign.NEGATIVE:
                condition = _not(ir.Op("lt.f64", (operand, zero), ir.Type.BOOL))
            case _:
                condition = _not(ir.Op("le.f64", (operand, zero), ir.Type.BOOL))
        taken = self.history[-1]
        if condition not in taken.floats:
            self.history.append(replace(taken, floats=(*taken.floats, condition)))
        return True

    def _weakest(
        self, state: State, goal: Polynomial
    ) -> tuple[Polynomial, frozenset[int]] | None:
        """The condition that asks for least, of those that would do."""
        best: tuple[Polynomial, frozenset[int]] | None = None
        try:
            for aim in self.aims(state, goal):
                found = self._residual(state, aim)
                if found is None or (found[0].constant() or 0) < 0:
                    continue
                if best is None or _not_negative(found[0] - best[0]):
                    best = found
        except TooLarge:
            pass
        return best

    def _residual(
        self, state: State, aim: Polynomial
    ) -> tuple[Polynomial, frozenset[int]] | None:
        """The aim with what the loop changes replaced by its bounds, and the invariants that
        were taken not to be negative for that."""
        known = self.intervals(state)
        used: set[int] = set()
        while True:
            used.update(atom for atom in aim.atoms() if atom in self.invariants)
            variant = [atom for atom in aim.atoms() if atom not in self.invariants]
            if not variant:
                return aim, frozenset(used)
            atom = max(variant)
            split = aim.split(atom)
            if split is None:
                return None
            slope, rest = split
            low, high = linear.interval(slope, self._supposed(slope, known))
            if low < 0 < high:
                return None
            bound = self._bound(atom, known[atom], upper=low < 0)
            if bound is None:
                return None
            aim = slope * bound + rest

    def _supposed(
        self, polynomial: Polynomial, known: Mapping[int, Interval]
    ) -> Mapping[int, Interval]:
        """What its atoms can be where no invariant is negative."""
        return {
            atom: (max(0, known[atom][0]), known[atom][1])
            if atom in self.invariants
            else known[atom]
            for atom in polynomial.atoms()
        }

    def _bound(self, atom: int, interval: Interval, upper: bool) -> Polynomial | None:
        symbolic = (self.atoms.high if upper else self.atoms.low).get(atom)
        if symbolic is not None:
            return symbolic
        end = interval[1] if upper else interval[0]
        return None if end in (LEAST, GREATEST) else linear.constant(end)

    # The condition

    def condition(self, state: State) -> ir.Expr | None:
        """What was taken for granted, as an expression; None where it is not worth it."""
        try:
            parts = list(self._conditions(state))
        except TooLarge:
            return None
        if not parts or len(parts) > MOST_CONDITIONS:
            return None
        return reduce(lambda one, two: ir.Op("and", (one, two), ir.Type.BOOL), parts)

    def _conditions(self, state: State) -> Iterator[ir.Expr]:
        taken = self.history[-1]
        known = super().intervals(state)
        for atom, low in sorted(taken.least.items()):
            if known[atom][0] < low:
                bound = ir.Const(low, ir.Type.I64)
                yield ir.Op("ge.i64", (self.invariants[atom], bound), ir.Type.BOOL)
        kept = dict.fromkeys(taken.polynomials)
        for one in tuple(kept):
            if any(other != one and self._implies(other, one) for other in kept):
                del kept[one]
        for polynomial in kept:
            yield self._compare(polynomial)
        yield from taken.floats

    def _implies(self, one: Polynomial, two: Polynomial) -> bool:
        """Whether the second is at least zero where the first is, and no invariant is less."""
        difference = two - one
        known = self._supposed(difference, self.atoms.intervals)
        return linear.interval(difference, known)[0] >= 0

    def _compare(self, polynomial: Polynomial) -> ir.Expr:
        """At least zero: what is taken away is less than the rest and one.

        Both sides saturate: a left side beyond 64 bits makes it false, as it must.
        """
        shifted = (polynomial + ONE).terms
        less = [(monomial, -value) for monomial, value in shifted if value < 0]
        rest = [(monomial, value) for monomial, value in shifted if value > 0]
        return ir.Op("lt.i64", (self._sum(less), self._sum(rest)), ir.Type.BOOL)

    def _sum(self, terms: list[tuple[Monomial, int]]) -> ir.Expr:
        """Saturating; the terms are not negative."""
        products = [self._product(monomial, value) for monomial, value in terms]
        if not products:
            return ir.Const(0, ir.Type.I64)
        return reduce(lambda one, two: ir.Op("add.sat", (one, two), ir.Type.I64), products)

    def _product(self, monomial: Monomial, value: int) -> ir.Expr:
        factors = [self.invariants[atom] for atom in monomial]
        if value != 1 or not factors:
            factors.append(ir.Const(min(value, GREATEST), ir.Type.I64))
        return reduce(lambda one, two: ir.Op("mul.sat", (one, two), ir.Type.I64), factors)


def _not_negative(polynomial: Polynomial) -> bool:
    """Whether it is at least zero wherever its atoms are."""
    return all(value >= 0 for _, value in polynomial.terms)


def _at_least(polynomial: Polynomial) -> tuple[int, int] | None:
    """`(atom, bound)` where the polynomial asks for `atom >= bound` and no more."""
    atoms = polynomial.atoms()
    if len(atoms) != 1:
        return None
    (atom,) = atoms
    split = polynomial.split(atom)
    slope = None if split is None else split[0].constant()
    if split is None or slope is None or slope <= 0:
        return None
    return atom, -(split[1].terms[0][1] // slope) if split[1].terms else 0


def _is_check(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Checked | ir.Guard)


def _not(condition: ir.Expr) -> ir.Op:
    return ir.Op("not", (condition,), ir.Type.BOOL)
