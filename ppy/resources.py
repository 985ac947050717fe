"""Finds a program's data files, wherever the program runs from."""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "ppy.toml"


def resource(path: str | os.PathLike[str]) -> Path:
    """The absolute path of a data file or folder of the program.

    `path` is relative, as the entry's `data` in `ppy.toml` names it: to the folder of the
    manifest, which under plain Python is the nearest one above the source that asks. Raises
    `FileNotFoundError` where there is no such file, and `ValueError` for a path that leaves
    the folder.
    """
    from pathlib import Path

    relative = os.path.normpath(path)
    if os.path.isabs(relative) or relative.split(os.sep)[0] == os.pardir:
        raise ValueError(f"a resource's path is relative and stays inside: {os.fspath(path)!r}")
    found = os.path.join(_base(sys._getframe(1).f_globals.get("__file__")), relative)
    if not os.path.exists(found):
        advice = f"no such data file; `data` of the entry in {MANIFEST} names what goes along"
        raise FileNotFoundError(errno.ENOENT, advice, found)
    return Path(found)


def _base(source: str | None) -> str:
    """The folder that paths start from, for a source file that asks."""
    loader = sys.modules.get("ppy.loader")
    bundle = loader.current() if loader is not None else None
    if bundle is not None:
        return os.path.join(bundle.root, "data")
    start = os.path.dirname(os.path.abspath(source)) if source else os.getcwd()
    folder = start
    while not os.path.isfile(os.path.join(folder, MANIFEST)):
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above
    return folder
