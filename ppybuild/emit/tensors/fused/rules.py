"""What each ATen operator becomes in the fused form: one row per operator.

A rule takes the lowering and the node, and gives what the node's results are bound to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.fused import rules_losses, rules_pointwise
from ppybuild.emit.tensors.fused.ir import NotFusible, Outer, Product, Row, Weight
from ppybuild.emit.tensors.fused.lowering import Bound, Lowering, Shape, spell
from ppybuild.emit.tensors.ir import Argument, Constant, Items, Node, Value
from ppybuild.emit.tensors.meta import normalized_dims

Rule = Callable[[Lowering, Node], tuple[Bound, ...]]


def dims_of(node: Node, place: int, rank: int) -> tuple[int, ...]:
    arg: Argument = node.args[place]
    items = arg.items if isinstance(arg, Items) else (arg,)
    dims = tuple(i.value for i in items if isinstance(i, Constant) and isinstance(i.value, int))
    return normalized_dims(dims, rank)


def _flag(node: Node, place: int) -> bool:
    arg = node.args[place]
    return isinstance(arg, Constant) and bool(arg.value)


def _sum(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    return (low.sum(source, tuple(range(len(source.shape))), False),)


def _sum_dims(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    return (low.sum(source, dims_of(node, 1, len(source.shape)), _flag(node, 2)),)


def _mean(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    dims = tuple(range(len(source.shape)))
    return (low.element("div", low.sum(source, dims, False), low.count(source.shape, dims)),)


def _mean_dims(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    dims = dims_of(node, 1, len(source.shape))
    total = low.sum(source, dims, _flag(node, 2))
    return (low.element("div", total, low.count(source.shape, dims)),)


def _amax(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    if dims_of(node, 1, len(source.shape)) != (1,) or low.row_width(source.shape) is None:
        raise NotFusible("a maximum over rows")
    return (low.along("max", source, _flag(node, 2)),)


def _norm(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    dims = dims_of(node, 2, len(source.shape))
    if node.args[1] not in (Constant(2), Constant(2.0)):
        raise NotFusible("a norm of another order than 2")
    square = low.element("mul", source, source)
    return (low.element("sqrt", low.sum(square, dims, _flag(node, 3))),)


def _stack(low: Lowering, node: Node) -> tuple[Bound, ...]:
    """Single numbers side by side, each chosen where the column is its own."""
    listed = node.args[0]
    items = [low.tensor(item) for item in listed.items] if isinstance(listed, Items) else []
    if any(item.shape for item in items) or len(items) < 2:
        raise NotFusible("a stack of other than single numbers")
    column = low.column(len(items))
    result = items[-1]
    for place, item in enumerate(items[:-1]):
        result = low.element("where_eq", column, float(place), item, result)
    return (result,)


def _sum_to_size(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source, wanted = low.tensor(node.args[0]), low.shape(node.results[0])
    lead = len(source.shape) - len(wanted)
    dims = tuple(range(lead)) + tuple(
        lead + i for i, s in enumerate(wanted) if s == 1 and source.shape[lead + i] != 1
    )
    if any(source.shape[lead + i] not in (s, 1) for i, s in enumerate(wanted) if s != 1):
        raise NotFusible(f"a sum from {spell(source.shape)} to {spell(wanted)}")
    total = low.sum(source, dims, True) if dims else source
    return (Bound(total.value, wanted, total.transposed),)


def _product(low: Lowering, left: Bound, right: Bound) -> Bound:
    """A matrix product; narrow ones are elementwise work with a reduction."""
    shape = (left.shape[0], right.shape[1])
    if not isinstance(left.value, int) or not isinstance(right.value, int):
        raise NotFusible("a product with a constant")
    rows = (low.is_row(left.value), low.is_row(right.value))
    if rows == (True, False) and not left.transposed:
        return _by_weight(low, left, right, shape)
    if rows == (True, True) and left.transposed and not right.transposed:
        return _over_rows(low, left, right, shape)
    raise NotFusible("a product of weights" if not any(rows) else "a product along the batch")


def _by_weight(low: Lowering, left: Bound, right: Bound, shape: Shape) -> Bound:
    assert isinstance(left.value, int)
    assert isinstance(right.value, int)
    inner, outer = right.shape
    assert isinstance(inner, int)
    assert isinstance(outer, int)
    if outer == 1:
        terms = low.element("mul", left, Bound(right.value, (1, inner)))
        return Bound(low.along("sum", terms, True).value, shape)
    if inner == 1:
        return low.element("mul", left, Bound(right.value, (1, outer)))
    value = low.add(Product(low.widened(left), right.value, right.transposed), Row(outer))
    return Bound(value, shape)


def _over_rows(low: Lowering, left: Bound, right: Bound, shape: Shape) -> Bound:
    batch = right.shape[0]
    a = Bound(left.value, (batch, left.shape[0]))
    k, n = shape
    assert isinstance(k, int)
    assert isinstance(n, int)
    if k == 1 or n == 1:
        return Bound(low.over(low.element("mul", a, right), False, shape).value, shape)
    return Bound(low.add(Outer(low.widened(a), low.widened(right)), Weight((k, n))), shape)


def _mm(low: Lowering, node: Node) -> tuple[Bound, ...]:
    return (_product(low, low.tensor(node.args[0]), low.tensor(node.args[1])),)


def _addmm(low: Lowering, node: Node) -> tuple[Bound, ...]:
    product = _product(low, low.tensor(node.args[1]), low.tensor(node.args[2]))
    bias, beta, alpha = (low.tensor(node.args[i]) for i in (0, 3, 4))
    scaled = low.element("mul", product, alpha)
    return (low.element("add", scaled, low.element("mul", bias, beta)),)


def _mv(low: Lowering, node: Node) -> tuple[Bound, ...]:
    matrix, vector = low.tensor(node.args[0]), low.tensor(node.args[1])
    column = Bound(vector.value, (vector.shape[0], 1))
    return (Bound(_product(low, matrix, column).value, (matrix.shape[0],)),)


def _transpose(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    if len(source.shape) < 2:
        return (source,)
    if len(source.shape) > 2:
        raise NotFusible("a transposition of more than two dimensions")
    if 1 in source.shape and low.row_width(source.shape) is None:
        return (Bound(source.value, source.shape[::-1]),)
    flip = not source.transposed and isinstance(source.value, int)
    return (Bound(source.value, source.shape[::-1], flip),)


def _transpose_dims(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    dims = {dims_of(node, i, len(source.shape))[0] for i in (1, 2)} if source.shape else {0}
    return _transpose(low, node) if len(dims) == 2 else (source,)


def _permute(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    items = node.args[1].items if isinstance(node.args[1], Items) else ()
    dims = [
        i.value % len(source.shape)
        for i in items
        if isinstance(i, Constant) and isinstance(i.value, int)
    ]
    if dims == sorted(dims):
        return (source,)
    return _transpose(low, node)


def _same(low: Lowering, node: Node) -> tuple[Bound, ...]:
    return (low.tensor(node.args[0]),)


def _cast(low: Lowering, node: Node) -> tuple[Bound, ...]:
    """Truth is 1 or 0 here, so that only a cast to bool computes something."""
    source = low.tensor(node.args[0])
    kind = low.types.get(node.results[0])
    to_truth = kind is not None and kind.dtype == "bool"
    return (low.element("ne", source, 0) if to_truth else source,)


def _reshape(low: Lowering, node: Node) -> tuple[Bound, ...]:
    """Only size-one dimensions may come and go in what has the batch."""
    source = low.tensor(node.args[0])
    shape = _wanted(low, node)
    core = [s for s in source.shape if s != 1], [s for s in shape if s != 1]
    if source.transposed and source.shape != shape:
        raise NotFusible("a reshape of a transposed matrix")
    if core[0] != core[1] and (
        low.row_width(source.shape) is not None or low.row_width(shape) is not None
    ):
        raise NotFusible(f"a reshape from {spell(source.shape)} to {spell(shape)}")
    low.row_width(shape)
    return (Bound(source.value, shape, source.transposed),)


def _wanted(low: Lowering, node: Node) -> Shape:
    """The shape that the node's result has, with -1 and symbols filled in."""
    known = low.types.get(node.results[0])
    if known is not None and known.shape is not None:
        # A symbol other than the batch names a size that a node computed from it.
        return tuple(low.batch if isinstance(s, str) else s for s in known.shape)
    raise NotFusible("a view of unknown shape")


def _expand(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    wanted = _wanted(low, node)
    if source.transposed and source.shape != wanted:
        raise NotFusible("an expanded transposed matrix")
    return (_expanded(low, source, wanted),)


def _expanded(low: Lowering, source: Bound, wanted: Shape) -> Bound:
    """The same value, seen wider; what needs the numbers in place copies them."""
    if isinstance(source.value, float) or source.shape == wanted:
        return Bound(source.value, wanted, source.transposed)
    if low.is_row(source.value):
        width = low.row_width(wanted)
        if len(source.shape) != len(wanted) or width is None:
            raise NotFusible(f"an expansion from {spell(source.shape)} to {spell(wanted)}")
        return Bound(source.value, wanted)
    if low.row_width(wanted) is not None:
        inner = [s for s in source.shape if s != 1]
        if len(inner) > 1 or (inner and wanted[-1] != inner[0]):
            raise NotFusible(f"an expansion from {spell(source.shape)} to {spell(wanted)}")
        return Bound(source.value, wanted)
    known = tuple(size for size in wanted if isinstance(size, int))
    return Bound(low.laid_out(source, known), wanted)


def _filled(value: float) -> Rule:
    def rule(low: Lowering, node: Node) -> tuple[Bound, ...]:
        return (Bound(value, low.tensor(node.args[0]).shape),)

    return rule


def _scalar(low: Lowering, node: Node) -> tuple[Bound, ...]:
    return (Bound(low.number(node.args[0]), ()),)


def _new_zeros(low: Lowering, node: Node) -> tuple[Bound, ...]:
    return (Bound(0.0, low.shape(node.results[0])),)


def _size(low: Lowering, node: Node) -> tuple[Bound, ...]:
    assert isinstance(node.args[0], Value)
    source = low.tensor(node.args[0])
    dims = dims_of(node, 1, len(source.shape))
    low.numbers[node.results[0]] = low.count(source.shape, dims).value
    return ()


def _numel(low: Lowering, node: Node) -> tuple[Bound, ...]:
    source = low.tensor(node.args[0])
    dims = tuple(range(len(source.shape)))
    low.numbers[node.results[0]] = low.count(source.shape, dims).value
    return ()


RULES: Mapping[str, Rule] = {
    **rules_pointwise.RULES,
    **rules_losses.RULES,
    "sum": _sum,
    "sum.dim_IntList": _sum_dims,
    "mean": _mean,
    "mean.dim": _mean_dims,
    "amax": _amax,
    "linalg_vector_norm": _norm,
    "stack": _stack,
    "sum_to_size": _sum_to_size,
    "mm": _mm,
    "addmm": _addmm,
    "mv": _mv,
    "t": _transpose,
    "transpose.int": _transpose_dims,
    "permute": _permute,
    "view": _reshape,
    "reshape": _reshape,
    "_unsafe_view": _reshape,
    "unsqueeze": _reshape,
    "squeeze": _reshape,
    "squeeze.dim": _reshape,
    "squeeze.dims": _reshape,
    "expand": _expand,
    "ones_like": _filled(1.0),
    "zeros_like": _filled(0.0),
    "scalar_tensor": _scalar,
    "new_zeros": _new_zeros,
    "sym_size.int": _size,
    "sym_numel": _numel,
    "alias": _same,
    "detach": _same,
    "clone": _same,
    "contiguous": _same,
    "to.dtype": _cast,
    "_to_copy": _cast,
}
