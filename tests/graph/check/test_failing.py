"""`tests/failing/`: one tiny project or more for every code, matched by code and place.

A project's `expected` lists its findings, one a line: `E1206 main.py:9:33`. `--update`
rewrites it for a person to review.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild import manifest
from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.graph.analyse import analyse
from ppybuild.graph.check import check
from ppybuild.graph.library import Library
from ppybuild.graph.load import read_sources

TESTS = Path(__file__).parents[2]
FAILING = TESTS / "failing"
PROJECTS = sorted(path for path in FAILING.iterdir() if path.is_dir())
ELSEWHERE = {
    "E1304": "convert",
    "W1304": "cli",
    "E2101": "cli",
    "E2102": "cli",
    "E2103": "cli",
    "E2104": "cli",
    "E2105": "cli",
    "E2106": "cli",
    "E2107": "cli",
    "E2108": "targets",
    "E2109": "cli",
    "E2110": "targets",
    "E2111": "targets",
    "E2112": "cli",
    "E2113": "targets",
    "E4001": "targets",
    "E4002": "targets",
    "E4003": "targets",
    "E4004": "targets",
    "E4005": "targets",
    "E4006": "targets",
    "E4007": "targets",
    "E4008": "targets",
    "E4009": "targets",
    "E4010": "targets",
    "E4011": "targets",
    "E9001": "cli",
    "R3001": "emit",
    "R3002": "convert",
    "R3003": "convert",
    "R3004": "emit",
}
"""Codes that a project alone does not show (they take a command, a machine without something,
or a whole build), and the folder of tests of the room that raises them."""


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def findings(project: Path, library: Library) -> tuple[Diagnostic, ...]:
    file = project / "ppy.toml"
    if file.exists():
        with pytest.raises(Failure) as failure:
            manifest.load(file)
        return failure.value.diagnostics
    facts = analyse(read_sources([project]), library)
    found = {*facts.program.diagnostics, *facts.diagnostics, *check(facts, library)}
    return tuple(one for one in found if CODES[one.code].severity != "remark")


def show(project: Path, found: Diagnostic) -> str:
    where = found.location
    if where is None:
        return found.code
    path = where.path.absolute().relative_to(project.absolute())
    return f"{found.code} {path.as_posix()}:{where.line}:{where.column}"


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_project(project: Path, library: Library, request: pytest.FixtureRequest) -> None:
    found = findings(project, library)
    lines = sorted({show(project, one) for one in found})
    expected = project / "expected"
    if request.config.getoption("--update"):
        expected.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert lines == expected.read_text(encoding="utf-8").splitlines()
    assert project.name[:5] in {one.code for one in found}
    assert all(one.message for one in found)


def test_every_code_has_a_project() -> None:
    shown = {project.name[:5] for project in PROJECTS}
    assert shown | set(ELSEWHERE) == set(CODES)
    assert not shown & set(ELSEWHERE)


@pytest.mark.parametrize("room", sorted({*ELSEWHERE.values()}))
def test_rooms_show_their_codes(room: str) -> None:
    files = [*(TESTS / room).rglob("*.py"), *(TESTS / room).rglob("*.txt")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    silent = {
        code
        for code, where in ELSEWHERE.items()
        if where == room and not any(code in text for text in texts)
    }
    assert not silent
