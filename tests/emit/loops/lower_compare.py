"""Run a function under CPython and natively, and hold the answers to be the same bits."""

from __future__ import annotations

import array
import copy
import math
from collections.abc import Sequence
from typing import Any

from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.passes import save
from ppybuild.emit.loops.verify import verify
from tests.emit.loops.native import Abandoned, Kernels
from tests.emit.loops.small_facts import small_facts

PRELUDE = "import math\nimport ppy\nfrom ppy import Buffer, f32, i8, i32, u8\n"


class Program:
    """One module both ways; `check` compares a call, and tells whether it ran natively."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.namespace: dict[str, Any] = {}
        exec(PRELUDE + source, self.namespace)
        facts = small_facts(source)
        functions, self.remarks = lower(facts, facts.program.functions)
        for function in functions.values():
            verify(function, functions)
        self.functions = dict(save.run(functions))
        for function in self.functions.values():
            verify(function, self.functions)
        self.kernels = Kernels(self.functions)

    def check(self, name: str, *args: Any) -> bool:
        """Whether the kernel answered. Where it gave up, Python starts from what it left,
        and must do all that it would have done at once."""
        native_args, python_args = copy.deepcopy(args), copy.deepcopy(args)
        call = f"{name}{shown(args)}"
        python = self._python(name, python_args)
        try:
            native, answered = shown(self.kernels.call(f"m.{name}", *native_args)), True
        except Abandoned:
            native, answered = self._python(name, native_args), False
        assert native == python, call
        assert shown(native_args) == shown(python_args), call
        return answered

    def _python(self, name: str, args: tuple[Any, ...]) -> Any:
        """What CPython does: the result as `shown`, or the exception."""
        try:
            return shown(self.namespace[name](*args))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def check_all(self, name: str, calls: Sequence[tuple[Any, ...]]) -> int:
        """How many of the calls ran natively."""
        return sum(self.check(name, *args) for args in calls)


def shown(value: Any) -> Any:
    """A value with its type and bits; every nan is one."""
    match value:
        case float():
            return "nan" if math.isnan(value) else value.hex()
        case bool() | int() | None:
            return f"{type(value).__name__} {value}"
        case tuple():
            return tuple(map(shown, value))
        case list():
            return list(map(shown, value))
        case complex():
            return f"complex {value}"
        case array.array():
            return value.typecode, tuple(map(shown, value))
    raise TypeError(f"no way to compare a {type(value).__name__}")
