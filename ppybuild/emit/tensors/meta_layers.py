"""Types of losses and of what layers compute: see `meta.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.tensors.ir import Dim, Items, TensorType
from ppybuild.emit.tensors.meta import Call, Results, like, likes, named, pointwise, promoted


def _loss(reduction: int) -> Callable[[Call], Results]:
    def rule(call: Call) -> Results:
        if call.literal(reduction) in (1, 2):
            return (TensorType(promoted(call, 0, 1), ()),)
        return pointwise(0, 1)(call)

    return rule


def _nll(call: Call) -> Results:
    source = call.type(0)
    scalar = TensorType(source.dtype, ())
    if call.literal(3) in (1, 2):
        return (scalar, scalar)
    return (TensorType(source.dtype, call.type(1).shape), scalar)


def _layer_norm(call: Call) -> Results:
    source, inner = call.type(0), call.args[1]
    shape = source.shape
    if shape is not None and isinstance(inner, Items):
        count = len(inner.items)
        shape = shape[: len(shape) - count] + (1,) * count
    stats = TensorType(source.dtype, shape)
    return (source, stats, stats)


def _batch_norm(call: Call) -> Results:
    source = call.type(0)
    shape = source.shape[1:2] if source.shape is not None and call.literal(5) else (0,)
    stats = TensorType(source.dtype, shape)
    return (source, stats, stats)


def _convolution(call: Call) -> Results:
    source, weight = call.type(0), call.type(1)
    stride, padding, dilation = (call.integers(i) for i in (3, 4, 5))
    if source.shape is None or weight.shape is None or call.literal(6) is not False:
        return (TensorType(source.dtype, None),)
    if stride is None or padding is None or dilation is None:
        return (TensorType(source.dtype, None),)
    geometry = zip(source.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    spatial = []
    for size, kernel, step, border, spread in geometry:
        if not isinstance(size, int) or not isinstance(kernel, int):
            return (TensorType(source.dtype, None),)
        spatial.append((size + 2 * border - spread * (kernel - 1) - 1) // step + 1)
    return (TensorType(source.dtype, (source.shape[0], weight.shape[0], *spatial)),)


def _pooled(count: int, dilation: int | None, ceil: int) -> Callable[[Call], Results]:
    """Windows over the last two dimensions; `dilation`, `ceil`: where these arguments stand;
    `count`: of results, the second being indices."""

    def rule(call: Call) -> Results:
        source = call.type(0)
        kernel, stride, padding = (_pair(call, place) for place in (1, 2, 3))
        spread = _pair(call, dilation) if dilation is not None else (1, 1)
        shape = source.shape
        if shape is not None:
            over = zip(shape[-2:], kernel, stride or kernel, padding, spread, strict=True)
            sizes = [_windows(*one, up=bool(call.literal(ceil))) for one in over]
            known = [size for size in sizes if size is not None]
            shape = (*shape[:-2], *known) if len(known) == 2 else None
        return (TensorType(source.dtype, shape), TensorType("int64", shape))[:count]

    return rule


def _pair(call: Call, place: int) -> tuple[int, ...]:
    found = call.integers(place) or ()
    return found * 2 if len(found) == 1 else found


def _windows(
    size: Dim, kernel: int, stride: int, padding: int, spread: int, *, up: bool
) -> int | None:
    if not isinstance(size, int):
        return None
    room = size + 2 * padding - spread * (kernel - 1) - 1
    count = (-(-room // stride) if up else room // stride) + 1
    return count - 1 if up and (count - 1) * stride >= size + padding else count


def _adapted(call: Call) -> Results:
    source = call.type(0)
    shape = None if source.shape is None else (*source.shape[:-2], *_pair(call, 1))
    return (TensorType(source.dtype, shape),)


LAYERS: Mapping[str, Callable[[Call], Results]] = {
    "aten::mse_loss": _loss(2),
    "aten::smooth_l1_loss": _loss(2),
    "aten::huber_loss": _loss(2),
    "aten::binary_cross_entropy": _loss(3),
    "aten::binary_cross_entropy_with_logits": _loss(4),
    "aten::log_sigmoid_forward": likes(0, 0),
    "aten::nll_loss_forward": _nll,
    "aten::native_layer_norm": _layer_norm,
    "aten::native_layer_norm_backward": likes(1, 5, 6),
    "aten::native_batch_norm": _batch_norm,
    "aten::native_batch_norm_backward": lambda call: (
        call.type(1),
        call.type(2),
        call.type(2),
    ),
    "aten::max_pool2d_with_indices": _pooled(2, 4, 5),
    "aten::avg_pool2d": _pooled(1, None, 4),
    "aten::_adaptive_avg_pool2d": _adapted,
    **named(
        "max_pool2d_with_indices_backward avg_pool2d_backward _adaptive_avg_pool2d_backward",
        like(1),
    ),
    "aten::convolution": _convolution,
    "aten::convolution_backward": lambda call: (
        call.type(1),
        call.type(2),
        TensorType(
            call.type(2).dtype,
            (call.type(2).shape or ("?",))[:1] if call.type(2).shape is not None else None,
        ),
    ),
    **named(
        "mse_loss_backward smooth_l1_loss_backward huber_loss_backward nll_loss_backward "
        "binary_cross_entropy_backward log_sigmoid_backward",
        like(1),
    ),
}
