"""Diagnostics as text for a person, as JSON, and as SARIF 2.1.0 for other tools.

error[E1206]: `parameter.grad` may be None here
  --> src/train.py:58:26
   |
58 |         parameter -= rate * parameter.grad
   |                             ^^^^^^^^^^^^^^ Tensor | None
   = help: test it first: `if parameter.grad is None: continue`
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from ppybuild import __version__
from ppybuild.diagnostics import CODES, Diagnostic, Location, Severity
from ppybuild.places import shown_path

Format = Literal["text", "json", "sarif"]

_COLOURS: dict[Severity | Literal["frame", "strong"], str] = {
    "error": "1;31",
    "warning": "1;33",
    "remark": "1;36",
    "frame": "1;34",
    "strong": "1",
}
_SARIF_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "remark": "note"}
_TAB = "    "


def wants_colour(stream: IO[str]) -> bool:
    """True on a terminal that is not told otherwise (https://no-color.org)."""
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def render(
    found: Iterable[Diagnostic],
    style: Format,
    *,
    base: Path,
    colour: bool,
    texts: Mapping[str, str] | None = None,
) -> str:
    """All of them in one style; paths below `base` are shown relative to it.

    `texts`, by the files they are meant for, are part of what a machine reads.
    """
    found = list(found)
    if style == "json":
        return to_json(found, base, texts)
    if style == "sarif":
        return to_sarif(found, base, texts)
    sources = _Sources()
    return "\n".join(_text(one, base, colour, sources) for one in found)


class _Sources:
    """Lines of the files that diagnostics point into, each file read once."""

    def __init__(self) -> None:
        self._lines: dict[Path, list[str]] = {}

    def line(self, path: Path, number: int) -> str | None:
        if path not in self._lines:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            self._lines[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines = self._lines[path]
        return lines[number - 1] if 1 <= number <= len(lines) else None


def _text(found: Diagnostic, base: Path, colour: bool, sources: _Sources) -> str:
    def paint(text: str, role: Severity | Literal["frame", "strong"]) -> str:
        return f"\033[{_COLOURS[role]}m{text}\033[0m" if colour else text

    severity = CODES[found.code].severity
    title = paint(f"{severity}[{found.code}]", severity)
    lines = [f"{title}{paint(f': {_printable(found.message)}', 'strong')}"]
    gutter = " "
    if found.location is not None:
        where = found.location
        gutter = " " * len(str(where.line))
        place = f"{_printable(shown_path(where.path, base))}:{where.line}:{where.column}"
        lines.append(f"{gutter}{paint('-->', 'frame')} {place}")
        source = sources.line(where.path, where.line)
        if source is not None:
            bar = paint("|", "frame")
            indent, mark = _marked(source, where)
            label = f" {found.label}" if found.label else ""
            lines += [
                f"{gutter} {bar}",
                f"{paint(str(where.line), 'frame')} {bar} {_visible(source)}".rstrip(),
                f"{gutter} {bar} {indent}{paint(mark + label, severity)}",
            ]
    if found.help:
        first, *rest = _printable(found.help).split("\n")
        lines.append(f"{gutter} {paint('=', 'frame')} help: {first}")
        lines += [f"{gutter}         {line}" for line in rest]
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    """Without what could change a terminal, or cannot be encoded."""
    return "".join(
        char if char.isprintable() or char == "\n" else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def _visible(source: str) -> str:
    return "".join(
        _TAB if char == "\t" else char if char.isprintable() else _escaped(char)
        for char in source
    )


def _marked(source: str, where: Location) -> tuple[str, str]:
    """The blanks before the mark, and the mark, as wide as the text that they stand under."""
    start = min(max(where.column - 1, 0), len(source))
    single = where.end_line == where.line
    end = where.end_column - 1 if single else len(source.rstrip())
    width = _width(source[start : max(end, start)])
    return " " * _width(source[:start]), "^" * max(width, 1)


def _width(text: str) -> int:
    """Columns that the text takes on a terminal."""
    return sum(
        0
        if unicodedata.combining(char)
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in _visible(text)
    )


def to_json(
    found: Sequence[Diagnostic], base: Path, texts: Mapping[str, str] | None = None
) -> str:
    """`{"version": 1, "diagnostics": [...]}`; positions as in `Location`, or null. With
    `texts`, `"texts": {path: text}` too."""
    document: dict[str, Any] = {
        "version": 1,
        "diagnostics": [_json(one, base) for one in found],
    }
    return _dump(document | {"texts": dict(texts)} if texts else document)


def _json(found: Diagnostic, base: Path) -> dict[str, Any]:
    where = found.location
    return {
        "code": found.code,
        "severity": CODES[found.code].severity,
        "message": found.message,
        "label": found.label,
        "help": found.help,
        "location": where
        and {
            "path": shown_path(where.path, base),
            "line": where.line,
            "column": where.column,
            "end_line": where.end_line,
            "end_column": where.end_column,
        },
    }


def to_sarif(
    found: Sequence[Diagnostic], base: Path, texts: Mapping[str, str] | None = None
) -> str:
    """The Static Analysis Results Interchange Format, version 2.1.0 (OASIS); `texts` are
    among the properties of the run."""
    codes = sorted({one.code for one in found})
    rules = [
        {
            "id": code,
            "name": "".join(word.capitalize() for word in CODES[code].title.split()),
            "shortDescription": {"text": CODES[code].title},
            "fullDescription": {"text": CODES[code].meaning},
            "help": {"text": CODES[code].fix},
            "defaultConfiguration": {"level": _SARIF_LEVELS[CODES[code].severity]},
        }
        for code in codes
    ]
    driver = {"name": "ppybuild", "version": __version__, "rules": rules}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(one, codes.index(one.code), base) for one in found],
    }
    if texts:
        run["properties"] = {"texts": dict(texts)}
    return _dump(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }
    )


def _sarif_result(found: Diagnostic, rule: int, base: Path) -> dict[str, Any]:
    message = f"{found.message}\n{found.help}" if found.help else found.message
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVELS[CODES[found.code].severity],
        "message": {"text": message},
    }
    if (where := found.location) is not None:
        region = {
            "startLine": where.line,
            "startColumn": where.column,
            "endLine": where.end_line,
            "endColumn": where.end_column,
        }
        artifact = {"uri": _uri(where.path, base)}
        result["locations"] = [
            {"physicalLocation": {"artifactLocation": artifact, "region": region}}
        ]
    return result


def _uri(path: Path, base: Path) -> str:
    from urllib.parse import quote

    shown = shown_path(path, base)
    quoted = quote(shown, errors="surrogateescape")
    return f"file://{quoted}" if shown.startswith("/") else quoted


def _dump(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
