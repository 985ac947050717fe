"""Dtype and shape of new tensors."""

from __future__ import annotations

from ppybuild.graph.lattice import ANY_SIZE
from ppybuild.graph.library.tensor_call import Call, Rule, sizes_of
from ppybuild.graph.library.tensor_dtypes import scalar_category
from ppybuild.graph.library.tensor_shapes import Shape
from ppybuild.graph.library.values import Argument, Value
from ppybuild.graph.types import Array, Buffer, Collection, Tensor, Tuple, Type


def filled(position: int, *names: str) -> Rule:
    """New floating tensors whose sizes start at a position."""

    def rule(call: Call) -> Type:
        return Tensor(call.keyword_dtype(call.default), call.sizes(position, *names))

    return rule


def full(call: Call) -> Type:
    found, value = call.find(0, "size"), call.find(1, "fill_value")
    sizes = sizes_of(found.value) if found and isinstance(found.value, tuple) else None
    by_category = {0: "bool", 1: "int64", 2: call.default}
    category = scalar_category(value.type) if value else None
    dtype = by_category.get(category) if category is not None else None
    return Tensor(call.keyword_dtype(dtype), sizes)


def new_like(call: Call) -> Type:
    return Tensor(call.keyword_dtype(call.first.dtype), call.first.shape)


def from_data(call: Call) -> Type:
    """`torch.tensor`, `torch.as_tensor`: shape and dtype of nested sequences."""
    found = call.find(0, "data")
    dtype, rank_one = data_dtype(found.type if found else Tensor(), call.default)
    shape: Shape | None = None
    if found is not None:
        if scalar_category(found.type) is not None:
            shape = ()
        elif isinstance(found.type, Tuple) and rank_one:
            shape = (len(found.type.items),)
        elif isinstance(found.type, Tensor):
            shape = found.type.shape
        elif isinstance(found.value, tuple):
            shape = nested_shape(found.value)
        if shape is None:
            shape = nested_rank(found.type)
    return Tensor(call.keyword_dtype(dtype), shape)


def nested_rank(kind: Type) -> Shape | None:
    """The shape of sequences in sequences of numbers, of which no length is known."""
    depth = 0
    while isinstance(kind, Collection) and kind.kind in ("list", "tuple", "Sequence"):
        kind = kind.item
        depth += 1
    if isinstance(kind, Array | Buffer):
        return (ANY_SIZE,) * (depth + 1)
    return (ANY_SIZE,) * depth if scalar_category(kind) is not None else None


def data_dtype(kind: Type, default: str | None) -> tuple[str | None, bool]:
    """The dtype of numbers in sequences, and whether they are directly in the outermost."""
    depth = 0
    while True:
        category = scalar_category(kind)
        if category is not None:
            dtype = {0: "bool", 1: "int64", 2: default}.get(category)
            return dtype, depth == 1
        match kind:
            case Tensor(dtype=dtype):
                return (dtype if depth == 0 else None), False
            case Collection(item=item):
                kind = item
            case Tuple(items=(first, *rest)) if all(item == first for item in rest):
                kind = first
            case _:
                return None, False
        depth += 1


def nested_shape(value: Value) -> Shape | None:
    """The shape of a nested display whose rows are all written out."""
    if not isinstance(value, tuple):
        return () if isinstance(value, int | float | bool) else None
    inner = {nested_shape(part) for part in value}
    if len(inner) != 1:
        return None
    shape = inner.pop()
    return None if shape is None else (len(value), *shape)


def arange(call: Call) -> Type:
    bounds = list(call.arguments)
    categories = [scalar_category(bound.type) for bound in bounds]
    if None in categories or any(name in call.keywords for name in ("start", "end", "step")):
        return Tensor(call.keyword_dtype(None))
    dtype = "int64" if all(c == 1 for c in categories) else call.default
    values = [bound.value for bound in bounds]
    shape: Shape | None = (ANY_SIZE,)
    if all(isinstance(v, int) and not isinstance(v, bool) for v in values) and values:
        numbers = [v for v in values if isinstance(v, int)]
        try:
            shape = (len(range(*numbers)),)
        except (TypeError, ValueError):
            shape = None
    return Tensor(call.keyword_dtype(dtype), shape)


def stepped(call: Call) -> Type:
    """`linspace` and `logspace`."""
    return Tensor(call.keyword_dtype(call.default), (call.size(2, "steps"),))


def identity(call: Call) -> Type:
    rows = call.size(0, "n")
    columns = call.size(1, "m") if call.find(1, "m") is not None else rows
    return Tensor(call.keyword_dtype(call.default), (rows, columns))


def random_integers(call: Call) -> Type:
    sizes = next(
        (sizes_of(a.value) for a in call.arguments if isinstance(a.value, tuple)), None
    )
    return Tensor(call.keyword_dtype("int64"), sizes)


def permutation(call: Call) -> Type:
    return Tensor(call.keyword_dtype("int64"), (call.size(0, "n"),))


def normal(call: Call) -> Type:
    """`torch.normal` of two numbers and a size, or of tensors."""
    sizes = call.sizes(2, "size")
    if isinstance(call.find(0, "mean"), Argument) and sizes:
        return Tensor(call.keyword_dtype(call.default), sizes)
    return Tensor(call.keyword_dtype(call.first.dtype))


def new_filled(call: Call) -> Type:
    """`x.new_zeros(2, 3)`: of the tensor's dtype."""
    return Tensor(call.keyword_dtype(call.first.dtype), call.sizes(1, "size"))
