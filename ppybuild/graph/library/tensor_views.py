"""Shapes of views, of parts of tensors, and of several tensors as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ppybuild.graph.lattice import ANY_SIZE
from ppybuild.graph.library import tensor_shapes as shapes
from ppybuild.graph.library.tensor_call import Call, Rule
from ppybuild.graph.library.tensor_dtypes import dtype_named, promote
from ppybuild.graph.library.tensor_shapes import Mismatch, Shape
from ppybuild.graph.types import Collection, Tensor, Tuple, Type


def reshape(call: Call) -> Type:
    tensor = call.first
    given = call.find(1, "shape", "size")
    if given is not None and dtype_named(given.name):
        return Tensor(dtype_named(given.name))
    sizes = call.sizes(1, "shape", "size")
    shape = None if sizes is None else shapes.reshape(tensor.shape, sizes)
    return Tensor(tensor.dtype, shape)


def transpose(call: Call) -> Type:
    first, second = call.integer(1, "dim0"), call.integer(2, "dim1")
    if first is None or second is None:
        return Tensor(call.first.dtype)
    return Tensor(call.first.dtype, shapes.transpose(call.first.shape, first, second))


def turn(call: Call) -> Type:
    shape = call.first.shape
    if shape is not None and len(shape) > 2:
        raise Mismatch(f"t() of a tensor of shape {shapes.show(shape)}")
    return Tensor(call.first.dtype, None if shape is None else shape[::-1])


def permute(call: Call) -> Type:
    order = call.sizes(1, "dims")
    numbers = [size for size in order or () if isinstance(size, int)]
    if order is None or len(numbers) != len(order):
        return Tensor(call.first.dtype)
    return Tensor(call.first.dtype, shapes.permute(call.first.shape, numbers))


def unsqueeze(call: Call) -> Type:
    dimension = call.integer(1, "dim")
    shape = None if dimension is None else shapes.unsqueeze(call.first.shape, dimension)
    return Tensor(call.first.dtype, shape)


def squeeze(call: Call) -> Type:
    found = call.find(1, "dim")
    dimension = call.integer(1, "dim")
    several = len(call.arguments) > 2
    if several or (found is not None and dimension is None):
        return Tensor(call.first.dtype)
    return Tensor(call.first.dtype, shapes.squeeze(call.first.shape, dimension))


def flatten(call: Call) -> Type:
    shape = call.first.shape
    first = call.integer(1, "start_dim", otherwise=0)
    last = call.integer(2, "end_dim", otherwise=-1)
    if shape is None or first is None or last is None:
        return Tensor(call.first.dtype)
    return Tensor(call.first.dtype, shapes.flatten(shape, first, last))


def parts_of(call: Call) -> list[Tensor] | None:
    """The tensors of a list display or tuple, where their number is known."""
    found = call.find(0, "tensors")
    if found is None:
        return None
    if isinstance(found.type, Tuple):
        parts = [item for item in found.type.items if isinstance(item, Tensor)]
        return parts if len(parts) == len(found.type.items) else None
    item = found.type.item if isinstance(found.type, Collection) else None
    if isinstance(item, Tensor) and isinstance(found.value, tuple):
        return [item] * len(found.value)
    return None


def joined(combine: Callable[[Sequence[Shape | None], int], Shape | None]) -> Rule:
    def rule(call: Call) -> Type | None:
        parts = parts_of(call)
        dimension = call.integer(1, "dim", "axis", otherwise=0)
        if parts is None:
            found = call.find(0, "tensors")
            item = found.type.item if found and isinstance(found.type, Collection) else None
            return Tensor(item.dtype) if isinstance(item, Tensor) else None
        dtype = promote(list(parts), call.default) if parts else None
        if dimension is None:
            return Tensor(dtype)
        return Tensor(dtype, combine([part.shape for part in parts], dimension))

    return rule


def expand(call: Call) -> Type:
    sizes = call.sizes(1, "size")
    shape = None if sizes is None else shapes.expand(call.first.shape, sizes)
    return Tensor(call.first.dtype, shape)


def like_other(call: Call) -> Type:
    return Tensor(call.first.dtype, call.tensor(1, "other").shape)


def one_hot(call: Call) -> Type:
    shape = call.first.shape
    classes = call.size(1, "num_classes")
    if classes == -1:
        classes = ANY_SIZE
    return Tensor("int64", None if shape is None else (*shape, classes))


def selected(call: Call) -> Type:
    """`index_select`: the size of one dimension becomes the number of indices."""
    shape, index = call.first.shape, call.tensor(2, "index").shape
    dimension = call.integer(1, "dim")
    if shape is None or dimension is None or not shape:
        return Tensor(call.first.dtype)
    place = shapes.normal_dimension(dimension, len(shape))
    count = index[0] if index else ANY_SIZE
    return Tensor(call.first.dtype, (*shape[:place], count, *shape[place + 1 :]))


def parts(call: Call) -> Type:
    """`split` and `chunk`: tensors that differ in the size of one dimension."""
    shape = call.first.shape
    dimension = call.integer(2, "dim", otherwise=0)
    if shape is None or dimension is None or not shape:
        return Collection("tuple", Tensor(call.first.dtype))
    place = shapes.normal_dimension(dimension, len(shape))
    part = (*shape[:place], ANY_SIZE, *shape[place + 1 :])
    return Collection("tuple", Tensor(call.first.dtype, part))


def unbound(call: Call) -> Type:
    shape = call.first.shape
    dimension = call.integer(1, "dim", otherwise=0)
    if shape is None or dimension is None or not shape:
        return Collection("tuple", Tensor(call.first.dtype))
    place = shapes.normal_dimension(dimension, len(shape))
    part = Tensor(call.first.dtype, shape[:place] + shape[place + 1 :])
    size = shape[place]
    return (
        Tuple((part,) * size)
        if isinstance(size, int) and size < 9
        else Collection("tuple", part)
    )


def repeated(call: Call) -> Type:
    shape, times = call.first.shape, call.sizes(1, "repeats")
    if shape is None or times is None or len(times) < len(shape):
        return Tensor(call.first.dtype)
    padded = (1,) * (len(times) - len(shape)) + shape
    pairs = zip(padded, times, strict=True)
    sizes = (a * b if isinstance(a, int) and isinstance(b, int) else ANY_SIZE for a, b in pairs)
    return Tensor(call.first.dtype, tuple(sizes))
