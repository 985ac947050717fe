"""Polynomials with integer coefficients over named values that do not change.

    rows*cols*2 + cols - 1

An `Atom` stands for one integer: a parameter's value, a buffer's length, the counter of the
current turn of a loop. Its name says which, and a new value gets a new atom, so that what is
known about an atom holds for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

Monomial = tuple[int, ...]
"""The atoms multiplied, ascending; empty for the constant term."""

MOST_TERMS = 24
MOST_FACTORS = 5


class TooLarge(Exception):
    """A polynomial has grown past what is worth reasoning about."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials; build it with the functions below."""

    terms: tuple[tuple[Monomial, int], ...]
    """Ascending by monomial, no coefficient zero."""

    def __add__(self, other: Polynomial) -> Polynomial:
        return self.plus(other, 1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self.plus(other, -1)

    def plus(self, other: Polynomial, factor: int) -> Polynomial:
        """The sum with a multiple of another."""
        total = dict(self.terms)
        for monomial, value in other.terms:
            sum_ = total.get(monomial, 0) + factor * value
            if sum_:
                total[monomial] = sum_
            else:
                total.pop(monomial, None)
        if len(total) > MOST_TERMS:
            raise TooLarge
        return Polynomial(tuple(sorted(total.items())))

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _collect(
            (tuple(sorted((*one, *two))), a * b)
            for one, a in self.terms
            for two, b in other.terms
        )

    def scaled(self, factor: int) -> Polynomial:
        """Times a number that is not zero."""
        return Polynomial(tuple((monomial, factor * value) for monomial, value in self.terms))

    def atoms(self) -> frozenset[int]:
        return frozenset(atom for monomial, _ in self.terms for atom in monomial)

    def constant(self) -> int | None:
        """The value, where it has no atoms."""
        if not self.terms:
            return 0
        monomial, value = self.terms[0]
        return value if len(self.terms) == 1 and not monomial else None

    def atom(self) -> int | None:
        """The atom that it is, where it is one."""
        match self.terms:
            case (((atom,), 1),):
                return atom
            case _:
                return None

    def split(self, atom: int) -> tuple[Polynomial, Polynomial] | None:
        """`(slope, rest)` with `self == slope * atom + rest`, None where it is not linear."""
        slope: list[tuple[Monomial, int]] = []
        rest: list[tuple[Monomial, int]] = []
        for monomial, value in self.terms:
            match monomial.count(atom):
                case 0:
                    rest.append((monomial, value))
                case 1:
                    slope.append((tuple(one for one in monomial if one != atom), value))
                case _:
                    return None
        return _collect(slope), Polynomial(tuple(rest))


def _collect(terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
    total: dict[Monomial, int] = {}
    for monomial, value in terms:
        total[monomial] = total.get(monomial, 0) + value
    return _polynomial(total)


def _polynomial(total: dict[Monomial, int]) -> Polynomial:
    kept = [term for term in total.items() if term[1]]
    if len(kept) > 1:
        kept.sort()
    if len(kept) > MOST_TERMS or any(len(monomial) > MOST_FACTORS for monomial, _ in kept):
        raise TooLarge
    return Polynomial(tuple(kept))


def constant(value: int) -> Polynomial:
    return Polynomial((((), value),) if value else ())


def single(atom: int) -> Polynomial:
    return Polynomial((((atom,), 1),))


Interval = tuple[int, int]
"""Least and greatest value, both included."""


class Intervals(Mapping[int, Interval]):
    """Intervals of atoms, some of them in the place of others' (as `ChainMap`, but fast)."""

    __slots__ = ("_others", "_some")

    def __init__(self, some: Mapping[int, Interval], others: Mapping[int, Interval]) -> None:
        self._some, self._others = some, others

    def __getitem__(self, atom: int) -> Interval:
        found = self._some.get(atom)
        return self._others[atom] if found is None else found

    def __iter__(self) -> Iterator[int]:
        return iter({**self._others, **self._some})

    def __len__(self) -> int:
        return len({**self._others, **self._some})


def interval(polynomial: Polynomial, known: Mapping[int, Interval]) -> Interval:
    """What the polynomial can be, from what its atoms can be, each on its own."""
    atom = polynomial.atom()
    if atom is not None:
        return known[atom]
    low = high = 0
    for monomial, value in polynomial.terms:
        if len(monomial) == 1:
            bottom, top = known[monomial[0]]
            low += value * (bottom if value > 0 else top)
            high += value * (top if value > 0 else bottom)
            continue
        least = most = value
        for atom in monomial:
            bottom, top = known[atom]
            a, b, c, d = least * bottom, least * top, most * bottom, most * top
            least, most = min(a, b, c, d), max(a, b, c, d)
        low += least
        high += most
    return low, high
