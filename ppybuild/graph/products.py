"""Folders that ppybuild made, which are no sources wherever they lie."""

from __future__ import annotations

from pathlib import Path

MARK = ".ppybuild"
"""Lies in a folder that is ours."""


def is_product(folder: Path) -> bool:
    """True for a bundle, and for a folder with the mark."""
    bundle = (folder / "bundle.json").exists() and (folder / "ppy" / "launch.py").exists()
    return bundle or (folder / MARK).exists()
