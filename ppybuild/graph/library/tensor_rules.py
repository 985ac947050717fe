"""Dtype and shape of what a torch function or tensor method gives: one row per operator.

A row is keyed by the operator's base name (`sum` for `torch.sum`, `Tensor.sum`,
`torch.nn.functional...`) and gets the arguments with the receiver first. It gives what is
known of the result, or None; it raises `Mismatch` for what torch refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ppybuild.graph.library import tensor_creation as creation
from ppybuild.graph.library import tensor_shapes as shapes
from ppybuild.graph.library import tensor_views as views
from ppybuild.graph.library.tensor_call import Call, Rule
from ppybuild.graph.library.tensor_dtypes import (
    CATEGORY,
    dtype_named,
    floating,
    promote,
    scalar_category,
    summed,
)
from ppybuild.graph.library.tensor_shapes import Mismatch, Shape
from ppybuild.graph.library.values import UNKNOWN_VALUE, Argument
from ppybuild.graph.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Collection,
    Tensor,
    Type,
)


def same(call: Call) -> Type:
    """The same shape and dtype."""
    return replace(call.first, parameter=False)


def same_object(call: Call) -> Type:
    """The tensor itself."""
    return call.first


def to_float(call: Call) -> Type:
    tensor = call.first
    return Tensor(floating(tensor.dtype, call.default), tensor.shape)


def to_bool(call: Call) -> Type:
    return Tensor("bool", call.first.shape)


def absolute(call: Call) -> Type:
    real = {"complex64": "float32", "complex128": "float64"}
    dtype = call.first.dtype
    return Tensor(real.get(dtype or "", dtype), call.first.shape)


def square(call: Call) -> Type:
    dtype = call.first.dtype
    return Tensor("int64" if dtype == "bool" else dtype, call.first.shape)


def soft(call: Call) -> Type:
    return Tensor(call.keyword_dtype(call.first.dtype), call.first.shape)


def cumulative(call: Call) -> Type:
    return Tensor(call.keyword_dtype(summed(call.first.dtype)), call.first.shape)


def operand_shape(kind: Type) -> Shape | None:
    if isinstance(kind, Tensor):
        return kind.shape
    return () if scalar_category(kind) is not None else None


def operands(call: Call) -> tuple[Type, Type]:
    left = call.find(0, "input", "self")
    right = call.find(1, "other", "exponent")
    return (
        left.type if left is not None else Tensor(),
        right.type if right is not None else Tensor(),
    )


def elementwise(call: Call) -> Type:
    left, right = operands(call)
    shape = shapes.broadcast(operand_shape(left), operand_shape(right))
    return Tensor(promote([left, right], call.default), shape)


def divide(call: Call) -> Type:
    result = elementwise(call)
    assert isinstance(result, Tensor)
    if "rounding_mode" in call.keywords:
        return replace(result, dtype=None)
    return replace(result, dtype=floating(result.dtype, call.default))


def compare(call: Call) -> Type:
    left, right = operands(call)
    return Tensor("bool", shapes.broadcast(operand_shape(left), operand_shape(right)))


def where(call: Call) -> Type | None:
    if len(call.arguments) != 3:
        return None
    condition, left, right = (argument.type for argument in call.arguments)
    inner = shapes.broadcast(operand_shape(left), operand_shape(right))
    shape = shapes.broadcast(operand_shape(condition), inner)
    if not isinstance(left, Tensor) and not isinstance(right, Tensor):
        return Tensor(None, shape)
    return Tensor(promote([left, right], call.default), shape)


def product_dtype(left: Tensor, right: Tensor) -> str | None:
    """Matrix products take one dtype."""
    if left.dtype is None or right.dtype is None:
        return left.dtype or right.dtype
    if left.dtype != right.dtype:
        raise Mismatch(f"a matrix product of {left.dtype} and {right.dtype}", "dtype")
    return left.dtype


def matmul(call: Call) -> Type:
    left, right = call.first, call.tensor(1, "other", "mat2", "vec", "tensor")
    return Tensor(product_dtype(left, right), shapes.matmul(left.shape, right.shape))


def ranked_product(left_rank: int, right_rank: int) -> Rule:
    """A matrix product that takes only these numbers of dimensions."""

    def rule(call: Call) -> Type:
        left, right = call.first, call.tensor(1, "other", "mat2", "vec", "tensor")
        for tensor, rank in ((left, left_rank), (right, right_rank)):
            if tensor.shape is not None and len(tensor.shape) != rank:
                given = shapes.show(tensor.shape)
                raise Mismatch(f"needs {rank} dimensions, and gets a tensor of shape {given}")
        return matmul(call)

    return rule


def linear(call: Call) -> Type:
    left, weight = call.first, call.tensor(1, "weight")
    turned = weight.shape
    if turned is not None and len(turned) == 2:
        turned = (turned[1], turned[0])
    elif turned is not None:
        return Tensor(left.dtype)
    return Tensor(product_dtype(left, weight), shapes.matmul(left.shape, turned))


def addmm(call: Call) -> Type:
    left, right = call.tensor(1, "mat1"), call.tensor(2, "mat2")
    return Tensor(product_dtype(left, right), shapes.matmul(left.shape, right.shape))


def reduction(dtype_of: Callable[[Call], str | None]) -> Rule:
    """A reduction over `dim`, or everything, with `keepdim`."""

    def rule(call: Call) -> Type:
        dimensions = call.dimensions(1, "dim", "axis")
        keep = call.flag(2, "keepdim")
        dtype = dtype_of(call)
        if isinstance(dimensions, bool) or keep is None:
            return Tensor(dtype)
        return Tensor(dtype, shapes.reduce(call.first.shape, dimensions, keep))

    return rule


def truth_dtype(dtype: str | None) -> str | None:
    """`all` and `any` of bytes give bytes."""
    return dtype if dtype in (None, "uint8") else "bool"


def averaged(call: Call) -> str | None:
    """Means and deviations are of floating tensors; `dtype=` may ask for one."""
    dtype = call.first.dtype
    if "dtype" not in call.keywords and CATEGORY.get(dtype or "", 2) < 2:
        raise Mismatch(f"no mean of {dtype} numbers", "dtype")
    return dtype


sum_like = reduction(lambda call: call.keyword_dtype(summed(call.first.dtype)))
mean_like = reduction(lambda call: call.keyword_dtype(averaged(call)))
bool_reduction = reduction(lambda call: truth_dtype(call.first.dtype))
index_reduction = reduction(lambda call: "int64")
same_reduction = reduction(lambda call: call.first.dtype)
float_reduction = reduction(lambda call: floating(call.first.dtype, call.default))


def whole_only(call: Call) -> Type | None:
    """`max()` of everything; with a dimension it gives a pair, and with a tensor another
    operation."""
    if len(call.arguments) > 1 or call.keywords:
        other = call.find(1, "other")
        return elementwise(call) if other and isinstance(other.type, Tensor) else None
    return Tensor(call.first.dtype, ())


def deviation(call: Call) -> Type:
    """`std` and `var`, whose second argument may be `unbiased`."""
    if len(call.arguments) > 1 and not isinstance(call.arguments[1].value, int | tuple):
        return Tensor(call.first.dtype)
    if len(call.arguments) > 1 and isinstance(call.arguments[1].value, bool):
        return Tensor(call.first.dtype, ())
    if len(call.arguments) > 2:
        return Tensor(call.first.dtype)
    return mean_like(call) or Tensor()


def cast(dtype: str) -> Rule:
    return lambda call: Tensor(dtype, call.first.shape)


def to(call: Call) -> Type:
    """`to`: a dtype, a device, another tensor, or two of them."""
    tensor = call.first
    dtype = tensor.dtype
    for argument in [*call.arguments[1:], *call.keywords.values()]:
        if isinstance(argument.type, Tensor):
            dtype = argument.type.dtype
        elif dtype_named(argument.name):
            dtype = dtype_named(argument.name)
        elif is_dtype(argument):
            dtype = None
    return Tensor(dtype, tensor.shape, tensor.parameter and dtype == tensor.dtype)


def is_dtype(argument: Argument) -> bool:
    """True where the argument may be a dtype that is not known."""
    return argument.value is UNKNOWN_VALUE and (
        getattr(argument.type, "name", "") in ("torch.dtype", "")
    )


def item(call: Call) -> Type | None:
    return {0: BOOL, 1: INT, 2: FLOAT, 3: COMPLEX}.get(CATEGORY.get(call.first.dtype or "", 9))


def tolist(call: Call) -> Type | None:
    number = item(call)
    shape = call.first.shape
    if number is None or shape is None:
        return None
    result: Type = number
    for _ in shape:
        result = Collection("list", result)
    return result


def rows(mapping: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(mapping.split(), rule)


UNARY = (
    rows(
        "neg negative positive clone detach contiguous floor ceil trunc sign clamp clip"
        " clamp_min clamp_max roll flip tril triu relu relu6 leaky_relu elu selu celu gelu silu"
        " mish hardtanh hardswish hardsigmoid softplus logsigmoid dropout"
        " threshold cpu cuda pin_memory resolve_conj nan_to_num renorm normalize round"
        " bitwise_not layer_norm batch_norm bernoulli",
        same,
    )
    | rows(
        "sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan arcsin"
        " arccos arctan sinh cosh tanh asinh acosh atanh sigmoid erf erfc erfinv reciprocal"
        " lgamma digamma logit deg2rad rad2deg sinc softsign tanhshrink",
        to_float,
    )
    | rows("isnan isinf isfinite logical_not signbit", to_bool)
    | rows("abs absolute", absolute)
    | rows("square", square)
    | rows("softmax log_softmax", soft)
    | rows("cumsum cumprod", cumulative)
)
BINARY = (
    rows(
        "add sub subtract mul multiply maximum minimum fmax fmin remainder fmod floor_divide"
        " pow",
        elementwise,
    )
    | rows("div divide true_divide", divide)
    | rows(
        "eq ne lt le gt ge greater greater_equal less less_equal not_equal logical_and"
        " logical_or logical_xor isclose",
        compare,
    )
    | {"where": where}
)
PRODUCTS = {
    "matmul": matmul,
    "mm": ranked_product(2, 2),
    "mv": ranked_product(2, 1),
    "dot": ranked_product(1, 1),
    "bmm": ranked_product(3, 3),
    "linear": linear,
    "addmm": addmm,
}
REDUCTIONS = (
    rows("sum nansum prod", sum_like)
    | rows("mean nanmean", mean_like)
    | rows("amax amin", same_reduction)
    | rows("logsumexp", float_reduction)
    | rows("all any", bool_reduction)
    | rows("argmax argmin", index_reduction)
    | rows("max min", whole_only)
    | rows("std var", deviation)
)
VIEWS: dict[str, Rule] = (
    rows("reshape view", views.reshape)
    | rows("transpose swapaxes swapdims", views.transpose)
    | {
        "t": views.turn,
        "permute": views.permute,
        "unsqueeze": views.unsqueeze,
        "squeeze": views.squeeze,
        "flatten": views.flatten,
        "ravel": views.flatten,
        "expand": views.expand,
        "repeat": views.repeated,
        "index_select": views.selected,
        "split": views.parts,
        "chunk": views.parts,
        "unbind": views.unbound,
        "cat": views.joined(shapes.concatenate),
        "concat": views.joined(shapes.concatenate),
        "concatenate": views.joined(shapes.concatenate),
        "stack": views.joined(shapes.stack),
    }
    | rows("expand_as reshape_as view_as", views.like_other)
)
CREATION = (
    rows("zeros ones empty rand randn", creation.filled(0, "size"))
    | rows("zeros_like ones_like empty_like rand_like randn_like full_like", creation.new_like)
    | {
        "full": creation.full,
        "tensor": creation.from_data,
        "as_tensor": creation.from_data,
        "arange": creation.arange,
        "linspace": creation.stepped,
        "logspace": creation.stepped,
        "eye": creation.identity,
        "randint": creation.random_integers,
        "normal": creation.normal,
        "randperm": creation.permutation,
    }
)
CASTS: dict[str, Rule] = {
    "to": to,
    "float": cast("float32"),
    "double": cast("float64"),
    "half": cast("float16"),
    "bfloat16": cast("bfloat16"),
    "int": cast("int32"),
    "long": cast("int64"),
    "short": cast("int16"),
    "bool": cast("bool"),
    "type_as": lambda call: Tensor(call.tensor(1, "other").dtype, call.first.shape),
}
NEW = rows("new_zeros new_ones new_empty", creation.new_filled)
IN_PLACE = rows(
    "requires_grad_ zero_ fill_ add_ sub_ mul_ div_ clamp_ copy_ normal_ uniform_ relu_ exp_"
    " sqrt_ neg_ addcmul_ addcdiv_ lerp_ detach_ pow_ abs_ tanh_ sigmoid_",
    same_object,
)
NUMBERS: dict[str, Rule] = {"item": item, "tolist": tolist}

FUNCTIONS: dict[str, Rule] = {**UNARY, **BINARY, **PRODUCTS, **REDUCTIONS, **VIEWS, **CREATION}
"""Rules of functions of `torch` and `torch.nn.functional`."""
OF_A_TENSOR = frozenset(
    {*UNARY, *PRODUCTS, *REDUCTIONS, *VIEWS} - {"cat", "concat", "concatenate", "stack"}
)
"""Those whose first argument is a tensor and nothing else."""
METHODS: dict[str, Rule] = {
    **UNARY,
    **BINARY,
    **PRODUCTS,
    **REDUCTIONS,
    **VIEWS,
    **CASTS,
    **NEW,
    **IN_PLACE,
    **NUMBERS,
}
"""Rules of methods of `torch.Tensor`."""
OPERATORS: dict[str, Rule] = {
    "+": elementwise,
    "-": elementwise,
    "*": elementwise,
    "/": divide,
    "//": elementwise,
    "%": elementwise,
    "**": elementwise,
    "@": matmul,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), compare),
}
