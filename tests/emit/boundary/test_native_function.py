"""A native function is, to whoever looks, the Python function."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import sys
import threading
import types
import typing
import weakref
from types import ModuleType
from typing import Any

import pytest

import ppy


def add(a: int, b: int = 4) -> int:
    """Adds."""
    return a + b


plain = add


@pytest.fixture
def native(loops: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The native `add`, in its place in this module; its attributes are those of a copy."""
    body = types.FunctionType(add.__code__, globals(), "add", add.__defaults__)
    for name in ("__doc__", "__qualname__", "__module__", "__annotations__"):
        setattr(body, name, getattr(plain, name))
    bound = loops.m_add(body)
    monkeypatch.setitem(globals(), "add", bound)
    return bound


ATTRIBUTES = (
    "__name__",
    "__qualname__",
    "__doc__",
    "__module__",
    "__defaults__",
    "__kwdefaults__",
    "__code__",
    "__globals__",
    "__closure__",
    "__annotations__",
    "__dict__",
    "__class__",
)


def test_attributes(native: Any) -> None:
    for name in ATTRIBUTES:
        assert getattr(native, name) == getattr(plain, name), name
    assert set(dir(plain)) == set(dir(native))
    assert native.__wrapped__.__code__ is plain.__code__
    assert native.__ppy_region__ is False
    with pytest.raises(AttributeError, match="'function' object has no attribute 'missing'"):
        native.missing  # noqa: B018


def test_attributes_can_be_set(native: Any) -> None:
    native.tag = 1
    assert (native.tag, native.__wrapped__.tag, native.__dict__) == (1, 1, {"tag": 1})
    del native.tag
    assert not hasattr(native, "tag")
    native.__name__, native.__doc__ = "other", None
    assert (native.__name__, native.__doc__) == ("other", None)
    native.__dict__ = {"a": 1}
    assert native.a == 1
    with pytest.raises(TypeError):
        native.__name__ = 1
    with pytest.raises(TypeError):
        native.__class__ = int


def test_inspect(native: Any) -> None:
    assert inspect.signature(native) == inspect.signature(plain)
    assert inspect.signature(native, follow_wrapped=False) == inspect.signature(plain)
    assert inspect.getfullargspec(native) == inspect.getfullargspec(plain)
    assert inspect.getsource(native) == inspect.getsource(plain)
    assert inspect.getdoc(native) == "Adds."
    assert typing.get_type_hints(native) == {"a": int, "b": int, "return": int}
    for ask in (
        inspect.isfunction,
        inspect.isroutine,
        inspect.isbuiltin,
        inspect.ismethod,
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.ismethoddescriptor,
        inspect.isclass,
        callable,
    ):
        assert ask(native) == ask(plain), ask
    assert isinstance(native, types.FunctionType)
    assert repr(native) == f"<function add at {id(native):#x}>"


def test_compiled(native: Any) -> None:
    class C:
        method = native

    assert ppy.native.compiled(native)
    assert ppy.native.compiled(C().method)
    assert ppy.native.compiled(staticmethod(native))
    assert ppy.native.compiled(functools.lru_cache(native))
    assert not ppy.native.compiled(native.__wrapped__)

    @functools.wraps(native)
    def outer(a: int) -> int:
        return int(native(a))

    assert ppy.native.compiled(outer)
    assert not hasattr(outer, "__ppy_region__")


def test_region(loops: ModuleType) -> None:
    """What a hand-written `ppy_impl` can answer: a result, an exception, nothing."""
    region = loops.region(lambda x: ("python", x))
    assert region.__ppy_region__ is True
    assert ppy.native.compiled(region)
    assert region(1) == 1
    assert region(x="text") == ("python", "text")
    with pytest.raises(OverflowError, match="negative"):
        region(-1)


def test_pickle_and_copy(native: Any) -> None:
    assert copy.copy(native) is native
    assert copy.deepcopy([native])[0] is native
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(native, protocol)) is native
        assert pickle.dumps(native, protocol) == pickle.dumps(native, protocol)


def test_a_name_that_leads_elsewhere_is_not_pickled(loops: ModuleType) -> None:
    other = loops.m_add(lambda a, b: 0)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(other)


def test_methods(loops: ModuleType) -> None:
    class Number(int):
        def plus(self, b: int) -> object:
            return "python", self, b

        native = loops.m_add(plus)
        static = staticmethod(native)
        klass = classmethod(native)

    number = Number(3)
    assert number.native(4) == ("python", 3, 4)
    assert Number.native(3, 4) == 7
    assert number.static(3, 4) == 7
    assert number.klass(4) == ("python", Number, 4)
    bound = number.native
    assert (bound.__self__, bound.__func__) == (number, Number.native)
    assert inspect.ismethod(bound)
    assert str(inspect.signature(bound)) == "(b: 'int') -> 'object'"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        number.native()


def test_wrappers_of_others(native: Any) -> None:
    cached = functools.lru_cache(native)
    assert (cached(1, 2), cached(1, 2), cached.cache_info().hits) == (3, 3, 1)
    assert functools.partial(native, 1)(b=5) == 6
    functools.update_wrapper(native, print)
    assert native.__wrapped__ is print
    assert native.__name__ == "print"
    assert native(1, 2) == 3


def test_other_code_is_run(native: Any) -> None:
    """The program gives the function another body: that is what runs."""
    native.__code__ = (lambda a, b=4: a - b).__code__
    assert native(1, 2) == -1
    native.__code__ = plain.__code__
    assert native(1, 2) == 3


def test_identity(native: Any, loops: ModuleType) -> None:
    assert native == native
    assert native != native.__wrapped__
    assert hash(native) == hash(native)
    assert loops.m_add(plain) != native
    assert {native: 1}[native] == 1


def test_weak_references_and_cycles(loops: ModuleType) -> None:
    native = loops.m_add(lambda a, b: 0)
    native.itself = native
    gone = weakref.ref(native)
    del native
    gc.collect()
    assert gone() is None


def test_other_functions_are_refused(loops: ModuleType) -> None:
    for other in (len, 1, lambda a: 0, lambda a, *b: 0, lambda a, b, **c: 0):
        with pytest.raises(TypeError, match="m_add: "):
            loops.m_add(other)
    with pytest.raises(TypeError, match=r"cannot create 'ppy\.NativeFunction' instances"):
        type(loops.m_add(plain))()


def test_globals_stay_alive(loops: ModuleType) -> None:
    scope: dict[str, Any] = {"bind": loops.m_add}
    exec("@bind\ndef f(a, b): return a, b, HERE\nHERE = 1", scope)
    f = scope["f"]
    del scope
    gc.collect()
    assert (f(1, 2), f(1.0, 2)) == (3, (1.0, 2, 1))


def test_threads(native: Any) -> None:
    wrong: list[object] = []

    def call() -> None:
        for i in range(20_000):
            if native(i, b=1) != i + 1 or native(2**63 - 1, i) != 2**63 - 1 + i:
                wrong.append(i)

    threads = [threading.Thread(target=call) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
