"""What single values of a manifest cannot show."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping

from ppybuild.diagnostics import Diagnostic, Location
from ppybuild.manifest.faults import location_of
from ppybuild.manifest.keys import KeyPath, Span
from ppybuild.manifest.tables import IDENTIFIER, RESERVED_ENTRY_NAMES, Manifest
from ppybuild.places import shown_path

_VERSION_CLAUSE = re.compile(r"\s*(>=|<=|>|<|==|!=|~=)\s*(\d+(?:\.\d+)*)(\.\*)?\s*")


def check(manifest: Manifest, spans: Mapping[KeyPath, Span]) -> Iterator[Diagnostic]:
    """What single values cannot show: missing folders, names that collide, versions."""
    path = manifest.path

    def at(*keys: str | int) -> Location:
        return location_of(path, spans, keys)

    for index, root in enumerate(manifest.sources.roots):
        if not root.is_dir():
            yield Diagnostic(
                "E2004",
                f"the source root `{shown_path(root, manifest.root)}` is not a folder",
                at("sources", "roots", index),
                help="`roots` names the folders where module names start",
            )
        elif root.is_relative_to(manifest.build.dir):
            yield Diagnostic(
                "E2004",
                f"the build folder `{shown_path(manifest.build.dir, manifest.root)}` holds the "
                f"source root `{shown_path(root, manifest.root)}`",
                at("build", "dir"),
                help="`ppybuild clean` removes the build folder: keep sources out of it",
            )
    for name in manifest.entry:
        if name in RESERVED_ENTRY_NAMES:
            yield Diagnostic(
                "E2003",
                f"an entry cannot be called `{name}`: its bundle has a part of that name",
                at("entry", name),
                help="give it another name; `module` says what it runs",
            )
        elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name):
            yield Diagnostic(
                "E2003",
                f"`{name}` cannot be an entry's name",
                at("entry", name),
                help="use letters, digits, `.`, `_` and `-`: it becomes a file's name",
            )
        elif not re.fullmatch(rf"{IDENTIFIER}(\.{IDENTIFIER})*", manifest.entry[name].module):
            yield Diagnostic(
                "E2003",
                f"the entry `{name}` needs `module`: its name is no module's name",
                at("entry", name),
                help='add `module = "package.module"`',
            )
    yield from _check_python(manifest.project.requires_python, at("project", "requires-python"))


def _check_python(required: str, where: Location) -> Iterator[Diagnostic]:
    clauses = [
        match
        for clause in required.split(",")
        if (match := _VERSION_CLAUSE.fullmatch(clause)) and _takes_star(*match.groups())
    ]
    running = sys.version_info[:3]
    shown = ".".join(map(str, running))
    if len(clauses) < len(required.split(",")):
        yield Diagnostic(
            "E2003",
            f"`requires-python = {required!r}` is not a list of comparisons",
            where,
            help='as in `">=3.11"` or `">=3.11,<3.14"`',
        )
    elif not all(_satisfies(running, *match.groups()) for match in clauses):
        yield Diagnostic(
            "E2005",
            f"the program takes Python {required}, and this is Python {shown}",
            where,
            help="run ppybuild under a Python that the program takes",
        )


def _takes_star(comparison: str, version: str, star: str | None) -> bool:
    """`==3.11.*` is a family of versions; `>=3.11.*` is nothing."""
    return star is None or comparison in ("==", "!=")


def _satisfies(
    running: tuple[int, ...], comparison: str, version: str, star: str | None
) -> bool:
    wanted = tuple(map(int, version.split(".")))
    if comparison == "~=":
        return running >= wanted and running[: len(wanted) - 1] == wanted[:-1]
    if star:
        same = running[: len(wanted)] == wanted
        return same if comparison == "==" else not same
    padded = wanted + (0,) * (3 - len(wanted))
    return {
        ">=": running >= padded,
        "<=": running <= padded,
        ">": running > padded,
        "<": running < padded,
        "==": running == padded,
        "!=": running != padded,
    }[comparison]
