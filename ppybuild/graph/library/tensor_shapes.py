"""Shapes of tensors: tuples of sizes, where a size is a number or a symbol's name.

A function gives None where the result's shape cannot be told, and raises `Mismatch` where
torch is certain to refuse the operands. Two different symbols may be equal, and a symbol may
be 1, so only numbers can contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppybuild.graph.lattice import ANY_SIZE

Size = int | str
Shape = tuple[Size, ...]


class Mismatch(Exception):
    """Tensors that cannot go together; the text says which sizes."""

    def __init__(self, message: str, kind: str = "shape") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind


def show(shape: Shape) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The common shape of operands of an elementwise operation."""
    if left is None or right is None:
        return None
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    padded: Shape = (1,) * (len(longer) - len(shorter)) + shorter
    sizes: list[Size] = []
    known = True
    for a, b in zip(longer, padded, strict=True):
        if a == b or b == 1:
            sizes.append(a)
        elif a == 1:
            sizes.append(b)
        elif isinstance(a, int) and isinstance(b, int):
            raise Mismatch(f"shapes {show(left)} and {show(right)} do not broadcast")
        elif isinstance(a, int) or isinstance(b, int):
            sizes.append(a if isinstance(a, int) else b)
        else:
            known = False
    return tuple(sizes) if known else None


def matmul(left: Shape | None, right: Shape | None) -> Shape | None:
    """`torch.matmul`: vectors, matrices, and batches of matrices."""
    if left is None or right is None:
        return None
    if not left or not right:
        raise Mismatch("matmul needs tensors of at least one dimension")
    inner = right[-2] if len(right) > 1 else right[-1]
    if isinstance(left[-1], int) and isinstance(inner, int) and left[-1] != inner:
        raise Mismatch(
            f"matmul of {show(left)} and {show(right)}: {left[-1]} columns meet {inner} rows"
        )
    batch = broadcast(left[:-2], right[:-2])
    if batch is None:
        return None
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return batch + rows + columns


def normal_dimension(dimension: int, rank: int) -> int:
    """A dimension counted from the front; torch counts a scalar as of one dimension."""
    span = max(rank, 1)
    if not -span <= dimension < span:
        raise Mismatch(f"dimension {dimension} of a tensor of {rank} dimensions")
    return dimension % span


def reduce(shape: Shape | None, dimensions: Sequence[int] | None, keep: bool) -> Shape | None:
    """The shape after a reduction over some dimensions, or all."""
    if shape is None:
        return None
    if dimensions is None or not dimensions:
        return (1,) * len(shape) if keep else ()
    chosen = {normal_dimension(dimension, len(shape)) for dimension in dimensions}
    if keep:
        return tuple(1 if i in chosen else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in chosen)


def count(shape: Shape) -> int | None:
    """The number of elements, where every size is a number."""
    total = 1
    for size in shape:
        if not isinstance(size, int):
            return None
        total *= size
    return total


def reshape(shape: Shape | None, sizes: Shape) -> Shape | None:
    """`reshape` and `view`: one size may be -1."""
    unknown = [i for i, size in enumerate(sizes) if size == -1]
    if len(unknown) > 1:
        raise Mismatch("only one size can be -1")
    total = None if shape is None else count(shape)
    if not unknown:
        wanted = count(sizes)
        if shape is not None and total is not None and wanted is not None and total != wanted:
            raise Mismatch(f"a tensor of shape {show(shape)} cannot become {show(sizes)}")
        return sizes
    rest = count(tuple(size for size in sizes if size != -1))
    if total is None or rest is None:
        return tuple(ANY_SIZE if size == -1 else size for size in sizes)
    assert shape is not None
    if rest == 0 or total % rest:
        raise Mismatch(f"a tensor of shape {show(shape)} cannot become {show(sizes)}")
    return tuple(total // rest if size == -1 else size for size in sizes)


def flatten(shape: Shape, first: int, last: int) -> Shape:
    """The dimensions from `first` to `last` as one."""
    if not shape:
        return (1,)
    start, end = normal_dimension(first, len(shape)), normal_dimension(last, len(shape))
    if start > end:
        raise Mismatch(f"flatten of {show(shape)} from {first} to {last}")
    total = count(shape[start : end + 1])
    return (*shape[:start], ANY_SIZE if total is None else total, *shape[end + 1 :])


def transpose(shape: Shape | None, first: int, second: int) -> Shape | None:
    if shape is None:
        return None
    if not shape:
        return shape
    a, b = normal_dimension(first, len(shape)), normal_dimension(second, len(shape))
    sizes = list(shape)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    return tuple(sizes)


def permute(shape: Shape | None, order: Sequence[int]) -> Shape | None:
    if shape is None:
        return None
    if len(order) != len(shape):
        raise Mismatch(f"permute of {show(shape)} gets {len(order)} dimensions")
    return tuple(shape[normal_dimension(dimension, len(shape))] for dimension in order)


def unsqueeze(shape: Shape | None, dimension: int) -> Shape | None:
    if shape is None:
        return None
    place = normal_dimension(dimension, len(shape) + 1)
    return (*shape[:place], 1, *shape[place:])


def squeeze(shape: Shape | None, dimension: int | None) -> Shape | None:
    """Without its sizes that are 1; None where a symbol may be."""
    if shape is None:
        return None
    places = range(len(shape))
    chosen = places if dimension is None else [normal_dimension(dimension, len(shape))]
    if any(isinstance(shape[i], str) for i in chosen if i < len(shape)):
        return None
    return tuple(size for i, size in enumerate(shape) if not (i in chosen and size == 1))


def concatenate(shapes: Sequence[Shape | None], dimension: int) -> Shape | None:
    """`cat`. A tensor of shape (0,) goes with anything, so it makes the answer unknown."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known or (0,) in known:
        return None
    first = known[0]
    if () in known:
        raise Mismatch("cat of a tensor without dimensions")
    place = normal_dimension(dimension, len(first))
    total: int | None = 0
    for shape in known:
        if len(shape) != len(first):
            raise Mismatch(f"cat of {show(first)} and {show(shape)}")
        for i, (a, b) in enumerate(zip(first, shape, strict=True)):
            if i != place and isinstance(a, int) and isinstance(b, int) and a != b:
                raise Mismatch(f"cat of {show(first)} and {show(shape)} along {dimension}")
        size = shape[place]
        total = total + size if isinstance(size, int) and total is not None else None
    joined = ANY_SIZE if total is None else total
    return (*first[:place], joined, *first[place + 1 :])


def stack(shapes: Sequence[Shape | None], dimension: int) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known:
        return None
    first = known[0]
    for shape in known:
        sizes = zip(first, shape, strict=False)
        if len(shape) != len(first) or any(
            isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes
        ):
            raise Mismatch(f"stack of {show(first)} and {show(shape)}")
    place = normal_dimension(dimension, len(first) + 1)
    return (*first[:place], len(known), *first[place:])


def expand(shape: Shape | None, sizes: Shape) -> Shape | None:
    """`expand`: -1 keeps a size; only a size of 1 can grow."""
    if shape is None:
        return None if -1 in sizes else sizes
    if len(sizes) < len(shape):
        raise Mismatch(f"expand of {show(shape)} to {show(sizes)}")
    padded: Shape = (1,) * (len(sizes) - len(shape)) + shape
    result: list[Size] = []
    for held, wanted in zip(padded, sizes, strict=True):
        if wanted == -1:
            result.append(held)
        elif isinstance(held, int) and isinstance(wanted, int) and held not in (1, wanted):
            raise Mismatch(f"expand of {show(shape)} to {show(sizes)}")
        else:
            result.append(wanted)
    return tuple(result)
