"""Whole functions, natively and under CPython."""

from __future__ import annotations

import array
import itertools
import math
from array import array as A

import pytest

from tests.emit.loops.lower_compare import Program

FLOW = """
def collatz(n: int) -> int:
    turns = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
            turns += 1
            continue
        n = 3 * n + 1
        turns += 1
        if turns > 1000:
            break
    else:
        turns = -turns
    return turns


def ranges(start: int, stop: int, step: int) -> tuple[int, int, int]:
    total = 0
    turns = 0
    i = -99
    for i in range(start, stop, step):
        turns += 1
        total ^= i
        i = 5
        if turns == 10:
            break
    else:
        total += 1000
    return total, turns, i


def same_name(n: int) -> int:
    total = 0
    for n in range(n):
        total = total * 3 + n
    return total * 10 + n


def nested(n: int) -> int:
    total = 0
    for i in range(n):
        for j in range(i, 0, -1):
            for k in range(j, n, 2):
                if k == 7:
                    continue
                if k > 9:
                    break
                total += i * j - k
            else:
                total += 1
        if total > 100000:
            return -total
    return total


def after_loop(n: int) -> int:
    for i in range(n):
        last = i * 2
    return i + last


def maybe(n: int) -> int:
    if n > 3:
        x = n
    if n > 5:
        return x
    if n == 4:
        x += 1
    for _ in range(n):
        x = 7
    return x


def never(n: int) -> int:
    if n > 0:
        return n
    y = y + 1
    return y


def late(n: int) -> int:
    total = 0
    for i in range(n):
        if i > 0:
            total += previous
        previous = i * i
    return total


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def rotate(a: int, b: int, c: int) -> tuple[int, tuple[int, int], int]:
    t = (a, b)
    t = t[1], t[0]
    a, (b, c) = c, t
    t = (t[0] + 1, t[-1])
    return a, t, b * 2 + c + len(t)


def pair(p: tuple[int, float], q: tuple[bool, tuple[int, int]]) -> tuple[float, bool]:
    n, x = p
    flag, (i, j) = q
    return x * n + i, flag or i < j


def chain(a: int, b: float, c: int) -> bool:
    return a < b <= c != 7 or not (0 <= a < c)


def chained_once(a: int, b: int) -> int:
    count = 0
    if a < (count := count + 1) < b:
        count += 10
    return count


def values(a: int, b: int, c: int) -> int:
    return (a or b) + (b and c) * 10 + (a and b or c) * 100


def values_guarded(a: int, b: int) -> int:
    return (b and a // b) + (a if b == 0 else a % b)


def values_float(x: float, y: float) -> float:
    return x or y


def walrus(n: int) -> int:
    x = n
    return x + (x := 3) * x + x


def negative_step(n: int) -> int:
    total = 0
    for i in range(n, -n, -3):
        total = total * 2 + i
    return total


def bools(a: bool, b: bool) -> tuple[int, bool, bool, int, float, bool]:
    return a + b, a & b, a ^ b, ~a, a * 2.5, min(a, b)


def early(n: int) -> None:
    if n == 0:
        return
    for i in range(n):
        if i == 3:
            return None
    assert n < 3, f"n was {n}"


def fails(n: int) -> int:
    if n > 2:
        raise ValueError(f"too large: {n}")
    return n


def asserts(x: float) -> float:
    assert x > 0.0
    return math.sqrt(x)


def is_prime(n: int) -> bool:
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


def endless_but_left(n: int) -> int:
    while True:
        n = n * 3 + 1
        if n > 1000:
            return n


def int_then_float(n: int) -> float:
    x = n
    y = x * 2
    x = y / 3
    return x


def unread(n: int) -> int:
    ignored = n * 3
    also = 1.5
    for unused in range(n):
        pass
    return n


def read_in_one_loop(n: int) -> int:
    total = 0
    for i in range(n, 0, -2):
        total += 3
    for i in range(n, 0, -2):
        total += i
    return total


def double(int: int, switch: int, EOF: int, k_x: int, run: int) -> int:
    result = int + switch
    _Bool = result * EOF
    return _Bool + k_x + run
"""


@pytest.fixture(scope="module")
def flow() -> Program:
    program = Program(FLOW)
    assert program.remarks == ()
    return program


SMALL = range(-3, 13)
EDGES = (-(2**63), -(2**62) - 1, -7, -1, 0, 1, 2, 6, 2**62, 2**63 - 1)


@pytest.mark.parametrize(
    "name",
    [
        "same_name",
        "nested",
        "after_loop",
        "maybe",
        "never",
        "late",
        "negative_step",
        "early",
        "fails",
        "is_prime",
        "int_then_float",
        "read_in_one_loop",
        "walrus",
        "unread",
        "endless_but_left",
    ],
)
def test_functions_of_one_int(flow: Program, name: str) -> None:
    small = [n for n in SMALL if not (name == "endless_but_left" and n < 0)]
    assert flow.check_all(name, [(n,) for n in small]) > 0
    if name in ("fails", "int_then_float", "walrus"):
        flow.check_all(name, [(n,) for n in EDGES])


def test_while_loops_and_overflow(flow: Program) -> None:
    assert flow.check_all("collatz", [(n,) for n in range(1, 40)]) == 39
    assert not flow.check("collatz", 2**63 - 1)
    assert flow.check("fibonacci", 90)
    assert not flow.check("fibonacci", 93)


def test_range_of_any_bounds_and_step(flow: Program) -> None:
    calls = list(itertools.product(EDGES, EDGES, (*EDGES, 3, -3)))
    assert flow.check_all("ranges", calls) > 800


def test_tuples(flow: Program) -> None:
    assert flow.check("rotate", 1, 2, 3)
    assert flow.check("pair", (3, 1.5), (False, (4, 5)))
    assert not flow.check("rotate", 1, 2**62, 3)


def test_tests_and_values(flow: Program) -> None:
    numbers = (-2, 0, 1, 7, 9, 2**53 + 1)
    for name in ("values", "chain"):
        for a, b, c in itertools.product(numbers, repeat=3):
            assert flow.check(name, a, float(b) if name == "chain" else b, c) or abs(c) > 2**50
    assert flow.check("chain", 2**53 + 1, 2.0**53, 5)
    flow.check_all("chained_once", list(itertools.product(numbers, repeat=2)))
    flow.check_all("values_guarded", list(itertools.product(numbers, repeat=2)))
    floats = (0.0, -0.0, 1.5, math.nan, -math.inf)
    assert flow.check_all("values_float", list(itertools.product(floats, repeat=2))) == 25
    assert flow.check_all("bools", list(itertools.product((False, True), repeat=2))) == 4
    assert flow.check_all("asserts", [(x,) for x in floats]) == 1


def test_names_that_c_has_other_uses_for(flow: Program) -> None:
    assert flow.check("double", 1, 2, 3, 4, 5)


BUFFERS = """
def scale(out: Buffer[float], by: float) -> None:
    for i in range(len(out)):
        out[i] *= by


def accumulate(out: Buffer[float], x: Buffer[float], fail_at: int) -> float:
    total = 0.0
    for i in range(len(x)):
        out[i] += x[i]
        total += out[-1 - i]
        assert i != fail_at
    return total


def add_ints(out: Buffer[int], x: Buffer[int]) -> int:
    for i, value in enumerate(x):
        out[i] += value
    return len(out) * 10


def swap(x: Buffer[int], i: int, j: int) -> None:
    x[i], x[j] = x[j], x[i]


def reverse(x: Buffer[float]) -> None:
    i, j = 0, len(x) - 1
    while i < j:
        x[i], x[j] = x[j], x[i]
        i, j = i + 1, j - 1


def total(x: Buffer[float]) -> float:
    return sum(x)


def total_from(x: Buffer[float], start: float) -> float:
    return sum(x, start)


def total_ints(x: Buffer[int], start: int) -> int:
    return sum(x) - sum(x, start=start)


def ends(x: Buffer[float]) -> tuple[float, float]:
    return min(x), max(x)


def dot(x: Buffer[float], y: Buffer[float]) -> float:
    result = 0.0
    for a, b in zip(x, y):
        result += a * b
    return result


def numbered(x: Buffer[int], first: int) -> int:
    result = 0
    for n, value in enumerate(x, first):
        result = result * 3 + n * value
    return result


def items(x: Buffer[float]) -> float:
    best = -math.inf
    for value in x:
        if value > best:
            best = value
    return best


def narrow(
    f: Buffer[f32], i: Buffer[i32], u: Buffer[u8], s: Buffer[i8], n: int, x: float
) -> float:
    f[0] = x
    f[1] = n
    i[0] = n
    u[0] = n
    s[0] = n
    u[1] = True
    return f[0] + i[0] * u[0] + s[0]


def grow(u: Buffer[u8], s: Buffer[i8], i: Buffer[i32]) -> int:
    return u[0] * u[1] + s[0] * 1000000 * s[1] + i[0] * i[1]


def order(x: Buffer[int], i: int) -> int:
    return x[i] + bump(x, i) * 10 + x[i] * 100


def bump(x: Buffer[int], i: int) -> int:
    x[i] += 1
    return x[i]


def stored(x: Buffer[int], i: int) -> None:
    x[i] = bump(x, i) + x[i]
    x[bump(x, 0) - 1] += bump(x, i)


def alias(x: Buffer[int], y: Buffer[int]) -> int:
    z = x
    z[0] = 5
    y[0] += 1
    return x[0] + z[0] + y[0]


def histogram(x: Buffer[float], bins: Buffer[int], low: float, high: float) -> int:
    outside = 0
    width = (high - low) / len(bins)
    for value in x:
        at = int((value - low) // width)
        if 0 <= at < len(bins):
            bins[at] += 1
        else:
            outside += 1
    return outside


def select(x: Buffer[float], i: int, n: int) -> float:
    return x[i] if i < n and x[i] > 0.0 else x[n] / x[0]
"""


@pytest.fixture(scope="module")
def buffers() -> Program:
    program = Program(BUFFERS)
    assert program.remarks == ()
    return program


def doubles(*values: float) -> array.array[float]:
    return A("d", values)


def ints(*values: int) -> array.array[int]:
    return A("q", values)


def test_a_failure_after_writes_leaves_none(buffers: Program) -> None:
    for fail_at in range(-1, 4):
        out, x = doubles(1, 10, 100), doubles(1, 10, 100)
        assert buffers.check("accumulate", out, x, fail_at) == (fail_at not in (0, 1, 2))
        assert not buffers.check("accumulate", doubles(1, 2), x, -1)
    same = doubles(1, 10, 100)
    buffers.check("accumulate", same, same, 2)
    full = ints(1, 10, 2**63 - 1)
    assert not buffers.check("add_ints", full, ints(1, 1, 1))
    assert not buffers.check("add_ints", full, full)


def test_buffers_are_indexed_as_python_does(buffers: Program) -> None:
    for i, j in itertools.product(range(-4, 4), repeat=2):
        assert buffers.check("swap", ints(7, 8, 9), i, j) == (-3 <= i < 3 and -3 <= j < 3)
    assert not buffers.check("swap", ints(), 0, 0)
    assert not buffers.check("swap", ints(1), -(2**63), 2**63 - 1)
    for n in range(5):
        assert buffers.check("reverse", doubles(*range(n)))
        assert buffers.check("scale", doubles(*range(n)), -0.5)


def test_order_of_evaluation(buffers: Program) -> None:
    for i in range(-3, 4):
        buffers.check("order", ints(3, 4, 5), i)
        buffers.check("stored", ints(1, 4, 5), i)
    shared = ints(1, 2)
    assert buffers.check("alias", shared, shared)
    assert buffers.check("alias", shared, ints(3))


def test_sums_and_extremes(buffers: Program) -> None:
    special = doubles(0.1, -0.0, 1e16, math.nan, -1e16, math.inf)
    for n in range(7):
        for start in range(n):
            assert buffers.check("ends", special[start:n])
            assert buffers.check("total", special[start:n])
            assert buffers.check("items", special[start:n])
            assert buffers.check("dot", special[start:n], special)
    assert buffers.check("total", doubles(-0.0))
    assert buffers.check("total_from", doubles(), -0.0)
    assert buffers.check("total_from", doubles(-0.0, 1e16, 1.0), -0.0)
    assert not buffers.check("total", doubles())
    assert not buffers.check("ends", doubles())
    assert buffers.check("total_ints", ints(1, 2, 3), 7)
    assert not buffers.check("total_ints", ints(2**62, 2**62), 7)
    assert buffers.check("numbered", ints(1, 2, 3), -5)
    assert not buffers.check("numbered", ints(1, 2, 3), 2**63 - 2)


def test_narrow_elements(buffers: Program) -> None:
    def call(n: int, x: float) -> bool:
        f, i, u, s = A("f", [0, 0]), A("i", [0]), A("B", [0, 0]), A("b", [0])
        return buffers.check("narrow", f, i, u, s, n, x)

    for x in (0.1, -0.0, 1e39, -1e39, 1e-46, math.inf, math.nan):
        assert call(5, x)
    for n in (-129, -128, -1, 0, 127, 128, 255, 256, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1):
        assert call(n, 0.1) == (0 <= n < 128)
    limits = (A("B", [255, 255]), A("b", [-128, -128]), A("i", [-(2**31), -(2**31)]))
    assert buffers.check("grow", *limits)


def test_loops_over_data(buffers: Program) -> None:
    x = doubles(0.1, 0.9, 2.5, -1.0, 0.5)
    assert buffers.check("histogram", x, ints(0, 0, 0), 0.0, 1.0)
    assert not buffers.check("histogram", doubles(math.nan), ints(0, 0), 0.0, 1.0)
    assert not buffers.check("histogram", x, ints(), 0.0, 1.0)
    for i, n in itertools.product(range(-2, 3), repeat=2):
        buffers.check("select", doubles(0.0, 2.0), i, n)
        buffers.check("select", doubles(4.0, 2.0), i, n)


CALLS = """
RATE = 0.25
N = 3


def power(base: float, exponent: int = N, *, scale: float = -1.5) -> float:
    return scale * base ** exponent


def use(x: float) -> float:
    return power(x) + power(exponent=2, base=x) + power(x, scale=RATE, exponent=1)


def factorial(n: int) -> int:
    return 1 if n <= 1 else n * factorial(n - 1)


def fib(n: int) -> int:
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def even(n: int) -> bool:
    return True if n == 0 else odd(n - 1)


def odd(n: int) -> bool:
    return False if n == 0 else even(n - 1)


def split(n: int, by: int) -> tuple[int, tuple[int, float]]:
    q, r = divmod(n, by)
    return q, (r, q / by)


def joined(n: int, by: int) -> float:
    q, (r, f) = split(n, by)
    t = split(q, r or 1)
    return t[1][1] + f + t[0]


def fill(out: Buffer[int], at: int, value: int) -> None:
    out[at] = value


def fill_all(out: Buffer[int], stop: int) -> int:
    for i in range(len(out)):
        fill(out, i, stop // (stop - i))
    return evaluated(stop)


def evaluated(n: int) -> int:
    fill_nothing()
    return n


def fill_nothing() -> None:
    pass


def down(n: int) -> int:
    if n == 0:
        return 0
    return down(n - 1) + 1
"""


@pytest.fixture(scope="module")
def calls() -> Program:
    program = Program(CALLS)
    assert program.remarks == ()
    return program


def test_calls_between_native_functions(calls: Program) -> None:
    assert calls.check_all("use", [(x,) for x in (0.0, -2.5, 1e100, math.nan)]) == 4
    assert calls.check("factorial", 20)
    assert not calls.check("factorial", 21)
    assert calls.check("fib", 18)
    assert calls.check_all("even", [(n,) for n in range(6)]) == 6
    assert calls.check("joined", 17, -5)
    assert not calls.check("joined", 17, 0)


def test_a_callee_that_fails_takes_its_writes_back(calls: Program) -> None:
    assert calls.check("fill_all", ints(9, 9, 9), 5)
    for stop in range(3):
        assert not calls.check("fill_all", ints(9, 9, 9), stop)


def test_deep_recursion_is_pythons(calls: Program) -> None:
    assert calls.check("down", 800)
    assert not calls.check("down", 5000)
