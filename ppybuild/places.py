"""Where things are, as people read it: paths, and diagnostics in order of place."""

from __future__ import annotations

from pathlib import Path

from ppybuild.diagnostics import Diagnostic


def shown_path(path: Path, base: Path) -> str:
    """Relative to `base` where it lies below it, with slashes."""
    return (path.relative_to(base) if path.is_relative_to(base) else path).as_posix()


def is_environment(folder: Path) -> bool:
    """Whether it is a virtual environment; one that may not be entered is passed over too."""
    try:
        return (folder / "pyvenv.cfg").exists()
    except PermissionError:
        return True


def by_place(found: Diagnostic) -> tuple[str, int, int, str, str]:
    """A key for sorting: by file, line and column; what has no place comes first."""
    where = found.location
    if where is None:
        return ("", 0, 0, found.code, found.message)
    return (str(where.path), where.line, where.column, found.code, found.message)
