"""`ppy.shapes.toml`: the tensors that functions were given, and that variables held, while a
program ran; and the numbers with which its modules were made.

    ["model.forward_loss"]
    x = "float32[*, 32]"
    params = ["float32[32, 64] trained", "float32[64] trained"]

    ["model.Net.__init__"]
    width = 64

`*` is a size that differed from call to call, and `trained` a leaf that requires a gradient.
They are what regions are specialised on where analysis does not find it out; each call checks
them, so a file that has grown old costs speed and never an answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ppybuild.diagnostics import CODES, Diagnostic, Failure

NAME = "ppy.shapes.toml"

_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[^\]]*)\](?P<trained> trained)?")


@final
@dataclass(frozen=True, slots=True)
class RecordedTensor:
    """`shape`: None for a size that differs from call to call."""

    dtype: str
    shape: tuple[int | None, ...]
    trained: bool

    def __str__(self) -> str:
        sizes = ", ".join("*" if size is None else str(size) for size in self.shape)
        return f"{self.dtype}[{sizes}]{' trained' if self.trained else ''}"


Recorded = RecordedTensor | tuple[RecordedTensor, ...] | int
Shapes = Mapping[str, Mapping[str, Recorded]]
"""By function or module, then parameter or variable: a tensor, those of a list or tuple, or a
number."""


def read_shapes(root: Path) -> Shapes:
    """What was recorded in a project; nothing where there is no file. Raises `Failure`."""
    path = root / NAME
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _failure(f"`{NAME}` cannot be read: {reason}") from None
    shapes: dict[str, dict[str, Recorded]] = {}
    for function, parameters in tables.items():
        if not isinstance(parameters, dict):
            raise _failure(f"`{function}` in `{NAME}` is no table of variables")
        shapes[function] = {
            name: _recorded(f"{function}.{name}", text) for name, text in parameters.items()
        }
    return shapes


def _recorded(place: str, text: object) -> Recorded:
    if type(text) is int:
        return text
    if isinstance(text, list):
        return tuple(_tensor(place, one) for one in text)
    return _tensor(place, text)


def _tensor(place: str, text: object) -> RecordedTensor:
    match = _TENSOR.fullmatch(text) if isinstance(text, str) else None
    sizes = [size.strip() for size in match["shape"].split(",")] if match else []
    sizes = [] if sizes == [""] else sizes
    if match is None or not all(size == "*" or size.isdecimal() for size in sizes):
        raise _failure(f"`{place}` in `{NAME}` is no tensor: `{text}`")
    shape = tuple(None if size == "*" else int(size) for size in sizes)
    return RecordedTensor(match["dtype"], shape, match["trained"] is not None)


def _failure(message: str) -> Failure:
    return Failure(Diagnostic("E2112", message, help=CODES["E2112"].fix), status=2)
