"""Types of the results of ATen nodes: dtype promotion, broadcasting, reduced and viewed shapes.

The tables cover the operators that derivatives and the fused form deal in. For any other
operator the answer is one result of unknown type, which is honest and enough to go on.
Sizes may be symbols; a size that follows from symbols by arithmetic is a symbol that spells
the arithmetic ("2*n"), so that equal results stay equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.ir import (
    Argument,
    Constant,
    Dim,
    Items,
    Symbolic,
    TensorType,
    Value,
)

UNKNOWN = TensorType(None, None)

_RANK = {
    "bool": 0,
    "uint8": 1,
    "int8": 2,
    "int16": 3,
    "int32": 4,
    "int64": 5,
    "float16": 6,
    "bfloat16": 6,
    "float32": 7,
    "float64": 8,
}
"""Order of promotion among the real dtypes; float16 with bfloat16 gives float32."""

FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})


def _category(dtype: str) -> int:
    return 0 if dtype == "bool" else 2 if dtype in FLOATING else 1


def _promote(left: str, right: str) -> str | None:
    if left not in _RANK or right not in _RANK:
        return left if left == right else None
    if {left, right} == {"float16", "bfloat16"}:
        return "float32"
    if {left, right} == {"uint8", "int8"}:
        return "int16"
    return max(left, right, key=_RANK.__getitem__)


@final
@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a node and the types of the tensors among them."""

    args: tuple[Argument, ...]
    types: Mapping[Value, TensorType]

    def type(self, index: int) -> TensorType:
        arg = self.args[index] if index < len(self.args) else None
        return self.types.get(arg, UNKNOWN) if isinstance(arg, Value) else UNKNOWN

    def literal(self, index: int) -> int | float | bool | str | None:
        arg = self.args[index] if index < len(self.args) else None
        return arg.value if isinstance(arg, Constant) else None

    def integer(self, index: int) -> int:
        value = self.literal(index)
        return int(value) if isinstance(value, int) else 0

    def integers(self, index: int) -> tuple[int, ...] | None:
        """A list of known integers; one integer counts as a list of one."""
        arg = self.args[index] if index < len(self.args) else None
        if isinstance(arg, Constant) and isinstance(arg.value, int):
            return (arg.value,)
        if not isinstance(arg, Items):
            return None
        found = [
            i.value for i in arg.items if isinstance(i, Constant) and isinstance(i.value, int)
        ]
        return tuple(found) if len(found) == len(arg.items) else None

    def sizes(self, index: int) -> tuple[Dim, ...] | None:
        """A list of sizes; a size that a node computes is a symbol named after its value."""
        arg = self.args[index]
        if not isinstance(arg, Items):
            return None
        return tuple(_size(item) for item in arg.items)


def _size(item: Argument) -> Dim:
    if isinstance(item, Constant) and isinstance(item.value, int):
        return item.value
    return f"%{item.id}" if isinstance(item, Value) else "?"


Results = tuple[TensorType | None, ...]
"""One per result; None for a result that is a number."""


def broadcast(*shapes: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
    """The common shape, or None where a symbol meets another size than 1."""
    if any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    result: list[Dim] = []
    for place in range(max((len(s) for s in known), default=0), 0, -1):
        sizes = {s[-place] for s in known if len(s) >= place} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def product(sizes: tuple[Dim, ...]) -> Dim:
    """The product as a number, or as a symbol where a factor is one."""
    number = math.prod(size for size in sizes if isinstance(size, int))
    symbols = sorted(size for size in sizes if isinstance(size, str))
    if not symbols or number == 0:
        return number
    return "*".join(([str(number)] if number != 1 else []) + symbols)


def normalized_dims(dims: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Dimensions counted from the front; none given means all."""
    if not dims:
        return tuple(range(rank))
    return tuple(sorted(d % rank if rank else 0 for d in dims))


def promoted(call: Call, *indices: int) -> str | None:
    """PyTorch's result dtype: sized tensors before zero-dimensional ones before numbers."""
    best: list[str | None] = [None, None, None]
    for index in indices:
        arg = call.args[index]
        if isinstance(arg, Constant):
            if arg.value is None:
                continue
            kind = {bool: "bool", int: "int64", float: "float32"}.get(type(arg.value))
            level = 2
        elif isinstance(arg, Value) and arg in call.types:
            type_ = call.types[arg]
            kind = type_.dtype
            level = 0 if type_.shape is None or type_.shape else 1
        else:  # a number computed by a node
            kind, level = "int64", 2
        if kind is None:
            return None
        known = best[level]
        best[level] = kind if known is None else _promote(known, kind)
    result = best[0]
    for level in (1, 2):
        other = best[level]
        if other is None:
            continue
        if result is None:
            result = other
        elif _category(other) > _category(result):
            result = "float32" if level == 2 and _category(other) == 2 else other
    return result


def _pointwise(*indices: int) -> Callable[[Call], Results]:
    def rule(call: Call) -> Results:
        shapes = [call.type(i).shape for i in indices if _is_tensor(call, i)]
        return (TensorType(promoted(call, *indices), broadcast(*shapes)),)

    return rule


def _is_tensor(call: Call, index: int) -> bool:
    arg = call.args[index]
    return isinstance(arg, Value) and arg in call.types


def _floating(*indices: int) -> Callable[[Call], Results]:
    """Like `_pointwise`, with integers becoming the default float."""
    base = _pointwise(*indices)

    def rule(call: Call) -> Results:
        (type_,) = base(call)
        assert type_ is not None
        dtype = type_.dtype
        return (
            TensorType(dtype if dtype in FLOATING or not dtype else "float32", type_.shape),
        )

    return rule


def _boolean(*indices: int) -> Callable[[Call], Results]:
    base = _pointwise(*indices)

    def rule(call: Call) -> Results:
        (type_,) = base(call)
        assert type_ is not None
        return (TensorType("bool", type_.shape),)

    return rule


def _like(index: int) -> Callable[[Call], Results]:
    return lambda call: (call.type(index),)


def _likes(*indices: int) -> Callable[[Call], Results]:
    return lambda call: tuple(call.type(i) for i in indices)


def _where(call: Call) -> Results:
    shapes = [call.type(i).shape for i in (0, 1, 2) if _is_tensor(call, i)]
    return (TensorType(promoted(call, 1, 2), broadcast(*shapes)),)


def _reduced(
    shape: tuple[Dim, ...] | None, dims: tuple[int, ...] | None, keep: bool
) -> tuple[Dim, ...] | None:
    if shape is None:
        return None
    gone = normalized_dims(dims, len(shape))
    if keep:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def _named_dtype(call: Call, index: int) -> str | None:
    arg = call.args[index] if index < len(call.args) else None
    return arg.name if isinstance(arg, Symbolic) and arg.kind == "dtype" else None


def _reduction(
    dims: int | None, keep: int | None, dtype: int | None = None, sums: bool = False
) -> Callable[[Call], Results]:
    """`dims`, `keep`, `dtype`: where these arguments stand; `sums`: integers become int64."""

    def rule(call: Call) -> Results:
        source = call.type(0)
        shape: tuple[Dim, ...] | None = ()
        if dims is not None:
            kept = bool(call.literal(keep)) if keep is not None else False
            shape = _reduced(source.shape, call.integers(dims), kept)
        result = source.dtype
        if sums and result is not None and result not in FLOATING:
            result = "int64"
        if dtype is not None:
            result = _named_dtype(call, dtype) or result
        return (TensorType(result, shape),)

    return rule


def _with_indices(call: Call) -> Results:
    source = call.type(0)
    shape = _reduced(source.shape, call.integers(1), bool(call.literal(2)))
    return (TensorType(source.dtype, shape), TensorType("int64", shape))


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
        TensorType(call.type(0).dtype, _reduced(call.type(0).shape, call.integers(1), False)),
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


def _loss(reduction: int) -> Callable[[Call], Results]:
    def rule(call: Call) -> Results:
        if call.literal(reduction) in (1, 2):
            return (TensorType(promoted(call, 0, 1), ()),)
        return _pointwise(0, 1)(call)

    return rule


def _nll(call: Call) -> Results:
    source = call.type(0)
    scalar = TensorType(source.dtype, ())
    if call.literal(3) in (1, 2):
        return (scalar, scalar)
    return (TensorType(source.dtype, call.type(1).shape), scalar)


def _layer_norm(call: Call) -> Results:
    source, inner = call.type(0), call.args[1]
    shape = source.shape
    if shape is not None and isinstance(inner, Items):
        count = len(inner.items)
        shape = shape[: len(shape) - count] + (1,) * count
    stats = TensorType(source.dtype, shape)
    return (source, stats, stats)


def _batch_norm(call: Call) -> Results:
    source = call.type(0)
    shape = source.shape[1:2] if source.shape is not None and call.literal(5) else (0,)
    stats = TensorType(source.dtype, shape)
    return (source, stats, stats)


def _convolution(call: Call) -> Results:
    source, weight = call.type(0), call.type(1)
    stride, padding, dilation = (call.integers(i) for i in (3, 4, 5))
    if source.shape is None or weight.shape is None or call.literal(6) is not False:
        return (TensorType(source.dtype, None),)
    if stride is None or padding is None or dilation is None:
        return (TensorType(source.dtype, None),)
    geometry = zip(source.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    spatial = []
    for size, kernel, step, border, spread in geometry:
        if not isinstance(size, int) or not isinstance(kernel, int):
            return (TensorType(source.dtype, None),)
        spatial.append((size + 2 * border - spread * (kernel - 1) - 1) // step + 1)
    return (TensorType(source.dtype, (source.shape[0], weight.shape[0], *spatial)),)


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


def _cast(dtype: int) -> Callable[[Call], Results]:
    def rule(call: Call) -> Results:
        return (
            TensorType(_named_dtype(call, dtype) or call.type(0).dtype, call.type(0).shape),
        )

    return rule


def _zero_dimensional(dtype: int) -> Callable[[Call], Results]:
    return lambda call: (TensorType(_named_dtype(call, dtype), ()),)


_UNARY_FLOAT = (
    "exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh sigmoid erf erfc reciprocal log_sigmoid mish hardswish hardsigmoid silu"
)
_UNARY = (
    "abs neg relu sign sgn floor ceil round trunc square clone detach alias contiguous "
    "zeros_like ones_like leaky_relu elu gelu softplus threshold hardtanh celu softshrink "
    "bernoulli.p clamp clamp_min clamp_max masked_fill.Scalar masked_fill.Tensor tril triu "
    "flip roll _softmax _log_softmax relu6 selu nan_to_num positive"
)
_BACKWARD_LIKE_GRAD = (
    "threshold_backward tanh_backward sigmoid_backward leaky_relu_backward elu_backward "
    "gelu_backward silu_backward softplus_backward hardtanh_backward hardsigmoid_backward "
    "hardswish_backward mish_backward softshrink_backward"
)
_BINARY = (
    "add.Tensor sub.Tensor rsub.Tensor mul.Tensor maximum minimum fmax fmin remainder.Tensor"
)
_COMPARISONS = "eq ne lt le gt ge"


def _named(names: str, rule: Callable[[Call], Results]) -> dict[str, Callable[[Call], Results]]:
    return {f"aten::{name}": rule for name in names.split()}


RULES: Mapping[str, Callable[[Call], Results]] = {
    **_named(_UNARY_FLOAT, _floating(0)),
    **_named(_UNARY, _like(0)),
    **_named(_BACKWARD_LIKE_GRAD, _like(0)),
    **_named(_BINARY, _pointwise(0, 1)),
    **_named("add.Scalar sub.Scalar rsub.Scalar mul.Scalar fmod.Scalar", _pointwise(0, 1)),
    **_named("div.Tensor div.Scalar atan2 hypot logaddexp", _floating(0, 1)),
    **_named("pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar", _pointwise(0, 1)),
    **_named("clamp.Tensor clamp_min.Tensor clamp_max.Tensor", _pointwise(0, 1)),
    **_named("lerp.Scalar lerp.Tensor", _pointwise(0, 1)),
    **_named("addcmul addcdiv", _pointwise(0, 1, 2)),
    **_named(" ".join(f"{c}.Tensor {c}.Scalar" for c in _COMPARISONS.split()), _boolean(0, 1)),
    **_named("logical_and logical_or", _boolean(0, 1)),
    **_named("logical_not isnan", _boolean(0)),
    "aten::where.self": _where,
    "aten::sum": _reduction(None, None, 1, sums=True),
    "aten::sum.dim_IntList": _reduction(1, 2, 3, sums=True),
    "aten::mean": _reduction(None, None, 1),
    "aten::mean.dim": _reduction(1, 2, 3),
    "aten::var.correction": _reduction(1, 3),
    "aten::std.correction": _reduction(1, 3),
    "aten::amax": _reduction(1, 2),
    "aten::amin": _reduction(1, 2),
    "aten::logsumexp": _reduction(1, 2),
    "aten::linalg_vector_norm": _reduction(2, 3, 4),
    "aten::max": _reduction(None, None),
    "aten::min": _reduction(None, None),
    "aten::max.dim": _with_indices,
    "aten::min.dim": _with_indices,
    "aten::argmax": lambda call: (
        TensorType(
            "int64", _reduced(call.type(0).shape, call.integers(1), bool(call.literal(2)))
        ),
    ),
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
    "aten::index_add": _like(0),
    "aten::scatter_add": _like(0),
    "aten::gather": _gathered,
    "aten::embedding": _embedded,
    "aten::select_backward": _sized(0, 1),
    "aten::slice_backward": _sized(0, 1),
    "aten::value_selecting_reduction_backward": _sized(0, 3),
    "aten::embedding_dense_backward": lambda call: (UNKNOWN,),
    "aten::_softmax_backward_data": _like(0),
    "aten::_log_softmax_backward_data": _like(0),
    "aten::mse_loss": _loss(2),
    "aten::smooth_l1_loss": _loss(2),
    "aten::huber_loss": _loss(2),
    "aten::binary_cross_entropy": _loss(3),
    "aten::binary_cross_entropy_with_logits": _loss(4),
    **_named(
        "mse_loss_backward smooth_l1_loss_backward huber_loss_backward nll_loss_backward "
        "binary_cross_entropy_backward log_sigmoid_backward",
        _like(1),
    ),
    "aten::log_sigmoid_forward": _likes(0, 0),
    "aten::nll_loss_forward": _nll,
    "aten::native_layer_norm": _layer_norm,
    "aten::native_layer_norm_backward": _likes(1, 5, 6),
    "aten::native_batch_norm": _batch_norm,
    "aten::native_batch_norm_backward": lambda call: (
        call.type(1),
        call.type(2),
        call.type(2),
    ),
    "aten::convolution": _convolution,
    "aten::convolution_backward": lambda call: (
        call.type(1),
        call.type(2),
        TensorType(
            call.type(2).dtype,
            (call.type(2).shape or ("?",))[:1] if call.type(2).shape is not None else None,
        ),
    ),
    "aten::to.dtype": _cast(1),
    "aten::_to_copy": _cast(1),
    "aten::scalar_tensor": _zero_dimensional(1),
    "aten::sym_size.int": lambda call: (None,),
    "aten::sym_numel": lambda call: (None,),
}


def infer_types(
    op: str, args: tuple[Argument, ...], types: Mapping[Value, TensorType]
) -> Results:
    """The types of the results of `op`, as far as they are known."""
    rule = RULES.get(op)
    return rule(Call(args, types)) if rule is not None else (UNKNOWN,)
