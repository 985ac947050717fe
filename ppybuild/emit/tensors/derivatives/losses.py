"""Derivatives of losses, normalisation layers and convolution."""

from __future__ import annotations

from ppybuild.emit.tensors.derivatives.builder import Builder
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.decompose import MEAN
from ppybuild.emit.tensors.derivatives.pointwise import Rule, Rules
from ppybuild.emit.tensors.ir import Value


def _symmetric(op: str, own: int, *more: int) -> Rule:
    """A loss of the difference: the target's gradient has the two exchanged."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        return b.call(op, g, n[own], n[1 - own], *(n[i] for i in more))

    return rule


def _nll(b: Builder, g: Value, n: Call) -> Value:
    return b.call("nll_loss_backward", g, n[0], n[1], n[2], n[3], n[4], n.outs[1])


def _bce(b: Builder, g: Value, n: Call) -> Value:
    return b.call("binary_cross_entropy_backward", g, n[0], n[1], n[2], n[3])


def _weighed(b: Builder, g: Value, n: Call) -> Value:
    if n.given(2):
        g = b.mul(g, n[2])
    if n.integer(4) == MEAN:
        source = n.value(0)
        count = b.count(source, tuple(range(b.rank(source))))
        assert count is not None
        g = b.div(g, count)
    return g


def _logits(b: Builder, g: Value, n: Call) -> Value:
    source, target, positive = n.value(0), n.value(1), n.optional(3)
    odds = b.call("sigmoid", source)
    if positive is None:
        return _weighed(b, b.mul(b.sub(odds, target), g), n)
    weight = b.mul(positive, target)
    slope = b.sub(b.mul(b.sub(b.add(weight, 1), target), odds), weight)
    return _weighed(b, b.mul(slope, g), n)


def _logits_target(b: Builder, g: Value, n: Call) -> Value:
    source, positive = n.value(0), n.optional(3)
    if positive is None:
        return _weighed(b, b.mul(source, b.neg(g)), n)
    against = b.call("log_sigmoid_forward", b.neg(source))
    slope = b.sub(against, b.mul(positive, b.call("log_sigmoid_forward", source)))
    return _weighed(b, b.mul(slope, g), n)


LOSSES: Rules = {
    "mse_loss": {
        0: _symmetric("mse_loss_backward", 0, 2),
        1: _symmetric("mse_loss_backward", 1, 2),
    },
    "smooth_l1_loss": {
        0: _symmetric("smooth_l1_loss_backward", 0, 2, 3),
        1: _symmetric("smooth_l1_loss_backward", 1, 2, 3),
    },
    "huber_loss": {
        0: _symmetric("huber_loss_backward", 0, 2, 3),
        1: _symmetric("huber_loss_backward", 1, 2, 3),
    },
    "nll_loss_forward": {0: _nll},
    "binary_cross_entropy": {0: _bce},
    "binary_cross_entropy_with_logits": {0: _logits, 1: _logits_target},
}


def _mask(n: Call, wanted: frozenset[Value], places: tuple[int, ...]) -> tuple[bool, ...]:
    return tuple(n.optional(place) in wanted for place in places)


def layer_norm(
    b: Builder, g: Value, n: Call, wanted: frozenset[Value]
) -> list[tuple[Value, Value]]:
    mask = _mask(n, wanted, (0, 2, 3))
    results = b.results(
        "native_layer_norm_backward", g, n[0], n[1], n.outs[1], n.outs[2], n[2], n[3], mask
    )
    return _chosen(b, n, results, mask, (0, 2, 3))


def batch_norm(
    b: Builder, g: Value, n: Call, wanted: frozenset[Value]
) -> list[tuple[Value, Value]]:
    mask = _mask(n, wanted, (0, 1, 2))
    results = b.results(
        "native_batch_norm_backward",
        *(g, n[0], n[1], n[3], n[4], n.outs[1], n.outs[2], n[5], n[7], mask),
    )
    return _chosen(b, n, results, mask, (0, 1, 2))


def convolution(
    b: Builder, g: Value, n: Call, wanted: frozenset[Value]
) -> list[tuple[Value, Value]]:
    mask = _mask(n, wanted, (0, 1, 2))
    bias = n.optional(2)
    sizes = b.sizes(bias) if bias is not None else None
    results = b.results(
        "convolution_backward", g, n[0], n[1], sizes, *(n[i] for i in range(3, 9)), mask
    )
    return _chosen(b, n, results, mask, (0, 1, 2))


def _chosen(
    b: Builder,
    n: Call,
    results: tuple[Value, ...],
    mask: tuple[bool, ...],
    places: tuple[int, ...],
) -> list[tuple[Value, Value]]:
    chosen = []
    for place, result, wanted in zip(places, results, mask, strict=True):
        if wanted:
            b.types[result] = b.type(n[place])
            chosen.append((n.value(place), result))
    return chosen
