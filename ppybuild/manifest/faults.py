"""What is wrong with a manifest, in its reader's words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ppybuild.diagnostics import Diagnostic, Location, nearest
from ppybuild.manifest.keys import KeyPath, Span
from ppybuild.manifest.tables import (
    Build,
    Convert,
    Cpu,
    Cuda,
    Devices,
    Entry,
    Manifest,
    Project,
    Sources,
    Table,
    kebab,
)


def outermost(error: ValidationError) -> list[Any]:
    """One fault for each place, without those inside or about the same value."""
    faults: dict[tuple[int | str, ...], Any] = {}
    for fault in error.errors(include_url=False):
        location = tuple(part for part in fault["loc"] if part != "[key]")
        faults.setdefault(location, {**fault, "loc": location})
    return list(faults.values())


def explain(path: Path, spans: Mapping[KeyPath, Span], fault: Any) -> Diagnostic:
    keys: KeyPath = tuple(key.strip() if isinstance(key, str) else key for key in fault["loc"])
    where = location_of(path, spans, keys)
    if fault["type"] == "extra_forbidden":
        return _unknown_key(keys, where)
    shown = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)[1:]
    if len(keys) == 2 and keys[0] == "entry":
        return Diagnostic(
            "E2003",
            f"`entry.{keys[1]}` should be a table",
            where,
            help="each entry is a table of its own: `[entry.NAME]`",
        )
    message = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "string_pattern_mismatch":
        message = f"cannot be `{fault['input']}`"
    for old, new in _WORDING:
        message = message.replace(old, new)
    return Diagnostic("E2003", f"`{shown}` {message}", where, help=_value_help(fault, keys))


_WORDING = (
    ("Input should", "should"),
    ("a valid tuple", "a list"),
    ("a valid dictionary or instance of", "a table, as"),
    ("a valid dictionary", "a table"),
    ("a valid mapping", "a table"),
    ("a valid string", "a string"),
    ("a valid integer", "a whole number"),
    ("a valid boolean", "true or false"),
    ("an instance of Path", "a string"),
)


def _value_help(fault: Any, keys: Sequence[str | int]) -> str:
    expected = str(fault.get("ctx", {}).get("expected", ""))
    given = fault.get("input")
    if expected and isinstance(given, str):
        close = nearest(given, re.findall(r"'([^']*)'", expected))
        if close:
            return f'did you mean `"{close}"`?'
    if fault["type"] == "tuple_type" and isinstance(given, str):
        return f'write it as a list: `["{given}"]`'
    key = next(key for key in reversed(keys) if isinstance(key, str))
    return _EXAMPLES.get(key, "")


_EXAMPLES = {
    "name": "use letters, digits, `.`, `_` and `-`",
    "version": 'as in `version = "1.2.0"`',
    "module": 'a dotted name, as imported: `module = "app.train"`',
    "jobs": "0: one per core",
    "data": 'as in `data = ["weights/*.pt"]`: below the folder of the manifest',
    "export": 'as in `export = ["app.prep.standardize"]`',
    "cpu": '`"native"`, `"baseline"` or a name that `-march` takes',
    "arch": 'as in `arch = ["sm_90"]`',
}


def _unknown_key(keys: KeyPath, where: Location) -> Diagnostic:
    *table, key = keys
    known = _known_keys(table)
    close = nearest(str(key), known)
    kind = "table" if not table else "key"
    inside = f" in `[{'.'.join(map(str, table))}]`" if table else ""
    advice = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
    return Diagnostic("E2002", f"unknown {kind} `{key}`{inside}", where, help=advice)


_TABLES: Mapping[tuple[str, ...], type[Table]] = {
    (): Manifest,
    ("project",): Project,
    ("sources",): Sources,
    ("entry",): Entry,
    ("device",): Devices,
    ("device", "cpu"): Cpu,
    ("device", "cuda"): Cuda,
    ("build",): Build,
    ("convert",): Convert,
}


def _known_keys(table: Sequence[str | int]) -> list[str]:
    path = tuple(map(str, table))
    model = _TABLES[path[:1] if path[:1] == ("entry",) else path]
    return [kebab(name) for name in model.model_fields if name != "path"]


def location_of(
    path: Path, spans: Mapping[KeyPath, Span], keys: Sequence[str | int]
) -> Location:
    """Where the key stands, or the nearest table around it, or the file's start."""
    for length in range(len(keys), 0, -1):
        span = spans.get(tuple(keys[:length]))
        if span is not None:
            return Location(path, span.line, span.column, span.line, span.end_column)
    return Location(path, 1, 1, 1, 1)


def _syntax_help(message: str) -> str:
    for said, advice in _SYNTAX.items():
        if said in message:
            return advice
    return "strings need quotes, and each table its own `[name]` line"


_SYNTAX = {
    "at the end of a table declaration": "a table's line ends with `]`: `[entry.train]`",
    "Unclosed array": "a list ends with `]`",
    "Cannot overwrite a value": "the key stands twice; remove one",
    "Cannot declare": "the table stands twice; put its keys together",
    "Unterminated string": "a string ends with the quote that it starts with",
}
"""What `tomllib` says of a fault, and what to do."""


def explain_syntax(path: Path, text: str, error: tomllib.TOMLDecodeError) -> Diagnostic:
    """`tomllib` says where in words."""
    match = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
    if match:
        line, column = int(match[1]), int(match[2])
    else:
        lines = text.split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    message = re.sub(r" \(at .*\)$", "", str(error))
    return Diagnostic(
        "E2001",
        f"not valid TOML: {message[:1].lower()}{message[1:]}",
        Location(path, line, column, line, column + 1),
        help=_syntax_help(message),
    )
