"""What is known at a point of a function, and what follows from it.

Integers are polynomials over atoms (`linear`), floats sets of signs (`signs`). A `State`
holds what each variable is worth and which polynomials are not negative there. `Atoms` holds
what is known of each atom for ever: an interval, and bounds in terms of older atoms, such as
a loop counter's: `0 <= row <= rows - 1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ppybuild.emit.loops.ir import Expr
from ppybuild.emit.loops.passes import linear
from ppybuild.emit.loops.passes.linear import Interval, Intervals, Polynomial, TooLarge
from ppybuild.emit.loops.passes.signs import Sign

LEAST, GREATEST = -(2**63), 2**63 - 1
ANY_INT = (LEAST, GREATEST)
MOST_FACTS = 32
ONE = linear.constant(1)


@dataclass(frozen=True, slots=True)
class Value:
    """What a variable holds: `number` for an int, `sign` for a float.

    A float that an int was converted to keeps the int in `number`.
    """

    number: Polynomial | None = None
    sign: Sign = Sign.ANY


@dataclass(slots=True)
class Atoms:
    """The atoms of one function; an atom is its index."""

    intervals: dict[int, Interval] = field(default_factory=dict)
    low: dict[int, Polynomial] = field(default_factory=dict)
    high: dict[int, Polynomial] = field(default_factory=dict)
    shared: dict[object, int] = field(default_factory=dict)
    """Atoms that stand for one expression over other atoms, by that expression."""

    def new(
        self,
        interval: Interval = ANY_INT,
        low: Polynomial | None = None,
        high: Polynomial | None = None,
    ) -> Polynomial:
        atom = len(self.intervals)
        self.intervals[atom] = (max(interval[0], LEAST), min(interval[1], GREATEST))
        if low is not None:
            self.low[atom] = low
        if high is not None:
            self.high[atom] = high
        return linear.single(atom)


@dataclass(frozen=True, slots=True)
class State:
    """What holds at one point; changed by making another."""

    values: Mapping[str, Value]
    facts: tuple[Polynomial, ...] = ()
    """Each is at least zero."""
    nonzero: frozenset[Polynomial] = frozenset()
    narrowed: Mapping[int, Interval] = field(default_factory=dict)
    """Intervals of atoms, tighter here than everywhere."""

    def bind(self, name: str, value: Value) -> State:
        values = {**self.values, name: value}
        return State(values, self.facts, self.nonzero, self.narrowed)

    def know(self, fact: Polynomial) -> State:
        """With one more polynomial that is at least zero."""
        if fact in self.facts or fact.constant() is not None:
            return self
        state = self
        if len(fact.terms) <= 2 and len(fact.atoms()) == 1:
            (atom,) = fact.atoms()
            split = fact.split(atom)
            if split is not None:
                slope, rest = split[0].constant(), split[1].constant()
                if slope in (1, -1) and rest is not None:
                    low, high = state.narrowed.get(atom, ANY_INT)
                    tighter = (max(low, -rest), high) if slope == 1 else (low, min(high, rest))
                    state = replace(state, narrowed={**state.narrowed, atom: tighter})
        facts = (*state.facts, fact)[-MOST_FACTS:]
        return State(state.values, facts, state.nonzero, state.narrowed)

    def know_nonzero(self, value: Polynomial) -> State:
        return replace(self, nonzero=self.nonzero | {value})


class Prover:
    """Answers what follows from a state. `assume` may take more for granted than follows."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self._last: tuple[Mapping[int, Interval], Mapping[int, Interval]] = ({}, {})

    def intervals(self, state: State) -> Mapping[int, Interval]:
        if not state.narrowed:
            return self.atoms.intervals
        if self._last[0] is not state.narrowed:
            met = {
                atom: (max(low, known[0]), min(high, known[1]))
                for atom, (low, high) in state.narrowed.items()
                if (known := self.atoms.intervals[atom])
            }
            self._last = state.narrowed, Intervals(met, self.atoms.intervals)
        return self._last[1]

    def interval(self, state: State, value: Polynomial) -> Interval:
        """What a polynomial that is the value of an int can be."""
        low, high = linear.interval(value, self.intervals(state))
        return max(low, LEAST), min(high, GREATEST)

    def proves(self, state: State, goal: Polynomial) -> bool:
        """Whether the polynomial is at least zero here."""
        known = self.intervals(state)
        try:
            return any(self.follows(aim, known) for aim in self.aims(state, goal))
        except TooLarge:
            return False

    def aims(self, state: State, goal: Polynomial) -> Iterator[Polynomial]:
        """Polynomials each of which, at least zero, makes the goal at least zero."""
        yield goal
        wanted = goal.atoms()
        facts = [fact for fact in reversed(state.facts) if fact.atoms() & wanted]
        for fact in facts:
            yield goal - fact
        for number, one in enumerate(facts[:4]):
            for two in facts[:number]:
                yield goal - one - two

    def follows(self, aim: Polynomial, known: Mapping[int, Interval]) -> bool:
        """Whether the aim is at least zero by what its atoms can be, or is once they are
        replaced by their bounds in terms of older atoms, youngest first."""
        while linear.interval(aim, known)[0] < 0:
            for atom in sorted(aim.atoms(), reverse=True):
                if atom not in self.atoms.low and atom not in self.atoms.high:
                    continue
                split = aim.split(atom)
                if split is None:
                    continue
                slope, rest = split
                low, high = linear.interval(slope, known)
                bounds = self.atoms.low if low >= 0 else self.atoms.high if high <= 0 else {}
                if atom in bounds:
                    aim = slope * bounds[atom] + rest
                    break
            else:
                return False
        return True

    def proves_nonzero(self, state: State, value: Polynomial) -> bool:
        if value in state.nonzero or value.scaled(-1) in state.nonzero:
            return True
        return self.proves(state, value - ONE) or self.proves(state, value.scaled(-1) - ONE)

    # What may be taken for granted in exchange for a condition: nothing here.

    def requires(self, state: State, goal: Polynomial) -> bool:
        return self.proves(state, goal)

    def requires_nonzero(self, state: State, value: Polynomial) -> bool:
        return self.proves_nonzero(state, value)

    def requires_float(self, operand: Expr, outside: Sign) -> bool:
        return False

    def mark(self) -> int:
        """How much has been taken for granted so far."""
        return 0

    def take_back(self, mark: int) -> None:
        """Forget what has been taken for granted since `mark`."""
