"""Golden cases: text files of sources and of what is expected of them.

    [case modulo_becomes_compare] fp=strict
    def wrap(i: int, n: int) -> int: ...
    [ir]
    ...

A case is a header with a name and options, its source, and sections. A test names the
sections that it checks; `--update` rewrites them for a person to review, and without it a
section that is missing fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_CASE = re.compile(r"\[case (\w+)\](.*)")
_SECTION = re.compile(r"\[([a-z_]+)\]")


@dataclass(frozen=True, slots=True)
class Case:
    path: Path
    name: str
    options: Mapping[str, str]
    source: str
    sections: Mapping[str, str]
    header: str = field(repr=False)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, in order; names are unique."""
    cases: list[Case] = []
    parts: list[tuple[str, list[str]]] = []  # the header or a section's name, and its lines
    for line in [*path.read_text(encoding="utf-8").splitlines(), "[case end]"]:
        if _CASE.fullmatch(line):
            if parts:
                cases.append(_case(path, parts))
            parts = [(line, [])]
        elif section := _SECTION.fullmatch(line):
            parts.append((section[1], []))
        elif parts:
            parts[-1][1].append(line)
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), f"{path}: a case's name is given twice"
    return cases


def _case(path: Path, parts: list[tuple[str, list[str]]]) -> Case:
    match = _CASE.fullmatch(parts[0][0])
    assert match
    options = dict(option.split("=", 1) for option in match[2].split())
    texts = ["\n".join(lines).strip("\n") + "\n" for _, lines in parts]
    sections = {name: text for (name, _), text in zip(parts[1:], texts[1:], strict=True)}
    return Case(path, match[1], options, texts[0], sections, parts[0][0])


def cases(*paths: Path) -> pytest.MarkDecorator:
    """Run a test once for each case of these files, as its argument `case`."""
    found = [case for path in paths for case in read_cases(path)]
    return pytest.mark.parametrize("case", found, ids=[case.name for case in found])


Golden = Callable[..., None]
"""`golden(case, ir=text, c=text)`: what the fixture of that name gives."""


def check_case(case: Case, actual: Mapping[str, str], update: bool) -> None:
    """Compare sections with what came out, or write it into the file."""
    shown = {name: text.strip("\n") + "\n" for name, text in actual.items()}
    if update:
        _rewrite(case, shown)
        return
    for name, text in shown.items():
        assert name in case.sections, f"{case.name} has no section [{name}]; run with --update"
        assert text == case.sections[name], f"{case.path.name}: {case.name} [{name}]"


def _rewrite(case: Case, actual: Mapping[str, str]) -> None:
    text = case.path.read_text(encoding="utf-8")
    comment = text[: text.index("[case ")] if "[case " in text else ""
    pieces = []
    for each in read_cases(case.path):
        sections = {**each.sections, **(actual if each.name == case.name else {})}
        pieces.append(
            f"{each.header}\n{each.source}"
            + "".join(f"[{name}]\n{text}" for name, text in sections.items())
        )
    case.path.write_text(comment + "\n".join(pieces), encoding="utf-8")
