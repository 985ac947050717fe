"""Every rule against autograd, in float64: same gradients, and the same bits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from ppybuild.emit.tensors.derivatives import differentiate
from ppybuild.emit.tensors.ir import Symbolic

sys.path.insert(0, str(Path(__file__).parents[1]))

from graphs import Tracer, complete, overload, run, type_of

torch.manual_seed(0)


def t(*shape: int, low: float = -2.0, high: float = 2.0) -> torch.Tensor:
    count = 1
    for size in shape:
        count *= size
    values = torch.linspace(low, high, max(count, 1), dtype=torch.float64)
    order = torch.randperm(max(count, 1), generator=torch.Generator().manual_seed(count))
    return values[order][:count].reshape(shape).contiguous()


def positive(*shape: int) -> torch.Tensor:
    return t(*shape, low=0.1, high=3.0)


def unit(*shape: int) -> torch.Tensor:
    return t(*shape, low=0.05, high=0.95)


def i(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def ties(*shape: int) -> torch.Tensor:
    return t(*shape).round()


NAN = float("nan")
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, NAN, float("inf"), -float("inf")]).double()

UNARY = [
    "neg",
    "abs",
    "exp",
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "atan",
    "sigmoid",
    "relu",
    "erf",
    "erfc",
    "silu",
    "mish",
    "hardswish",
    "hardsigmoid",
    "relu6",
    "selu",
    "square",
    "floor",
    "sign",
    "gelu",
    "softplus",
    "leaky_relu",
    "elu",
    "celu",
    "hardtanh",
    "log_sigmoid",
    "softshrink",
    "clone",
    "negative",
]
POSITIVE = ["log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"]
UNIT = ["asin", "acos", "atanh"]
BINARY = [
    "add.Tensor",
    "sub.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "rsub.Tensor",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "atan2",
    "hypot",
    "logaddexp",
    "max.other",
]
# fmt: off
SHAPES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((1,), (0,)),
          ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)), ((1, 1), (1,))]

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((op, (x,), {}) for op in UNARY for x in (t(3, 4), t(0), t(), t(2, 1, 3))),
    *((op, (SPECIAL,), {}) for op in ["relu", "abs", "clone", "neg", "exp", "sigmoid", "tanh"]),
    *((op, (x,), {}) for op in POSITIVE for x in (positive(3, 4), positive(0), positive())),
    *((op, (x,), {}) for op in UNIT for x in (unit(3, 4), unit(1))),
    ("acosh", (positive(5) + 1.1,), {}),
    *((op, (t(*a), t(*c) + 0.03), {}) for op in BINARY for a, c in SHAPES),
    *((op, (ties(4, 5), ties(5)), {}) for op in ["maximum", "minimum", "fmax", "fmin"]),
    ("add.Tensor", (t(2, 3), t(3)), {"alpha": 2.5}),
    ("sub.Tensor", (t(2, 3), t(3)), {"alpha": -3}),
    ("rsub.Scalar", (t(2, 3), 2.0), {"alpha": 3}),
    ("add.Tensor", (t(2, 3), t(3).float()), {}),
    ("mul.Tensor", (t(2, 3).float(), t()), {}),
    ("mul.Tensor", (t(2, 3), i(1, 2, 3)), {}),
    ("div.Tensor", (t(2, 3).float(), positive(3)), {}),
    *((f"{op}.Scalar", (t(2, 3), 1.5), {}) for op in ["add", "sub", "mul", "div"]),
    *(("pow.Tensor_Scalar", (x, p), {}) for x in (positive(3), t(2, 3))
      for p in (0, 1, 2, 3, -2)),
    ("pow.Tensor_Scalar", (positive(3, 2), 0.5), {}),
    ("pow.Tensor_Scalar", (SPECIAL[:4], 0), {}),
    ("pow.Tensor_Tensor", (positive(3, 4), t(4)), {}),
    ("pow.Tensor_Tensor", (t(3) * 0, torch.tensor([0.0, 1.0, 2.0]).double()), {}),
    ("pow.Scalar", (2.5, t(3, 4)), {}),
    ("pow.Scalar", (0, positive(3)), {}),
    ("clamp", (ties(4, 5),), {"min": -1, "max": 1}),
    ("clamp", (ties(4, 5),), {"max": 0.5}),
    ("clamp", (SPECIAL,), {"min": 0.0}),
    ("clamp_min", (ties(4, 5), -1), {}),
    ("clamp_max", (ties(4, 5), 1), {}),
    ("clamp.Tensor", (ties(4, 5), ties(5), ties(4, 1)), {}),
    ("clamp.Tensor", (ties(4, 5), ties(5)), {}),
    ("clamp_min.Tensor", (ties(4, 5), ties(5)), {}),
    ("clamp_max.Tensor", (ties(4, 5), ties(5)), {}),
    ("where.self", (t(3, 4) > 0, t(3, 4), t(4)), {}),
    ("where.ScalarOther", (t(3, 4) > 0, t(3, 4), 2.0), {}),
    ("masked_fill.Scalar", (t(3, 4), t(3, 4) > 0, 3.0), {}),
    ("masked_fill.Tensor", (t(3, 4), t(3, 4) > 0, t()), {}),
    ("lerp.Scalar", (t(3, 4), t(4), 0.3), {}),
    ("lerp.Tensor", (t(3, 4), t(4), t(3, 1)), {}),
    ("addcmul", (t(3, 4), t(4), t(3, 1)), {"value": 0.5}),
    ("addcdiv", (t(3, 4), t(4), positive(3, 1)), {"value": 0.5}),
    ("threshold", (ties(3, 4), 1.0, 5.0), {}),
    ("gelu", (t(3, 4),), {"approximate": "tanh"}),
    ("softplus", (t(3, 4), 20.0, 20), {}),
    ("elu", (t(3, 4), 0.7, 1.3, 1.1), {}),
    ("to.dtype", (t(3, 4), torch.float32), {}),
    *((op, (x,), {}) for op in ("sum", "mean") for x in (t(3, 4), t(), t(0), t(1))),
    *(
        (f"{op}", (x, d, k), {})
        for op in ("sum.dim_IntList", "mean.dim")
        for x, d in ((t(3, 4), [0]), (t(3, 4), [-1]), (t(2, 3, 4), [0, 2]), (t(2, 3), []),
                     (t(0, 3), [0]), (t(1, 1), [1]), (t(2, 3), None))
        for k in (False, True)
    ),
    *(
        (op, (x, d), {"correction": c, "keepdim": k})
        for op in ("var.correction", "std.correction")
        for x, d in ((t(3, 4), [0]), (t(2, 3, 4), [0, 2]), (t(3, 4), None))
        for c in (0, 1, None)
        for k in (False, True)
        if d is not None or not k
    ),
    ("std", (t(7),), {}),
    ("std.correction", (torch.ones(3, 4).double(), [1]), {}),
    ("var.correction", (t(1, 4), [0]), {"correction": 1}),
    ("var.dim", (t(3, 4), [1], False, True), {}),
    *((op, (x,), {}) for op in ("max", "min") for x in (ties(4, 5), t(), SPECIAL)),
    *((op, (ties(4, 5), d, k), {}) for op in ("max.dim", "min.dim") for d in (0, -1)
      for k in (False, True)),
    *((op, (ties(4, 5), d, k), {}) for op in ("amax", "amin") for d in ([0], [-1], [0, 1], [])
      for k in (False, True)),
    *(("logsumexp", (t(3, 4), d, k), {}) for d in ([0], [0, 1]) for k in (False, True)),
    *(("linalg_vector_norm", (t(3, 4), p, d, k), {}) for p in (1, 2) for d in (None, [1])
      for k in (False, True)),
    ("linalg_vector_norm", (torch.zeros(3).double(),), {}),
    ("norm.Scalar", (t(3, 4), 2), {}),
    ("cumsum", (t(3, 4), 1), {}),
    ("softmax.int", (t(3, 4), 1), {}),
    ("softmax.int", (t(3, 4), -2), {}),
    ("log_softmax.int", (t(3, 4), 1), {}),
    ("log_softmax.int", (t(0, 4), 1), {}),
    *(("matmul", (t(*a), t(*c)), {}) for a, c in (
        ((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (4,)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 5)),
        ((3, 0), (0, 5)), ((1, 1), (1, 1)), ((3, 4), (2, 4, 5)))),
    ("mm", (t(3, 4), t(4, 5)), {}),
    ("bmm", (t(2, 3, 4), t(2, 4, 5)), {}),
    ("addmm", (t(5), t(3, 4), t(4, 5)), {"beta": 2, "alpha": 0.5}),
    ("addmm", (t(3, 1), t(3, 4), t(4, 5)), {}),
    ("baddbmm", (t(2, 3, 5), t(2, 3, 4), t(2, 4, 5)), {}),
    ("linear", (t(3, 4), t(5, 4), t(5)), {}),
    ("linear", (t(3, 4), t(5, 4)), {}),
    ("linear", (t(2, 3, 4), t(5, 4), t(5)), {}),
    ("linear", (t(4), t(5, 4), t(5)), {}),
    ("linear", (t(2, 2, 3, 4), t(5, 4), t(5)), {}),
    ("t", (t(3, 4),), {}),
    ("t", (t(3),), {}),
    ("transpose.int", (t(2, 3, 4), 0, -1), {}),
    ("permute", (t(2, 3, 4), [2, 0, -2]), {}),
    ("reshape", (t(2, 3, 4), [6, -1]), {}),
    ("view", (t(2, 3), [3, 2]), {}),
    ("flatten.using_ints", (t(2, 3, 4), 1, -1), {}),
    ("expand", (t(3, 1), [2, 3, 4]), {}),
    ("expand_as", (t(3, 1), t(2, 3, 4)), {}),
    ("squeeze", (t(1, 3, 1),), {}),
    ("squeeze.dim", (t(1, 3, 1), 0), {}),
    ("squeeze.dims", (t(1, 3, 1), [0, 2]), {}),
    ("unsqueeze", (t(3, 4), -1), {}),
    ("cat", ([t(2, 3), t(4, 3)], 0), {}),
    ("cat", ([t(2, 3), t(2, 1), t(2, 0)], -1), {}),
    ("stack", ([t(2, 3), t(2, 3) * 2], 1), {}),
    ("select.int", (t(3, 4), 1, -2), {}),
    ("slice.Tensor", (t(5, 4), 0, 1, 4, 2), {}),
    ("slice.Tensor", (t(5, 4), 1), {}),
    ("slice.Tensor", (t(5, 4), 0, -2), {}),
    ("narrow", (t(5, 4), 0, 1, 3), {}),
    ("index_select", (t(5, 4), 0, i(0, 3, 3)), {}),
    ("index_select", (t(5, 4), -1, i(1, 1)), {}),
    ("gather", (t(3, 4), 1, torch.tensor([[0, 1], [3, 3], [2, 0]])), {}),
    ("embedding", (t(6, 3), torch.tensor([[0, 1], [5, 1]])), {}),
    ("embedding", (t(6, 3), i(0, 2, 2, 5), 2, True), {}),
    ("flip", (t(3, 4), [0, 1]), {}),
    ("roll", (t(3, 4), [1, -2], [0, 1]), {}),
    ("roll", (t(3, 4), [1]), {}),
    ("tril", (t(4, 4), -1), {}),
    *(("layer_norm", (t(3, 4), [4], *more), {}) for more in ((), (t(4),), (t(4), t(4) + 1))),
    ("layer_norm", (t(2, 3, 4), [3, 4], t(3, 4), t(3, 4)), {}),
    ("layer_norm", (t(0, 4), [4], t(4), t(4)), {}),
    ("batch_norm", (t(5, 3), t(3), t(3), None, None, True, 0.1, 1e-5, False), {}),
    ("batch_norm", (t(5, 3), t(3), t(3), t(3), positive(3), False, 0.1, 1e-5, False), {}),
    ("conv1d", (t(2, 3, 8), t(4, 3, 3), t(4)), {"stride": [2], "padding": [1]}),
    ("conv1d", (t(3, 8), t(4, 3, 3)), {}),
    ("conv2d", (t(2, 4, 6, 6), t(4, 2, 3, 3), t(4)), {"padding": [1, 0], "groups": 2}),
    ("conv2d", (t(2, 3, 7, 7), t(4, 3, 3, 3)), {"dilation": [2], "stride": [2, 1]}),
    ("max_pool2d", (t(2, 3, 7, 6), [2], [2]), {}),
    ("max_pool2d", (ties(2, 2, 8, 7), [3, 2], [2, 1], [1, 0], [1, 2], True), {}),
    ("max_pool1d", (t(2, 3, 9), [3], [2]), {"ceil_mode": True}),
    ("avg_pool2d", (t(2, 3, 7, 6), [3], [2], [1]), {"count_include_pad": False}),
    ("avg_pool1d", (t(2, 3, 9), [2], [2]), {}),
    ("adaptive_avg_pool2d", (t(2, 3, 7, 6), [3, 2]), {}),
    ("adaptive_avg_pool2d", (t(2, 3, 7, 6), [1, 1]), {}),
    *((op, (t(3, 4), t(3, 4) * 0.7, r), {}) for r in (0, 1, 2)
      for op in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")),
    ("smooth_l1_loss", (t(3, 4), t(3, 4) * 0.7), {"beta": 0.1}),
    ("mse_loss", (t(0), t(0)), {}),
    *(("nll_loss", (t(4, 5), i(0, 4, 2, 2), w, r, g), {}) for r in (0, 1, 2)
      for w in (None, positive(5)) for g in (-100, 2)),
    *(("cross_entropy_loss", (t(4, 5), i(0, 4, 2, 2), w, r, g), {}) for r in (0, 1, 2)
      for w in (None, positive(5)) for g in (-100, 2)),
    *(("cross_entropy_loss", (t(4, 5), i(0, 4, 2, 2), None, r, 2, 0.1), {}) for r in (0, 1, 2)),
    *(("cross_entropy_loss", (t(4, 5), unit(4, 5), w, r, -100, s), {}) for r in (0, 1, 2)
      for s in (0.0, 0.2) for w in (None, positive(5))),
    ("cross_entropy_loss", (t(5), torch.tensor(2)), {}),
    *(("binary_cross_entropy", (unit(3, 4), (unit(3, 4) > 0.5).double(), w, r), {})
      for r in (0, 1, 2) for w in (None, positive(4))),
    *(("binary_cross_entropy_with_logits", (t(3, 4), unit(3, 4), w, p, r), {})
      for r in (0, 1, 2) for w in (None, positive(4)) for p in (None, positive(4))),
    ("dropout", (t(3, 4), 0.4, True), {}),
    ("dropout", (t(3, 4), 0.4, False), {}),
    ("dropout", (t(3, 4), 1.0, True), {}),
]

# fmt: on

SKIPPED = {
    # No rule for the target; nobody trains through it.
    ("binary_cross_entropy", 1),
    # torch gives no gradient either.
    ("binary_cross_entropy", 2),
    ("binary_cross_entropy_with_logits", 2),
    ("binary_cross_entropy_with_logits", 3),
    ("cross_entropy_loss", 2),
    ("nll_loss", 2),
    ("batch_norm", 3),
    ("batch_norm", 4),
    ("expand_as", 1),
}


INEXACT = {"atan2", "matmul", "binary_cross_entropy_with_logits"}
"""Where autograd's own formula is spelled otherwise, and the bits may differ."""


def _name(case: tuple[str, tuple[Any, ...], dict[str, Any]]) -> str:
    op, args, named = case
    parts = [
        "x".join(map(str, a.shape)) or "scalar" if isinstance(a, torch.Tensor) else str(a)
        for a in (*args, *named.values())
        if not isinstance(a, list) or not a or isinstance(a[0], int)
    ]
    return " ".join([op, *parts])


def _flat(args: tuple[Any, ...]) -> list[tuple[int, torch.Tensor]]:
    found = []
    for place, arg in enumerate(args):
        items = arg if isinstance(arg, list) else [arg]
        found += [(place, item) for item in items if isinstance(item, torch.Tensor)]
    return found


def _results(op: str, args: tuple[Any, ...], named: dict[str, Any]) -> torch.Tensor:
    result = overload(op)(*args, **named)
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_gradient_is_autograds(case: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    op, args, named = case
    tensors = _flat(args)
    leaves = [
        x.clone().requires_grad_(x.is_floating_point() and (op, place) not in SKIPPED)
        for place, x in tensors
    ]
    supply = iter(leaves)

    def replaced(arg: Any) -> Any:
        if isinstance(arg, torch.Tensor):
            return next(supply)
        if isinstance(arg, list) and arg and isinstance(arg[0], torch.Tensor):
            return [next(supply) for _ in arg]
        return arg

    torch.manual_seed(7)
    out = _results(op, tuple(replaced(arg) for arg in args), named)
    seed = t(*out.shape).to(out.dtype) + 0.1
    expected_loss = (out * seed).sum()
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    expected = torch.autograd.grad(expected_loss, wanted, allow_unused=True)

    tracer = Tracer(
        **{f"v{k}": type_of(leaf) for k, leaf in enumerate(leaves)}, seed=type_of(seed)
    )
    values = [one.value for one in tracer.inputs]
    names = iter(values)

    def traced(arg: Any) -> Any:
        if isinstance(arg, torch.Tensor):
            return next(names)
        if isinstance(arg, list) and arg and isinstance(arg[0], torch.Tensor):
            return [next(names) for _ in arg]
        if isinstance(arg, torch.dtype):
            return Symbolic("dtype", str(arg).removeprefix("torch."))
        return arg

    full = complete(op, *(traced(arg) for arg in args), **named)
    result = tracer.builder.call(op, *full)
    tracer.builder.types[result] = type_of(out)
    loss = tracer("sum", tracer("mul.Tensor", result, values[-1]))
    wrt = tuple(v for v, leaf in zip(values, leaves, strict=False) if leaf.requires_grad)
    graph = differentiate(tracer.graph(loss), loss, wrt)

    torch.manual_seed(7)
    total, *found = run(graph, *(leaf.detach() for leaf in leaves), seed)
    torch.testing.assert_close(total, expected_loss.detach(), rtol=0, atol=0, equal_nan=True)
    for ours, theirs in zip(found, expected, strict=True):
        if theirs is None:
            assert ours is None or not ours.any()
            continue
        exact = op not in INEXACT
        torch.testing.assert_close(
            ours,
            theirs,
            rtol=0 if exact else 1e-12,
            atol=0 if exact else 1e-13,
            equal_nan=True,
            check_stride=False,
        )
