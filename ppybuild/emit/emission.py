"""What `emit` hands to `targets`: sources to compile, and what to bind where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from ppybuild.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A generated or shipped file, relative to its extension's folder."""

    path: PurePosixPath
    text: str


@dataclass(frozen=True, slots=True)
class Extension:
    """One CPython extension module made from several sources.

    `name` is its import name inside the bundle (`loops`, `regions`). Sources ending in
    `.c` and `.cpp` are compiled one by one and linked together; headers lie beside them.
    """

    name: str
    sources: tuple[SourceFile, ...]
    uses_torch: bool
    fp: Literal["strict", "relaxed", "fused"] = "strict"
    """How the C compiler treats floating point: source order and no contraction, whatever
    is fast, or contraction but neither reordering nor assumptions about infinity and NaN."""


@dataclass(frozen=True, slots=True)
class Emission:
    """A whole entry, emitted."""

    extensions: tuple[Extension, ...]
    bindings: Mapping[str, tuple[str, str]]
    """By dotted name of a Python function: the extension, and the attribute in it, that
    takes the Python function and gives its native stand-in."""
    remarks: tuple[Diagnostic, ...]
