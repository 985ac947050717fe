"""What losses, softmax and layer normalisation become."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.fused.ir import NotFusible
from ppybuild.emit.tensors.fused.lowering import Bound, Lowering
from ppybuild.emit.tensors.ir import Constant, Node

Rule = Callable[[Lowering, Node], tuple[Bound, ...]]

NONE, MEAN, SUM = range(3)


def _reduction(node: Node, place: int) -> int:
    arg = node.args[place]
    assert isinstance(arg, Constant)
    return int(arg.value) if isinstance(arg.value, int) else MEAN


def _reduced(low: Lowering, terms: Bound, reduction: int) -> Bound:
    if reduction == NONE:
        return terms
    dims = tuple(range(len(terms.shape)))
    total = low.sum(terms, dims, False)
    return (
        total if reduction == SUM else low.element("div", total, low.count(terms.shape, dims))
    )


def _per_term(low: Lowering, g: Bound, shape: tuple[int | str, ...], reduction: int) -> Bound:
    """The gradient that comes to each term of a loss."""
    if reduction != MEAN:
        return g
    return low.element("div", g, low.count(shape, tuple(range(len(shape)))))


def _mse(low: Lowering, node: Node) -> tuple[Bound, ...]:
    error = low.element("sub", low.tensor(node.args[0]), low.tensor(node.args[1]))
    return (_reduced(low, low.element("mul", error, error), _reduction(node, 2)),)


def _mse_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, x, y = (low.tensor(node.args[i]) for i in (0, 1, 2))
    error = e("sub", x, y)
    g = _per_term(low, g, error.shape, _reduction(node, 3))
    return (e("mul", e("mul", error, 2), g),)


def _smooth_l1(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    x, y, beta = (low.tensor(node.args[i]) for i in (0, 1, 3))
    z = e("abs", e("sub", x, y))
    half = e("mul", beta, 0.5)
    near = e("div", e("mul", e("mul", z, z), 0.5), beta)
    terms = e("where_gt", beta, z, near, e("sub", z, half))
    return (_reduced(low, terms, _reduction(node, 2)),)


def _smooth_l1_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, x, y, beta = (low.tensor(node.args[i]) for i in (0, 1, 2, 4))
    d = e("sub", x, y)
    g = _per_term(low, g, d.shape, _reduction(node, 3))
    slope = e("where_gt", beta, e("abs", d), e("div", d, beta), e("sgn", d))
    return (e("mul", g, slope),)


def _clamped_log(low: Lowering, x: Bound) -> Bound:
    return low.element("max", low.element("log", x), -100)


def _weighed(low: Lowering, node: Node, place: int, terms: Bound) -> Bound:
    if node.args[place] == Constant(None):
        return terms
    return low.element("mul", terms, low.tensor(node.args[place]))


def _bce(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x, y = low.element, low.tensor(node.args[0]), low.tensor(node.args[1])
    against = e("max", e("log1p", e("neg", x)), -100)
    terms = e("sub", e("mul", e("sub", y, 1), against), e("mul", y, _clamped_log(low, x)))
    return (_reduced(low, _weighed(low, node, 2, terms), _reduction(node, 3)),)


def _bce_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, x, y = (low.tensor(node.args[i]) for i in (0, 1, 2))
    spread = e("max", e("mul", e("sub", 1, x), x), 1e-12)
    slope = _weighed(low, node, 3, e("div", e("sub", x, y), spread))
    return (e("mul", _per_term(low, g, slope.shape, _reduction(node, 4)), slope),)


def _bce_with_logits(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x, y = low.element, low.tensor(node.args[0]), low.tensor(node.args[1])
    # -log(sigmoid(x)) without overflow: max(-x, 0) + log1p(exp(-|x|))
    missed = e("add", e("max", e("neg", x), 0), e("log1p", e("exp", e("neg", e("abs", x)))))
    if node.args[3] != Constant(None):
        extra = e("mul", e("sub", low.tensor(node.args[3]), 1), y)
        missed = e("mul", missed, e("add", extra, 1))
    terms = e("add", e("mul", e("sub", 1, y), x), missed)
    return (_reduced(low, _weighed(low, node, 2, terms), _reduction(node, 4)),)


def _last(low: Lowering, node: Node, place: int, source: Bound) -> None:
    arg = node.args[place]
    dim = arg.value if isinstance(arg, Constant) and isinstance(arg.value, int) else 0
    rank = len(source.shape)
    if rank != 2 or low.row_width(source.shape) is None or dim % rank != rank - 1:
        raise NotFusible("a softmax that is not over rows of a matrix")


def _softmax(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x = low.element, low.tensor(node.args[0])
    _last(low, node, 1, x)
    shifted = e("exp", e("sub", x, low.along("max", x, True)))
    return (e("div", shifted, low.along("sum", shifted, True)),)


def _log_softmax(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x = low.element, low.tensor(node.args[0])
    _last(low, node, 1, x)
    shifted = e("sub", x, low.along("max", x, True))
    return (e("sub", shifted, e("log", low.along("sum", e("exp", shifted), True))),)


def _softmax_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, g, y = low.element, low.tensor(node.args[0]), low.tensor(node.args[1])
    _last(low, node, 2, y)
    product = e("mul", g, y)
    return (e("sub", product, e("mul", y, low.along("sum", product, True))),)


def _log_softmax_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, g, y = low.element, low.tensor(node.args[0]), low.tensor(node.args[1])
    _last(low, node, 2, y)
    full = Bound(g.value, y.shape, g.transposed)
    return (e("sub", g, e("mul", e("exp", y), low.along("sum", full, True))),)


def _target_rows(low: Lowering, node: Node, logs: Bound, target: Bound) -> tuple[Bound, Bound]:
    """The target as a column, and one where the row counts."""
    e = low.element
    if len(logs.shape) != 2 or len(target.shape) != 1 or low.row_width(logs.shape) is None:
        raise NotFusible("a negative log likelihood that is not of rows")
    column = Bound(target.value, (*target.shape, 1))
    ignored = node.args[5 if node.op == "aten::nll_loss_backward" else 4]
    return column, e("ne", column, low.tensor(ignored))


def _row_weight(low: Lowering, node: Node, place: int, hit: Bound, kept: Bound) -> Bound:
    """The weight of each row: that of its target's class."""
    if node.args[place] == Constant(None):
        return kept
    weights = low.tensor(node.args[place])
    chosen = low.element("where", hit, Bound(weights.value, (1, *weights.shape)), 0)
    return low.element("mul", low.along("sum", chosen, True), kept)


def _nll(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    logs, target = low.tensor(node.args[0]), low.tensor(node.args[1])
    column, kept = _target_rows(low, node, logs, target)
    classes = int(logs.shape[1])
    hit = e("eq", Bound(low.column(classes).value, (1, classes)), column)
    _check_range(low, column, kept, classes)
    weight = _row_weight(low, node, 2, hit, kept)
    picked = low.along("sum", e("where", hit, logs, 0), True)
    terms = e("where", kept, e("neg", e("mul", picked, weight)), 0)
    total = low.sum(weight, (0, 1), False)
    reduction = _reduction(node, 3)
    if reduction == NONE:
        return Bound(terms.value, target.shape), total
    loss = low.sum(terms, (0, 1), False)
    return (e("div", loss, total) if reduction == MEAN else loss), total


def _check_range(low: Lowering, column: Bound, kept: Bound, classes: int) -> None:
    e = low.element
    outside = e("max", e("lt", column, 0), e("ge", column, classes))
    count = low.sum(e("mul", outside, kept), (0, 1), False)
    assert isinstance(count.value, int)
    low.checks.append(count.value)


def _nll_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, logs, target, total = (low.tensor(node.args[i]) for i in (0, 1, 2, 6))
    column, kept = _target_rows(low, node, logs, target)
    classes = int(logs.shape[1])
    hit = e("eq", Bound(low.column(classes).value, (1, classes)), column)
    weight = _row_weight(low, node, 3, hit, kept)
    reduction = _reduction(node, 4)
    if reduction == NONE:
        g = Bound(g.value, column.shape)
    elif reduction == MEAN:
        g = e("div", g, total)
    step = e("where", kept, e("neg", e("mul", weight, g)), 0)
    return (e("where", hit, step, 0),)


def _layer_norm(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x = low.element, low.tensor(node.args[0])
    if len(x.shape) != 2 or low.row_width(x.shape) is None:
        raise NotFusible("a layer norm that is not of rows of a matrix")
    width = float(int(x.shape[1]))
    mean = e("div", low.along("sum", x, True), width)
    centred = e("sub", x, mean)
    variance = e("div", low.along("sum", e("mul", centred, centred), True), width)
    rstd = e("div", 1, e("sqrt", e("add", variance, low.tensor(node.args[4]))))
    out = e("mul", centred, rstd)
    if node.args[2] != Constant(None):
        out = e("mul", out, low.tensor(node.args[2]))
    if node.args[3] != Constant(None):
        out = e("add", out, low.tensor(node.args[3]))
    return out, mean, rstd


def _batch_norm(low: Lowering, node: Node) -> tuple[Bound, ...]:
    """By the running statistics, as the layer is outside of training."""
    e, x = low.element, low.tensor(node.args[0])
    if node.args[5] != Constant(False) or len(x.shape) != 2:
        raise NotFusible("a batch norm of batches, or of other than rows")
    mean, variance = low.tensor(node.args[3]), low.tensor(node.args[4])
    rstd = e("div", 1, e("sqrt", e("add", variance, low.tensor(node.args[7]))))
    out = e("mul", e("sub", x, mean), rstd)
    if node.args[1] != Constant(None):
        out = e("mul", out, low.tensor(node.args[1]))
    if node.args[2] != Constant(None):
        out = e("add", out, low.tensor(node.args[2]))
    return out, mean, rstd


def _layer_norm_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, x, mean, rstd = (low.tensor(node.args[i]) for i in (0, 1, 3, 4))
    width = float(int(x.shape[1]))
    normal = e("mul", e("sub", x, mean), rstd)
    weight = node.args[5]
    h = g if weight == Constant(None) else e("mul", g, low.tensor(weight))
    h = Bound(h.value, x.shape)
    first = e("div", low.along("sum", h, True), width)
    second = e("div", low.along("sum", e("mul", h, normal), True), width)
    inner = e("sub", e("sub", h, first), e("mul", normal, second))
    vector = x.shape[1:]
    return (
        e("mul", inner, rstd),
        low.sum(Bound(e("mul", g, normal).value, x.shape), (0,), False),
        Bound(low.sum(Bound(g.value, x.shape), (0,), False).value, vector),
    )


RULES: Mapping[str, Rule] = {
    "mse_loss": _mse,
    "mse_loss_backward": _mse_backward,
    "smooth_l1_loss": _smooth_l1,
    "smooth_l1_loss_backward": _smooth_l1_backward,
    "binary_cross_entropy": _bce,
    "binary_cross_entropy_backward": _bce_backward,
    "binary_cross_entropy_with_logits": _bce_with_logits,
    "_softmax": _softmax,
    "_softmax_backward_data": _softmax_backward,
    "_log_softmax": _log_softmax,
    "_log_softmax_backward_data": _log_softmax_backward,
    "nll_loss_forward": _nll,
    "nll_loss_backward": _nll_backward,
    "native_batch_norm": _batch_norm,
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
}
