"""The rules for signs hold for real floats; large polynomials end in checks, not in errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest

from ppybuild.emit.loops import passes
from ppybuild.emit.loops.passes import signs
from ppybuild.emit.loops.passes.signs import Sign
from ppybuild.emit.loops.verify import verify
from tests.emit.loops.passes import tiny

_POSITIVE = (5e-324, 1e-200, 0.5, 1.0, 3.5, 1e200, 1.7e308, math.inf)
_FLOATS = (*_POSITIVE, *(-x for x in _POSITIVE), 0.0, -0.0, math.nan)
_RULES: dict[str, tuple[Callable[[Sign, Sign], Sign], Callable[[float, float], float]]] = {
    "add": (signs.add, lambda a, b: a + b),
    "subtract": (signs.subtract, lambda a, b: a - b),
    "multiply": (signs.multiply, lambda a, b: a * b),
    "divide": (signs.divide, lambda a, b: a / b if b else math.nan),
}


@pytest.mark.parametrize("name", _RULES)
def test_rule_covers_every_result(name: str) -> None:
    rule, compute = _RULES[name]
    for a, b in itertools.product(_FLOATS, repeat=2):
        if name == "divide" and b == 0:
            continue
        assert signs.of(compute(a, b)) & rule(signs.of(a), signs.of(b)), (a, b)


def test_square_and_root_cover_every_result() -> None:
    for a in _FLOATS:
        assert signs.of(a * a) & signs.square(signs.of(a))
        if not a < 0:
            assert signs.of(math.sqrt(a)) & signs.square_root(signs.of(a))


@pytest.mark.parametrize("terms", [22, 23, 24, 25, 26])
def test_large_polynomials(terms: int) -> None:
    names = [f"p{number}" for number in range(30)]
    total = " + ".join(names[:terms])
    functions = tiny.lower(f"""
def large(a: Buffer[float], {", ".join(f"{name}: int" for name in names)}) -> float:
    s = 1.5
    q = {total}
    for i in range({total}):
        s += a[i + {total}] / q
        assert q > i
        s += math.sqrt(s * s / ({total})) + (i % q)
    for i in range(10, {total}, -1):
        s += a[i] / ({total})
    return s
""")
    optimised = passes.optimise(functions)
    verify(optimised["large"], optimised)
