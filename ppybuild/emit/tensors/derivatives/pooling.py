"""Pooling: the calls that ATen makes, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.derivatives.builder import Builder
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.pointwise import Rules
from ppybuild.emit.tensors.ir import Argument, Constant, Items, Value

Pool = Callable[[Builder, Call], Value | tuple[Value, ...]]


def _max(b: Builder, n: Call) -> tuple[Value, ...]:
    return b.results("max_pool2d_with_indices", *n.node.args)


def _in_rows(op: str, sizes: Mapping[int, int]) -> Pool:
    """In one dimension: in two, of which the first has one row. `sizes`: what it is there of
    each argument that is a size."""

    def rule(b: Builder, n: Call) -> Value:
        wide = b.call("unsqueeze", n[0], -2)
        rest = [_paired(n, i, sizes[i]) if i in sizes else n[i] for i in range(1, len(n))]
        if op == "avg_pool2d":
            rest.append(Constant(None))
        return b.call("squeeze.dim", b.results(op, wide, *rest)[0], -2)

    return rule


def _paired(n: Call, index: int, first: int) -> Argument:
    return Items((Constant(first), *n.items(index)))


def _adaptive(b: Builder, n: Call) -> Value:
    sizes = n.items(1)
    if all(size == Constant(1) for size in sizes):
        return b.call("mean.dim", n[0], [-1, -2], True, None)
    return b.call("_adaptive_avg_pool2d", n[0], Items(sizes * 2 if len(sizes) == 1 else sizes))


POOLS: Mapping[str, Pool] = {
    "max_pool2d": _max,
    "max_pool1d": _in_rows("max_pool2d_with_indices", {1: 1, 2: 1, 3: 0, 4: 1}),
    "avg_pool1d": _in_rows("avg_pool2d", {1: 1, 2: 1, 3: 0}),
    "adaptive_avg_pool2d": _adaptive,
}

POOLING: Rules = {
    "max_pool2d_with_indices": {
        0: lambda b, g, n: b.call(
            "max_pool2d_with_indices_backward", g, *n.node.args, n.outs[1]
        )
    },
    "avg_pool2d": {0: lambda b, g, n: b.call("avg_pool2d_backward", g, *n.node.args)},
    "_adaptive_avg_pool2d": {
        0: lambda b, g, n: b.call("_adaptive_avg_pool2d_backward", g, n[0])
    },
}
