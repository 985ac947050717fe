"""What the losses of `torch.nn.functional` give, and which targets they refuse."""

from __future__ import annotations

from collections.abc import Mapping

from ppybuild.graph.library import tensor_shapes as shapes
from ppybuild.graph.library.tensor_call import Call, Rule
from ppybuild.graph.library.tensor_dtypes import CATEGORY
from ppybuild.graph.library.tensor_shapes import Mismatch
from ppybuild.graph.types import Tensor, Type

CLASS_DTYPES = frozenset({"int64", "uint8"})
"""What the numbers of classes may be."""


def loss(call: Call) -> Type:
    """One number unless `reduction="none"`."""
    mode = call.keywords.get("reduction")
    whole = len(call.arguments) <= 2 and (mode is None or mode.value in ("mean", "sum"))
    target = call.tensor(1, "target")
    dtype = call.first.dtype
    if CATEGORY.get(target.dtype or "bool", 0) >= 2 and dtype != target.dtype:
        dtype = None  # some promote, some take the first, some refuse
    return Tensor(dtype, () if whole else None)


def of_differences(call: Call) -> Type:
    """Of `input - target`."""
    shapes.broadcast(call.first.shape, call.tensor(1, "target").shape)
    return loss(call)


def of_likelihoods(call: Call) -> Type:
    """Of each number alone: a target of the very same shape."""
    left, right = call.first.shape, call.tensor(1, "target").shape
    if left is not None and right is not None and differ(left, right):
        raise Mismatch(f"input {shapes.show(left)} and target {shapes.show(right)}")
    return loss(call)


def of_classes(call: Call) -> Type:
    """A target of class numbers has the input's shape without its classes."""
    given, target = call.first.shape, call.tensor(1, "target")
    if given is None or target.shape is None or len(given) != len(target.shape) + 1:
        return loss(call)
    if target.dtype is not None and target.dtype not in CLASS_DTYPES:
        raise Mismatch(f"classes as {target.dtype} numbers, not int64", "dtype")
    wanted = given[:1] + given[2:] if len(given) > 1 else ()
    if differ(wanted, target.shape):
        shown = shapes.show(given), shapes.show(target.shape)
        raise Mismatch(f"input {shown[0]} and target {shown[1]}: not one class for each row")
    return loss(call)


def differ(left: shapes.Shape, right: shapes.Shape) -> bool:
    """True where two shapes are certain not to be the same."""
    return len(left) != len(right) or any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(left, right, strict=True)
    )


LOSSES: Mapping[str, Rule] = {
    "mse_loss": of_differences,
    "l1_loss": of_differences,
    "smooth_l1_loss": of_differences,
    "huber_loss": of_differences,
    "cross_entropy": of_classes,
    "nll_loss": of_classes,
    "binary_cross_entropy": of_likelihoods,
    "binary_cross_entropy_with_logits": of_likelihoods,
}
"""Of `torch.nn.functional` alone: `torch` has some with other parameters."""
