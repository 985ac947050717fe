"""The make of a `torch.nn` module, as records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ppybuild.graph.types import Tensor

PROGRAM = "program"
"""The kind of a module whose class is the program's."""

Setting = bool | int | float | str | tuple[int, ...] | None


@final
@dataclass(frozen=True, slots=True)
class Config:
    """An attribute that must be exactly this when the region runs."""

    name: str
    value: Setting


@final
@dataclass(frozen=True, slots=True)
class Built:
    """A module: `kind` is its class in `torch.nn`, or PROGRAM, and then `owner` its class."""

    kind: str
    owner: str = ""
    parameters: tuple[tuple[str, Tensor | None], ...] = ()
    """None for one that is absent: `bias=False`."""
    children: tuple[tuple[str, Built], ...] = ()
    config: tuple[Config, ...] = ()
    buffers: tuple[tuple[str, Tensor | None], ...] = ()

    def child(self, name: str) -> Built | None:
        return dict(self.children).get(name)

    def setting(self, name: str) -> Setting:
        return {config.name: config.value for config in self.config}[name]
