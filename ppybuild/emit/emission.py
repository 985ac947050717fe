"""What `emit` hands to `targets`: sources to compile, and what to bind where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


Role = Literal["read", "trained", "written"]


@dataclass(frozen=True, slots=True)
class RegionInput:
    """What a region reads: `what` is its dtype and shape, where it is specialised on them
    (`float32[n, 32]`), else its kind; `role` what becomes of it."""

    name: str
    what: str
    role: Role


@dataclass(frozen=True, slots=True)
class DescribedRegion:
    """A tensor region, a training step or a forward pass, for a person."""

    kind: Literal["region", "training step", "forward pass"]
    side: str
    """The way branches go that it is for: "`verbose` is False"; "" where it has none."""
    numerics: str
    through: tuple[tuple[str, str, int], ...]
    """Functions that were looked through: name, file, line."""
    operators: tuple[tuple[str, int], ...]
    """How often each is called, in order of the first call; without those of the gradients."""
    inputs: tuple[RegionInput, ...]
    guards: tuple[str, ...]
    """When Python runs the function instead."""
    unfused: str
    """Why it has no fused form; "" where it has one or none is asked for."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Native code that stands for a run of statements inside a module's code."""

    module: str
    function: str
    """Whose code it is; the module's name for its own."""
    line: int
    column: int
    """Of the first statement, as in syntax trees: from 1, and bytes of UTF-8 from 0."""
    count: int
    """How many statements of the block it stands for."""
    takes: tuple[str, ...]
    """Variables and dotted paths: the arguments."""
    gives: tuple[str, ...]
    """The variables that are bound to the items of the tuple that it returns."""
    renews: tuple[str, ...]
    """Variables that the statements bind before they read them: let go before the call."""
    value: tuple[int, int, int, int] | None
    """Where an expression in the statement after them stands, from line and column to line
    and column: the last item of the tuple stands for it."""
    extension: str
    attribute: str
    """As in `Emission.bindings`; the Python function has the statements as its body."""


@dataclass(frozen=True, slots=True)
class Emission:
    """A whole entry, emitted."""

    extensions: tuple[Extension, ...]
    bindings: Mapping[str, tuple[str, str]]
    """By dotted name of a Python function: the extension, and the attribute in it, that
    takes the Python function and gives its native stand-in."""
    remarks: tuple[Diagnostic, ...]
    regions: Mapping[str, DescribedRegion] = field(default_factory=dict)
    """Each tensor region and training step, by its function or by the name of its splice."""
    splices: Mapping[str, Splice] = field(default_factory=dict)
    """By a name of its own: the scope, and the lines."""
