"""An entry's data files: what `data` of the manifest names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.manifest import Manifest


def data_files(manifest: Manifest, entry: str) -> dict[str, Path]:
    """The files by their path below the manifest's folder, sorted.

    A pattern that names a folder takes everything in it. Raises `Failure` where one names
    nothing.
    """
    found: dict[str, Path] = {}
    for pattern in manifest.entry[entry].data:
        files = {
            path.relative_to(manifest.root).as_posix(): path
            for path in _matching(manifest, pattern)
        }
        if not files:
            raise Failure(
                Diagnostic(
                    "E2110",
                    f'no file matches `"{pattern}"`, which is `data` of the entry `{entry}`',
                    help=CODES["E2110"].fix,
                ),
                status=2,
            )
        found.update(files)
    return dict(sorted(found.items()))


def data_state(manifest: Manifest, entry: str) -> str:
    """Differs where a data file was changed: names, sizes and times, as weights are large."""
    lines = []
    for relative, path in data_files(manifest, entry).items():
        status = path.stat()
        lines.append(f"{relative} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(lines)


def _matching(manifest: Manifest, pattern: str) -> Iterator[Path]:
    for path in manifest.root.glob(pattern):
        for file in path.rglob("*") if path.is_dir() else (path,):
            if file.is_file() and not file.is_relative_to(manifest.build.dir):
                yield file
