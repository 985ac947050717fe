"""Finding and reading a manifest."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from ppybuild.diagnostics import Diagnostic, Failure
from ppybuild.manifest.faults import explain, explain_syntax, outermost
from ppybuild.manifest.keys import locate_keys
from ppybuild.manifest.rules import check
from ppybuild.manifest.tables import FILE_NAME, Manifest
from ppybuild.places import by_place


def find(start: Path) -> Path:
    """The manifest of `start` or of the nearest folder above it."""
    start = start.absolute()
    for folder in (start, *start.parents):
        path = folder / FILE_NAME
        if path.is_file() or path.is_symlink():
            return path
    raise Failure(
        Diagnostic(
            "E2001",
            f"there is no `{FILE_NAME}` in `{start}` or above it",
            help="`ppybuild init` writes one; `--manifest PATH` names one elsewhere",
        ),
        status=2,
    )


def load(path: Path) -> Manifest:
    """Read a manifest; everything wrong with it is reported together."""
    path = path.absolute()
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Failure(explain_syntax(path, text, error), status=2) from None
    spans = locate_keys(text)
    try:
        parsed = Manifest.model_validate(_prepare(document))
    except ValidationError as error:
        found = [explain(path, spans, fault) for fault in outermost(error)]
        raise Failure(*sorted(found, key=by_place), status=2) from None
    manifest = _complete(parsed, path)
    if faults := list(check(manifest, spans)):
        raise Failure(*sorted(faults, key=by_place), status=2)
    return manifest


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if path.is_symlink():
            message = f"`{path}` is a link to a file that is not there"
            advice = "remove the link, or put the file where it leads"
        else:
            message, advice = f"there is no manifest `{path}`", "`ppybuild init` writes one"
    except UnicodeDecodeError as error:
        message = f"`{path}` is not UTF-8 (byte {error.start})"
        advice = "save it as UTF-8; TOML files are"
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
        advice = "a manifest is a file that you may read"
    raise Failure(Diagnostic("E2001", message, help=advice), status=2)


def _prepare(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with immutable values, and paths where a path is meant."""
    prepared: dict[str, Any] = _freeze(dict(document))
    sources, build = prepared.get("sources"), prepared.get("build")
    if isinstance(sources, dict) and isinstance(sources.get("roots"), tuple):
        sources["roots"] = tuple(_path(root) for root in sources["roots"])
    if isinstance(build, dict):
        for key in ("dir", "cache"):
            if key in build:
                build[key] = None if build[key] == "" and key == "cache" else _path(build[key])
    if "path" in prepared:  # a field of ours, not a key of the file's
        prepared["path "] = prepared.pop("path")
    return prepared


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    return value


def _path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) else value


def _complete(parsed: Manifest, path: Path) -> Manifest:
    """Fill in the defaults that depend on the folder, and make every path absolute."""
    folder = path.parent
    name = parsed.project.name or re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name) or "project"
    src = folder / "src"
    roots = parsed.sources.roots or ((src,) if src.is_dir() else (folder,))
    cache = parsed.build.cache
    entries = {
        name: entry if entry.module else entry.model_copy(update={"module": name})
        for name, entry in parsed.entry.items()
    }
    build = {"dir": _absolute(folder, parsed.build.dir)}
    if cache is not None:
        build["cache"] = _absolute(folder, cache)
    return parsed.model_copy(
        update={
            "path": path,
            "project": parsed.project.model_copy(update={"name": name}),
            "sources": parsed.sources.model_copy(
                update={
                    "roots": tuple(dict.fromkeys(_absolute(folder, each) for each in roots))
                }
            ),
            "entry": MappingProxyType(entries),
            "build": parsed.build.model_copy(update=build),
        }
    )


def _absolute(folder: Path, path: Path) -> Path:
    """Absolute, without `.` and `..`, symbolic links left as they are."""
    return Path(os.path.normpath(folder / os.path.expanduser(path)))  # noqa: PTH111 `~nobody` stays
