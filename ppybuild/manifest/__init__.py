"""`ppy.toml`, read and checked."""

from ppybuild.manifest.load import find, load
from ppybuild.manifest.tables import (
    FILE_NAME,
    RESERVED_ENTRY_NAMES,
    Build,
    Convert,
    Cpu,
    Cuda,
    Entry,
    Manifest,
    Project,
    Sources,
)

__all__ = [
    "FILE_NAME",
    "RESERVED_ENTRY_NAMES",
    "Build",
    "Convert",
    "Cpu",
    "Cuda",
    "Entry",
    "Manifest",
    "Project",
    "Sources",
    "find",
    "load",
]
