"""What pointwise ATen operators become: compositions of the fused form's elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.fused.ir import NotFusible
from ppybuild.emit.tensors.fused.lowering import Bound, Lowering
from ppybuild.emit.tensors.ir import Constant, Node

Rule = Callable[[Lowering, Node], tuple[Bound, ...]]
Formula = Callable[..., Bound]


def _of(formula: Formula, *places: int) -> Rule:
    """A formula over the tensors or numbers that stand at `places`."""

    def rule(low: Lowering, node: Node) -> tuple[Bound, ...]:
        return (formula(low.element, *(low.tensor(node.args[place]) for place in places)),)

    return rule


def _element(name: str, count: int = 1) -> Rule:
    return _of(lambda e, *values: e(name, *values), *range(count))


def _scaled_add(e: Formula, a: Bound, b: Bound, alpha: Bound) -> Bound:
    return e("add", a, e("mul", b, alpha))


def _scaled_sub(e: Formula, a: Bound, b: Bound, alpha: Bound) -> Bound:
    return e("sub", a, e("mul", b, alpha))


def _reversed_sub(e: Formula, a: Bound, b: Bound, alpha: Bound) -> Bound:
    return e("sub", b, e("mul", a, alpha))


def _sigmoid_backward(e: Formula, g: Bound, y: Bound) -> Bound:
    return e("mul", g, e("mul", e("sub", 1, y), y))


def _tanh_backward(e: Formula, g: Bound, y: Bound) -> Bound:
    return e("mul", g, e("sub", 1, e("mul", y, y)))


def _silu(e: Formula, x: Bound) -> Bound:
    return e("mul", x, e("sigmoid", x))


def _silu_backward(e: Formula, g: Bound, x: Bound) -> Bound:
    s = e("sigmoid", x)
    return e("mul", g, e("mul", s, e("add", e("mul", x, e("sub", 1, s)), 1)))


def _elu(e: Formula, x: Bound, alpha: Bound, scale: Bound, input_scale: Bound) -> Bound:
    low = e("mul", e("expm1", e("mul", x, input_scale)), e("mul", alpha, scale))
    return e("where_le", x, 0, low, e("mul", x, scale))


def _elu_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, alpha, scale, input_scale, x = (low.tensor(node.args[i]) for i in (0, 1, 2, 3, 5))
    if node.args[4] == Constant(True):
        raise NotFusible("elu in place")
    factor = e("mul", e("mul", input_scale, alpha), scale)
    slope = e("mul", factor, e("exp", e("mul", x, input_scale)))
    return (e("where_le", x, 0, e("mul", g, slope), e("mul", g, scale)),)


def _leaky_backward(e: Formula, g: Bound, x: Bound, slope: Bound) -> Bound:
    return e("where_gt", x, 0, g, e("mul", g, slope))


def _softplus(e: Formula, x: Bound, beta: Bound, threshold: Bound) -> Bound:
    scaled = e("mul", x, beta)
    return e("where_gt", scaled, threshold, x, e("div", e("log1p", e("exp", scaled)), beta))


def _softplus_backward(e: Formula, g: Bound, x: Bound, beta: Bound, threshold: Bound) -> Bound:
    scaled = e("mul", x, beta)
    return e("where_gt", scaled, threshold, g, e("mul", g, e("sigmoid", scaled)))


def _bell(e: Formula, x: Bound) -> Bound:
    return e("exp", e("neg", e("mul", x, x)))


def _erf(e: Formula, x: Bound) -> Bound:
    return e("erf", x, _bell(e, x))


_TANH_GELU = (math.sqrt(2 / math.pi), 0.044715)


def _approximate(node: Node, place: int) -> bool:
    return node.args[place] == Constant("tanh")


def _gelu(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x = low.element, low.tensor(node.args[0])
    half = e("mul", x, 0.5)
    if not _approximate(node, 1):
        return (e("mul", half, e("add", _erf(e, e("mul", x, math.sqrt(0.5))), 1)),)
    return (e("mul", half, e("add", _inner_tanh(e, x), 1)),)


def _inner_tanh(e: Formula, x: Bound) -> Bound:
    root, cubic = _TANH_GELU
    cube = e("mul", e("mul", x, x), x)
    return e("tanh", e("mul", e("add", x, e("mul", cube, cubic)), root))


def _gelu_backward(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e = low.element
    g, x = low.tensor(node.args[0]), low.tensor(node.args[1])
    if not _approximate(node, 2):
        scaled = e("mul", x, math.sqrt(0.5))
        below = e("mul", e("add", _erf(e, scaled), 1), 0.5)
        bell = e("mul", _bell(e, scaled), 1 / math.sqrt(2 * math.pi))
        return (e("mul", g, e("add", below, e("mul", x, bell))),)
    root, cubic = _TANH_GELU
    t = _inner_tanh(e, x)
    inner = e("mul", e("add", e("mul", e("mul", x, x), 3 * cubic), 1), root)
    slope = e("mul", e("mul", e("mul", x, 0.5), e("sub", 1, e("mul", t, t))), inner)
    return (e("mul", g, e("add", e("mul", e("add", t, 1), 0.5), slope)),)


def _clamp(low: Lowering, node: Node) -> tuple[Bound, ...]:
    value = low.tensor(node.args[0])
    for place, name in ((1, "max"), (2, "min")):
        if place < len(node.args) and node.args[place] != Constant(None):
            value = low.element(name, value, low.tensor(node.args[place]))
    return (value,)


def _hardtanh_backward(e: Formula, g: Bound, x: Bound, low: Bound, high: Bound) -> Bound:
    return e("where_le", x, low, 0, e("where_gt", high, x, g, 0))


def _power(low: Lowering, node: Node) -> tuple[Bound, ...]:
    e, x, exponent = low.element, low.tensor(node.args[0]), low.tensor(node.args[1])
    simple: dict[float, Callable[[], Bound]] = {
        0.0: lambda: Bound(1.0, x.shape),
        1.0: lambda: x,
        2.0: lambda: e("mul", x, x),
        3.0: lambda: e("mul", e("mul", x, x), x),
        0.5: lambda: e("sqrt", x),
        -0.5: lambda: e("div", 1, e("sqrt", x)),
        -1.0: lambda: e("div", 1, x),
        -2.0: lambda: e("div", 1, e("mul", x, x)),
    }
    rule = simple.get(exponent.value) if isinstance(exponent.value, float) else None
    if rule is None:
        raise NotFusible("a power with this exponent")
    return (rule(),)


def _masked_fill(e: Formula, a: Bound, mask: Bound, value: Bound) -> Bound:
    return e("where", mask, value, a)


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

RULES: Mapping[str, Rule] = {
    **{
        name: _element(name)
        for name in [
            "neg",
            "abs",
            "sgn",
            "exp",
            "expm1",
            "log",
            "log1p",
            "sqrt",
            "tanh",
            "sigmoid",
            "floor",
        ]
    },
    **{f"{op}.{kind}": _element(op, 2) for op in _COMPARISONS for kind in ("Tensor", "Scalar")},
    **{
        f"{op}.{kind}": _element(op, 2)
        for op in ("mul", "div")
        for kind in ("Tensor", "Scalar")
    },
    **{f"add.{kind}": _of(_scaled_add, 0, 1, 2) for kind in ("Tensor", "Scalar")},
    **{f"sub.{kind}": _of(_scaled_sub, 0, 1, 2) for kind in ("Tensor", "Scalar")},
    **{f"rsub.{kind}": _of(_reversed_sub, 0, 1, 2) for kind in ("Tensor", "Scalar")},
    "sign": _element("sgn"),
    "erf": _of(_erf, 0),
    "maximum": _element("max", 2),
    "minimum": _element("min", 2),
    "where.self": _element("where", 3),
    "logical_not": _of(lambda e, x: e("eq", x, 0), 0),
    "logical_and": _of(lambda e, a, b: e("mul", e("ne", a, 0), e("ne", b, 0)), 0, 1),
    "logical_or": _of(lambda e, a, b: e("max", e("ne", a, 0), e("ne", b, 0)), 0, 1),
    "isnan": _of(lambda e, x: e("ne", x, x), 0),
    "masked_fill.Scalar": _of(_masked_fill, 0, 1, 2),
    "reciprocal": _of(lambda e, x: e("div", 1, x), 0),
    "rsqrt": _of(lambda e, x: e("div", 1, e("sqrt", x)), 0),
    "square": _of(lambda e, x: e("mul", x, x), 0),
    "relu": _of(lambda e, x: e("max", x, 0), 0),
    "threshold": _of(lambda e, x, t, v: e("where_le", x, t, v, x), 0, 1, 2),
    "threshold_backward": _of(lambda e, g, x, t: e("where_le", x, t, 0, g), 0, 1, 2),
    "leaky_relu": _of(lambda e, x, s: e("where_gt", x, 0, x, e("mul", x, s)), 0, 1),
    "leaky_relu_backward": _of(_leaky_backward, 0, 1, 2),
    "elu": _of(_elu, 0, 1, 2, 3),
    "elu_backward": _elu_backward,
    "silu": _of(_silu, 0),
    "silu_backward": _of(_silu_backward, 0, 1),
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "softplus": _of(_softplus, 0, 1, 2),
    "softplus_backward": _of(_softplus_backward, 0, 1, 2, 3),
    "sigmoid_backward": _of(_sigmoid_backward, 0, 1),
    "tanh_backward": _of(_tanh_backward, 0, 1),
    "hardtanh": _clamp,
    "hardtanh_backward": _of(_hardtanh_backward, 0, 1, 2, 3),
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _of(lambda e, x, high: e("min", x, high), 0, 1),
    "clamp.Tensor": _clamp,
    "pow.Tensor_Scalar": _power,
    "lerp.Scalar": _of(lambda e, a, b, w: e("add", a, e("mul", w, e("sub", b, a))), 0, 1, 2),
    "lerp.Tensor": _of(lambda e, a, b, w: e("add", a, e("mul", w, e("sub", b, a))), 0, 1, 2),
    "addcmul": _of(lambda e, a, b, c, v: e("add", a, e("mul", e("mul", b, c), v)), 0, 1, 2, 3),
    "addcdiv": _of(lambda e, a, b, c, v: e("add", a, e("mul", e("div", b, c), v)), 0, 1, 2, 3),
}
