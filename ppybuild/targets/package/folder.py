"""`dir`: the bundle as a folder, and as one archive with its digest."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path

import zstandard

from ppybuild.targets.bundle import bundle_files

_LEVEL = 9  # higher ones take minutes over weights, and save little
_SUFFIX = ".tar.zst"


def names(stem: str) -> tuple[str, ...]:
    """What is written: the folder, the archive, and its digest as `sha256sum -c` reads it."""
    return stem, f"{stem}{_SUFFIX}", f"{stem}{_SUFFIX}.sha256"


def write_folder(bundle: Path, stage: Path, stem: str) -> None:
    """Write the three below `stage`. The same bundle gives the same bytes."""
    folder, archive, digest = (stage / name for name in names(stem))
    for path in bundle_files(bundle):
        target = folder / path.relative_to(bundle)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        target.chmod(path.stat().st_mode & 0o777)
    _write_archive(folder, archive, stem)
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    digest.write_text(f"{found}  {archive.name}\n", encoding="utf-8")


def _write_archive(folder: Path, target: Path, stem: str) -> None:
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    with (
        target.open("wb") as file,
        compressor.stream_writer(file, closefd=False) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in (folder, *sorted(folder.rglob("*"))):
            inside = path.relative_to(folder).as_posix()
            item = archive.gettarinfo(path, f"{stem}/{inside}" if path != folder else stem)
            item.uid = item.gid = 0
            item.uname = item.gname = ""
            item.mtime = 0
            item.mode = 0o755 if path.is_dir() or item.mode & 0o100 else 0o644
            if path.is_dir():
                archive.addfile(item)
            else:
                with path.open("rb") as source:
                    archive.addfile(item, source)
