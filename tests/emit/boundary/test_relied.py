"""Native code runs only while the names that it was made from stand for the same things."""

from __future__ import annotations

import builtins
import gc
import math
import sys
import threading
import types
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import pytest

SOURCE = """
def caller():
    return 0

def callee(a, b=2, *, c=3):
    return a

def other(a, b=2, *, c=3):
    return a

class Box:
    pass

COUNT = 3
ZERO = -0.0
LEAST = -2**63
FLAG = True
éDEEP = 7
"""


class Names:
    """A module of the functions, its native `callee` in every place that is relied on."""

    def __init__(self, loops: ModuleType) -> None:
        self.loops = loops
        self.module = types.ModuleType("m")
        exec(compile(SOURCE, "m.py", "exec"), self.module.__dict__)
        self.space = cast("Any", types.ModuleType("space"))
        self.space.NAN = math.nan
        self.space.root = math.sqrt
        self.here = cast("Any", self.module)
        self.here.space = self.space
        self.here.caller = loops.m_caller(self.here.caller)
        self.bind()

    def bind(self) -> None:
        native = self.loops.m_callee(self.here.callee)
        self.here.callee = self.space.callee = self.here.Box.callee = native

    def is_native(self) -> bool:
        """Whether a call of `caller` runs the native code."""
        return bool(self.here.caller() == 1)


@pytest.fixture
def names(loops: ModuleType) -> Names:
    return Names(loops)


def test_runs_natively_while_nothing_changes(names: Names) -> None:
    assert names.is_native()
    assert names.is_native()
    names.here.unrelated = 1
    assert names.is_native()


def as_setattr(names: Names, key: str, value: object) -> None:
    setattr(names.here, key, value)


def as_update(names: Names, key: str, value: object) -> None:
    names.module.__dict__.update({key: value})


def as_exec(names: Names, key: str, value: object) -> None:
    exec(f"global {key}\n{key} = value", names.module.__dict__, {"value": value})


def as_swap(names: Names, key: str, value: object) -> None:
    vars(names.module).pop(key, None)
    vars(names.module)[key] = value


WAYS = (as_setattr, as_update, as_exec, as_swap)

CHANGES = {
    "callee": lambda a: a,
    "COUNT": 4,
    "ZERO": 0.0,
    "LEAST": -(2**63) + 1,
    "FLAG": False,
    "éDEEP": 8,
    "abs": lambda x: x,
    "range": list,
    "space": types.ModuleType("empty"),
    "Box": type("Box", (), {}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", CHANGES)
def test_another_value_is_noticed_until_it_is_put_back(
    names: Names, key: str, way: Callable[[Names, str, object], None]
) -> None:
    assert names.is_native()
    before = names.module.__dict__.get(key)
    way(names, key, CHANGES[key])
    assert not names.is_native()
    assert not names.is_native()
    if before is None:
        delattr(names.module, key)
    else:
        way(names, key, before)
    assert names.is_native()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("COUNT", 3.0),
        ("COUNT", True),
        ("COUNT", type("Int", (int,), {})(3)),
        ("COUNT", 3 + 2**64),
        ("ZERO", 0),
        ("FLAG", 1),
        ("éDEEP", None),
    ],
)
def test_the_type_counts(names: Names, key: str, value: object) -> None:
    assert names.is_native()
    setattr(names.module, key, value)
    assert not names.is_native()


def test_an_equal_constant_will_do(names: Names) -> None:
    names.here.COUNT = int("3")
    names.here.LEAST = int("-9223372036854775808")
    names.space.NAN = float("nan")
    assert names.is_native()


def test_a_missing_name_is_left_to_python(names: Names) -> None:
    del names.here.COUNT
    assert not names.is_native()
    names.here.COUNT = 3
    assert names.is_native()


def test_attributes_of_modules_and_classes(names: Names) -> None:
    assert names.is_native()
    kept = names.space.root
    names.space.root = math.cos
    assert not names.is_native()
    names.space.root = kept
    assert names.is_native()
    names.here.Box.callee = staticmethod(names.here.callee)
    assert not names.is_native()


def test_builtins(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names.is_native()
    with monkeypatch.context() as patched:
        patched.setattr(builtins, "abs", lambda x: x)
        assert not names.is_native()
    assert names.is_native()


def test_a_class_of_the_same_name_is_not_the_built_in(names: Names) -> None:
    names.here.range = type("range", (), {})
    assert not names.is_native()


def test_another_native_function(names: Names) -> None:
    names.here.callee = names.here.caller
    assert not names.is_native()


def test_a_function_bound_again(names: Names) -> None:
    assert names.is_native()
    exec("def callee(a, b=2, *, c=3): return a", names.module.__dict__)
    assert not names.is_native()
    names.bind()
    assert names.is_native()


def test_before_everything_is_bound(loops: ModuleType) -> None:
    space: dict[str, Any] = {}
    exec(SOURCE, space)
    assert loops.m_caller(space["caller"])() == 0


def test_code_and_defaults_of_what_is_called(names: Names) -> None:
    callee, other = names.here.callee, names.here.other
    for key, value in (
        ("__code__", other.__code__),
        ("__defaults__", (5,)),
        ("__kwdefaults__", {"c": 4}),
    ):
        assert names.is_native()
        kept = getattr(callee, key)
        setattr(callee, key, value)
        assert not names.is_native()
        setattr(callee, key, kept)
        assert names.is_native()
    callee.__kwdefaults__["c"] = 5
    assert not names.is_native()


def test_code_changed_behind_the_native_function(names: Names) -> None:
    assert names.is_native()
    python = names.here.callee.__wrapped__
    assert names.is_native()
    python.__code__ = names.here.other.__code__
    assert not names.is_native()


def test_free_variables(loops: ModuleType) -> None:
    names = Names(loops)
    space = names.module.__dict__
    exec(
        "def around():\n"
        "    COUNT = 3\n"
        "    def caller(): return COUNT * 0\n"
        "    def change(value):\n"
        "        nonlocal COUNT\n"
        "        COUNT = value\n"
        "    return caller, change\n",
        space,
    )
    space["COUNT"] = 4
    caller, change = space["around"]()
    names.here.caller = loops.m_caller(caller)
    assert names.is_native()
    change(5)
    assert not names.is_native()


def test_what_replaces_is_not_kept_alive_for_long(names: Names) -> None:
    class Value:
        pass

    value = Value()
    seen = weakref.ref(value)
    kept = names.here.COUNT
    names.here.COUNT = value
    assert not names.is_native()
    names.here.COUNT = kept
    del value
    assert names.is_native()
    assert seen() is None


def test_cycles_are_collected(loops: ModuleType) -> None:
    names = Names(loops)
    assert names.is_native()
    seen = weakref.ref(names.module)
    del names
    gc.collect()
    assert seen() is None


def test_a_finalizer_that_calls_the_function(names: Names) -> None:
    answers = []

    class Value:
        def __del__(self) -> None:
            answers.append(names.is_native())

    assert names.is_native()
    names.here.COUNT = Value()
    assert not names.is_native()
    names.here.COUNT = 3
    assert names.is_native()
    assert answers == [True]


def test_a_module_that_is_no_module(names: Names) -> None:
    names.here.space = types.SimpleNamespace(**vars(names.space))
    assert not names.is_native()


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_who_traces_sees_python(names: Names, install: Callable[[Any], None]) -> None:
    seen: list[str] = []

    def trace(frame: types.FrameType, event: str, value: object) -> None:
        if event == "call":
            seen.append(frame.f_code.co_name)

    before = sys.gettrace() if install is sys.settrace else sys.getprofile()
    install(trace)
    try:
        answer = names.here.caller()
    finally:
        install(before)
    assert answer == 0
    assert "caller" in seen
    assert names.is_native()


def test_another_thread_traced_is_no_matter(names: Names) -> None:
    inside, done = threading.Event(), threading.Event()

    def traced() -> None:
        sys.settrace(lambda *event: None)
        inside.set()
        done.wait()

    thread = threading.Thread(target=traced)
    thread.start()
    inside.wait()
    try:
        assert names.is_native()
    finally:
        done.set()
        thread.join()
