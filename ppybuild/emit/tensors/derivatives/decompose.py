"""Spell operators that ATen itself composes from others as those others.

Autograd differentiates what a composite operator calls, not the operator. So does this
compiler: a rule per composite operator gives the calls that ATen makes on dense CPU
tensors, in its order, and the graph's values keep their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ppybuild.emit.tensors.derivatives.builder import (
    Builder,
    NotDifferentiable,
    argument,
)
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.pooling import POOLS
from ppybuild.emit.tensors.infer import infer_types
from ppybuild.emit.tensors.ir import Argument, Graph, Items, Node, TensorType, Value
from ppybuild.emit.tensors.meta import FLOATING, Results, product

Composition = Callable[[Builder, Call], Value | tuple[Value, ...]]

NOISE = "ppy::noise"
"""Not an operator: what dropout multiplies a tensor by, laid out and drawn as ATen does it."""

SEVERAL = "ppy::several"
"""Not an operator: its tensor must have more than one number in each channel, else the run is
abandoned."""

NONE, MEAN, SUM = range(3)
"""The enumerators of a loss's reduction."""


def _linear(b: Builder, n: Call) -> Value:
    source, weight = n.value(0), n.value(1)
    rank = b.rank(source)
    flipped = b.call("t", weight)
    if b.rank(weight) != 2:
        raise NotDifferentiable("a linear layer whose weight is not a matrix")
    if not n.given(2):
        return _product(b, source, flipped)
    if rank == 2:
        return b.call("addmm", n[2], source, flipped, 1, 1)
    if rank == 3:
        shape = b.sizes(source)
        flat = b.reshape(source, [-1, shape[-1]])
        out = b.call("addmm", n[2], flat, flipped, 1, 1)
        return b.call("view", out, [*shape[:-1], b.size(weight, 0)])
    return b.add(_product(b, source, flipped), n.value(2))


def _matmul(b: Builder, n: Call) -> Value:
    return _product(b, n.value(0), n.value(1))


def _product(b: Builder, left: Value, right: Value) -> Value:
    ranks = (b.rank(left), b.rank(right))
    if 0 in ranks:
        raise NotDifferentiable("a product of a tensor without dimensions")
    if ranks == (1, 1):
        return b.call("dot", left, right)
    if ranks == (2, 1):
        return b.call("mv", left, right)
    if ranks == (1, 2):
        row = b.call("mm", b.call("unsqueeze", left, 0), right)
        return b.call("squeeze.dim", row, 0)
    if ranks == (2, 2):
        return b.call("mm", left, right)
    if ranks[0] > 2 and ranks[1] <= 2:
        return _folded(b, left, right)
    return _batched(b, left, right)


def _folded(b: Builder, left: Value, right: Value) -> Value:
    """Leading dimensions become rows of one matrix."""
    shape = b.sizes(left)
    flat = b.reshape(left, [-1, shape[-1]])
    if b.rank(right) == 1:
        return b.call("_unsafe_view", b.call("mv", flat, right), shape[:-1])
    return b.call("_unsafe_view", b.call("mm", flat, right), [*shape[:-1], b.size(right, 1)])


def _batched(b: Builder, left: Value, right: Value) -> Value:
    if b.rank(left) < 2 or b.rank(right) < 2:
        raise NotDifferentiable("a product of a vector and a batch of matrices")
    a, c = b.sizes(left), b.sizes(right)
    lead_a, lead_c = b.type(left).shape, b.type(right).shape
    assert lead_a is not None
    assert lead_c is not None
    if lead_a[:-2] == lead_c[:-2]:
        lead = a[:-2]
    elif all(isinstance(s, int) for s in (*lead_a[:-2], *lead_c[:-2])):
        lead = _common(lead_a[:-2], lead_c[:-2])
    else:
        raise NotDifferentiable("a product of batches whose sizes are not known")
    flat_a = b.reshape(b.expand(left, [*lead, *a[-2:]]), [*_flat(lead), *a[-2:]])
    flat_c = b.reshape(b.expand(right, [*lead, *c[-2:]]), [*_flat(lead), *c[-2:]])
    out = b.call("bmm", flat_a, flat_c)
    return b.call("_unsafe_view", out, [*lead, a[-2], c[-1]])


def _flat(lead: tuple[int | float | Value, ...]) -> list[int | float | Value]:
    if len(lead) == 1:
        return [lead[0]]
    total = 1
    for size in lead:
        if not isinstance(size, int):
            raise NotDifferentiable("a product of batches whose sizes are not known")
        total *= size
    return [total]


def _common(
    left: tuple[int | str, ...], right: tuple[int | str, ...]
) -> tuple[int | float | Value, ...]:
    count = max(len(left), len(right))
    padded = [(1,) * (count - len(s)) + s for s in (left, right)]
    sizes = [a if c == 1 else c for a, c in zip(*padded, strict=True)]
    return tuple(size for size in sizes if isinstance(size, int))


def _softmax(op: str) -> Composition:
    def rule(b: Builder, n: Call) -> Value:
        source = n.value(0)
        if n.given(2) and n[2] != b.dtype(source):
            source = b.call("to.dtype", source, n[2], False, False, None)
        return b.call(op, source, n[1], False)

    return rule


def _reduced(b: Builder, loss: Value, reduction: int) -> Value:
    if reduction == MEAN:
        return b.call("mean", loss, None)
    return b.call("sum", loss, None) if reduction == SUM else loss


def _l1(b: Builder, n: Call) -> Value:
    return _reduced(b, b.call("abs", b.sub(n.value(0), n.value(1))), n.integer(2))


def _nll(b: Builder, n: Call) -> Value:
    if b.rank(n[0]) > 2:
        raise NotDifferentiable("nll_loss over images")
    return b.call("nll_loss_forward", *(n[i] for i in range(5)))


def _cross_entropy(b: Builder, n: Call) -> Value:
    source, target = n.value(0), n.value(1)
    dim = 0 if b.rank(source) == 1 else 1
    if b.rank(source) > 2:
        raise NotDifferentiable("cross entropy over images")
    smoothing = n.number(5)
    logs = b.call("_log_softmax", source, dim, False)
    if b.type(target).dtype in FLOATING and b.type(source).shape == b.type(target).shape:
        return _cross_entropy_of_odds(b, n, logs, dim)
    loss = b.call("nll_loss_forward", logs, target, n[2], n[3], n[4])
    if not smoothing:
        return loss
    if n.given(2):
        raise NotDifferentiable("cross entropy with both weights and label smoothing")
    classes = b.size(source, dim)
    if not isinstance(classes, int):
        raise NotDifferentiable("label smoothing over an unknown number of classes")
    ignored = b.compare("eq", target, n[4])
    smooth = b.masked(b.neg(b.sum(logs, [dim])), ignored)
    if n.integer(3) == MEAN:
        kept = b.call("sum", b.call("logical_not", ignored), None)
        smooth = b.div(b.call("sum", smooth, None), kept)
    elif n.integer(3) == SUM:
        smooth = b.call("sum", smooth, None)
    return b.add(b.mul(loss, 1 - smoothing), b.mul(smooth, smoothing / classes))


def _cross_entropy_of_odds(b: Builder, n: Call, logs: Value, dim: int) -> Value:
    """Targets are probabilities of the classes."""
    target, smoothing = n.value(1), n.number(5)
    classes = b.size(logs, dim)
    if smoothing:
        if not isinstance(classes, int):
            raise NotDifferentiable("label smoothing over an unknown number of classes")
        target = b.add(b.mul(target, 1 - smoothing), smoothing / classes)
    terms = b.mul(logs, target)
    if n.given(2):
        terms = b.mul(terms, n[2])
    reduction = n.integer(3)
    if reduction == NONE:
        return b.neg(b.sum(terms, [dim]))
    total = b.neg(b.call("sum", terms, None))
    if reduction == SUM:
        return total
    rows = 1 if b.rank(logs) == 1 else b.size(logs, 0)
    return b.div(total, argument(rows))


def _layer_norm(b: Builder, n: Call) -> Value:
    return b.call("native_layer_norm", n[0], n[1], n[2], n[3], n[4])


def _tracked_batch_norm(b: Builder, n: Call) -> tuple[Value, ...]:
    """As the layer's forward has it: with a look at the size first."""
    if n.flag(5):
        b.append(Node(SEVERAL, (n[0],), (), b.location))
    return b.results("native_batch_norm", *n.node.args)


def _dropout(b: Builder, n: Call) -> Value:
    """The mask is drawn as ATen draws it, and kept for the gradient."""
    source, p = n.value(0), n.number(1)
    if p == 0 or not n.flag(2):
        return b.call("alias", source)
    if p == 1:
        return b.mul(source, b.zeros_like(source))
    if b.by_strides:
        return b.mul(source, b.helper(NOISE, source, source, 1 - p))
    noise = b.call("bernoulli.p", source, 1 - p, None)
    return b.mul(source, b.div(noise, 1 - p))


def _convolution(dims: int) -> Composition:
    def rule(b: Builder, n: Call) -> Value:
        source = n.value(0)
        single = b.rank(source) == dims + 1
        if single:
            source = b.call("unsqueeze", source, 0)
        geometry = [_repeated(n, i, dims) for i in (3, 4, 5)]
        out = b.call("convolution", source, n[1], n[2], *geometry, False, [0] * dims, n[6])
        return b.call("squeeze.dim", out, 0) if single else out

    return rule


def _repeated(n: Call, index: int, count: int) -> Argument:
    items = n.items(index)
    return Items(items * count if len(items) == 1 else items)


def _unbiased(op: str) -> Composition:
    """var and std of everything in their older form, with a flag for the correction."""
    return lambda b, n: b.call(op, n[0], None, int(n.flag(1)), False)


def _unbiased_along(op: str) -> Composition:
    return lambda b, n: b.call(op, n[0], n[1], int(n.flag(2)), n[3])


def _norm(b: Builder, n: Call) -> Value:
    return b.call("linalg_vector_norm", n[0], n[1], None, False, None)


def _flatten(b: Builder, n: Call) -> Value:
    source = n.value(0)
    rank = b.rank(source)
    sizes = b.sizes(source)
    if not rank:
        return b.reshape(source, [1])
    start, end = n.integer(1) % rank, n.integer(2) % rank
    if start == end:
        return b.call("alias", source)
    flat = b.reshape(source, [*sizes[:start], -1, *sizes[end + 1 :]])
    shape = b.type(source).shape
    if shape is not None:
        whole = (*shape[:start], product(shape[start : end + 1]), *shape[end + 1 :])
        b.types[flat] = TensorType(b.type(source).dtype, whole)
    return flat


def _transposed(b: Builder, n: Call) -> Value:
    return b.call("permute", n[0], list(reversed(range(b.rank(n[0])))))


def _where_scalars(b: Builder, n: Call) -> Value:
    """A number takes the dtype of the other, as where's promotion has it."""
    like = next((n.value(i) for i in (1, 2) if isinstance(n[i], Value)), None)
    if like is None:
        raise NotDifferentiable("where between two numbers")
    sides = [
        n.value(i)
        if isinstance(n[i], Value)
        else b.call("scalar_tensor", n[i], b.dtype(like), None, None, None)
        for i in (1, 2)
    ]
    return b.where(n.value(0), *sides)


def _same(op: str) -> Composition:
    return lambda b, n: b.call(op, *n.node.args)


COMPOSITIONS: Mapping[str, Composition] = {
    "linear": _linear,
    "matmul": _matmul,
    "softmax.int": _softmax("_softmax"),
    "log_softmax.int": _softmax("_log_softmax"),
    "special_log_softmax": _softmax("_log_softmax"),
    "cross_entropy_loss": _cross_entropy,
    "nll_loss": _nll,
    "nll_loss_nd": _nll,
    "l1_loss": _l1,
    "layer_norm": _layer_norm,
    "batch_norm": lambda b, n: b.call("native_batch_norm", *n.node.args[:8]),
    "native_batch_norm": _tracked_batch_norm,
    "dropout": _dropout,
    "conv1d": _convolution(1),
    "conv2d": _convolution(2),
    "log_sigmoid": lambda b, n: b.call("log_sigmoid_forward", n[0]),
    "selu": lambda b, n: b.call(
        "elu", n[0], 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1
    ),
    "relu6": lambda b, n: b.call("hardtanh", n[0], 0, 6),
    "square": lambda b, n: b.power(n.value(0), 2),
    "var": _unbiased("var.correction"),
    "var.dim": _unbiased_along("var.correction"),
    "std": _unbiased("std.correction"),
    "std.dim": _unbiased_along("std.correction"),
    "norm.Scalar": _norm,
    "flatten.using_ints": _flatten,
    "view_as": lambda b, n: b.call("view", n[0], b.sizes(n.value(1))),
    "expand_as": lambda b, n: b.expand(n.value(0), b.sizes(n.value(1))),
    "numpy_T": _transposed,
    "mT": lambda b, n: b.transpose(n.value(0), -2, -1),
    "narrow": lambda b, n: b.call("slice.Tensor", n[0], n[1], n[2], _end(n), 1),
    "max.other": _same("maximum"),
    "min.other": _same("minimum"),
    "clip": _same("clamp"),
    "clip.Tensor": _same("clamp.Tensor"),
    "negative": _same("neg"),
    "absolute": _same("abs"),
    "subtract.Tensor": _same("sub.Tensor"),
    "multiply.Tensor": _same("mul.Tensor"),
    "divide.Tensor": _same("div.Tensor"),
    "true_divide.Tensor": _same("div.Tensor"),
    "where.ScalarSelf": _where_scalars,
    "where.ScalarOther": _where_scalars,
    **POOLS,
}


def _end(n: Call) -> int:
    return n.integer(2) + n.integer(3)


def decompose_node(b: Builder, node: Node) -> None:
    """Append `node`, spelled out where it is composite, to the builder."""
    rule = COMPOSITIONS.get(node.op.removeprefix("aten::"))
    if rule is None:
        b.append(node)
        _complete(b, node.results, infer_types(node.op, node.args, b.types))
        return
    first = len(b.nodes)
    b.location = node.location
    made = rule(b, Call(node))
    made = made if isinstance(made, tuple) else (made,)
    names = dict(zip(made, node.results, strict=False))
    for place in range(first, len(b.nodes)):
        b.nodes[place] = _renamed(b.nodes[place], names)
    for value in names:
        b.producers.pop(value, None)
        kind = b.types.pop(value, None)
        _complete(b, (names[value],), (kind,))
    for new in b.nodes[first:]:
        b.producers.update((value, new) for value in new.results)


def _complete(b: Builder, values: tuple[Value, ...], kinds: Results) -> None:
    """Fill in what was not known of the values' types."""
    for value, kind in zip(values, kinds, strict=False):
        if kind is None:
            continue
        known = b.type(value)
        b.types[value] = TensorType(
            known.dtype or kind.dtype, kind.shape if known.shape is None else known.shape
        )


def _renamed(node: Node, names: Mapping[Value, Value]) -> Node:
    return replace(
        node,
        args=tuple(_renamed_argument(arg, names) for arg in node.args),
        results=tuple(names.get(value, value) for value in node.results),
    )


def _renamed_argument(arg: Argument, names: Mapping[Value, Value]) -> Argument:
    if isinstance(arg, Value):
        return names.get(arg, arg)
    if isinstance(arg, Items):
        return Items(tuple(_renamed_argument(item, names) for item in arg.items))
    return arg


def values_of(graph: Graph) -> list[Value]:
    """Every value of the graph: inputs first, then results in order."""
    return [i.value for i in graph.inputs] + [v for n in graph.nodes for v in n.results]


def start(graph: Graph) -> Builder:
    """A builder that holds the graph's nodes with composite operators spelled out."""
    b = Builder((), graph.types, values_of(graph), graph.location)
    for node in graph.nodes:
        decompose_node(b, node)
    return b


def decompose(graph: Graph) -> Graph:
    b = start(graph)
    types = tuple(sorted(b.types.items(), key=lambda item: item[0].id))
    return replace(graph, nodes=tuple(b.nodes), types=types)
