"""Derivatives of operators that move elements: views, joins, selections, lookups."""

from __future__ import annotations

from ppybuild.emit.tensors.derivatives.builder import Builder, NotDifferentiable
from ppybuild.emit.tensors.derivatives.call import Call
from ppybuild.emit.tensors.derivatives.pointwise import Rules
from ppybuild.emit.tensors.ir import Constant, Value


def _reshaped(b: Builder, g: Value, n: Call) -> Value:
    return b.reshape(g, b.sizes(n.value(0)))


def _summed(b: Builder, g: Value, n: Call) -> Value:
    source = n.value(0)
    return b.call("sum_to_size", g, b.sizes(source))


def _spread(b: Builder, g: Value, n: Call) -> Value:
    return b.expand(g, b.sizes(n.value(0)))


def _permuted(b: Builder, g: Value, n: Call) -> Value:
    dims = [i.value for i in n.items(1) if isinstance(i, Constant) and isinstance(i.value, int)]
    rank = len(dims)
    inverse = [0] * rank
    for place, dim in enumerate(dims):
        inverse[dim % rank] = place
    return b.call("permute", g, inverse)


def _selected(b: Builder, g: Value, n: Call) -> Value:
    return b.call("select_backward", g, b.sizes(n.value(0)), n[1], n[2])


def _sliced(b: Builder, g: Value, n: Call) -> Value:
    start = n[2] if n.given(2) else Constant(0)
    end = n[3] if n.given(3) else Constant(2**63 - 1)
    return b.call("slice_backward", g, b.sizes(n.value(0)), n[1], start, end, n[4])


def _index_selected(b: Builder, g: Value, n: Call) -> Value:
    zeros = b.new_zeros(g, b.sizes(n.value(0)))
    return b.call("index_add", zeros, n[1], n[2], g, 1)


def _gathered(b: Builder, g: Value, n: Call) -> Value:
    zeros = b.new_zeros(g, b.sizes(n.value(0)))
    return b.call("scatter_add", zeros, n[1], n[2], g)


def _embedded(b: Builder, g: Value, n: Call) -> Value:
    if n.flag(4):
        raise NotDifferentiable("an embedding with sparse gradients")
    rows = b.size(n.value(0), 0)
    result = b.call("embedding_dense_backward", g, n[1], rows, n[2], n[3])
    b.types[result] = b.type(n[0])
    return result


VIEWS: Rules = {
    "view": {0: _reshaped},
    "reshape": {0: _reshaped},
    "_unsafe_view": {0: _reshaped},
    "squeeze": {0: _reshaped},
    "squeeze.dim": {0: _reshaped},
    "squeeze.dims": {0: _reshaped},
    "unsqueeze": {0: lambda b, g, n: b.call("squeeze.dim", g, n[1])},
    "expand": {0: _summed},
    "sum_to_size": {0: _spread},
    "t": {0: lambda b, g, n: b.call("t", g)},
    "transpose.int": {0: lambda b, g, n: b.transpose(g, n.integer(1), n.integer(2))},
    "permute": {0: _permuted},
    "select.int": {0: _selected},
    "slice.Tensor": {0: _sliced},
    "index_select": {0: _index_selected},
    "gather": {0: _gathered},
    "embedding": {0: _embedded},
    "flip": {0: lambda b, g, n: b.call("flip", g, n[1])},
    "tril": {0: lambda b, g, n: b.call("tril", g, n[1])},
    "triu": {0: lambda b, g, n: b.call("triu", g, n[1])},
    "roll": {
        0: lambda b, g, n: b.call(
            "roll",
            g,
            [Constant(-_whole(i)) for i in reversed(n.items(1))],
            list(reversed(n.items(2))),
        )
    },
}


def _whole(arg: object) -> int:
    if isinstance(arg, Constant) and isinstance(arg.value, int):
        return arg.value
    raise NotDifferentiable("a roll by a number that is not known")


def joined(
    b: Builder, g: Value, n: Call, wanted: frozenset[Value]
) -> list[tuple[Value, Value]]:
    """cat: each part its slice."""
    parts = n.values(0)
    dim = n.integer(1)
    pieces = []
    start = 0
    for part in parts:
        shape = b.type(part).shape
        if shape == (0,) and b.rank(g) != 1:
            continue  # cat lets an empty vector stand among parts of any shape
        size = shape[dim] if shape is not None else None
        if not isinstance(size, int):
            if len(parts) > 1:
                raise NotDifferentiable("cat along a dimension of unknown size")
            return [(part, g)]
        if part in wanted:
            pieces.append((part, b.call("slice.Tensor", g, dim, start, start + size, 1)))
        start += size
    return pieces


def stacked(
    b: Builder, g: Value, n: Call, wanted: frozenset[Value]
) -> list[tuple[Value, Value]]:
    return [
        (part, b.call("select.int", g, n[1], place))
        for place, part in enumerate(n.values(0))
        if part in wanted
    ]


def unsplit(b: Builder, gradients: tuple[Value | None, ...], n: Call) -> Value:
    return b.call("cat", _or_zeros(b, gradients, n), n[2])


def unbound(b: Builder, gradients: tuple[Value | None, ...], n: Call) -> Value:
    return b.call("stack", _or_zeros(b, gradients, n), n[1])


def _or_zeros(b: Builder, gradients: tuple[Value | None, ...], n: Call) -> list[Value]:
    """The parts' gradients, zero where a part was not used."""
    return [
        g if g is not None else b.zeros_like(out)
        for g, out in zip(gradients, n.outs, strict=True)
    ]
