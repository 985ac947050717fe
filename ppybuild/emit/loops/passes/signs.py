"""What a float can be, as a set of negative, zero, positive and not-a-number.

    d * d                     zero, positive, or nan where d is
    sqrt(d * d) + 1e-8        positive, or nan where d is: never zero

Negative and positive include the infinities, zero both zeros. A product of two numbers may
round to zero.
"""

from __future__ import annotations

import math
from enum import Flag
from functools import cache


class Sign(Flag):
    NEGATIVE = 1
    ZERO = 2
    POSITIVE = 4
    NAN = 8
    NUMBER = 7
    ANY = 15


N, Z, P, NAN = Sign.NEGATIVE, Sign.ZERO, Sign.POSITIVE, Sign.NAN
NOTHING = Sign(0)

# Of two operands, each one of the three signs. Infinities make nan of their differences and
# of zero times infinity.
_ADD = {
    (N, N): N,
    (N, Z): N,
    (N, P): Sign.ANY,
    (Z, Z): Z,
    (Z, P): P,
    (P, P): P,
}
_MULTIPLY = {
    (N, N): P | Z,
    (N, Z): Z | NAN,
    (N, P): N | Z,
    (Z, Z): Z,
    (Z, P): Z | NAN,
    (P, P): P | Z,
}
_DIVIDE = {
    (N, N): P | Z | NAN,
    (N, P): N | Z | NAN,
    (Z, N): Z,
    (Z, P): Z,
    (P, N): N | Z | NAN,
    (P, P): P | Z | NAN,
}


def of(value: float) -> Sign:
    if math.isnan(value):
        return NAN
    return Z if value == 0 else P if value > 0 else N


@cache
def negate(sign: Sign) -> Sign:
    turned = sign & (Z | NAN)
    if sign & N:
        turned |= P
    if sign & P:
        turned |= N
    return turned


@cache
def add(one: Sign, two: Sign) -> Sign:
    return _each(_ADD, one, two)


def subtract(one: Sign, two: Sign) -> Sign:
    return add(one, negate(two))


@cache
def multiply(one: Sign, two: Sign) -> Sign:
    return _each(_MULTIPLY, one, two)


@cache
def square(one: Sign) -> Sign:
    """Of a value times itself."""
    if one & (N | P):
        return (one & NAN) | Z | P
    return one


@cache
def divide(one: Sign, two: Sign) -> Sign:
    """Where the divisor is not zero."""
    return _each(_DIVIDE, one, two & ~Z)


@cache
def absolute(one: Sign) -> Sign:
    return (one & (Z | P | NAN)) | (P if one & N else NOTHING)


@cache
def square_root(one: Sign) -> Sign:
    """Where the operand is not negative."""
    return one & (Z | P | NAN)


def _each(table: dict[tuple[Sign, Sign], Sign], one: Sign, two: Sign) -> Sign:
    found = (one | two) & NAN
    for first in (N, Z, P):
        for second in (N, Z, P):
            if one & first and two & second:
                row = table.get((first, second))
                found |= table[second, first] if row is None else row
    return found
