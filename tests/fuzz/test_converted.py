"""Generated untyped programs print the same once converted, under CPython and natively."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from ppybuild.convert.convert import convert
from ppybuild.emit.driver import emit
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from tests.differential import compile_extension, load_extension
from tests.fuzz.kernels import kernel_programs
from tests.fuzz.untyped import programs

EXAMPLES = int(os.environ.get("PPY_FUZZ_EXAMPLES", "8"))
"""Programs to generate; `make fuzz` asks for many more."""

KERNEL = re.compile(r"^def ((?:low|high)\d+)", re.MULTILINE)

Natives = Mapping[str, tuple[types.ModuleType, str]]
"""Dotted name of a function → the extension that has it, and under which name."""


FUZZED = settings(
    max_examples=EXAMPLES,
    derandomize="PPY_FUZZ_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@FUZZED
@given(programs())
def test_converted_programs_print_the_same(program: dict[str, str]) -> None:
    native_after_conversion(program)


@FUZZED
@given(kernel_programs())
def test_converted_kernels_are_native(program: dict[str, str]) -> None:
    kernels = set(KERNEL.findall("".join(program.values())))
    assert kernels == native_after_conversion(program)


def native_after_conversion(program: Mapping[str, str]) -> set[str]:
    """The functions that become native, once the program has been found to print the same
    however it runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        typed = converted(folder, program)
        expected = printed(program)
        shown = "\n".join(f"# {name}\n{text}" for name, text in typed.items())
        assert printed(typed) == expected, shown
        native = natives(folder)
        assert printed(typed, native) == expected, shown
        return {dotted.rpartition(".")[2] for dotted in native}


def converted(folder: Path, program: Mapping[str, str]) -> dict[str, str]:
    """The text of each module after conversion, which `folder/typed` holds afterwards."""
    original, target = folder / "original", folder / "typed"
    for home in (original, target):
        home.mkdir()
    for name, text in program.items():
        (original / f"{name}.py").write_text(text)
    read = read_sources([original])
    texts = {}
    for file in convert(analyse(read), list(read.modules), promote=True, partial=True).files:
        (target / file.target.name).write_text(file.text)
        texts[file.target.stem] = file.text
    return {name: texts[name] for name in program}


def natives(folder: Path) -> Natives:
    """Builds what `folder/typed` holds, without SCons or a bundle."""
    facts = analyse(read_sources([folder / "typed"]))
    emission = emit(facts, list(facts.program.modules))
    compiled = {
        extension.name: load_extension(compile_extension(extension, folder), extension.name)
        for extension in emission.extensions
    }
    return {
        dotted: (compiled[home], attribute)
        for dotted, (home, attribute) in emission.bindings.items()
        if home in compiled
    }


def printed(program: Mapping[str, str], native: Natives | None = None) -> str:
    """What `main.main()` prints, and the exception that ends it."""
    output = io.StringIO()
    with _imported(program, native or {}) as entry, contextlib.redirect_stdout(output):
        try:
            entry.main()
        except Exception as raised:
            print(type(raised).__name__, raised)
    return output.getvalue()


@contextlib.contextmanager
def _imported(program: Mapping[str, str], native: Natives) -> Iterator[types.ModuleType]:
    """The modules, run in order, with native functions in place as soon as they are there."""
    saved = {name: sys.modules.get(name) for name in program}
    try:
        for name, text in program.items():
            module = sys.modules[name] = types.ModuleType(name)
            exec(compile(text, f"{name}.ppy", "exec"), module.__dict__)
            for dotted, (extension, attribute) in native.items():
                home, _, function = dotted.partition(".")
                if home == name and "." not in function:
                    bind = getattr(extension, attribute)
                    setattr(module, function, bind(getattr(module, function)))
        yield sys.modules["main"]
    finally:
        for name, module in saved.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
