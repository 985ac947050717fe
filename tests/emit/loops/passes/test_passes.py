"""Golden cases: the IR before a pass and after it; the file bears the pass's name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.dump import dump
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
    after = _apply(case.path.stem, before)
    for function in after.values():
        verify(function, after)
    golden(case, before=_dump(before), after=_dump(after))


def _apply(name: str, functions: Mapping[str, ir.Function]) -> Mapping[str, ir.Function]:
    module = importlib.import_module(f"ppybuild.emit.loops.passes.{name}")
    if name == "save":
        return module.run(functions)  # type: ignore[no-any-return]
    return {each: module.run(function) for each, function in functions.items()}


def _dump(functions: Mapping[str, ir.Function]) -> str:
    return "\n".join(dump(function) for function in functions.values())
