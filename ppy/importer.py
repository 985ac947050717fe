"""Lets plain Python import `.ppy` files.

A `.ppy` file is Python source under another suffix, so the standard finder of files does
the work: packages, relative imports, namespace packages, reloading. Where a folder holds
both `m.ppy` and `m.py`, `m.ppy` is taken.
"""

from __future__ import annotations

import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)

TYPE_CHECKING = False  # as typing's, which would cost half of this package's import
if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SUFFIX = ".ppy"


class PpyFileLoader(SourceFileLoader):
    """Loads a `.ppy` file. Its cached bytecode is kept apart from that of an `m.py`."""

    def get_data(self, path: str) -> bytes:
        return super().get_data(_cache_path(path))

    def set_data(self, path: str, data: ReadableBuffer, **mode: int) -> None:
        super().set_data(_cache_path(path), data, **mode)


def _cache_path(path: str) -> str:
    """`__pycache__/m.cpython-311.pyc` as `__pycache__/m.cpython-311.ppy.pyc`."""
    stem, dot, suffix = path.rpartition(".")
    return f"{stem}{SUFFIX}.{suffix}" if dot + suffix in BYTECODE_SUFFIXES else path


_hook = FileFinder.path_hook(
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (PpyFileLoader, [SUFFIX]),
    (SourceFileLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


def install() -> None:
    """Put the hook right before the one that finds `.py` files; once is enough.

    Others stay before it: those of archives, and of programs that were frozen.
    """
    if _hook not in sys.path_hooks:
        names = [getattr(hook, "__name__", "") for hook in sys.path_hooks]
        sys.path_hooks.insert(
            names.index(_hook.__name__) if _hook.__name__ in names else 0, _hook
        )
        sys.path_importer_cache.clear()
