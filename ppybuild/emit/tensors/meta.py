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


def pointwise(*indices: int) -> Callable[[Call], Results]:
    def rule(call: Call) -> Results:
        shapes = [call.type(i).shape for i in indices if _is_tensor(call, i)]
        return (TensorType(promoted(call, *indices), broadcast(*shapes)),)

    return rule


def _is_tensor(call: Call, index: int) -> bool:
    arg = call.args[index]
    return isinstance(arg, Value) and arg in call.types


def _floating(*indices: int) -> Callable[[Call], Results]:
    """Like `pointwise`, with integers becoming the default float."""
    base = pointwise(*indices)

    def rule(call: Call) -> Results:
        (type_,) = base(call)
        assert type_ is not None
        dtype = type_.dtype
        return (
            TensorType(dtype if dtype in FLOATING or not dtype else "float32", type_.shape),
        )

    return rule


def _boolean(*indices: int) -> Callable[[Call], Results]:
    base = pointwise(*indices)

    def rule(call: Call) -> Results:
        (type_,) = base(call)
        assert type_ is not None
        return (TensorType("bool", type_.shape),)

    return rule


def like(index: int) -> Callable[[Call], Results]:
    return lambda call: (call.type(index),)


def likes(*indices: int) -> Callable[[Call], Results]:
    return lambda call: tuple(call.type(i) for i in indices)


def _where(call: Call) -> Results:
    shapes = [call.type(i).shape for i in (0, 1, 2) if _is_tensor(call, i)]
    return (TensorType(promoted(call, 1, 2), broadcast(*shapes)),)


def reduced(
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
            shape = reduced(source.shape, call.integers(dims), kept)
        result = source.dtype
        if sums and result is not None and result not in FLOATING:
            result = "int64"
        if dtype is not None:
            result = _named_dtype(call, dtype) or result
        return (TensorType(result, shape),)

    return rule


def _with_indices(call: Call) -> Results:
    source = call.type(0)
    shape = reduced(source.shape, call.integers(1), bool(call.literal(2)))
    return (TensorType(source.dtype, shape), TensorType("int64", shape))


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


def named(names: str, rule: Callable[[Call], Results]) -> dict[str, Callable[[Call], Results]]:
    return {f"aten::{name}": rule for name in names.split()}


RULES: Mapping[str, Callable[[Call], Results]] = {
    **named(_UNARY_FLOAT, _floating(0)),
    **named(_UNARY, like(0)),
    **named(_BACKWARD_LIKE_GRAD, like(0)),
    **named(_BINARY, pointwise(0, 1)),
    **named("add.Scalar sub.Scalar rsub.Scalar mul.Scalar fmod.Scalar", pointwise(0, 1)),
    **named("div.Tensor div.Scalar atan2 hypot logaddexp", _floating(0, 1)),
    **named("pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar", pointwise(0, 1)),
    **named("clamp.Tensor clamp_min.Tensor clamp_max.Tensor", pointwise(0, 1)),
    **named("lerp.Scalar lerp.Tensor", pointwise(0, 1)),
    **named("addcmul addcdiv", pointwise(0, 1, 2)),
    **named(" ".join(f"{c}.Tensor {c}.Scalar" for c in _COMPARISONS.split()), _boolean(0, 1)),
    **named("logical_and logical_or", _boolean(0, 1)),
    **named("logical_not isnan", _boolean(0)),
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
            "int64", reduced(call.type(0).shape, call.integers(1), bool(call.literal(2)))
        ),
    ),
    "aten::_softmax_backward_data": like(0),
    "aten::_log_softmax_backward_data": like(0),
    "aten::to.dtype": _cast(1),
    "aten::_to_copy": _cast(1),
    "aten::scalar_tensor": _zero_dimensional(1),
    "aten::sym_size.int": lambda call: (None,),
    "aten::sym_numel": lambda call: (None,),
}
