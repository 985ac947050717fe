"""A run that is abandoned after it wrote: the writes are never applied twice.

For every check that can fail, a function adds to its buffers, then runs into the failure in
the middle of a loop. Afterwards result, exception and buffers are CPython's.
"""

from __future__ import annotations

import array
from dataclasses import dataclass

import pytest

from ppybuild.emit.loops.ops import CHARACTER_TESTS, CHECKED
from tests.differential import Built, build, differences

BIG = 2**62
HUGE = 1e308


@dataclass(frozen=True, slots=True)
class Failure:
    """An expression of `n` (int) and `y` (float) of the given type, and an `n` and `y` with
    which it fails or leaves 64 bits."""

    expression: str
    type: str
    n: int = 0
    y: float = 0.0


FAILURES = {
    "add.i64": Failure("n + n", "int", BIG),
    "sub.i64": Failure("-2 - n", "int", 2**63 - 1),
    "mul.i64": Failure("n * 3", "int", BIG),
    "neg.i64": Failure("-n", "int", -(2**63)),
    "abs.i64": Failure("abs(n)", "int", -(2**63)),
    "gcd": Failure("math.gcd(n, 0)", "int", -(2**63)),
    "trunc": Failure("int(y)", "int", y=1e30),
    "floor": Failure("math.floor(y)", "int", y=float("inf")),
    "ceil": Failure("math.ceil(y)", "int", y=float("nan")),
    "round": Failure("round(y)", "int", y=1e30),
    "floordiv.i64": Failure("7 // n", "int"),
    "mod.i64": Failure("7 % n", "int"),
    "truediv.i64": Failure("7 / n", "float"),
    "pow.i64": Failure("n**5", "int", 2**40),
    "shl.i64": Failure("n << 9", "int", BIG),
    "shr.i64": Failure("7 >> n", "int", -1),
    "isqrt": Failure("math.isqrt(n)", "int", -4),
    "factorial": Failure("math.factorial(n)", "int", 30),
    "lcm": Failure("math.lcm(n, 3)", "int", BIG),
    "comb": Failure("math.comb(n, 40)", "int", 200),
    "perm": Failure("math.perm(n, 40)", "int", 200),
    "div.f64": Failure("1.0 / y", "float"),
    "floordiv.f64": Failure("1.0 // y", "float"),
    "mod.f64": Failure("1.0 % y", "float"),
    "pow.f64": Failure("y**2.0", "float", y=HUGE),
    "index": Failure("out[n]", "float", 100),
    "acos": Failure("math.acos(y)", "float", y=2.0),
    "acosh": Failure("math.acosh(y)", "float", y=0.5),
    "asin": Failure("math.asin(y)", "float", y=2.0),
    "atanh": Failure("math.atanh(y)", "float", y=1.0),
    "cos": Failure("math.cos(y)", "float", y=float("inf")),
    "cosh": Failure("math.cosh(y)", "float", y=HUGE),
    "exp": Failure("math.exp(y)", "float", y=HUGE),
    "exp2": Failure("math.exp2(y)", "float", y=HUGE),
    "expm1": Failure("math.expm1(y)", "float", y=HUGE),
    "log": Failure("math.log(y)", "float", y=-1.0),
    "log10": Failure("math.log10(y)", "float"),
    "log1p": Failure("math.log1p(y)", "float", y=-1.0),
    "log2": Failure("math.log2(y)", "float"),
    "sin": Failure("math.sin(y)", "float", y=float("inf")),
    "sinh": Failure("math.sinh(y)", "float", y=HUGE),
    "tan": Failure("math.tan(y)", "float", y=float("inf")),
    "sqrt": Failure("math.sqrt(y)", "float", y=-1.0),
    "math_pow": Failure("math.pow(y, 2.0)", "float", y=HUGE),
    "fmod": Failure("math.fmod(1.0, y)", "float"),
    "remainder": Failure("math.remainder(1.0, y)", "float"),
    "ldexp": Failure("math.ldexp(y, 5000)", "float", y=1.0),
    "gamma": Failure("math.gamma(y)", "float", y=-1.0),
    "lgamma": Failure("math.lgamma(y)", "float", y=-1.0),
    "round.digits": Failure("round(y, -308)", "float", y=1.7e308),
    "fsum": Failure("math.fsum((y, y))", "float", y=1.7e308),
    "upper.char": Failure("ord(chr(n).upper())", "int", 0xDF),
    "lower.char": Failure("ord(chr(n).lower())", "int", 0x130),
}
UNFAILING = {"hypot", "dist", "fsum.i64", "fsum.i32", "fsum.u8", "fsum.i8", *CHARACTER_TESTS}
"""Fail only where CPython cannot be asked, or never."""

STATEMENTS = {
    "raised": "if i == 2:\n            raise ValueError('no')",
    "asserted": "assert i != 2, 'no'",
    "stored_out_of_range": "small[0] = n",
    "step_of_zero": "for j in range(0, 3, n):\n            total += 1.0",
    "index_of_a_store": "out[n + 100] += 1.0",
    "unbound": (
        "if i > 5:\n            late = 1.0\n        if i == 2:\n            total += late"
    ),
    "of_a_callee": "total += callee(out, n)",
    "fsum.f64": "out[i] = math.inf\n        total += math.fsum(out)",
    "fsum.f32": "narrow[0] = 1e60\n        total += math.fsum(narrow)",
}
NAMES = {name: "with_" + name.replace(".", "_") for name in (*FAILURES, *STATEMENTS)}

HEAD = """\
import math
import ppy
from ppy import Buffer

def callee(out: Buffer[float], n: int) -> float:
    out[0] += 10.0
    return out[1] / n

"""


def source() -> str:
    pieces = [HEAD]
    for name, failure in FAILURES.items():
        zero = "0" if failure.type == "int" else "0.0"
        pieces.append(
            function(
                name, f"{failure.type[0]} = {zero}", f"{failure.type[0]} = {failure.expression}"
            )
        )
    pieces += [function(name, "pass", text) for name, text in STATEMENTS.items()]
    return "\n".join(pieces)


def function(name: str, first: str, text: str) -> str:
    parameters = (
        "out: Buffer[float], counts: Buffer[int], small: Buffer[ppy.u8],"
        " narrow: Buffer[ppy.f32], n: int, y: float"
    )
    return f"""\
def {NAMES[name]}({parameters}) -> float:
    total = 0.0
    {first}
    for i in range(len(out)):
        out[i] += 1.0
        counts[i] = counts[i] * 2 + 1
        small[0] = small[0] // 2
        if i >= 1:
            {text.replace(chr(10), chr(10) + "    ")}
        out[i] *= 3.0
        total += out[i]
    return total

"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(source(), tmp_path_factory.mktemp("partial"))


def test_every_check_has_a_failure() -> None:
    assert {*FAILURES, *STATEMENTS} & set(CHECKED) == set(CHECKED) - UNFAILING


@pytest.mark.parametrize("name", list(NAMES))
def test_writes_are_applied_once(built: Built, name: str) -> None:
    failure = FAILURES.get(name, Failure("", "int"))
    assert NAMES[name] in built.bound, built.remarks
    numbers = array.array("d", [1.0, 10.0, 100.0, 1000.0])
    counts = array.array("q", [1, 2, 3, 4])
    small = array.array("B", [200])
    same = array.array("d", [1.0, 2.0, 4.0])
    narrow = array.array("f", [0.5, 1e30])
    inputs = [
        (numbers, counts, small, narrow, failure.n, failure.y),
        (numbers, array.array("q", [1]), small, narrow, failure.n, failure.y),
        (numbers, counts, small, narrow, 1, 0.5),
        (same, counts, small, narrow, 300, 0.5),
        (array.array("d"), counts, small, narrow, failure.n, failure.y),
        (numbers, counts, array.array("B"), array.array("f"), failure.n, failure.y),
    ]
    found = differences(built, NAMES[name], inputs)
    assert not found, "\n".join(found)
