"""The vector mathematics against torch's, for every vector width the machine can run."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
import torch

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from graphs import overload, tensor_type, trace  # noqa: E402
from native import RUNNABLE, Fused  # noqa: E402

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-38, 1e-40, -1e-40, 1e-45,
           88.72, 88.73, 89.5, -87.3, -88.0, -103.9, -104.5, 1e30, -1e30, 3.4e38, 0.999999,
           1.000001, 1.4142135, 0.70710678, 1e-7, -1e-7, 709.7, 709.8, 710.5, -745.0, -746.5,
           0.5, -0.5, 0.34657359, 20.0, -20.0, 3.9, 6.1, -6.1, -0.9999999]  # fmt: skip

UNARY = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "tanh",
    "sigmoid",
    "erf",
    "gelu",
    "silu",
    "softplus",
    "relu",
    "abs",
    "neg",
    "sgn",
    "floor",
    "elu",
    "reciprocal",
    "rsqrt",
    "leaky_relu",
]


def inputs(dtype: torch.dtype) -> torch.Tensor:
    torch.manual_seed(3)
    spread = torch.randn(4000, dtype=torch.float64)
    sizes = 10.0 ** torch.randint(-12, 4, (4000,)).double()
    return torch.cat([torch.tensor(SPECIAL).double(), spread * sizes, spread * 4]).to(dtype)


@pytest.mark.parametrize("vector_bytes", RUNNABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", UNARY)
def test_unary(op: str, dtype: str, vector_bytes: int) -> None:
    x = inputs(getattr(torch, dtype))
    if op == "gelu":
        x = x[~(x.abs() > 1e38)]  # torch overflows there on some machines, and not on others
    graph = trace(lambda t, x: t(op, x), x=tensor_type(dtype, "n"))
    (found,) = Fused(graph, vector_bytes=vector_bytes)(len(x), x)
    expected = overload(op)(x)
    torch.testing.assert_close(found, expected, equal_nan=True)
    # Far from zero the default absolute tolerance hides nothing; near it, ask for more.
    reference = overload(op)(x.double()).to(x.dtype)
    tolerance = 4e-6 if dtype == "float32" else 4e-13
    normal = reference.isfinite() & (reference.abs() > 1e-30)
    if op not in ("gelu", "silu", "log1p", "log", "elu", "softplus"):
        torch.testing.assert_close(
            found[normal],
            reference[normal],
            rtol=tolerance,
            atol=1e-12 if op == "sigmoid" else 0,
        )


@pytest.mark.parametrize("op", ["maximum", "minimum", "eq.Tensor", "le.Tensor", "where.self"])
def test_not_a_number(op: str) -> None:
    values = torch.tensor([math.nan, 1.0, -1.0, 0.0, -0.0, math.inf])
    x, y = values.repeat(6), values.repeat_interleave(6)
    kinds = {"x": tensor_type("float32", "n"), "y": tensor_type("float32", "n")}

    def body(t, x, y):  # type: ignore[no-untyped-def]
        if op == "where.self":
            return t(op, t("gt.Tensor", x, y), x, y)
        result = t(op, x, y)
        return result if "." not in op else t("where.self", result, x, y)

    def eager(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if op == "where.self":
            return torch.where(x > y, x, y)
        result = overload(op)(x, y)
        return result if "." not in op else torch.where(result, x, y)

    (found,) = Fused(trace(body, **kinds))(len(x), x, y)
    torch.testing.assert_close(found, eager(x, y), equal_nan=True)
