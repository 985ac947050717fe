"""What is known of a value that a call passes, and what fits several calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.regions.records import Input
from ppybuild.graph.shapes import Recorded, RecordedTensor
from ppybuild.graph.types import Collection, Tensor, Tuple, Type, Union

UNKNOWN_SIZE = "?"

VARIES = "*"
"""A size that was another from call to call while the program was recorded."""


@final
@dataclass(frozen=True, slots=True)
class Seed:
    """A tensor as calls pass it. `grows`: made with `requires_grad=True`, or a Parameter."""

    type: Tensor
    grows: bool = False


@final
@dataclass(frozen=True, slots=True)
class Several:
    """The tensors of a list or tuple; None for one of which nothing is known."""

    items: tuple[Seed | None, ...]


Found = Seed | Several | None


def better(known: Seed, found: Seed) -> Seed:
    """What inference knows of a variable, and where it knows less, what is assigned to it."""
    shape, other = known.type.shape, found.type.shape
    if shape is None:
        shape = other
    elif other is not None and len(other) == len(shape):
        pairs = zip(shape, other, strict=True)
        shape = tuple(b if a == UNKNOWN_SIZE else a for a, b in pairs)
    type = Tensor(known.type.dtype or found.type.dtype, shape, known.type.parameter)
    return Seed(type, found.grows or known.grows)


def is_known(found: Found) -> bool:
    if isinstance(found, Several):
        return all(item is not None and is_known(item) for item in found.items)
    if found is None or found.type.dtype is None or found.type.shape is None:
        return False
    return UNKNOWN_SIZE not in found.type.shape


def is_enough(found: Found) -> bool:
    """Whether all but the size of a batch is known."""
    if isinstance(found, Seed) and found.type.shape and found.type.shape[0] == UNKNOWN_SIZE:
        shape = (0, *found.type.shape[1:])
        return is_known(replace(found, type=replace(found.type, shape=shape)))
    return is_known(found)


def of_record(recorded: Recorded) -> Found:
    if isinstance(recorded, int):
        return None
    if isinstance(recorded, tuple):
        return Several(tuple(_of_recorded(one) for one in recorded))
    return _of_recorded(recorded)


def _of_recorded(recorded: RecordedTensor) -> Seed:
    shape = tuple(VARIES if size is None else size for size in recorded.shape)
    return Seed(Tensor(recorded.dtype, shape), recorded.trained)


def of_type(type: Type | None) -> Seed | None:
    match type:
        case Tensor():
            return Seed(type, type.parameter)
        case Union(members=members):
            tensors = [member for member in members if isinstance(member, Tensor)]
            return Seed(tensors[0], tensors[0].parameter) if len(tensors) == 1 else None
        case _:
            return None


def most(found: list[Found]) -> Found:
    """What most calls pass, the first of those that are as many; batches may differ in size."""
    trained = any(isinstance(one, Seed) and one.grows for one in found)
    found = _chosen(found, lambda seed: _sizes_of(seed, trained))
    found = _chosen(found, lambda seed: seed.type.dtype)
    result = found[0]
    for other in found[1:]:
        result = _joined(result, other)
    return result


def _chosen(found: list[Found], ballot: Callable[[Seed], object]) -> list[Found]:
    """Without the tensors that another ballot has more votes than; None is none."""
    votes = Counter(vote for one in found if isinstance(one, Seed) and (vote := ballot(one)))
    if not votes:
        return found
    winner = max(votes, key=lambda vote: votes[vote])
    return [one for one in found if not isinstance(one, Seed) or ballot(one) in (None, winner)]


def _sizes_of(seed: Seed, trained: bool) -> tuple[int | str, ...] | None:
    """The shape, with any size for the batch of what is not trained."""
    shape = seed.type.shape
    return shape if not shape or trained else (UNKNOWN_SIZE, *shape[1:])


def _joined(left: Found, right: Found) -> Found:
    """What fits both calls; one of which nothing is known says nothing against the other."""
    match left, right:
        case Seed(), Seed():
            return Seed(_join(left.type, right.type), left.grows or right.grows)
        case Several(items=one), Several(items=two) if len(one) == len(two):
            pairs = (_joined(a, b) for a, b in zip(one, two, strict=True))
            return Several(tuple(f if isinstance(f, Seed) else None for f in pairs))
        case None, _:
            return right
        case _, None:
            return left
        case _:
            return None


def _join(left: Tensor, right: Tensor) -> Tensor:
    one, two = left.shape, right.shape
    if one is None or two is None:
        shape = one if two is None else two
    elif len(one) == len(two):
        shape = tuple(a if a == b else UNKNOWN_SIZE for a, b in zip(one, two, strict=True))
    else:
        shape = None
    return Tensor(left.dtype if right.dtype in (None, left.dtype) else right.dtype, shape)


def is_sequence(type: Type) -> bool:
    """Whether a parameter of this type is a list or tuple of tensors."""
    match type:
        case Collection(kind=kind, item=Tensor()):
            return kind in ("list", "tuple", "Sequence")
        case Tuple(items=items):
            return bool(items) and all(isinstance(item, Tensor) for item in items)
        case _:
            return False


def seed_of(found: Found, given: Input) -> Seed | None:
    """What is known of an input, by what is passed for its parameter."""
    if given.kind != "tensor":
        return None
    if isinstance(found, Several) and given.index is not None:
        inside = -len(found.items) <= given.index < len(found.items)
        return found.items[given.index] if inside else None
    return found if isinstance(found, Seed) and given.index is None else None
