"""Makes a package of an entry: builds it, then writes the format that is asked for."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ppybuild.manifest import Manifest
from ppybuild.targets import folder as build_folder
from ppybuild.targets.build import Options, build, choose_entries
from ppybuild.targets.faults import machine_faults
from ppybuild.targets.lock import locked
from ppybuild.targets.package.folder import names as folder_names
from ppybuild.targets.package.folder import write_folder
from ppybuild.targets.package.full import need_pyinstaller, write_full
from ppybuild.targets.package.library import write_library
from ppybuild.targets.package.native import write_native
from ppybuild.targets.package.onefile import write_onefile
from ppybuild.targets.package.output import refuse_existing, staged
from ppybuild.targets.report import Report

FOLDER = "dist"
"""Where packages go, beside the manifest, unless the command says otherwise."""


@dataclass(frozen=True, slots=True)
class Job:
    """An entry to package."""

    manifest: Manifest
    entry: str
    device: str

    @property
    def stem(self) -> str:
        """`train-0.1.0-cpu-linux-x86_64`."""
        version = self.manifest.project.version
        return f"{self.entry}-{version}-{self.device}-{sysconfig.get_platform()}"


@dataclass(frozen=True, slots=True)
class Format:
    """A row of `FORMATS`."""

    names: Callable[[Job], tuple[str, ...]]
    """What it writes."""
    write: Callable[[Job, Path, Path, str], Mapping[str, int]]
    """Given the job, the bundle, a folder to write in, and the first of the names there:
    the bytes of its parts, where it has some."""
    is_file: bool = False
    """It is one file, which the output may name."""
    need: Callable[[], None] = lambda: None
    """Stops where something is missing that writing it takes."""


def _folder(job: Job, bundle: Path, stage: Path, name: str) -> Mapping[str, int]:
    write_folder(bundle, stage, job.stem)
    return {}


def _onefile(job: Job, bundle: Path, stage: Path, name: str) -> Mapping[str, int]:
    write_onefile(bundle, stage / name)
    return {}


def _full(job: Job, bundle: Path, stage: Path, name: str) -> Mapping[str, int]:
    return write_full(bundle, stage / name, job.entry)


FORMATS: Mapping[str, Format] = {
    "dir": Format(lambda job: folder_names(job.stem), _folder),
    "onefile": Format(lambda job: (job.entry,), _onefile, is_file=True),
    "full": Format(lambda job: (f"{job.stem}-full",), _full, need=need_pyinstaller),
}


@dataclass(frozen=True, slots=True)
class Made:
    """A file or folder that was written, and its size in bytes."""

    path: Path
    size: int
    parts: Mapping[str, int] = field(default_factory=dict)
    """Bytes of what it consists of, the largest first, where it has parts."""


def package(
    manifest: Manifest,
    entry: str,
    device: str,
    form: str,
    output: str | None,
    *,
    force: bool,
    options: Options,
    report: Report,
) -> tuple[Made, ...]:
    """Build the entry and write it in a format of `FORMATS`.

    `output` is the folder that the package goes into, or for a format that is one file the
    file, unless it is a folder or ends in `/`. Raises `Failure`.
    """
    (entry,) = choose_entries(manifest, (entry,))
    row = FORMATS[form]
    job = Job(manifest, entry, device)
    folder, names = _places(row.names(job), manifest, output, row.is_file)
    row.need()
    with machine_faults(folder):
        refuse_existing(folder, names, force)
        (result,) = build(manifest, (entry,), device, options, report)
        with (
            staged(folder, names, force) as stage,
            locked(build_folder.marker(manifest.build.dir), report.waiting),
        ):
            parts = row.write(job, result.bundle, stage, names[0])
    return tuple(Made(folder / name, size(folder / name), parts) for name in names)


def package_native(
    manifest: Manifest,
    entry: str,
    device: str,
    output: str | None,
    *,
    force: bool,
    options: Options,
    report: Report,
) -> Made:
    """Write the executable without Python of an entry; as `package` otherwise."""
    (entry,) = choose_entries(manifest, (entry,))
    folder, names = _places((entry,), manifest, output, is_file=True)
    with machine_faults(folder):
        refuse_existing(folder, names, force)
        build_folder.create(manifest.build.dir)
        with (
            staged(folder, names, force) as stage,
            locked(build_folder.marker(manifest.build.dir), report.waiting),
        ):
            write_native(manifest, entry, stage / names[0], options=options, report=report)
    return Made(folder / names[0], size(folder / names[0]))


def package_library(
    manifest: Manifest,
    entry: str,
    device: str,
    output: str | None,
    *,
    force: bool,
    options: Options,
    report: Report,
) -> Made:
    """Write the library of the functions that the entry exports; as `package` otherwise."""
    (entry,) = choose_entries(manifest, (entry,))
    name = f"{Job(manifest, entry, device).stem}-library"
    folder, names = _places((name,), manifest, output, is_file=False)
    with machine_faults(folder):
        refuse_existing(folder, names, force)
        build_folder.create(manifest.build.dir)
        with (
            staged(folder, names, force) as stage,
            locked(build_folder.marker(manifest.build.dir), report.waiting) as lock,
        ):
            write_library(
                manifest, entry, device, stage / name, options=options, report=report, lock=lock
            )
    return Made(folder / name, size(folder / name))


def _places(
    names: Sequence[str], manifest: Manifest, output: str | None, is_file: bool
) -> tuple[Path, Sequence[str]]:
    """The folder that is written into, and the names there."""
    if output is None:
        return manifest.root / FOLDER, names
    place = Path(os.path.abspath(output))  # noqa: PTH100  `resolve` would follow a link
    if not is_file or place.is_dir() or output.endswith(os.sep):
        return place, names
    return place.parent, (place.name,)


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    if path.is_dir():
        return sum(inner.lstat().st_size for inner in path.rglob("*") if not inner.is_dir())
    return path.stat().st_size
