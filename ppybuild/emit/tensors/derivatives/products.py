"""Derivatives of matrix products."""

from __future__ import annotations

from ppybuild.emit.tensors.derivatives.builder import Builder
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.pointwise import Rule, Rules
from ppybuild.emit.tensors.ir import Argument, Constant, Value

LEFT, RIGHT = "ppy::mm_left", "ppy::mm_right"
"""Not operators: the gradient of a factor, from that of the product and both factors, by
their strides when it runs."""


def _column_major(b: Builder, value: Value) -> bool:
    """Whether the matrix is a transposed view, which decides how autograd multiplies."""
    transposed = False
    while (node := b.producers.get(value)) is not None and node.op in (
        "aten::t",
        "aten::transpose.int",
    ):
        transposed = not transposed
        source = node.args[0]
        assert isinstance(source, Value)
        value = source
    return transposed


def _t(b: Builder, value: Value) -> Value:
    return b.call("t", value)


def _left(b: Builder, g: Value, left: Value, right: Value, alpha: Argument) -> Value:
    if b.by_strides:
        return b.scaled(b.helper(LEFT, left, g, left, right), alpha)
    if _column_major(b, left):
        return b.scaled(_t(b, b.call("mm", right, _t(b, g))), alpha)
    return b.scaled(b.call("mm", g, _t(b, right)), alpha)


def _right(b: Builder, g: Value, left: Value, right: Value, alpha: Argument) -> Value:
    if b.by_strides:
        return b.scaled(b.helper(RIGHT, right, g, left, right), alpha)
    if _column_major(b, right):
        return b.scaled(_t(b, b.call("mm", _t(b, g), left)), alpha)
    return b.scaled(b.call("mm", _t(b, left), g), alpha)


_ONE = Constant(1)


def _of_mm(side: str, left: int, right: int, alpha: int | None) -> Rule:
    rule = _left if side == "left" else _right

    def of(b: Builder, g: Value, n: Call) -> Value:
        factor = n[alpha] if alpha is not None else _ONE
        return rule(b, g, n.value(left), n.value(right), factor)

    return of


def _batch(side: str, left: int, alpha: int | None) -> Rule:
    def of(b: Builder, g: Value, n: Call) -> Value:
        factor = n[alpha] if alpha is not None else _ONE
        if side == "left":
            return b.scaled(b.call("bmm", g, b.transpose(n.value(left + 1), 1, 2)), factor)
        return b.scaled(b.call("bmm", b.transpose(n.value(left), 1, 2), g), factor)

    return of


PRODUCTS: Rules = {
    "mm": {0: _of_mm("left", 0, 1, None), 1: _of_mm("right", 0, 1, None)},
    "addmm": {
        0: lambda b, g, n: b.scaled(g, n[3]),
        1: _of_mm("left", 1, 2, 4),
        2: _of_mm("right", 1, 2, 4),
    },
    "bmm": {0: _batch("left", 0, None), 1: _batch("right", 0, None)},
    "baddbmm": {
        0: lambda b, g, n: b.scaled(g, n[3]),
        1: _batch("left", 1, 4),
        2: _batch("right", 1, 4),
    },
    "mv": {
        0: lambda b, g, n: b.mul(b.call("unsqueeze", g, 1), n[1]),
        1: lambda b, g, n: b.call("mv", _t(b, n.value(0)), g),
    },
    "dot": {0: lambda b, g, n: b.mul(g, n[1]), 1: lambda b, g, n: b.mul(g, n[0])},
}
