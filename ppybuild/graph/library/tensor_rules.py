"""Dtype and shape of what a torch function or tensor method gives: one row per operator.

A row is keyed by the operator's base name (`sum` for `torch.sum`, `Tensor.sum`,
`torch.nn.functional...`) and gets the arguments with the receiver first. It gives what is
known of the result, or None; it raises `Mismatch` for what torch refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ppybuild.graph.library import tensor_shapes as shapes
from ppybuild.graph.library.tensor_dtypes import (
    CATEGORY,
    dtype_named,
    floating,
    promote,
    scalar_category,
    summed,
)
from ppybuild.graph.library.tensor_shapes import Mismatch, Shape
from ppybuild.graph.library.values import UNKNOWN_VALUE, Argument, Value
from ppybuild.graph.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    Collection,
    Tensor,
    Tuple,
    Type,
)


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one operator, looked up by position or keyword."""

    arguments: Sequence[Argument]
    keywords: Mapping[str, Argument]
    default: str | None
    """The dtype of new floating tensors."""

    def find(self, position: int, *names: str) -> Argument | None:
        if position < len(self.arguments):
            return self.arguments[position]
        return next((self.keywords[name] for name in names if name in self.keywords), None)

    def tensor(self, position: int, *names: str) -> Tensor:
        """A tensor argument; one of which nothing is known where it is not surely one."""
        found = self.find(position, *names)
        kind = found.type if found is not None else None
        return kind if isinstance(kind, Tensor) else Tensor()

    @property
    def first(self) -> Tensor:
        return self.tensor(0, "input", "self")

    def keyword_dtype(self, otherwise: str | None) -> str | None:
        """What `dtype=` says; None where it is given and not known."""
        given = self.keywords.get("dtype")
        if given is None or given.type == NONE:
            return otherwise
        return dtype_named(given.name)

    def sizes(self, position: int, *names: str) -> Shape | None:
        """Sizes given one by one from a position on, or as one sequence."""
        found = self.find(position, *names)
        if found is None:
            return () if position >= len(self.arguments) and not self.keywords else None
        if isinstance(found.value, tuple):
            return sizes_of(found.value)
        rest = self.arguments[position:]
        if any(argument.starred or argument.type != INT for argument in rest) or not rest:
            return None
        return sizes_of(tuple(argument.value for argument in rest))

    def integer(self, position: int, *names: str, otherwise: int | None = None) -> int | None:
        """A whole number's value; `otherwise` where it is not given."""
        found = self.find(position, *names)
        if found is None:
            return otherwise
        value = found.value
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, position: int, name: str, otherwise: bool = False) -> bool | None:
        found = self.find(position, name)
        if found is None:
            return otherwise
        return found.value if isinstance(found.value, bool) else None

    def dimensions(self, position: int, *names: str) -> tuple[int, ...] | bool | None:
        """The dimensions of a reduction; None for all of them, False where not known."""
        found = self.find(position, *names)
        if found is None or found.type == NONE:
            return None
        value = found.value
        values = value if isinstance(value, tuple) else (value,)
        numbers = tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool))
        return numbers if len(numbers) == len(values) else False


def sizes_of(values: tuple[Value, ...]) -> Shape | None:
    sizes = tuple(v for v in values if isinstance(v, int | str) and not isinstance(v, bool))
    return sizes if len(sizes) == len(values) else None


Rule = Callable[[Call], Type | None]


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


sum_like = reduction(lambda call: call.keyword_dtype(summed(call.first.dtype)))
mean_like = reduction(lambda call: call.keyword_dtype(call.first.dtype))
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


def loss(call: Call) -> Type:
    """A loss, which is one number unless `reduction="none"`."""
    mode = call.keywords.get("reduction")
    whole = len(call.arguments) <= 2 and (mode is None or mode.value in ("mean", "sum"))
    target = call.tensor(1, "target")
    dtype = call.first.dtype
    if CATEGORY.get(target.dtype or "bool", 0) >= 2 and dtype != target.dtype:
        dtype = None  # some promote, some take the first, some refuse
    return Tensor(dtype, () if whole else None)


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
    return Tensor(call.keyword_dtype(dtype), shape)


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
    shape: Shape | None = None
    if all(isinstance(v, int) and not isinstance(v, bool) for v in values) and values:
        numbers = [v for v in values if isinstance(v, int)]
        try:
            shape = (len(range(*numbers)),)
        except (TypeError, ValueError):
            shape = None
    return Tensor(call.keyword_dtype(dtype), shape)


def stepped(call: Call) -> Type:
    """`linspace` and `logspace`."""
    steps = call.integer(2, "steps")
    return Tensor(call.keyword_dtype(call.default), None if steps is None else (steps,))


def identity(call: Call) -> Type:
    rows = call.integer(0, "n")
    columns = call.integer(1, "m", otherwise=rows)
    shape = (rows, columns) if rows is not None and columns is not None else None
    return Tensor(call.keyword_dtype(call.default), shape)


def random_integers(call: Call) -> Type:
    sizes = next(
        (sizes_of(a.value) for a in call.arguments if isinstance(a.value, tuple)), None
    )
    return Tensor(call.keyword_dtype("int64"), sizes)


def permutation(call: Call) -> Type:
    count = call.integer(0, "n")
    return Tensor(call.keyword_dtype("int64"), None if count is None else (count,))


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
        " bitwise_not layer_norm batch_norm",
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
LOSSES = rows(
    "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss"
    " binary_cross_entropy binary_cross_entropy_with_logits",
    loss,
)
"""Of `torch.nn.functional` alone: `torch` has some with other parameters."""
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
    rows("reshape view", reshape)
    | rows("transpose swapaxes swapdims", transpose)
    | {
        "t": turn,
        "permute": permute,
        "unsqueeze": unsqueeze,
        "squeeze": squeeze,
        "flatten": flatten,
        "ravel": flatten,
        "expand": expand,
        "cat": joined(shapes.concatenate),
        "concat": joined(shapes.concatenate),
        "concatenate": joined(shapes.concatenate),
        "stack": joined(shapes.stack),
    }
    | rows("expand_as reshape_as view_as", like_other)
)
CREATION = (
    rows("zeros ones empty rand randn", filled(0, "size"))
    | rows("zeros_like ones_like empty_like rand_like randn_like full_like", new_like)
    | {
        "full": full,
        "tensor": from_data,
        "as_tensor": from_data,
        "arange": arange,
        "linspace": stepped,
        "logspace": stepped,
        "eye": identity,
        "randint": random_integers,
        "randperm": permutation,
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
IN_PLACE = rows(
    "requires_grad_ zero_ fill_ add_ sub_ mul_ div_ clamp_ copy_ normal_ uniform_ relu_ exp_"
    " sqrt_ neg_ addcmul_ addcdiv_ lerp_ detach_ pow_ abs_ tanh_ sigmoid_",
    same_object,
)
NUMBERS: dict[str, Rule] = {"item": item, "tolist": tolist}

FUNCTIONS: dict[str, Rule] = {**UNARY, **BINARY, **PRODUCTS, **REDUCTIONS, **VIEWS, **CREATION}
"""Rules of functions of `torch` and `torch.nn.functional`."""
METHODS: dict[str, Rule] = {
    **UNARY,
    **BINARY,
    **PRODUCTS,
    **REDUCTIONS,
    **VIEWS,
    **CASTS,
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
