"""What an entry's bundle was made from, so that nothing is built when nothing changed.

A stamp beside the generated sources keeps, by part, a digest of everything that could
change the result, and the size and time of every file of the bundle. It is written last:
without it, or with one that does not fit, the entry is built again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ppybuild.graph import shapes
from ppybuild.graph.products import is_product
from ppybuild.manifest import Manifest
from ppybuild.places import is_environment, shown_path
from ppybuild.targets.cpu import machine_fingerprint
from ppybuild.targets.cuda import nvcc_identity
from ppybuild.targets.data import data_state
from ppybuild.targets.toolchain import fingerprint as toolchain_fingerprint

Inputs = Mapping[str, str]
"""What changed is told by key: a file's name, or words (`the C compiler`)."""

_SUFFIXES = (".py", ".ppy")
_OWN = Path(__file__).parents[2]


def fingerprint(manifest: Manifest, device: str) -> dict[str, str]:
    """Everything that all entries of the project depend on."""
    return {
        "ppybuild": _own_digest(),
        **{part: _digest(text) for part, text in toolchain_fingerprint().items()},
        "the machine": _digest(machine_fingerprint()) if _is_native(manifest) else "",
        "the CUDA compiler": nvcc_identity() if device == "cuda" else "",
        shapes.NAME: _digest_file(manifest.root / shapes.NAME),
        **{shown_path(path, manifest.root): digest for path, digest in _sources(manifest)},
    }


def entry_fingerprint(manifest: Manifest, entry: str, device: str) -> dict[str, str]:
    """What only the entry depends on: its options, wherever they were given."""
    said = {
        "version": manifest.project.version,
        "entry": manifest.entry[entry].model_dump(mode="json"),
        "device": [
            manifest.device.cpu.model_dump(mode="json"),
            manifest.device.cuda.model_dump(mode="json") if device == "cuda" else None,
        ],
        "roots": [shown_path(root, manifest.root) for root in manifest.sources.roots],
        "exclude": manifest.sources.exclude,
    }
    return {
        "options": _digest(json.dumps(said, sort_keys=True)),
        "data files": _digest(data_state(manifest, entry)),
    }


def why_stale(stamp: Path, inputs: Inputs, bundle: Path) -> str:
    """Why the entry has to be built, in words; "" where it does not."""
    try:
        kept = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "not built yet"
    if not isinstance(kept, dict) or not isinstance(kept.get("inputs"), dict):
        return "not built yet"
    before: dict[str, str] = kept["inputs"]
    changed = [key for key in inputs if key in before and before[key] != inputs[key]]
    changed += [f"new {key}" for key in inputs if key not in before]
    changed += [f"gone {key}" for key in before if key not in inputs]
    if changed:
        return f"changed ({_listed(changed)})"
    if not bundle.is_dir():
        return "its bundle is gone"
    here = state(bundle)
    touched = sorted(
        name for name in {*here, *kept["bundle"]} if here.get(name) != kept["bundle"].get(name)
    )
    return f"its bundle was changed ({_listed(touched)})" if touched else ""


def write_stamp(stamp: Path, inputs: Inputs, bundle: Path) -> None:
    """Says that the bundle is complete and was made from the inputs."""
    text = json.dumps({"inputs": dict(inputs), "bundle": state(bundle)}, indent=1)
    beside = stamp.with_name(stamp.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(stamp)


def state(folder: Path) -> dict[str, Any]:
    """Size and time of change of every file; what Python caches is left out."""
    found = {}
    for path in _walk(folder):
        status = path.lstat()
        found[path.relative_to(folder).as_posix()] = [status.st_size, status.st_mtime_ns]
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(inner for inner in folders if inner != "__pycache__")
        for file in sorted(files):
            yield Path(here, file)


def _is_native(manifest: Manifest) -> bool:
    return manifest.device.cpu.cpu == "native"


def _sources(manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Every file below the roots that may be part of the program, and its digest.

    The globs of `exclude` are not looked at: reading a file too many is harmless.
    """
    seen: set[Path] = set()
    for root in manifest.sources.roots:
        for here, folders, files in os.walk(root):
            folders[:] = [inner for inner in folders if _enters(Path(here, inner), manifest)]
            for file in files:
                path = Path(here, file)
                if file.endswith(_SUFFIXES) and path not in seen:
                    seen.add(path)
                    yield path, _digest_file(path)


def _enters(folder: Path, manifest: Manifest) -> bool:
    if folder.name.startswith(".") or folder.name == "__pycache__":
        return False
    if folder == manifest.build.dir or is_environment(folder):
        return False
    return not is_product(folder)


@functools.cache
def _own_digest() -> str:
    """Of ppybuild and what bundles take of it, once a process: it runs what it has read."""
    return _digest(_digest_tree(_OWN / "ppybuild") + _digest_tree(_OWN / "ppy"))


def _digest_tree(folder: Path) -> str:
    """Of the names and bytes of a package's files, whatever their place."""
    lines = [f"{path.relative_to(folder)} {_digest_file(path)}" for path in _walk(folder)]
    return _digest("\n".join(lines))


def _digest_file(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _listed(names: list[str]) -> str:
    if len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more"
