"""Run the same functions under CPython and natively, and tell their outcomes apart.

`build` takes a module's source through the whole compiler, without torch, SCons or a
bundle; `outcome` runs a call on copies of its arguments and gives everything that a program
could observe, floats by their bits.
"""

from __future__ import annotations

import array
import copy
import importlib.util
import subprocess
import sysconfig
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import ppy
from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.driver import emit
from ppybuild.emit.emission import Extension
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources

FLAGS = (
    "-O1",
    "-std=c11",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-Wall",
    "-Wextra",
    "-Werror",
)


@dataclass(frozen=True, slots=True)
class Built:
    """One module twice: as CPython runs it, and with its native functions in place."""

    python: types.ModuleType
    native: types.ModuleType
    bound: frozenset[str]
    """Names of the functions that became native."""
    remarks: tuple[Diagnostic, ...]


def build(
    source: str, folder: Path, flags: Sequence[str] = FLAGS, name: str = "module"
) -> Built:
    """Compile a module of functions in `folder`, which must be empty."""
    sources = folder / "src"
    sources.mkdir(parents=True)
    path = sources / f"{name}.py"
    path.write_text(source)
    facts = analyse(read_sources([sources], []))
    emission = emit(facts, [name])
    python, native = (_execute(path, source, name) for _ in range(2))
    for extension in emission.extensions:
        compiled = load_extension(compile_extension(extension, folder, flags), extension.name)
        for dotted, (home, attribute) in emission.bindings.items():
            function = dotted.removeprefix(f"{name}.")
            if home == extension.name and "." not in function:
                setattr(
                    native, function, getattr(compiled, attribute)(getattr(native, function))
                )
    bound = frozenset(dotted.removeprefix(f"{name}.") for dotted in emission.bindings)
    return Built(python, native, bound, emission.remarks)


def _execute(path: Path, source: str, name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__file__ = str(path)
    exec(compile(source, path, "exec"), module.__dict__)
    return module


def compile_extension(extension: Extension, folder: Path, flags: Sequence[str] = FLAGS) -> Path:
    """Compile and link an extension's sources with gcc."""
    generated = folder / extension.name
    for found in extension.sources:
        target = generated / found.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(found.text)
    library = folder / f"{extension.name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    c_files = sorted(generated.rglob("*.c"))
    include = ["-I", str(generated), "-I", sysconfig.get_path("include")]
    command = [
        "gcc",
        *flags,
        "-shared",
        "-fPIC",
        *include,
        *map(str, c_files),
        "-lm",
        "-o",
        str(library),
    ]
    ran = subprocess.run(command, text=True, capture_output=True, check=False)
    if ran.returncode:
        raise AssertionError(f"the generated C does not compile:\n{ran.stderr}")
    return library


def load_extension(library: Path, name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_loader(name, ExtensionFileLoader(name, str(library)))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True, slots=True)
class View:
    """An argument: a view of memory that all views of a call share."""

    memory: bytes
    code: str
    first: int
    """In items."""
    length: int


@dataclass(frozen=True, slots=True)
class Rows:
    """An argument: a grid of these numbers."""

    code: str
    rows: tuple[tuple[float, ...], ...]


def outcome(function: Callable[..., object], arguments: Sequence[object]) -> tuple[object, ...]:
    """What a call gives or raises, and its buffers afterwards; arguments that are one
    object stay one object, and views of one memory do."""
    copies = copy.deepcopy(list(arguments))
    memory = bytearray(next((one.memory for one in copies if isinstance(one, View)), b""))
    copies = [_opened(one, memory) if isinstance(one, View) else one for one in copies]
    grids = {id(one): ppy.grid(one.code, one.rows) for one in copies if isinstance(one, Rows)}
    copies = [grids.get(id(one), one) for one in copies]
    try:
        answer: tuple[object, ...] = ("gives", observed(function(*copies)))
    except Exception as raised:
        answer = ("raises", type(raised).__name__, str(raised))
    return (
        *answer,
        bytes(memory),
        *(observed(value) for value in copies if isinstance(value, array.array)),
        *(observed([row.tolist() for row in grid]) for grid in grids.values()),
    )


def _opened(view: View, memory: bytearray) -> memoryview:
    size = array.array(view.code).itemsize
    first, end = view.first * size, (view.first + view.length) * size
    part: Any = memoryview(memory)[first:end]
    opened: memoryview = part.cast(view.code)
    return opened


def observed(value: object) -> object:
    """The value with its type, floats by their bits (NaNs are all one)."""
    if isinstance(value, float):
        return "float", value.hex()
    if isinstance(value, array.array):
        items = [value.typecode, *map(observed, value)]
        return "array", *items
    if isinstance(value, tuple | list):
        return type(value).__name__, *map(observed, value)
    return type(value).__name__, repr(value)


def differences(built: Built, name: str, inputs: Sequence[Sequence[object]]) -> list[str]:
    """A readable line for each input on which the two sides differ."""
    found = []
    for arguments in inputs:
        expected = outcome(getattr(built.python, name), arguments)
        got = outcome(getattr(built.native, name), arguments)
        if expected != got:
            shown = ", ".join(map(repr, arguments))
            found.append(f"{name}({shown})\n  python: {expected}\n  native: {got}")
    return found
