"""The table of codes, the renderers, and the page that is made from the table."""

from __future__ import annotations

import io
import json
import re
import runpy
from pathlib import Path

import pytest

from ppybuild.diagnostics import CODES, Diagnostic, Failure, Location, nearest
from ppybuild.render import render, wants_colour

ROOT = Path(__file__).parents[1]


def test_every_code_is_complete() -> None:
    for code, row in CODES.items():
        assert re.fullmatch(r"[EWR]\d{4}", code)
        assert (code[0] == "R") == (row.severity == "remark"), code
        assert row.title, code
        assert row.meaning.endswith("."), code
        assert row.fix.endswith("."), code


def test_every_code_used_is_in_the_table() -> None:
    used = {
        code
        for path in (ROOT / "ppybuild").rglob("*.py")
        for code in re.findall(r'"([EWR]\d{4})"', path.read_text(encoding="utf-8"))
    }
    assert used <= set(CODES)


def test_the_page_is_current() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "diagnostics_page.py"))
    assert page["PAGE"].read_text(encoding="utf-8") == page["page"](), "run `make docs`"


def text(found: Diagnostic, base: Path, *, colour: bool = False) -> str:
    return render([found], "text", base=base, colour=colour)


def test_text(tmp_path: Path) -> None:
    source = tmp_path / "src" / "train.py"
    source.parent.mkdir()
    source.write_text("\n" * 57 + "        parameter -= rate * parameter.grad\n")
    found = Diagnostic(
        "E1206",
        "`parameter.grad` may be None here",
        Location(source, 58, 29, 58, 43),
        help="test it first: `if parameter.grad is None: continue`",
        label="Tensor | None",
    )
    assert text(found, tmp_path) == (
        "error[E1206]: `parameter.grad` may be None here\n"
        "  --> src/train.py:58:29\n"
        "   |\n"
        "58 |         parameter -= rate * parameter.grad\n"
        "   |                             ^^^^^^^^^^^^^^ Tensor | None\n"
        "   = help: test it first: `if parameter.grad is None: continue`\n"
    )
    coloured = text(found, tmp_path, colour=True)
    assert re.sub(r"\033\[[\d;]*m", "", coloured) == text(found, tmp_path)
    assert coloured != text(found, tmp_path)


@pytest.mark.parametrize(
    ("line", "columns", "shown", "marks"),
    [
        ("\tx = 名前 + y", (9, 10), "    x = 名前 + y", " " * 13 + "^"),
        ("x = 名前", (5, 7), "x = 名前", "    ^^^^"),
        ("e\u0301 = y", (6, 7), "e\u0301 = y", "    ^"),
        ("", (1, 1), "", "^"),
        ("ab", (9, 12), "ab", "  ^"),
        ("a \x1b[31m", (1, 2), "a \\x1b[31m", "^"),
    ],
)
def test_the_mark_stands_under_what_is_meant(
    tmp_path: Path, line: str, columns: tuple[int, int], shown: str, marks: str
) -> None:
    source = tmp_path / "a.py"
    source.write_text(line + "\n", encoding="utf-8")
    found = Diagnostic("E1101", "m", Location(source, 1, columns[0], 1, columns[1]))
    lines = text(found, tmp_path).split("\n")
    assert lines[3] == f"1 | {shown}".rstrip()
    assert lines[4] == f"  | {marks}"


def test_a_span_over_several_lines_marks_the_first(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("f(a,\n  b)\n")
    found = Diagnostic("E1305", "m", Location(source, 1, 1, 2, 5))
    assert text(found, tmp_path).split("\n")[4] == "  | ^^^^"


def test_a_file_that_cannot_be_read_is_only_named(tmp_path: Path) -> None:
    found = Diagnostic(
        "E1002", "m\x07", Location(tmp_path / "gone.py", 3, 1, 3, 2), help="a\nb"
    )
    assert text(found, tmp_path) == (
        "error[E1002]: m\\x07\n --> gone.py:3:1\n  = help: a\n          b\n"
    )


def test_json_and_sarif_say_the_same(tmp_path: Path) -> None:
    found = [
        Diagnostic("E1206", "é", Location(tmp_path / "a b.py", 3, 1, 3, 2), help="h"),
        Diagnostic("R3004", "stays"),
    ]
    plain = json.loads(render(found, "json", base=tmp_path, colour=False))
    assert plain["version"] == 1
    first, second = plain["diagnostics"]
    assert first["severity"] == "error"
    assert first["location"] == {
        "path": "a b.py",
        "line": 3,
        "column": 1,
        "end_line": 3,
        "end_column": 2,
    }
    assert second["location"] is None
    sarif = json.loads(render(found, "sarif", base=tmp_path, colour=False))
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["E1206", "R3004"]
    assert [result["level"] for result in run["results"]] == ["error", "note"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b.py"}
    assert place["region"]["startLine"] == 3
    assert "locations" not in run["results"][1]


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_nearest() -> None:
    assert nearest("Modul", ["module", "args"]) == "module"
    assert nearest("zzz", ["module", "args"]) is None
    assert nearest("x", []) is None


def test_a_failure_reads_as_its_messages() -> None:
    failure = Failure(Diagnostic("E2001", "a"), Diagnostic("E2002", "b"), status=2)
    assert str(failure) == "a; b"
