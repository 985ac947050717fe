"""Fused regions against eager PyTorch: ratios measured in one run, best of several.

    python benchmarks/fused.py [--threads N] [--vector-bytes 32]

Graphs are built by hand and called without the compiler's wrapper, so the figures are of the
generated code alone.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(ROOT),
    str(ROOT / "tests/emit/tensors"),
    str(ROOT / "tests/emit/tensors/fused"),
]

from graphs import tensor_type, trace  # noqa: E402
from native import Fused  # noqa: E402
from networks import Adam, classifier, classifier_step, regression, regression_step  # noqa: E402


@dataclass(frozen=True)
class Case:
    name: str
    eager: Callable[[], Any]
    fused: Callable[[], Any]


def regression_cases(rows: int, vector_bytes: int) -> list[Case]:
    torch.manual_seed(0)
    x, y = torch.randn(rows, 32), torch.randn(rows, 1)
    shapes = [(32, 32), (32,), (32, 1), (1,)]
    params = [(torch.randn(s) * 0.1).requires_grad_() for s in shapes]

    def eager_step() -> Any:
        loss = regression(torch, x, y, *params)
        loss.backward()
        with torch.no_grad():
            for p in params:
                p -= 0.001 * p.grad
                p.grad = None
        return loss.item()

    mine = [p.detach().clone() for p in params]
    step = Fused(
        regression_step(shapes),
        inplace={i + 1: i + 2 for i in range(4)},
        vector_bytes=vector_bytes,
        optimize="-O3",
    )
    outputs = [torch.empty(()), *mine]
    call = step.prepare(rows, [x, y, *mine, 0.001], outputs)

    def eager_forward() -> Any:
        with torch.no_grad():
            return regression(torch, x, y, *params).item()

    kinds = {"x": tensor_type("float32", "n", 32), "y": tensor_type("float32", "n", 1)}
    kinds |= {f"p{i}": tensor_type("float32", *s) for i, s in enumerate(shapes)}
    forward = Fused(trace(regression, **kinds), vector_bytes=vector_bytes, optimize="-O3")
    loss = torch.empty(())
    forward_call = forward.prepare(rows, [x, y, *mine], [loss])
    return [
        Case(f"regression step, {rows} rows", eager_step, lambda: step.call(call)),
        Case(
            f"regression forward, {rows} rows",
            eager_forward,
            lambda: forward.call(forward_call),
        ),
    ]


def classifier_cases(rows: int, widths: tuple[int, ...], vector_bytes: int) -> list[Case]:
    torch.manual_seed(0)
    x, y = torch.randn(rows, widths[0]), torch.randint(widths[-1], (rows,))
    shapes = [s for a, b in itertools.pairwise(widths) for s in ((b, a), (b,))]
    params = [(torch.randn(s) * 0.1).requires_grad_() for s in shapes]
    adam = torch.optim.Adam(params, lr=1e-3)

    def eager() -> Any:
        adam.zero_grad()
        loss = classifier(torch, x, y, *params)
        loss.backward()
        adam.step()
        return loss.item()

    mine = [p.detach().clone() for p in params]
    state = [torch.zeros_like(p) for p in mine], [torch.zeros_like(p) for p in mine]
    count = len(params)
    graph = classifier_step(widths)
    inplace = {1 + i: 2 + i for i in range(3 * count)}
    step = Fused(graph, inplace=inplace, vector_bytes=vector_bytes, optimize="-O3")
    tensors = [*mine, *state[0], *state[1]]
    call = step.prepare(rows, [x, y, *tensors, *Adam().at(1)], [torch.empty(()), *tensors])
    name = f"classifier {'-'.join(map(str, widths))} with Adam, {rows} rows"
    return [Case(name, eager, lambda: step.call(call))]


def best(function: Callable[[], Any], seconds: float) -> float:
    function()
    least, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        function()
        least = min(least, time.perf_counter() - start)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--vector-bytes", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    cases = [c for n in (20000, 2000, 64, 1) for c in regression_cases(n, options.vector_bytes)]
    for widths in ((64, 128, 64, 10), (64, 128, 128, 10), (128, 128, 128, 10)):
        cases += classifier_cases(256, widths, options.vector_bytes)
    print(f"{'':48} {'eager':>10} {'fused':>10} {'ratio':>7}")
    for case in cases:
        eager = fused = float("inf")
        for _ in range(options.rounds):  # by turns, for the machine's speed drifts
            eager = min(eager, best(case.eager, 0.4))
            fused = min(fused, best(case.fused, 0.4))
        print(f"{case.name:48} {eager * 1e6:8.1f}us {fused * 1e6:8.1f}us {eager / fused:6.2f}x")


if __name__ == "__main__":
    main()
