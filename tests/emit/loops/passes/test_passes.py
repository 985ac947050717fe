"""Golden cases: the IR before a pass and after it; the file bears the pass's name."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.dump import dump
from ppybuild.emit.loops.tree import rename
from ppybuild.emit.loops.verify import verify
from tests.emit.loops.passes import tiny
from tests.golden import Case, Golden, cases

_CASES = sorted((Path(__file__).parent / "cases").glob("*.test"))


@cases(*_CASES)
def test_pass(case: Case, golden: Golden) -> None:
    """`first` names the passes that the IR before it has gone through."""
    before: Mapping[str, ir.Function] = tiny.lower(case.source)
    for name in filter(None, case.options.get("first", "").split(",")):
        before = _apply(name, before)
    if case.path.stem == "inline":
        before = {name: _named(function) for name, function in before.items()}
    after = _apply(case.path.stem, before)
    for function in after.values():
        verify(function, after)
    golden(case, before=_dump(before), after=_dump(after))


def _apply(name: str, functions: Mapping[str, ir.Function]) -> Mapping[str, ir.Function]:
    module = importlib.import_module(f"ppybuild.emit.loops.passes.{name}")
    if name == "save":
        return module.run(functions)  # type: ignore[no-any-return]
    return {each: module.run(function) for each, function in functions.items()}


def _named(function: ir.Function) -> ir.Function:
    """Temporaries as the real lowering names them."""
    names = {
        name: f"value.{name}" for name, _ in function.locals if re.fullmatch(r"t\d+", name)
    }
    return replace(
        function,
        locals=tuple((names.get(name, name), type) for name, type in function.locals),
        body=rename(function.body, names),
    )


def _dump(functions: Mapping[str, ir.Function]) -> str:
    return "\n".join(dump(function) for function in functions.values())
