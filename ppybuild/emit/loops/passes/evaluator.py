"""What expressions are worth: ints as polynomials over atoms, floats as sets of signs.

row*cols + i    with row in [0, rows), i in [0, cols)    in [0, rows*cols)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.passes import linear, rules
from ppybuild.emit.loops.passes.known import (
    ANY_INT,
    GREATEST,
    ONE,
    Atoms,
    Prover,
    State,
    Value,
)
from ppybuild.emit.loops.passes.linear import Interval, Polynomial, TooLarge
from ppybuild.emit.loops.passes.signs import Sign
from ppybuild.emit.loops.verify import flat_parameters

Reached = State | None
"""None where control does not get to."""


class Evaluator:
    """Evaluates expressions of one function on states, and joins states."""

    def __init__(self, function: ir.Function, prover: Prover) -> None:
        self.settling = 0
        """How many loops around are still being run to find out what holds in them."""
        self.prover = prover
        self.atoms: Atoms = prover.atoms
        grids = [each for each in function.parameters if isinstance(each, ir.GridParameter)]
        self.sizes = frozenset(size.name for grid in grids for size in grid.flat)
        self.types = dict(function.locals)
        self.types |= {
            parameter.name: parameter.type
            for parameter in flat_parameters(function.parameters)
            if isinstance(parameter, ir.ScalarParameter)
        }
        self.elements = {
            parameter.name: parameter.element
            for parameter in flat_parameters(function.parameters)
            if isinstance(parameter, ir.BufferParameter)
        }
        self.own = {buffer.name: buffer.element for buffer in function.buffers}

    def element(self, buffer: str) -> ir.Element:
        return self.own[buffer] if buffer in self.own else self.elements[buffer]

    def anything(self, type: ir.Type, interval: Interval = ANY_INT) -> Value:
        return Value(number=self.atoms.new(interval)) if type is ir.Type.I64 else Value()

    def evaluate(self, expression: ir.Expr, state: State) -> Value:
        """What an expression is worth; an int always has a number."""
        match expression:
            case ir.Const(value=value):
                return rules.constant(value)
            case ir.Var(name=name):
                return state.values[name]
            case ir.Length(buffer=buffer):
                return Value(number=self.length(buffer))
            case ir.Load(buffer=buffer, type=type):
                return self.anything(type, rules.STORED.get(self.element(buffer), ANY_INT))
            case ir.Op(name=name, args=args, type=type):
                rule = rules.TOTAL.get(name)
                if rule is not None:
                    parts = tuple(self.evaluate(arg, state) for arg in args)
                    try:
                        found = rule(self, state, parts, args)
                    except TooLarge:
                        found = Value()
                    if type is not ir.Type.I64 or found.number is not None:
                        return found
                return self.anything(type)
            case ir.Select(condition=condition, then=then, orelse=orelse, type=type):
                return self.select(condition, then, orelse, type, state)
            case ir.Disjoint() | ir.Elements():
                return Value()

    def select(
        self, condition: ir.Expr, then: ir.Expr, orelse: ir.Expr, type: ir.Type, state: State
    ) -> Value:
        sides = []
        for truth, side in ((True, then), (False, orelse)):
            reached = self.assume(condition, truth, state)
            if reached is not None:
                sides.append((reached, self.evaluate(side, reached)))
        if type is ir.Type.I64:
            found = [
                self.prover.interval(reached, value.number)
                for reached, value in sides
                if value.number is not None
            ]
            return Value(
                number=self.atoms.new(
                    (min(one for one, _ in found), max(one for _, one in found))
                )
            )
        sign = Sign(0)
        for reached, value in sides:
            sign |= self.sign(value, reached)
        return Value(sign=sign)

    def holds(self, state: State, needs: tuple[Polynomial, ...]) -> bool:
        """Whether none of these is negative here, or may be taken not to be."""
        if self.settling:
            return all(self.prover.proves(state, need) for need in needs)
        mark = self.prover.mark()
        if all(self.prover.requires(state, need) for need in needs):
            return True
        self.prover.take_back(mark)
        return False

    def length(self, buffer: str) -> Polynomial:
        atom = self.atoms.shared.get(("length", buffer))
        if atom is None:
            made = self.atoms.new((0, GREATEST // rules.BYTES[self.elements[buffer]]))
            atom = self.atoms.shared[("length", buffer)] = made.terms[0][0][0]
        return linear.single(atom)

    def sign(self, value: Value, state: State) -> Sign:
        """Of a float; one that an int was converted to takes the int's."""
        if value.number is None:
            return value.sign
        sign = Sign.NUMBER
        if self.prover.proves(state, value.number):
            sign &= ~Sign.NEGATIVE
        if self.prover.proves(state, value.number.scaled(-1)):
            sign &= ~Sign.POSITIVE
        try:
            if self.prover.proves_nonzero(state, value.number):
                sign &= ~Sign.ZERO
        except TooLarge:
            pass
        return sign

    # States

    def forget(
        self,
        state: State,
        names: frozenset[str],
        intervals: Mapping[str, Interval] | None = None,
        signs: Mapping[str, Sign] | None = None,
    ) -> State:
        """The state where these variables are only known to be within bounds."""
        values = dict(state.values)
        for name in sorted(names):
            value = self.anything(self.types[name], (intervals or {}).get(name, ANY_INT))
            values[name] = replace(value, sign=(signs or {}).get(name, Sign.ANY))
        return replace(state, values=values)

    def join(self, before: State, states: list[Reached], changed: frozenset[str]) -> Reached:
        """What holds whichever way control came from `before`, where only `changed` may have
        been bound since; facts found on one way are dropped."""
        reached = [state for state in states if state is not None]
        if not reached:
            return None
        if len(reached) == 1:
            return reached[0]
        values = dict(before.values)
        for name in sorted(changed):
            first, *others = (state.values[name] for state in reached)
            alike = all(other is first or other == first for other in others)
            values[name] = first if alike else self.merge(name, reached)
        return State(values, before.facts, before.nonzero, before.narrowed)

    def merge(self, name: str, states: list[State]) -> Value:
        if self.types[name] is not ir.Type.I64:
            sign = Sign(0)
            for state in states:
                sign |= self.sign(state.values[name], state)
            return Value(sign=sign)
        found = [
            self.prover.interval(state, number)
            for state in states
            if (number := state.values[name].number) is not None
        ]
        return Value(
            number=self.atoms.new(
                (min(low for low, _ in found), max(high for _, high in found))
            )
        )

    # Conditions

    def needs(self, condition: ir.Expr, state: State) -> tuple[Polynomial, ...] | None:
        """Polynomials that make a condition true where each is at least zero; None if the
        condition is not of that kind."""
        match condition:
            case ir.Const(value=True):
                return ()
            case ir.Op(name="and", args=(one, two)):
                first, second = self.needs(one, state), self.needs(two, state)
                return None if first is None or second is None else (*first, *second)
            case ir.Op(name=name, args=(one, two)) if name in rules.COMPARISONS:
                left, right = self.evaluate(one, state).number, self.evaluate(two, state).number
                if left is None or right is None:
                    return None
                return rules.COMPARISONS[name](left, right)
            case ir.Op(name="not", args=(ir.Op(name=name) as inner,)):
                opposite = rules.OPPOSITE.get(name)
                if opposite is None:
                    return None
                return self.needs(replace(inner, name=opposite), state)
            case _:
                return None

    def assume(self, condition: ir.Expr, truth: bool, state: State) -> Reached:
        """The state where a condition turned out so; None where it cannot."""
        match condition:
            case ir.Const(value=value):
                return state if bool(value) is truth else None
            case ir.Op(name="not", args=(inner,)):
                return self.assume(inner, not truth, state)
            case ir.Op(name=("and" | "or") as name, args=(one, two)):
                if (name == "and") is not truth:
                    return state
                first = self.assume(one, truth, state)
                return None if first is None else self.assume(two, truth, first)
            case ir.Op(name=name, args=(one, two)) if truth or name in rules.OPPOSITE:
                known = name if truth else rules.OPPOSITE[name]
                if known in rules.COMPARISONS or known == "ne.i64":
                    return self.assume_integers(known, one, two, state)
                return self.assume_floats(known, one, two, state)
            case _:
                return state

    def assume_integers(self, name: str, one: ir.Expr, two: ir.Expr, state: State) -> Reached:
        left, right = self.evaluate(one, state).number, self.evaluate(two, state).number
        if left is None or right is None:
            return state
        try:
            if name == "ne.i64":
                difference = left - right
                state = state.know_nonzero(difference)
                for way in (difference, difference.scaled(-1)):
                    if self.prover.proves(state, way):
                        state = state.know(way - ONE)
                return state
            for fact in rules.COMPARISONS[name](left, right):
                value = fact.constant()
                if value is not None and value < 0:
                    return None
                state = state.know(fact)
        except TooLarge:
            pass
        return state

    def assume_floats(self, name: str, one: ir.Expr, two: ir.Expr, state: State) -> Reached:
        """Compare a variable with zero, either way round."""
        for variable, other, turned in (
            (one, two, name),
            (two, one, rules.TURNED.get(name, name)),
        ):
            if isinstance(variable, ir.Var) and variable.type is ir.Type.F64:
                against = self.sign(self.evaluate(other, state), state)
                left = rules.possible(turned, against)
                if left is not None:
                    state = self.refine_sign(state, variable, left)
        return state

    def refine_sign(self, state: State, variable: ir.Expr, kept: Sign) -> State:
        if not isinstance(variable, ir.Var) or variable.type is not ir.Type.F64:
            return state
        known = state.values[variable.name]
        return state.bind(variable.name, replace(known, sign=known.sign & kept))
