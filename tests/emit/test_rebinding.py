"""Programs that bind names anew while they run, in ways that no analysis sees.

Each change is made to two copies of a program, as CPython runs it and with its native functions
bound at their `def`, and the two have to agree before, during and after.
"""

from __future__ import annotations

import builtins
import math
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from unittest import mock

import pytest

from ppy.loader import compile_bound
from ppybuild.emit.driver import emit
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from tests.differential import compile_extension, load_extension

SOURCES = {
    "cfg": """
RATE = 3
SCALE = 0.5
QUIET = True
""",
    "low": """
from cfg import SCALE

def one(n: int) -> int:
    return n + 10

def scaled(x: float) -> float:
    return x * SCALE

def more(n: int, by: int = 2, *, up: int = 1) -> int:
    return n * by + up
""",
    "high": """
import math

import cfg
import low
from cfg import RATE
from low import one

def direct(n: int) -> int:
    return one(n)

def dotted(n: int) -> int:
    return low.one(n)

def chain(n: int) -> int:
    return direct(n) * 100 + dotted(n)

def constant(n: int) -> int:
    return n * RATE

def dotted_constant(n: int) -> int:
    if cfg.QUIET:
        return n * cfg.RATE
    return -n

def deep(x: float) -> float:
    return low.scaled(x)

def with_defaults(n: int) -> int:
    return low.more(n)

def library(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += math.sqrt(abs(i)) * math.pi
    return total

def fib(n: int) -> int:
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
""",
}
CALLS = {
    "direct": (1,),
    "dotted": (1,),
    "chain": (1,),
    "constant": (2,),
    "dotted_constant": (2,),
    "deep": (3.0,),
    "with_defaults": (5,),
    "library": (4,),
    "fib": (9,),
}

Program = dict[str, types.ModuleType]
Change = Callable[[Program], AbstractContextManager[object]]


@pytest.fixture(scope="module")
def binders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, object]]:
    """By module and function: what gives the Python function its native stand-in."""
    folder = tmp_path_factory.mktemp("program")
    sources = folder / "src"
    sources.mkdir()
    for name, text in SOURCES.items():
        (sources / f"{name}.py").write_text(text)
    emission = emit(analyse(read_sources([sources], [])), list(SOURCES))
    (extension,) = emission.extensions
    compiled = load_extension(compile_extension(extension, folder), extension.name)
    found: dict[str, dict[str, object]] = {name: {} for name in SOURCES}
    for dotted, (_, attribute) in emission.bindings.items():
        module, _, function = dotted.partition(".")
        found[module][function] = getattr(compiled, attribute)
    return found


def test_all_of_it_is_native(binders: Mapping[str, Mapping[str, object]]) -> None:
    assert set(binders["high"]) == set(CALLS)
    assert set(binders["low"]) == {"one", "scaled", "more"}


@contextmanager
def installed(binders: Mapping[str, Mapping[str, object]]) -> Iterator[Program]:
    """A fresh copy of the program, in `sys.modules` meanwhile."""
    program: Program = {}
    with mock.patch.dict(sys.modules):
        for name, text in SOURCES.items():
            module = program[name] = sys.modules[name] = types.ModuleType(name)
            execute(module, text, binders[name])
        yield program


def execute(module: types.ModuleType, text: str, bound: Mapping[str, object]) -> None:
    code = compile_bound(text.encode(), f"{module.__name__}.py", bound)  # type: ignore[arg-type]
    exec(code, module.__dict__)


def answers(program: Program) -> list[tuple[str, str]]:
    found = []
    for name, arguments in CALLS.items():
        try:
            found.append((name, repr(getattr(program["high"], name)(*arguments))))
        except Exception as raised:
            found.append((name, repr(raised)))
    return found


def other(n: int) -> int:
    return n * 7


@contextmanager
def put(module: types.ModuleType, name: str, value: object) -> Iterator[None]:
    kept = getattr(module, name)
    setattr(module, name, value)
    yield
    setattr(module, name, kept)


@contextmanager
def updated(names: dict[str, object], **values: object) -> Iterator[None]:
    kept = dict(names)
    names.update(values)
    yield
    names.clear()
    names.update(kept)


@contextmanager
def executed(text: str, names: dict[str, object]) -> Iterator[None]:
    kept = dict(names)
    exec(text, names)
    yield
    names.clear()
    names.update(kept)


@contextmanager
def without(module: types.ModuleType, name: str) -> Iterator[None]:
    kept = module.__dict__.pop(name)
    yield
    setattr(module, name, kept)


CHANGES: dict[str, Change] = {
    "nothing": lambda program: nullcontext(),
    "setattr of a function": lambda program: put(program["low"], "one", other),
    "setattr of an imported function": lambda program: put(program["high"], "one", other),
    "setattr of a native function": lambda program: put(
        program["low"], "one", program["high"].fib
    ),
    "setattr of what is called by what is called": lambda program: put(
        program["high"], "direct", other
    ),
    "setattr of constants": lambda program: put(program["cfg"], "RATE", 5),
    "setattr of an imported constant": lambda program: put(program["high"], "RATE", 5),
    "a constant of another type": lambda program: put(program["cfg"], "RATE", 3.0),
    "a constant that a callee reads": lambda program: put(program["low"], "SCALE", -0.5),
    "a flag": lambda program: put(program["cfg"], "QUIET", False),
    "a module": lambda program: put(program["high"], "low", types.SimpleNamespace(one=other)),
    "a deleted function": lambda program: without(program["low"], "one"),
    "a deleted constant": lambda program: without(program["cfg"], "RATE"),
    "sys.modules": lambda program: put(sys.modules["low"], "one", other),
    "a module gone from sys.modules": lambda program: mock.patch.dict(
        sys.modules, {"low": types.ModuleType("low")}
    ),
    "__dict__": lambda program: updated(program["low"].__dict__, one=other),
    "exec": lambda program: executed("RATE = 5", program["cfg"].__dict__),
    "exec of a function": lambda program: executed(
        "def one(n):\n    return -n", program["low"].__dict__
    ),
    "patch": lambda program: mock.patch.object(program["low"], "one", other),
    "patch by name": lambda program: mock.patch("low.one", return_value=4),
    "math": lambda program: mock.patch.object(math, "sqrt", return_value=-1.0),
    "a constant of math": lambda program: mock.patch.object(math, "pi", 3.0),
    "builtins": lambda program: mock.patch.object(builtins, "abs", return_value=7),
    "a built-in shadowed": lambda program: updated(
        program["high"].__dict__, range=lambda n: [1.5], abs=lambda x: 2.0
    ),
    "recursion": lambda program: put(program["high"], "fib", other),
    "defaults": lambda program: put(
        program["low"].more,
        "__defaults__",
        (9,),
    ),
    "a default by keyword": lambda program: updated(program["low"].more.__kwdefaults__, up=8),
    "code": lambda program: put(
        program["low"].one,
        "__code__",
        other.__code__,
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_natively_as_in_python(
    binders: Mapping[str, Mapping[str, object]], change: Change
) -> None:
    def run(bound: Mapping[str, Mapping[str, object]]) -> list[object]:
        with installed(bound) as program:
            before = answers(program)
            with change(program):
                during = answers(program), answers(program)
            return [before, during, answers(program)]

    assert run(binders) == run({name: {} for name in SOURCES})


def test_recursion_is_patched_inside(binders: Mapping[str, Mapping[str, object]]) -> None:
    """`fib` itself is called through a name that is not looked at."""
    with installed(binders) as program:
        kept = program["high"].fib
        assert kept(9) == 34
        vars(program["high"])["fib"] = other
        assert kept(9) == other(8) + other(7)


def test_reload(binders: Mapping[str, Mapping[str, object]]) -> None:
    with installed(binders) as program:
        expected = answers(program)
        execute(program["low"], SOURCES["low"], {})
        assert answers(program) == expected
        execute(program["low"], SOURCES["low"], binders["low"])
        assert answers(program) == expected


def test_called_while_the_module_runs(binders: Mapping[str, Mapping[str, object]]) -> None:
    """A native function is called before the function that it calls is defined."""
    text = SOURCES["high"].replace(
        "def dotted(",
        "try:\n    early = chain(1)\nexcept NameError:\n    early = None\ndef dotted(",
    )
    with installed(binders):
        module = types.ModuleType("high")
        execute(module, text, binders["high"])
        assert module.early is None
        assert module.chain(1) == 1111
