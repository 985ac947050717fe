"""Derivatives of operators that work element by element.

A row gives, by place of the argument, a function of the builder, the gradient of the result
and the call. The operators are those that autograd itself runs, in its order, so that the
exact form gives its bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.derivatives.builder import Builder
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.ir import Value

Rule = Callable[[Builder, Value, Call], Value]
Rules = Mapping[str, Mapping[int, Rule]]


def _same(b: Builder, g: Value, n: Call) -> Value:
    return g


def _zero(b: Builder, g: Value, n: Call) -> Value:
    return b.zeros_like(g)


def _sub_other(b: Builder, g: Value, n: Call) -> Value:
    return b.scaled(b.neg(g), n[2])


def _div_other(b: Builder, g: Value, n: Call) -> Value:
    """-g * ((self / other) / other)"""
    quotient = b.div(b.div(n.value(0), n[1]), n[1])
    return b.mul(b.neg(g), quotient)


def _power_self(b: Builder, g: Value, n: Call) -> Value:
    exponent = n[1]
    if isinstance(exponent, Value) and b.is_tensor(exponent):
        slope = b.mul(exponent, b.call("pow.Tensor_Tensor", n[0], b.sub(exponent, 1)))
        zero = b.compare("eq", exponent, 0.0)
        return b.where(zero, b.zero(g), b.mul(g, slope))
    number = n.number(1)
    if number == 0:
        return b.zeros_like(n.value(0))
    return b.mul(g, b.mul(b.power(n.value(0), number - 1), number))


def _power_exponent(b: Builder, g: Value, n: Call) -> Value:
    exponent = n.value(1)
    base = n[0]
    if isinstance(base, Value) and b.is_tensor(base):
        flat = b.call("logical_and", b.compare("eq", base, 0), b.compare("ge", exponent, 0))
        slope = b.mul(n.out, b.call("log", base))
        return b.mul(g, b.where(flat, b.zero(g), slope))
    number = n.number(0)
    if number == 0:
        slope = b.mul(n.out, -math.inf)
        return b.mul(g, b.where(b.compare("ge", exponent, 0), b.zero(g), slope))
    return b.mul(g, b.mul(n.out, math.log(number) if number > 0 else math.nan))


def _within(low: int, high: int) -> Rule:
    """The gradient where low <= self <= high, zero elsewhere."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        masks = [
            b.compare(op, n.value(0), n[bound])
            for op, bound in (("ge", low), ("le", high))
            if bound < len(n) and n.given(bound)
        ]
        if not masks:
            return g
        mask = masks[0] if len(masks) == 1 else b.call("logical_and", *masks)
        return b.keep(g, mask)

    return rule


def _clamp_bound(own: int, other: int, beyond: str) -> Rule:
    """Gradient of a tensor bound of clamp: where it is what holds the value back."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        mask = b.compare(beyond, n.value(0), n[own])
        if n.given(other):
            # Where both bounds hold, or cross, clamp answers max.
            low, high = (own, other) if own < other else (other, own)
            crossed = b.compare("lt", n.value(low), n[high])
            if own < other:
                mask = b.call("logical_and", mask, crossed)
            else:
                inverted = b.compare("lt", n.value(high), n[low])
                mask = b.call("logical_or", mask, inverted)
        return b.keep(g, mask)

    return rule


def _extreme(own: int, other: int, loses: str) -> Rule:
    """maximum and minimum: half each at a tie."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        tie = b.compare("eq", n.value(0), n[1])
        shared = b.where(tie, b.div(g, 2), g)
        return b.masked(shared, b.compare(loses, n.value(own), n[other]))

    return rule


def _preferring(wins: str, first: bool) -> Rule:
    """fmax and fmin: all to the first at a tie, and to whichever is a number."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        mask = b.call("logical_or", b.compare(wins, n.value(0), n[1]), b.call("isnan", n[1]))
        return b.masked(g, b.call("logical_not", mask) if first else mask)

    return rule


def _gaussian(factor: float) -> Rule:
    """erf, erfc: factor * exp(-x**2) * g"""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        bell = b.call("exp", b.neg(b.power(n.value(0), 2)))
        return b.mul(b.mul(bell, factor), g)

    return rule


def _backward(op: str, *of_call: int, result: bool = False) -> Rule:
    """ATen's own operator for a gradient: given g, self or the result, and more arguments."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        return b.call(op, g, n.out if result else n[0], *(n[i] for i in of_call))

    return rule


def _elu(b: Builder, g: Value, n: Call) -> Value:
    return b.call("elu_backward", g, n[1], n[2], n[3], False, n[0])


def _celu(b: Builder, g: Value, n: Call) -> Value:
    return b.call("elu_backward", g, n[1], 1, 1.0 / n.number(1), False, n[0])


def _threshold_at_zero(b: Builder, g: Value, n: Call) -> Value:
    return b.call("threshold_backward", g, n.out, 0)


def _leaky(b: Builder, g: Value, n: Call) -> Value:
    return b.call("leaky_relu_backward", g, n[0], n[1], False)


def _atan2(sign: int) -> Rule:
    """Of self: g * other / (self² + other²); of other: g * -self / (self² + other²)."""

    def rule(b: Builder, g: Value, n: Call) -> Value:
        y, x = n.value(0), n.value(1)
        scale = b.call("reciprocal", b.add(b.square(y), b.square(x)))
        empty = b.compare("eq", b.add(b.square(y), b.square(x)), 0)
        factor = b.masked(scale, empty)
        return b.mul(b.mul(g, x if sign > 0 else b.neg(y)), factor)

    return rule


def _one_minus_square(b: Builder, n: Call) -> Value:
    return b.add(b.mul(b.neg(n.value(0)), n.value(0)), 1)


_UNARY: Rules = {
    "neg": {0: lambda b, g, n: b.neg(g)},
    "abs": {0: lambda b, g, n: b.mul(g, b.call("sgn", n[0]))},
    "exp": {0: lambda b, g, n: b.mul(g, n.out)},
    "exp2": {0: lambda b, g, n: b.mul(b.mul(g, n.out), math.log(2))},
    "expm1": {0: lambda b, g, n: b.mul(g, b.add(n.out, 1))},
    "log": {0: lambda b, g, n: b.div(g, n[0])},
    "log1p": {0: lambda b, g, n: b.div(g, b.add(n.value(0), 1))},
    "log2": {0: lambda b, g, n: b.div(g, b.mul(n.value(0), 0.6931471805599453))},
    "log10": {0: lambda b, g, n: b.div(g, b.mul(n.value(0), 2.3025850929940456))},
    "sqrt": {0: lambda b, g, n: b.div(g, b.mul(n.out, 2))},
    "rsqrt": {0: lambda b, g, n: b.mul(b.mul(g, -0.5), b.power(n.out, 3))},
    "reciprocal": {0: lambda b, g, n: b.mul(b.neg(g), b.square(n.out))},
    "square": {0: lambda b, g, n: b.mul(g, b.mul(n.value(0), 2.0))},
    "sin": {0: lambda b, g, n: b.mul(g, b.call("cos", n[0]))},
    "cos": {0: lambda b, g, n: b.mul(g, b.neg(b.call("sin", n[0])))},
    "tan": {0: lambda b, g, n: b.mul(g, b.add(b.power(n.out, 2), 1))},
    "asin": {0: lambda b, g, n: b.mul(g, b.call("rsqrt", _one_minus_square(b, n)))},
    "acos": {0: lambda b, g, n: b.mul(g, b.neg(b.call("rsqrt", _one_minus_square(b, n))))},
    "atan": {0: lambda b, g, n: b.div(g, b.add(b.square(n.value(0)), 1))},
    "sinh": {0: lambda b, g, n: b.mul(g, b.call("cosh", n[0]))},
    "cosh": {0: lambda b, g, n: b.mul(g, b.call("sinh", n[0]))},
    "asinh": {0: lambda b, g, n: b.mul(g, b.call("rsqrt", b.add(b.power(n.value(0), 2), 1)))},
    "acosh": {0: lambda b, g, n: b.mul(g, b.call("rsqrt", b.sub(b.square(n.value(0)), 1)))},
    "atanh": {0: lambda b, g, n: b.div(g, b.rsub(b.power(n.value(0), 2), 1))},
    "erf": {0: _gaussian(2.0 / math.sqrt(math.pi))},
    "erfc": {0: _gaussian(-2.0 / math.sqrt(math.pi))},
    "tanh": {0: _backward("tanh_backward", result=True)},
    "sigmoid": {0: _backward("sigmoid_backward", result=True)},
    "relu": {0: _threshold_at_zero},
    "threshold": {0: _backward("threshold_backward", 1)},
    "leaky_relu": {0: _leaky},
    "elu": {0: _elu},
    "celu": {0: _celu},
    "gelu": {0: _backward("gelu_backward", 1)},
    "silu": {0: _backward("silu_backward")},
    "mish": {0: _backward("mish_backward")},
    "softplus": {0: _backward("softplus_backward", 1, 2)},
    "softshrink": {0: _backward("softshrink_backward", 1)},
    "hardtanh": {0: _backward("hardtanh_backward", 1, 2)},
    "hardsigmoid": {0: _backward("hardsigmoid_backward")},
    "hardswish": {0: _backward("hardswish_backward")},
    "log_sigmoid_forward": {
        0: lambda b, g, n: b.call("log_sigmoid_backward", g, n[0], n.outs[1])
    },
    "clone": {0: _same},
    "alias": {0: _same},
    "contiguous": {0: _same},
    "to.dtype": {0: _same},
    "_to_copy": {0: _same},
    "floor": {0: _zero},
    "ceil": {0: _zero},
    "round": {0: _zero},
    "trunc": {0: _zero},
    "sign": {0: _zero},
    "sgn": {0: _zero},
    "zeros_like": {0: _zero},
    "ones_like": {0: _zero},
}

_BINARY: Rules = {
    "add.Tensor": {0: _same, 1: lambda b, g, n: b.scaled(g, n[2])},
    "add.Scalar": {0: _same},
    "sub.Tensor": {0: _same, 1: _sub_other},
    "sub.Scalar": {0: _same},
    "rsub.Tensor": {0: _sub_other, 1: _same},
    "rsub.Scalar": {0: _sub_other},
    "mul.Tensor": {
        0: lambda b, g, n: b.mul(g, n[1]),
        1: lambda b, g, n: b.mul(g, n[0]),
    },
    "mul.Scalar": {0: lambda b, g, n: b.mul(g, n[1])},
    "div.Tensor": {0: lambda b, g, n: b.div(g, n[1]), 1: _div_other},
    "div.Scalar": {0: lambda b, g, n: b.div(g, n[1])},
    "pow.Tensor_Scalar": {0: _power_self},
    "pow.Tensor_Tensor": {0: _power_self, 1: _power_exponent},
    "pow.Scalar": {1: _power_exponent},
    "atan2": {0: _atan2(1), 1: _atan2(-1)},
    "hypot": {
        0: lambda b, g, n: b.div(b.mul(g, n[0]), n.out),
        1: lambda b, g, n: b.div(b.mul(g, n[1]), n.out),
    },
    "logaddexp": {
        0: lambda b, g, n: b.div(g, b.add(b.call("exp", b.sub(n.value(1), n.value(0))), 1)),
        1: lambda b, g, n: b.div(g, b.add(b.call("exp", b.sub(n.value(0), n.value(1))), 1)),
    },
    "maximum": {0: _extreme(0, 1, "lt"), 1: _extreme(0, 1, "gt")},
    "minimum": {0: _extreme(0, 1, "gt"), 1: _extreme(0, 1, "lt")},
    "fmax": {0: _preferring("ge", True), 1: _preferring("ge", False)},
    "fmin": {0: _preferring("le", True), 1: _preferring("le", False)},
}

_MORE: Rules = {
    "clamp": {0: _within(1, 2)},
    "clamp_min": {0: _within(1, 9)},
    "clamp_max": {0: lambda b, g, n: b.keep(g, b.compare("le", n.value(0), n[1]))},
    "clamp.Tensor": {
        0: _within(1, 2),
        1: _clamp_bound(1, 2, "lt"),
        2: _clamp_bound(2, 1, "gt"),
    },
    "clamp_min.Tensor": {
        0: _within(1, 9),
        1: lambda b, g, n: b.keep(g, b.compare("lt", n.value(0), n[1])),
    },
    "clamp_max.Tensor": {
        0: lambda b, g, n: b.keep(g, b.compare("le", n.value(0), n[1])),
        1: lambda b, g, n: b.keep(g, b.compare("gt", n.value(0), n[1])),
    },
    "where.self": {
        1: lambda b, g, n: b.where(n.value(0), g, b.zero(g)),
        2: lambda b, g, n: b.where(n.value(0), b.zero(g), g),
    },
    "masked_fill.Scalar": {0: lambda b, g, n: b.masked(g, n.value(1))},
    "masked_fill.Tensor": {
        0: lambda b, g, n: b.masked(g, n.value(1)),
        2: lambda b, g, n: b.call("sum", b.keep(g, n.value(1)), None),
    },
    "lerp.Scalar": {
        0: lambda b, g, n: b.mul(g, 1 - n.number(2)),
        1: lambda b, g, n: b.mul(g, n[2]),
    },
    "lerp.Tensor": {
        0: lambda b, g, n: b.mul(g, b.rsub(n.value(2), 1)),
        1: lambda b, g, n: b.mul(g, n[2]),
        2: lambda b, g, n: b.mul(g, b.sub(n.value(1), n.value(0))),
    },
    "addcmul": {
        0: _same,
        1: lambda b, g, n: b.mul(g, b.mul(n.value(2), n[3])),
        2: lambda b, g, n: b.mul(g, b.mul(n.value(1), n[3])),
    },
    "addcdiv": {
        0: _same,
        1: lambda b, g, n: b.mul(g, b.mul(b.call("reciprocal", n.value(2)), n[3])),
        2: lambda b, g, n: b.mul(
            b.neg(g), b.div(b.mul(n.value(1), n[3]), b.square(n.value(2)))
        ),
    },
}

POINTWISE: Rules = {**_UNARY, **_BINARY, **_MORE}
