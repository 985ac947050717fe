"""The shape of `tensor[index]`.

x[:, 2:4]       (20, 6)                  →  (20, 2)
x[i : i + 32]   (20, 6)                  →  (?, 6)
x[order]        (20, 6), order (5,)      →  (5, 6)
x[x > 0]        (20, 6)                  →  (?,)
"""

from __future__ import annotations

import ast

from ppybuild.graph.infer.values import known_value
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import ANY_SIZE, base_scalar
from ppybuild.graph.types import INT, NONE, UNKNOWN, Collection, Tensor, Type

Shape = tuple[int | str, ...]


def indexed(visit: Visit, owner: Tensor, index: ast.expr) -> Tensor:
    """What an index leaves of a tensor; its shape is None where that cannot be told."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return Tensor(
        owner.dtype, None if owner.shape is None else _left(visit, owner.shape, parts)
    )


def _left(visit: Visit, shape: Shape, parts: list[ast.expr]) -> Shape | None:
    spans = [_span(visit, part) for part in parts]
    known = [span for span in spans if span is not None]
    skipped = len(shape) - sum(known)
    if len(known) < len(spans) or skipped < 0 or not _is_plain(visit, parts):
        return None
    left: Shape = ()
    for part, span in zip(parts, known, strict=True):
        if _is_ellipsis(part):
            span = skipped
            found: Shape | None = shape[:span]
        else:
            found = _sizes(visit, shape[:span], part)
        if found is None:
            return None
        left, shape = left + found, shape[span:]
    return left + shape


def _is_ellipsis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is Ellipsis


def _is_plain(visit: Visit, parts: list[ast.expr]) -> bool:
    """Whether each part works on its own: numbers beside a tensor would join it."""
    gathers = [part for part in parts if _gathered(visit, part) is not None]
    ellipses = [part for part in parts if _is_ellipsis(part)]
    numbers = [part for part in parts if _is_int(visit, part)]
    return len(ellipses) < 2 and (not gathers or (len(gathers) == 1 and not numbers))


def _type(visit: Visit, part: ast.expr) -> Type:
    return visit.resolved(visit.engine.types.get(part, UNKNOWN))


def _is_int(visit: Visit, part: ast.expr) -> bool:
    return base_scalar(_type(visit, part)) == INT


def _span(visit: Visit, part: ast.expr) -> int | None:
    """How many dimensions a part of an index stands for; None where it is not known."""
    if isinstance(part, ast.Slice):
        return 1
    found = _type(visit, part)
    match found:
        case Tensor(dtype="bool" | "uint8", shape=shape):
            return len(shape) if shape else None
        case Tensor(dtype=str()):
            return 1
        case Collection(kind="list", item=item):
            return 1 if base_scalar(item) == INT else None
        case _ if found == NONE or _is_ellipsis(part):
            return 0
        case _:
            return 1 if base_scalar(found) == INT else None


def _gathered(visit: Visit, part: ast.expr) -> Shape | None:
    """The shape that replaces the dimensions of a tensor or list of indices."""
    match _type(visit, part):
        case Tensor(dtype="bool" | "uint8"):
            return (ANY_SIZE,)
        case Tensor(shape=shape):
            return shape
        case Collection():
            value = known_value(visit, part)
            return (len(value),) if isinstance(value, tuple) else (ANY_SIZE,)
        case _:
            return None


def _sizes(visit: Visit, taken: Shape, part: ast.expr) -> Shape | None:
    """What becomes of the dimensions that a part stands for."""
    if isinstance(part, ast.Slice):
        return (_sliced(visit, taken[0], part),)
    if not taken:
        return (1,)
    if _is_int(visit, part):
        return ()
    return _gathered(visit, part)


def _sliced(visit: Visit, size: int | str, part: ast.Slice) -> int | str:
    bounds: list[int | None] = []
    for bound in (part.lower, part.upper, part.step):
        value = None if bound is None else known_value(visit, bound)
        if value is not None and not isinstance(value, int):
            return ANY_SIZE
        bounds.append(value)
    if isinstance(size, int) and bounds[2] != 0:
        return len(range(size)[slice(*bounds)])
    whole = bounds[0] in (None, 0) and bounds[1] is None and bounds[2] in (None, 1)
    return size if whole else ANY_SIZE
