"""Derivatives of reductions, softmax and normalisation over dimensions."""

from __future__ import annotations

import math

from ppybuild.emit.tensors.derivatives.builder import Builder, NotDifferentiable, dims_of
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.pointwise import Rule, Rules
from ppybuild.emit.tensors.ir import Items, Value
from ppybuild.emit.tensors.meta import product


def _spread(b: Builder, g: Value, n: Call, dims: tuple[int, ...], keepdim: bool) -> Value:
    """The gradient of a sum: the same for every element summed."""
    return b.expand(b.restore(g, dims, keepdim), b.sizes(n.value(0)))


def _divided_by_count(b: Builder, g: Value, source: Value, dims: tuple[int, ...]) -> Value:
    count = b.count(source, dims)
    if count is not None:
        return b.div(g, count)
    total = None
    for dim in dims:
        size = b.call("scalar_tensor", b.size(source, dim), b.dtype(source), None, None, None)
        total = size if total is None else b.mul(total, size)
    assert total is not None
    return b.div(g, total)


def _sum_all(b: Builder, g: Value, n: Call) -> Value:
    return b.expand(g, b.sizes(n.value(0)))


def _sum(b: Builder, g: Value, n: Call) -> Value:
    return _spread(b, g, n, dims_of(b, n.value(0), n[1]), n.flag(2))


def _mean_all(b: Builder, g: Value, n: Call) -> Value:
    source = n.value(0)
    dims = tuple(range(b.rank(source)))
    return _divided_by_count(b, b.expand(g, b.sizes(source)), source, dims)


def _mean(b: Builder, g: Value, n: Call) -> Value:
    dims = dims_of(b, n.value(0), n[1])
    return _divided_by_count(b, _spread(b, g, n, dims, n.flag(2)), n.value(0), dims)


def _variance(b: Builder, g: Value, n: Call) -> Value:
    """2 / (count - correction) * g * (self - mean)"""
    source, correction = n.value(0), n.number(2) if n.given(2) else 1
    dims = dims_of(b, source, n[1])
    whole = not n.given(1) or not b.rank(source) or n[1] == Items(())
    if whole:
        centred = b.sub(source, b.call("mean", source, None))
    else:
        g = b.restore(g, dims, n.flag(3))
        centred = b.sub(source, b.call("mean.dim", source, dims, True, None))
    shape = b.type(source).shape
    assert shape is not None
    count = product(tuple(shape[d] for d in dims))
    if isinstance(count, int):
        freedom = count - correction
        factor = 2.0 / freedom if freedom else math.inf
        return b.mul(b.mul(g, factor), centred)
    known = b.count(source, dims)
    if known is None:
        raise NotDifferentiable("a variance over several dimensions of unknown size")
    kind = b.dtype(source)
    freedom_value = b.sub(b.call("scalar_tensor", known, kind, None, None, None), correction)
    scale = b.mul(b.call("reciprocal", freedom_value), 2.0)
    return b.mul(b.mul(g, scale), centred)


def _deviation(b: Builder, g: Value, n: Call) -> Value:
    ratio = b.div(g, b.mul(n.out, 2))
    return _variance(b, b.masked(ratio, b.compare("eq", n.out, 0)), n)


def _evenly(b: Builder, g: Value, n: Call) -> Value:
    """max and min of all elements: shared evenly among those that are it."""
    source = n.value(0)
    missing = b.call("logical_and", b.call("isnan", source), b.call("isnan", n.out))
    mask = b.call("logical_or", missing, b.compare("eq", source, n.out))
    return b.mul(mask, b.div(g, b.call("sum", mask, None)))


def _evenly_along(b: Builder, g: Value, n: Call) -> Value:
    """amax and amin."""
    source = n.value(0)
    dims = dims_of(b, source, n[1])
    result = b.restore(n.out, dims, n.flag(2))
    g = b.restore(g, dims, n.flag(2))
    mask = b.compare("eq", result, source)
    return b.mul(b.div(g, b.sum(mask, dims, True)), mask)


def _selecting(b: Builder, g: Value, n: Call) -> Value:
    """max and min along a dimension: all to the element whose index was given."""
    return b.call(
        "value_selecting_reduction_backward", g, n[1], n.outs[1], b.sizes(n.value(0)), n[2]
    )


def _logsumexp(b: Builder, g: Value, n: Call) -> Value:
    source = n.value(0)
    dims = dims_of(b, source, n[1])
    g = b.restore(g, dims, n.flag(2))
    result = b.restore(n.out, dims, n.flag(2))
    return b.mul(g, b.call("exp", b.sub(source, result)))


def _vector_norm(b: Builder, g: Value, n: Call) -> Value:
    source, order = n.value(0), n.number(1)
    dims = dims_of(b, source, n[2])
    norm = b.restore(n.out, dims, n.flag(3))
    g = b.restore(g, dims, n.flag(3))
    if order == 1:
        return b.mul(b.call("sgn", source), g)
    if order == 2:
        return b.mul(g, b.masked(b.div(source, norm), b.compare("eq", norm, 0)))
    raise NotDifferentiable(f"a norm of order {order}")


def _softmax_like(op: str) -> Rule:
    def rule(b: Builder, g: Value, n: Call) -> Value:
        return b.call(op, g, n.out, n[1], b.dtype(n[0]))

    return rule


def _cumulative(b: Builder, g: Value, n: Call) -> Value:
    if not b.rank(g):
        return g
    return b.call("flip", b.call("cumsum", b.call("flip", g, [n[1]]), n[1], None), [n[1]])


REDUCTIONS: Rules = {
    "sum": {0: _sum_all},
    "sum.dim_IntList": {0: _sum},
    "mean": {0: _mean_all},
    "mean.dim": {0: _mean},
    "var.correction": {0: _variance},
    "std.correction": {0: _deviation},
    "max": {0: _evenly},
    "min": {0: _evenly},
    "amax": {0: _evenly_along},
    "amin": {0: _evenly_along},
    "max.dim": {0: _selecting},
    "min.dim": {0: _selecting},
    "logsumexp": {0: _logsumexp},
    "linalg_vector_norm": {0: _vector_norm},
    "cumsum": {0: _cumulative},
    "_softmax": {0: _softmax_like("_softmax_backward_data")},
    "_log_softmax": {0: _softmax_like("_log_softmax_backward_data")},
}
