"""Golden cases: Python in, loop IR, kernels and remarks out; and what the kernels do."""

from __future__ import annotations

from pathlib import Path

from ppybuild.emit.loops.depth import plan_depths
from ppybuild.emit.loops.dump import dump
from ppybuild.emit.loops.lower import lower
from ppybuild.emit.loops.printer import print_kernel
from ppybuild.emit.loops.verify import verify
from tests.emit.loops.native import Kernels
from tests.emit.loops.small_facts import small_facts
from tests.golden import Case, Golden, cases

CASES = Path(__file__).parent / "cases"


@cases(CASES / "lower.txt")
def test_lowering(case: Case, golden: Golden) -> None:
    facts = small_facts(case.source)
    functions, remarks = lower(facts, facts.program.functions)
    for function in functions.values():
        verify(function, functions)
    assert remarks == ()
    golden(case, ir="\n".join(dump(function) for function in functions.values()))


@cases(CASES / "printer.txt")
def test_printing(case: Case, golden: Golden) -> None:
    facts = small_facts(case.source)
    functions, _ = lower(facts, facts.program.functions)
    depths = plan_depths(functions, functions)
    kernels = [print_kernel(each, "m.py", functions, depths) for each in functions.values()]
    golden(case, c="\n".join(kernels))
    Kernels(functions)


@cases(CASES / "remarks.txt")
def test_what_stays_in_python(case: Case, golden: Golden) -> None:
    facts = small_facts(case.source)
    functions, remarks = lower(facts, facts.program.functions)
    lines = [f"native {name}" for name in functions]
    for remark in remarks:
        assert remark.location
        assert remark.code == "R3004"
        place = f"{remark.location.line}:{remark.location.column}"
        lines.append(f"{place} {remark.message}{f' ({remark.help})' if remark.help else ''}")
    golden(case, remarks="\n".join(lines))
