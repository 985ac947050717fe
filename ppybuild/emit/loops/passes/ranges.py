"""What every variable can be at every point, and the checks that this makes needless.

    for i in range(0, len(a), 1):          for i in range(0, len(a), 1):
        check at = index(i, len(a))   →        at = i
        total = a[at]                          total = a[at]

`Interpreter` runs a function on `State`s instead of values: forward, both branches of a
condition, loops until nothing changes (widening what does not settle). It gives the
function back with the checks left out that its `Prover` says cannot fail. `eliminate` asks
only what follows; `version` also takes conditions for granted, and records them.

Keeps: values, order of evaluation, every failure that can happen. Needs: nothing.
Guards: some removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.passes import rules
from ppybuild.emit.loops.passes.evaluator import Evaluator, Reached
from ppybuild.emit.loops.passes.known import ANY_INT, GREATEST, LEAST, ONE, Prover, State, Value
from ppybuild.emit.loops.passes.linear import Interval, Polynomial, TooLarge
from ppybuild.emit.loops.passes.signs import Sign
from ppybuild.emit.loops.verify import always_fails

# A loop nested deeper, or that has not settled after so many rounds, is taken to change its
# variables to anything. Bounds the work: at most ROUNDS ** DEEPEST runs of a statement.
DEEPEST = 4
ROUNDS = 4


@dataclass(slots=True)
class Loop:
    """The ways out of a body: states at its `continue` and `break` statements."""

    continues: list[State] = field(default_factory=list)
    breaks: list[State] = field(default_factory=list)


class Interpreter(Evaluator):
    """Runs one function, or one loop of it, on states."""

    def __init__(self, function: ir.Function, prover: Prover) -> None:
        super().__init__(function, prover)
        self.bound: dict[int, tuple[ir.Statement, frozenset[str]]] = {}
        self.settled: dict[int, tuple[dict[str, Interval], dict[str, Sign]]] = {}
        """What loops inside settled on last, by `id` of the statement."""
        self.depth = 0

    def assigned(self, statement: ir.Statement) -> frozenset[str]:
        """The variables that a statement may bind; found once."""
        known = self.bound.get(id(statement))
        if known is None:
            # The statement is kept, so that nothing else can have its `id`.
            known = self.bound[id(statement)] = (statement, tree.assigned((statement,)))
        return known[1]

    def entry(self) -> State:
        """What is known where a function starts: nothing of its parameters but that the
        sizes of grids are not negative."""
        values = {
            name: self.anything(type, (0, GREATEST) if name in self.sizes else ANY_INT)
            for name, type in self.types.items()
        }
        return State(values)

    # Statements

    def block(self, block: ir.Block, state: Reached, loop: Loop) -> tuple[ir.Block, Reached]:
        """The block without needless checks, and the state after it."""
        result: list[ir.Statement] = []
        for statement in block:
            if state is None:
                result.append(statement)
                continue
            changed, state = self.statement(statement, state, loop)
            result += changed
        return tuple(result), state

    def statement(
        self, statement: ir.Statement, state: State, loop: Loop
    ) -> tuple[ir.Block, Reached]:
        match statement:
            case ir.Assign(target=target, value=value):
                return (statement,), state.bind(target, self.evaluate(value, state))
            case ir.Checked():
                return self.checked(statement, state)
            case ir.Guard(condition=condition):
                return self.guard(statement, condition, state)
            case ir.Call(targets=targets):
                for target in targets:
                    state = state.bind(target, self.anything(self.types[target]))
                return (statement,), state
            case ir.If():
                return self.branch(statement, state, loop)
            case ir.For() | ir.While():
                return self.loop(statement, state, loop)
            case ir.Versioned():
                return self.versioned(statement, state, loop)
            case ir.Break():
                loop.breaks.append(state)
                return (statement,), None
            case ir.Continue():
                loop.continues.append(state)
                return (statement,), None
            case ir.Return():
                return (statement,), None
            case ir.Store() | ir.Make() | ir.Resize() | ir.Swap() | ir.Save():
                return (statement,), state

    def checked(self, statement: ir.Checked, state: State) -> tuple[ir.Block, State]:
        rule = rules.CHECKED.get(statement.op)
        if rule is None:
            value = self.anything(self.types[statement.target])
            return (statement,), state.bind(statement.target, value)
        args = tuple(self.evaluate(arg, state) for arg in statement.args)
        try:
            found = rule(self, state, args, statement.args)
        except TooLarge:
            value = self.anything(self.types[statement.target])
            return (statement,), state.bind(statement.target, value)
        passes = self.cannot_fail(found, state)
        for fact in found.learns:
            state = state.know(fact)
        for number in found.nonzero:
            state = state.know_nonzero(number)
        for operand, outside in found.floats:
            state = self.refine_sign(state, operand, ~outside)
        value = found.value if passes or found.otherwise is None else found.otherwise
        if value.number is None and self.types[statement.target] is ir.Type.I64:
            value = self.anything(ir.Type.I64)
        result: ir.Statement = statement
        if passes:
            result = ir.Assign(statement.target, found.instead, statement.location)
        return (result,), state.bind(statement.target, value)

    def cannot_fail(self, found: rules.Outcome, state: State) -> bool:
        """Whether everything that an operator needs holds, or may be taken for granted."""
        if self.settling:
            return False
        mark = self.prover.mark()
        try:
            holds = (
                all(self.float_fits(*one, state) for one in found.floats)
                and all(self.prover.requires(state, need) for need in found.needs)
                and all(self.prover.requires_nonzero(state, one) for one in found.nonzero)
            )
        except TooLarge:
            holds = False
        if not holds:
            self.prover.take_back(mark)
        return holds

    def float_fits(self, operand: ir.Expr, outside: Sign, state: State) -> bool:
        known = self.sign(self.evaluate(operand, state), state)
        return not known & outside or self.prover.requires_float(operand, outside)

    def guard(
        self, statement: ir.Guard, condition: ir.Expr, state: State
    ) -> tuple[ir.Block, Reached]:
        if always_fails(statement):
            return (statement,), None
        try:
            needs = None if self.settling else self.needs(condition, state)
        except TooLarge:
            needs = None
        after = self.assume(condition, True, state)
        if needs is None:
            return (statement,), after
        mark = self.prover.mark()
        if all(self.prover.requires(state, need) for need in needs):
            return (), after
        self.prover.take_back(mark)
        return (statement,), after

    def branch(self, statement: ir.If, state: State, loop: Loop) -> tuple[ir.Block, Reached]:
        then, after_then = self.block(
            statement.then, self.assume(statement.condition, True, state), loop
        )
        orelse, after_else = self.block(
            statement.orelse, self.assume(statement.condition, False, state), loop
        )
        changed = replace(statement, then=then, orelse=orelse)
        ways = [after_then, after_else]
        return (changed,), self.join(state, ways, self.assigned(statement))

    def versioned(
        self, statement: ir.Versioned, state: State, loop: Loop
    ) -> tuple[ir.Block, Reached]:
        fast, after_fast = self.block(
            statement.fast, self.assume(statement.condition, True, state), loop
        )
        checked, after_checked = self.block(statement.checked, state, loop)
        changed = replace(statement, fast=fast, checked=checked)
        ways = [after_fast, after_checked]
        return (changed,), self.join(state, ways, self.assigned(statement))

    def afterwards(
        self, statement: ir.Statement, state: State, left: Loop, outer: Loop
    ) -> State:
        """The state after a statement of which only one of two bodies was run, and at the
        ways out of `outer` in it: what is bound in it can be anything."""
        after = self.forget(state, self.assigned(statement))
        outer.breaks += [after] if left.breaks else []
        outer.continues += [after] if left.continues else []
        return after

    # Loops

    def loop(
        self, statement: ir.For | ir.While, state: State, outer: Loop
    ) -> tuple[ir.Block, Reached]:
        changed = self.assigned(statement)
        intervals, signs = self.settle(statement, state, changed)
        head = self.head(statement, state, changed, intervals, signs)
        inside = Loop()
        self.depth += 1
        turned, left = self.turn(statement, head, inside)
        self.depth -= 1
        after: Reached = None
        if left is not None:
            after = self.forget(left, changed, intervals, signs)
            after = replace(after, facts=state.facts, narrowed=state.narrowed)
            if isinstance(statement, ir.While):
                after = self.assume(statement.condition, False, after)
        orelse: ir.Block = statement.orelse
        if after is not None:
            orelse, after = self.block(orelse, after, outer)
        turned = replace(turned, orelse=orelse)
        exits = [after, *inside.breaks]
        return (turned,), self.join(state, exits, changed)

    def settle(
        self, statement: ir.For | ir.While, state: State, changed: frozenset[str]
    ) -> tuple[dict[str, Interval], dict[str, Sign]]:
        """What the variables that a loop changes can be at the start of every turn."""
        if self.depth == 0:
            self.settled.clear()
        intervals, signs = self.at_first(statement, state, changed)
        rounds = ROUNDS if self.depth < DEEPEST else 0
        self.depth += 1
        self.settling += 1
        settled = False
        while rounds and not settled:
            rounds -= 1
            inside = Loop()
            head = self.head(statement, state, changed, intervals, signs)
            _, left = self.turn(statement, head, inside)
            ends = [end for end in (left, *inside.continues) if end is not None]
            settled = self.widen(ends, intervals, signs)
        self.settling -= 1
        self.depth -= 1
        if not settled:
            intervals = dict.fromkeys(intervals, ANY_INT)
            signs = dict.fromkeys(signs, Sign.ANY)
        self.settled[id(statement)] = dict(intervals), dict(signs)
        return intervals, signs

    def at_first(
        self, statement: ir.For | ir.While, state: State, changed: frozenset[str]
    ) -> tuple[dict[str, Interval], dict[str, Sign]]:
        """What the variables are before a loop, and were in it when a loop around, which has
        been found to do more since, ran it last: it settles on no less."""
        intervals: dict[str, Interval] = {}
        signs: dict[str, Sign] = {}
        lasts = self.settled.get(id(statement), ({}, {}))
        for name in sorted(changed):
            number = state.values[name].number
            if self.types[name] is ir.Type.I64 and number is not None:
                low, high = self.prover.interval(state, number)
                last = lasts[0].get(name, (low, high))
                intervals[name] = min(low, last[0]), max(high, last[1])
            elif self.types[name] is ir.Type.F64:
                signs[name] = self.sign(state.values[name], state) | lasts[1].get(name, Sign(0))
        return intervals, signs

    def widen(
        self, ends: list[State], intervals: dict[str, Interval], signs: dict[str, Sign]
    ) -> bool:
        """Grow what does not cover the ends of a turn; whether everything did."""
        settled = True
        for name, (low, high) in intervals.items():
            for end in ends:
                number = end.values[name].number
                assert number is not None
                found = self.prover.interval(end, number)
                if found[0] < low:
                    low = 0 if found[0] >= 0 else LEAST
                if found[1] > high:
                    high = GREATEST
            if (low, high) != intervals[name]:
                intervals[name], settled = (low, high), False
        for name, sign in signs.items():
            grown = sign
            for end in ends:
                grown |= self.sign(end.values[name], end)
            if grown != sign:
                signs[name], settled = grown, False
        return settled

    def head(
        self,
        statement: ir.For | ir.While,
        state: State,
        changed: frozenset[str],
        intervals: Mapping[str, Interval],
        signs: Mapping[str, Sign],
    ) -> State:
        """The state at the start of a turn, any turn."""
        head = self.forget(state, changed, intervals, signs)
        if isinstance(statement, ir.While):
            return head
        start, stop, step = (
            self.evaluate(one, state).number
            for one in (statement.start, statement.stop, statement.step)
        )
        assert start is not None
        assert stop is not None
        assert step is not None
        counter = self.counter(state, start, stop, step.constant())
        head = head.bind(statement.target, Value(number=counter))
        if step.constant() is None:
            return head
        ascending = (step.constant() or 0) > 0
        first, last = (start, stop) if ascending else (stop, start)
        try:
            head = head.know(last - first - ONE)
            head = head.know(last - ONE - counter if ascending else counter - first - ONE)
            head = head.know(counter - first if ascending else last - counter)
            return self.inductive(statement, state, head, counter - start, step.constant())
        except TooLarge:
            return head

    def counter(
        self, state: State, start: Polynomial, stop: Polynomial, step: int | None
    ) -> Polynomial:
        """The counter of a turn that does run."""
        (first_low, first_high) = self.prover.interval(state, start)
        (last_low, last_high) = self.prover.interval(state, stop)
        if step is None or step == 0:
            return self.atoms.new((min(first_low, last_low), max(first_high, last_high)))
        ends = (first_low, last_high - 1) if step > 0 else (last_low + 1, first_high)
        try:
            bounds = (start, stop - ONE) if step > 0 else (stop + ONE, start)
        except TooLarge:
            return self.atoms.new(ends)
        return self.atoms.new(ends, *bounds)

    def inductive(
        self,
        statement: ir.For,
        state: State,
        head: State,
        progress: Polynomial,
        step: int | None,
    ) -> State:
        """Bound variables that each turn adds at most a constant to, once or never.

        After `progress` turns of step one, `count` lies between its first value and that
        plus `progress` times the constant.
        """
        if step != 1:
            return head
        for name, least, most in rules.increments(statement.body, self.types):
            first, now = state.values[name].number, head.values[name].number
            if first is None or now is None:
                continue
            head = head.know((now - first).plus(progress, -least))
            head = head.know((first - now).plus(progress, most))
        return head

    def turn(
        self, statement: ir.For | ir.While, head: State, inside: Loop
    ) -> tuple[ir.For | ir.While, Reached]:
        """Run one turn. Gives the state at its end, with the head as one more way to it."""
        if isinstance(statement, ir.For):
            body, end = self.block(statement.body, head, inside)
            ways = [head, end, *inside.continues]
            after = self.join(head, ways, self.assigned(statement))
            return replace(statement, body=body), after
        test, tested = self.block(statement.test, head, Loop())
        if tested is None:
            return replace(statement, test=test), None
        start = self.assume(statement.condition, True, tested)
        body, end = self.block(statement.body, start, inside)
        ways = [tested, end, *inside.continues]
        after = self.join(head, ways, self.assigned(statement))
        return replace(statement, test=test, body=body), after
