"""Writes `docs/diagnostics.md` from the table of codes: `make docs`."""

from __future__ import annotations

from pathlib import Path

from ppybuild.diagnostics import CODES

PAGE = Path(__file__).with_name("diagnostics.md")

_OPENING = """\
# Diagnostics

Written from the table in `ppybuild/diagnostics.py` by `make docs`; `ppybuild explain CODE`
prints one entry. E1: the program. E2: the manifest and the command line. E4: the machine
and its toolchain. E9: a fault of ppybuild. R3: remarks.
"""


def page() -> str:
    """The whole page, as Markdown."""
    parts = [_OPENING]
    for code, row in CODES.items():
        parts.append(f"## {code}: {row.title}\n\n*{row.severity}*. {row.meaning}\n")
        if row.example:
            example = "".join(f"    {line}".rstrip() + "\n" for line in row.example.split("\n"))
            parts.append(example)
        parts.append(f"{row.fix}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
