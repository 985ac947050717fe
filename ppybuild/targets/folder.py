"""The build folder: that it is ours, and what lies where in it.

build/
  .ppybuild                  says that the folder is ours; the lock of a build
  .work/<device>/<entry>/    generated sources, SConstruct, objects, stamp.json
  .objects/                  compiled objects by content, where no other cache is named
  <device>/<entry>/          the bundle
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ppybuild.diagnostics import Diagnostic, Failure
from ppybuild.targets.lock import locked

_MARKER = ".ppybuild"
_CACHE_BYTES = 256 << 20
_TEXT = "Everything here was written by ppybuild; `ppybuild clean` removes the folder.\n"


def bundle_place(build: Path, device: str, entry: str) -> Path:
    return build / device / entry


def work_place(build: Path, device: str, entry: str) -> Path:
    return build / ".work" / device / entry


def stamp_place(build: Path, device: str, entry: str) -> Path:
    return work_place(build, device, entry) / "stamp.json"


def own_cache(build: Path) -> Path:
    """Where entries find objects that another entry, or an earlier build, has compiled.

    Nothing there is ever out of date, but it grows; it starts anew when it is large.
    """
    place = build / ".objects"
    held = sum(path.lstat().st_size for path in place.rglob("*") if path.is_file())
    if held > _CACHE_BYTES:
        shutil.rmtree(place)
    return place


def marker(build: Path) -> Path:
    return build / _MARKER


def is_ours(build: Path) -> bool:
    return marker(build).is_file()


def create(build: Path) -> None:
    """Make the folder and mark it, unless it holds something that is not ours."""
    if build.exists() and not build.is_dir():
        raise Failure(_in_the_way(build, "is a file"), status=2)
    build.mkdir(parents=True, exist_ok=True)
    if is_ours(build):
        return
    if any(build.iterdir()):
        raise Failure(_in_the_way(build, "holds files that ppybuild did not write"), status=2)
    marker(build).write_text(_TEXT, encoding="utf-8")


def remove(build: Path, waiting: Callable[[], None]) -> bool:
    """Remove the folder once no build runs in it; False where there is none."""
    if not build.exists() and not build.is_symlink():
        return False
    if build.is_symlink():
        raise Failure(_in_the_way(build, "is a symbolic link"), status=2)
    if not build.is_dir():
        raise Failure(_in_the_way(build, "is a file"), status=2)
    if not is_ours(build):
        raise Failure(_in_the_way(build, "was not made by ppybuild"), status=2)
    with locked(marker(build), waiting):
        for inner in sorted(build.iterdir(), key=lambda path: path.name == _MARKER):
            # The marker goes last: a removal that is stopped can be taken up again.
            if inner.is_dir() and not inner.is_symlink():
                shutil.rmtree(inner)
            else:
                inner.unlink()
        build.rmdir()
    return True


def _in_the_way(build: Path, what: str) -> Diagnostic:
    return Diagnostic(
        "E2107",
        f"the build folder `{build}` {what}",
        help="name another folder in `[build] dir`, or remove it yourself",
    )
