"""Types of views, joins, lookups and products: see `meta.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.ir import Constant, Dim, Items, TensorType, Value
from ppybuild.emit.tensors.meta import (
    UNKNOWN,
    Call,
    Results,
    like,
    normalized_dims,
    product,
    reduced,
)


def _matrix_product(left: int, right: int) -> Callable[[Call], Results]:
    """mm, bmm, mv, dot: all but the last of the left, then the last of a matrix right."""

    def rule(call: Call) -> Results:
        a, b = call.type(left), call.type(right)
        if a.shape is None or b.shape is None:
            return (TensorType(a.dtype, None),)
        return (TensorType(a.dtype, a.shape[:-1] + (b.shape[-1:] if len(b.shape) > 1 else ())),)

    return rule


def _transposed(call: Call) -> Results:
    source = call.type(0)
    return (TensorType(source.dtype, source.shape[::-1] if source.shape is not None else None),)


def _swapped(call: Call) -> Results:
    source = call.type(0)
    if source.shape is None:
        return (source,)
    shape = list(source.shape)
    if shape:
        a, b = call.integer(1), call.integer(2)
        shape[a], shape[b] = shape[b], shape[a]
    return (TensorType(source.dtype, tuple(shape)),)


def _permuted(call: Call) -> Results:
    source, dims = call.type(0), call.integers(1)
    shape = source.shape
    if shape is None or dims is None:
        return (TensorType(source.dtype, None),)
    return (TensorType(source.dtype, tuple(shape[d] for d in dims)),)


def _viewed(call: Call) -> Results:
    source, sizes = call.type(0), call.sizes(1)
    if sizes is None or -1 not in sizes:
        return (TensorType(source.dtype, sizes),)
    if source.shape is None:
        return (TensorType(source.dtype, None),)
    rest = tuple(size for size in sizes if size != -1)
    missing = _quotient(product(source.shape), rest)
    if missing is None:
        return (TensorType(source.dtype, None),)
    return (TensorType(source.dtype, tuple(missing if s == -1 else s for s in sizes)),)


def _quotient(total: Dim, rest: tuple[Dim, ...]) -> Dim | None:
    known = math.prod(size for size in rest if isinstance(size, int))
    symbols = [size for size in rest if isinstance(size, str)]
    factors = [total] if isinstance(total, int) else list(total.split("*"))
    number = math.prod(int(f) for f in factors if isinstance(f, int) or f.isdecimal())
    names = [f for f in factors if isinstance(f, str) and not f.isdecimal()]
    for symbol in symbols:
        if symbol not in names:
            return None
        names.remove(symbol)
    if not known or number % known:
        return None
    return product((number // known, *names))


def _expanded(call: Call) -> Results:
    source, sizes = call.type(0), call.sizes(1)
    if sizes is None or source.shape is None:
        return (TensorType(source.dtype, None if sizes is None or -1 in sizes else sizes),)
    lead = len(sizes) - len(source.shape)
    return (
        TensorType(
            source.dtype,
            tuple(source.shape[i - lead] if s == -1 else s for i, s in enumerate(sizes)),
        ),
    )


def _sized(dtype_of: int, sizes: int) -> Callable[[Call], Results]:
    return lambda call: (TensorType(call.type(dtype_of).dtype, call.sizes(sizes)),)


def _unsqueezed(call: Call) -> Results:
    source = call.type(0)
    if source.shape is None:
        return (source,)
    at = call.integer(1) % (len(source.shape) + 1)
    return (TensorType(source.dtype, (*source.shape[:at], 1, *source.shape[at:])),)


def _squeezed(call: Call) -> Results:
    source = call.type(0)
    if source.shape is None:
        return (source,)
    dims = normalized_dims(call.integers(1) if len(call.args) > 1 else None, len(source.shape))
    if any(isinstance(source.shape[d], str) for d in dims):
        return (TensorType(source.dtype, None),)  # the symbol may be 1
    return (
        TensorType(
            source.dtype,
            tuple(s for i, s in enumerate(source.shape) if i not in dims or s != 1),
        ),
    )


def _selected(call: Call) -> Results:
    return (
        TensorType(call.type(0).dtype, reduced(call.type(0).shape, call.integers(1), False)),
    )


def _sliced(call: Call) -> Results:
    source = call.type(0)
    if source.shape is None:
        return (source,)
    dim = call.integer(1) % max(len(source.shape), 1)
    size = source.shape[dim]
    bounds = [call.args[i] for i in (2, 3, 4)]
    if not isinstance(size, int) or not all(isinstance(b, Constant) for b in bounds):
        return (TensorType(source.dtype, None),)
    start, end, step = (call.literal(i) for i in (2, 3, 4))
    extent = len(range(*slice(_int(start), _int(end), _int(step)).indices(size)))
    shape = (*source.shape[:dim], extent, *source.shape[dim + 1 :])
    return (TensorType(source.dtype, shape),)


def _int(value: int | float | bool | str | None) -> int | None:
    return int(value) if isinstance(value, int) else None


def _joined(call: Call) -> Results:
    parts = call.args[0]
    if not isinstance(parts, Items):
        return (UNKNOWN,)
    types = [call.types.get(p, UNKNOWN) for p in parts.items if isinstance(p, Value)]
    dtypes = {t.dtype for t in types}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    shapes = [t.shape for t in types if t.shape is not None]
    if len(shapes) != len(types) or not shapes or len({len(s) for s in shapes}) > 1:
        return (TensorType(dtype, None),)
    dim = call.integer(1) % len(shapes[0])
    sizes = [s[dim] for s in shapes]
    if len(sizes) > 1 and not all(isinstance(size, int) for size in sizes):
        return (TensorType(dtype, None),)
    total = sizes[0] if len(sizes) == 1 else sum(s for s in sizes if isinstance(s, int))
    return (TensorType(dtype, (*shapes[0][:dim], total, *shapes[0][dim + 1 :])),)


def _stacked(call: Call) -> Results:
    parts = call.args[0]
    if not isinstance(parts, Items) or not isinstance(parts.items[0], Value):
        return (UNKNOWN,)
    first = call.types.get(parts.items[0], UNKNOWN)
    if first.shape is None:
        return (first,)
    at = call.integer(1) % (len(first.shape) + 1)
    shape = (*first.shape[:at], len(parts.items), *first.shape[at:])
    return (TensorType(first.dtype, shape),)


def _index_selected(call: Call) -> Results:
    source, index = call.type(0), call.type(2)
    if source.shape is None or index.shape is None:
        return (TensorType(source.dtype, None),)
    dim = call.integer(1) % max(len(source.shape), 1)
    extent = index.shape[0] if index.shape else 1
    return (TensorType(source.dtype, (*source.shape[:dim], extent, *source.shape[dim + 1 :])),)


def _embedded(call: Call) -> Results:
    weight, index = call.type(0), call.type(1)
    if weight.shape is None or index.shape is None:
        return (TensorType(weight.dtype, None),)
    return (TensorType(weight.dtype, index.shape + weight.shape[1:]),)


def _gathered(call: Call) -> Results:
    return (TensorType(call.type(0).dtype, call.type(2).shape),)


def _split(call: Call) -> Results:
    source, dim = call.type(0), call.integer(2)
    sizes = call.integers(1)
    if source.shape is None or sizes is None:
        return (UNKNOWN,)
    dim %= len(source.shape)
    total = source.shape[dim]
    if isinstance(call.args[1], Constant) and isinstance(total, int):
        (width,) = sizes
        count = max(1, -(-total // width)) if width else 1
        sizes = tuple(min(width, total - i * width) for i in range(count))
    return tuple(
        TensorType(source.dtype, (*source.shape[:dim], size, *source.shape[dim + 1 :]))
        for size in sizes
    )


VIEWS: Mapping[str, Callable[[Call], Results]] = {
    "aten::mm": _matrix_product(0, 1),
    "aten::bmm": _matrix_product(0, 1),
    "aten::mv": _matrix_product(0, 1),
    "aten::dot": _matrix_product(0, 1),
    "aten::addmm": _matrix_product(1, 2),
    "aten::baddbmm": _matrix_product(1, 2),
    "aten::t": _transposed,
    "aten::transpose.int": _swapped,
    "aten::permute": _permuted,
    "aten::view": _viewed,
    "aten::reshape": _viewed,
    "aten::_unsafe_view": _viewed,
    "aten::expand": _expanded,
    "aten::sum_to_size": _sized(0, 1),
    "aten::new_zeros": _sized(0, 1),
    "aten::unsqueeze": _unsqueezed,
    "aten::squeeze": _squeezed,
    "aten::squeeze.dim": _squeezed,
    "aten::squeeze.dims": _squeezed,
    "aten::select.int": _selected,
    "aten::slice.Tensor": _sliced,
    "aten::cat": _joined,
    "aten::stack": _stacked,
    "aten::split.Tensor": _split,
    "aten::split_with_sizes": _split,
    "aten::index_select": _index_selected,
    "aten::index_add": like(0),
    "aten::scatter_add": like(0),
    "aten::gather": _gathered,
    "aten::embedding": _embedded,
    "aten::select_backward": _sized(0, 1),
    "aten::slice_backward": _sized(0, 1),
    "aten::value_selecting_reduction_backward": _sized(0, 3),
    "aten::embedding_dense_backward": lambda call: (UNKNOWN,),
}
