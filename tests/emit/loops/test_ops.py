import re
from pathlib import Path

import pytest

import ppybuild
from ppybuild.emit.boundary.runtime import KERNELS
from ppybuild.emit.loops.ops import CHECKED, OPS

RUNTIME = Path(ppybuild.__file__).parent / "emit/runtime"
HEADER = "".join((RUNTIME / name).read_text() for name in KERNELS)
NAMED = set(re.findall(r"\b(ppy_\w+)\(", HEADER)) | {
    f"ppy_{prefix}{name}"
    for prefix, macro in (
        ("libm_", "LIBM"),
        ("libm_", "CHECKED_LIBM"),
        ("checked_", "CHECKED_LIBM"),
        ("checked_", "CHECKED_WHOLE"),
        ("checked_fsum_", "FSUM"),
        ("checked_", "CHAR_TEST"),
        ("checked_", "CHAR_CASE"),
    )
    for name in re.findall(rf"^ *PPY_{macro}\((\w+)", HEADER, re.M)
}


@pytest.mark.parametrize("name", OPS)
def test_total_operator_is_in_the_header(name: str) -> None:
    if OPS[name].c.startswith("ppy_"):
        assert OPS[name].c in NAMED


@pytest.mark.parametrize("name", CHECKED)
def test_checked_operator_is_in_the_header_and_agrees_with_its_total(name: str) -> None:
    row = CHECKED[name]
    assert row.c in NAMED
    if row.total:
        assert (OPS[row.total].args, OPS[row.total].result) == (row.args, row.result)
