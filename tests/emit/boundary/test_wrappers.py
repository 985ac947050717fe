"""Arguments and results across the boundary, and every way back to Python."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import signal
import sys
import threading
import time
from array import array
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

Calls = list[tuple[Any, ...]]


def bind(loops: ModuleType, name: str, body: Callable[..., Any]) -> Any:
    return getattr(loops, f"m_{name.replace('_', '__')}")(body)


@pytest.fixture
def add(loops: ModuleType) -> Any:
    def add(a: int, b: int = 4) -> object:
        return "python", a, b

    return bind(loops, "add", add)


def test_positional_keywords_and_defaults(add: Any) -> None:
    assert add(1, 2) == 3
    assert add(1) == 5
    assert add(a=1) == 5
    assert add(b=2, a=1) == 3
    assert add(1, b=2) == 3
    assert add(a=1, b=2) == 3
    assert add(*(1, 2)) == 3


def test_defaults_are_the_present_ones(add: Any) -> None:
    add.__defaults__ = (7, 8)
    assert add() == 15
    add.__wrapped__.__defaults__ = ("x",)
    assert add(1) == ("python", 1, "x")
    add.__defaults__ = None
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'b'"):
        add(1)


def test_keyword_only_and_positional_only(loops: ModuleType) -> None:
    def keyword(*, a: int, b: int = 4) -> object:
        return "python", a, b

    native = bind(loops, "add", keyword)
    assert native(a=1) == 5
    assert native(b=1, a=1) == 2
    native.__kwdefaults__ = {"b": 10}
    assert native(a=1) == 11
    native.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'b'"):
        native(a=1)
    with pytest.raises(TypeError, match="takes 0 positional arguments but 2 were given"):
        native(1, 2)

    def positional(a: int, /, b: int) -> object:
        return "python", a, b

    native = bind(loops, "add", positional)
    assert native(1, b=2) == 3
    with pytest.raises(TypeError, match="positional-only"):
        native(a=1, b=2)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing 1 required positional argument: 'a'"),
        ((1, 2, 3), {}, "takes from 1 to 2 positional arguments but 3 were given"),
        ((1,), {"a": 1}, "got multiple values for argument 'a'"),
        ((1,), {"c": 1}, "got an unexpected keyword argument 'c'"),
    ],
)
def test_wrong_arguments_are_pythons_errors(
    add: Any, args: tuple[int, ...], kwargs: dict[str, int], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        add(*args, **kwargs)
    assert message in str(caught.value)
    with pytest.raises(TypeError) as plain:
        add.__wrapped__(*args, **kwargs)
    assert str(caught.value) == str(plain.value)


class Int(int):
    pass


class Float(float):
    pass


class Tuple(tuple[Any, ...]):
    __slots__ = ()


EDGES = [0, 1, -1, 2**30 - 1, 2**30, -(2**30), 2**60, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("value", EDGES)
def test_every_64_bit_int_is_taken(add: Any, value: int) -> None:
    assert add(value, 0) == value
    assert type(add(value, 0)) is int


@pytest.mark.parametrize(
    "value", [True, False, 2**63, -(2**63) - 1, 10**40, 1.0, "1", None, Int(1), 1j]
)
def test_other_ints_are_pythons(add: Any, value: object) -> None:
    result = add(value, 0)
    assert result == ("python", value, 0)
    assert result[1] is value


def test_abandoned(add: Any) -> None:
    assert add(2**63 - 1, 1) == ("python", 2**63 - 1, 1)
    assert add(b=2**63 - 1, a=1) == ("python", 1, 2**63 - 1)


def test_floats(loops: ModuleType) -> None:
    half = bind(loops, "half", lambda x: ("python", x))
    for value in (1.0, -0.0, float("inf"), 5e-324, 1.7976931348623157e308):
        assert half(value).hex() == (value / 2).hex()
    assert half(float("nan")) != half(float("nan"))
    for other in (1, True, Float(2.0), None, "x"):
        assert half(other) == ("python", other)


def test_bools(loops: ModuleType) -> None:
    invert = bind(loops, "invert", lambda flag: ("python", flag))
    assert invert(True) is False
    assert invert(False) is True
    for other in (1, 0, None, 1.0, ""):
        assert invert(other) == ("python", other)


def test_nothing(loops: ModuleType) -> None:
    nothing = bind(loops, "nothing", lambda: "python")
    assert nothing() is None
    with pytest.raises(TypeError):
        nothing(1)


def test_tuples(loops: ModuleType) -> None:
    nest = bind(loops, "nest", lambda pair, empty: "python")
    assert nest((3, (1.5, True)), ()) == (1.5, (True, 3), ())
    for pair in [
        (3,),
        (3, (1.5, True), 1),
        [3, (1.5, True)],
        (3, [1.5, True]),
        (3, (1.5, 1)),
        3,
    ]:
        assert nest(pair, ()) == "python"
    assert nest(Tuple((3, (1.5, True))), ()) == "python"
    assert nest((3, (1.5, True)), (1,)) == "python"


TYPECODES = [
    ("f64", "d"),
    ("i64", "q"),
    ("i64", "l"),
    ("f32", "f"),
    ("i32", "i"),
    ("u8", "B"),
    ("i8", "b"),
]


@pytest.mark.parametrize(("element", "typecode"), TYPECODES)
def test_buffers(loops: ModuleType, element: str, typecode: str) -> None:
    calls: Calls = []
    store = bind(loops, f"set_{element}", lambda out, a, value: calls.append((out, a, value)))
    value = 3.0 if element.startswith("f") else 3
    data = array(typecode, [0, 0, 0])
    store(data, 1, value)
    store(memoryview(data), -1, value)
    store(memoryview(memoryview(data).cast("B")).cast(typecode), 0, value)
    assert (data.tolist(), calls) == ([value] * 3, [])
    data.append(0)  # nothing holds it
    store(data, 4, value)
    assert calls == [(data, 4, value)]


@pytest.mark.parametrize("element", ["f64", "i64", "f32", "i32", "u8", "i8"])
def test_other_buffers_are_pythons(loops: ModuleType, element: str) -> None:
    numpy = pytest.importorskip("numpy")
    calls: Calls = []
    store = bind(loops, f"set_{element}", lambda out, a, value: calls.append(out))
    value = 3.0 if element.startswith("f") else 3
    own = {code for name, code in TYPECODES if name == element}
    fit = array(min(own), [0, 0])
    released = memoryview(fit)
    released.release()
    misaligned = memoryview(bytearray(1 + 2 * fit.itemsize))[1:].cast(fit.typecode)
    others: list[Any] = [
        *(array(code, [0, 0]) for code in "bBhHiIlLqQfd" if code not in own),
        memoryview(fit).toreadonly(),
        memoryview(array(fit.typecode, [0] * 4))[::2],
        memoryview(fit).cast("B").cast(fit.typecode, (1, 2)),
        released,
        numpy.zeros(2, dtype=fit.typecode),
        type("Sub", (array,), {})(fit.typecode, [0, 0]),
        (ctypes.c_double * 2)(),
        [value, value],
        None,
    ]
    if fit.itemsize > 1:
        others.append(misaligned)
    for other in others:
        store(other, 0, value)
    assert [id(call) for call in calls] == [id(other) for other in others]
    assert fit.tolist() == [0, 0]


def test_read_only_buffers_may_be_read(loops: ModuleType) -> None:
    total = bind(loops, "total", lambda data: "python")
    data = array("d", [1.5, 2.0])
    assert total(data) == 3.5
    assert total(memoryview(data).toreadonly()) == 3.5
    assert total(memoryview(data)[:0]) == 0.0
    assert total(array("d")) == 0.0
    count = bind(loops, "total_bytes", lambda data: "python")
    assert count(b"\x01\xff") == 256
    assert count(bytearray(b"\x02")) == 2
    assert count(memoryview(b"\x01\xff")) == 256
    assert count(type("Sub", (bytes,), {})(b"\x01")) == "python"
    assert total(b"\x01" * 8) == "python"


def accumulate(out: Any, other: Any, a: int) -> None:
    for i in range(len(out)):
        out[i] += a
    for i in range(len(other)):
        other[i] += a


@pytest.mark.parametrize("last", [2**63 - 1, 0])
@pytest.mark.parametrize("shift", [None, 0, 1, 2])
def test_writes_are_put_back(loops: ModuleType, last: int, shift: int | None) -> None:
    """`shift`: `other` is the same memory from there on; None: its own."""

    def make() -> tuple[Any, Any, Any]:
        data = array("q", [1, 10, 100, last])
        own = array("q", [1, 2, last])
        return data, data, own if shift is None else memoryview(data)[shift:]

    native = bind(loops, "accumulate", accumulate)
    expected, actual = make(), make()
    for function, (_, out, other) in ((accumulate, expected), (native, actual)):
        try:
            function(out, other, 5)
        except OverflowError:
            assert last
        else:
            assert not last
    assert actual[0] == expected[0]
    assert actual[2] == expected[2]


def test_recursion_is_pythons(loops: ModuleType) -> None:
    def down(a: int) -> int:
        return 0 if a == 0 else down(a - 1) + 1

    plain = down
    native = bind(loops, "down", down)

    def deepest(function: Callable[[int], int]) -> int:
        low, high = 0, 100_000
        while low < high:
            middle = (low + high + 1) // 2
            try:
                function(middle)
                low = middle
            except RecursionError:
                high = middle - 1
        return low

    expected = deepest(plain)
    assert expected > 50
    assert deepest(native) == expected
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(6000)
    try:
        assert native(5000) == 5000, "deeper than kernels go"
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        native(10**9)


def test_recursion_on_a_small_stack(loops: ModuleType) -> None:
    """A thread's stack may hold fewer kernels than Python allows frames."""

    def down(a: int) -> int:
        return 0 if a == 0 else down(a - 1) + 1

    native = bind(loops, "down", down)
    found: list[int] = []
    kept = threading.stack_size(64 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(native(900)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(kept)
    assert found == [900]


def test_no_frame_left(loops: ModuleType, add: Any) -> None:
    """Where not even the function's own frame is left, the call is refused as Python's."""

    def descend(call: Callable[[], object]) -> int:
        try:
            return descend(call) + 1
        except RecursionError:
            try:
                call()
            except RecursionError:
                return -(10**6)
            return 0

    assert descend(lambda: add(1, 2)) == descend(lambda: add.__wrapped__(1, 2))


def test_interrupted(loops: ModuleType) -> None:
    """A handler that raises ends the loop; what it has written stays, and nothing is held."""
    data = array("q", [0])

    def spin(out: Any) -> None:
        raise AssertionError("run again")

    native = bind(loops, "spin", spin)
    kept = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt) as caught:
            native(data)
    finally:
        signal.signal(signal.SIGALRM, kept)
    assert data.tolist() == [1]
    data.append(1)
    shown = [entry.name for entry in caught.traceback]
    assert "spin" in shown


def test_handler_that_returns_lets_the_loop_go_on(loops: ModuleType) -> None:
    counts = []

    def handler(number: int, frame: object) -> None:
        counts.append(number)
        if len(counts) == 3:
            raise InterruptedError

    native = bind(loops, "spin", lambda out: None)
    kept = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        with pytest.raises(InterruptedError):
            native(array("q", [0]))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)
    assert len(counts) == 3


def test_other_threads_have_their_turn(loops: ModuleType) -> None:
    """Another thread runs while a loop turns: it is the one that ends it."""

    def interrupt() -> None:
        time.perf_counter()
        signal.raise_signal(signal.SIGALRM)

    def run(thread: threading.Timer) -> None:
        thread.start()  # on a busy machine it may be interrupted here already
        native(array("q", [0]))

    native = bind(loops, "spin", lambda out: None)
    kept = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        thread = threading.Timer(0.01, interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(thread)
        thread.join()
    finally:
        signal.signal(signal.SIGALRM, kept)


def test_nothing_leaks(loops: ModuleType, add: Any) -> None:
    total = bind(loops, "total", lambda data: "python")
    nest = bind(loops, "nest", lambda pair, empty: "python")
    adding = bind(loops, "accumulate", lambda out, other, a: None)
    data, ints = array("d", [1.0]), array("q", [2**63 - 1])
    big, pair, name = 2**70, (2**40, (1.5, True)), "b"
    watched = [data, ints, big, pair, name, add, total, nest, add.__wrapped__, add.__defaults__]

    def run() -> None:
        for _ in range(1000):
            add(1, 2)
            add(1)
            add(big, b=2)
            add(1, **{name: big})
            total(data)
            total(ints)
            total(memoryview(data))
            nest(pair, ())
            nest(pair, (big,))
            adding(ints, ints, 1)
            for call in ((lambda: add()), (lambda: add(1, 2, 3)), (lambda: add(1, c=big))):
                with contextlib.suppress(TypeError):
                    call()

    run()
    gc.collect()
    before = [sys.getrefcount(item) for item in watched], sys.getallocatedblocks()
    run()
    gc.collect()
    after = [sys.getrefcount(item) for item in watched], sys.getallocatedblocks()
    assert after[0] == before[0]
    assert after[1] - before[1] < 200
