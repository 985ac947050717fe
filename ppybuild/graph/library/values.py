"""What a call is asked about with, and what it may find wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from ppybuild.graph.types import UNKNOWN, Type


@final
class UnknownValue:
    """The value of an expression whose value is not known; there is one, `UNKNOWN_VALUE`."""

    def __repr__(self) -> str:
        return "UNKNOWN_VALUE"


UNKNOWN_VALUE = UnknownValue()

Value: TypeAlias = "int | float | bool | str | bytes | tuple[Value, ...] | UnknownValue | None"
"""A constant; a tuple for a tuple or list display, whose parts may be `UNKNOWN_VALUE`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call (or an index, or an operand), as far as it is known."""

    type: Type = UNKNOWN
    value: Value = UNKNOWN_VALUE
    """The constant it is worth. For an `int` that is a named size, the symbol as it stands in
    `Tensor.shape` (a str where `type` is not a str)."""
    name: str | None = None
    """The dotted name of the module variable that the expression is: `torch.float32`."""
    starred: bool = False
    """`*argument`: `type` is that of the sequence. (`**argument` has no keyword to stand
    under: pass `unpacked=True` to the call.)"""


@dataclass(frozen=True, slots=True)
class CallProblem:
    """Why a call cannot succeed, certain for every run that reaches it."""

    kind: Literal["count", "name", "type", "dtype", "shape"]
    """Too many or missing arguments; an unknown keyword; an argument's type; tensors that do
    not fit."""
    message: str
    argument: int | str | None = None
    """The argument at fault: position or keyword; None for the call as a whole."""
    found: Type = UNKNOWN
    expected: str = ""
