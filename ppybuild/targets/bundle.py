"""Lays down a bundle: built beside its place, renamed into it when it is whole.

The same contents give the same bytes: `bundle.json` is sorted, and nothing holds a time or
a path of the machine that builds.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppy.bundle import digest
from ppy.launcher import SCRIPT

SCHEMA = 1
"""Of `bundle.json`; docs/architecture.md lists its keys."""

RUNTIME = Path(__file__).parents[2] / "ppy"


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into a bundle, beside the runtime and the launcher."""

    entry: str
    version: str
    """The project's."""
    module: str
    args: tuple[str, ...]
    device: str
    without_gpu: str
    """What a bundle for `cuda` does where there is no GPU: "cpu" or "error"."""
    platform: str
    """Of the machine that it runs on: `linux-x86_64`."""
    python: str
    """The `SOABI` of the Python that the extensions were built for."""
    torch: str | None
    """The version of torch that an extension was built for."""
    cpu: tuple[str, ...]
    """Features that the native code needs, as /proc/cpuinfo names them."""
    requires: Mapping[str, str]
    """Pins of libraries that it cannot start without, by import name."""
    licences: Mapping[str, str]
    """Of what is included, by name and version."""
    sources: Mapping[str, bytes]
    """The program's files, as they were analysed, by their path below `app/`."""
    data: Mapping[str, Path]
    """Data files by their path below `data/`."""
    extensions: Mapping[str, Path]
    """Shared libraries by extension name."""
    bindings: Mapping[str, Mapping[str, tuple[str, str]]]
    """Module → name inside it → extension and attribute."""
    splices: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Module → what stands for statements inside it; docs/architecture.md has the keys."""


def write_bundle(place: Path, contents: Contents) -> None:
    """Put the bundle in its place, instead of one that may be there."""
    beside = place.with_name(f".{place.name}.new")
    remove_tree(beside)
    beside.mkdir(parents=True)
    _fill(beside, contents)
    before = place.with_name(f".{place.name}.old")
    remove_tree(before)
    if place.exists():
        place.rename(before)
    beside.rename(place)
    remove_tree(before)


def _fill(folder: Path, contents: Contents) -> None:
    for relative, written in contents.sources.items():
        _write(written, folder / "app" / relative)
    for relative, source in contents.data.items():
        _copy(source, folder / "data" / relative)
    for library in contents.extensions.values():
        _copy(library, folder / "native" / library.name)
    for source in sorted(RUNTIME.rglob("*.py")):
        _copy(source, folder / "ppy" / source.relative_to(RUNTIME))
    launcher = folder / contents.entry
    launcher.write_text(SCRIPT, encoding="utf-8")
    launcher.chmod(0o755)
    text = json.dumps(_description(folder, contents), indent=2, sort_keys=True)
    (folder / "bundle.json").write_text(text + "\n", encoding="utf-8")


def _description(folder: Path, contents: Contents) -> dict[str, Any]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    description = {
        "schema": SCHEMA,
        "entry": contents.entry,
        "version": contents.version,
        "module": contents.module,
        "args": contents.args,
        "device": contents.device,
        "without_gpu": contents.without_gpu,
        "platform": contents.platform,
        "python": contents.python,
        "torch": contents.torch,
        "cpu": contents.cpu,
        "requires": dict(contents.requires),
        "licences": dict(contents.licences),
        "extensions": {name: path.name for name, path in contents.extensions.items()},
        "bindings": contents.bindings,
        "splices": contents.splices,
        "files": {path.relative_to(folder).as_posix(): _digest(path) for path in files},
    }
    return description | {"digest": digest(description)}


def _copy(source: Path, target: Path) -> None:
    """The bytes alone: not the owner, the times, or who may write."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def _write(text: bytes, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text)
    target.chmod(0o644)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bundle_files(bundle: Path) -> Iterator[Path]:
    """Every file of a bundle, in order; what Python caches is left out."""
    for path in sorted(bundle.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def remove_tree(folder: Path) -> None:
    """Remove a folder of ours, if it is there."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
