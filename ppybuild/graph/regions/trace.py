"""What is noted while a function's body is followed, and how its names are understood."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Protocol, final

from ppybuild.graph.regions.records import Input, InputKind, Step
from ppybuild.graph.regions.tables import TORCH_MODULES
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.names import Torch


class Names(Protocol):
    """How names of one module's code are understood."""

    def constant(self, node: ast.expr) -> int | float | bool | str | None: ...

    def named(self, node: ast.expr) -> str | None:
        """The dotted name of the module, function or class that a name stands for."""
        ...


@final
class TorchNames:
    """Names inside torch's own Python sources."""

    def constant(self, node: ast.expr) -> int | float | bool | str | None:
        return None

    def named(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return TORCH_MODULES.get(node.id, node.id)
        return None


@dataclass(slots=True)
class Trace:
    """What has been found so far: one for a region, shared by the functions it enters."""

    torch: Torch
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    nodes: dict[int, ast.expr] = field(default_factory=dict)
    """The expression of the program that gave a value."""
    values: int = 0
    lengths: dict[int, int] = field(default_factory=dict)
    """How many items a parameter that is a sequence has, by its place, where that is known."""
    functions: dict[str, str] = field(default_factory=dict)
    """The program's functions that were looked through, in order, by the calls that led
    there from the region's own: `f:module.g`."""
    constants: dict[str, int | float | bool | str] = field(default_factory=dict)
    """Constants of modules that were taken for their values, by such paths."""

    def new_value(self) -> int:
        self.values += 1
        return self.values - 1

    def new_input(self, name: str, kind: InputKind, place: int, index: int | None) -> Given:
        for known in self.inputs:
            if (known.name, known.kind) == (name, kind):
                return Given(kind, payload=known.value)
        value = self.new_value()
        self.inputs.append(Input(name, kind, value, place, index))
        return Given(kind, payload=value)
