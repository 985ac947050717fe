"""What a region is, for a person: `explain` and `graph` show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ppybuild.emit.emission import DescribedRegion, RegionInput, Role
from ppybuild.emit.tensors.exact_step import ExactStep
from ppybuild.emit.tensors.forward import BATCH, FusedForward
from ppybuild.emit.tensors.ir import TensorType, Value
from ppybuild.emit.tensors.step import FusedStep
from ppybuild.graph.regions.records import Call, Reached, Region

EXACT = "exact: the same calls of ATen, the same bits"
FUSED_STEP = "fused: one kernel, within torch.testing's tolerances, compared on its first call"
STAGED_STEP = (
    "staged: kernels between PyTorch's own calls of ATen, within torch.testing's tolerances, "
    "compared on its first call"
)
EXACT_STEP = "exact: autograd's own calls of ATen, the same bits"
FUSED_FORWARD = f"{EXACT}; where gradients are off, {FUSED_STEP}"

_EVERY = (
    "a tensor is not exactly a Tensor or Parameter",
    "a mode, a transform or a tracer is active",
)
_KERNEL = (
    "a tensor is not dense and contiguous, or of another dtype or size than above",
    "autocast is on",
)
_TRAINS = (
    "gradients are off",
    "a trained tensor is no leaf, has hooks, or shares its memory with another",
    "anomaly detection or saved-tensor hooks are on",
)
_EVALUATES = ("gradients are on", "a layer that does something else in training is in training")


def describe_region(
    region: Region, forward: FusedForward | None, unfused: str
) -> DescribedRegion:
    """`unfused`: why `forward` is None, where a fused form was asked for."""
    types = {} if forward is None else dict(forward.graph.types)
    return DescribedRegion(
        "region",
        "",
        EXACT if forward is None else FUSED_FORWARD,
        _through(region.functions),
        _operators(region.steps),
        tuple(
            RegionInput(given.name, _what(given.kind, given.value, types), "read")
            for given in region.inputs
        ),
        _EVERY,
        unfused,
    )


def describe_step(step: FusedStep | ExactStep, unfused: str) -> DescribedRegion:
    """`unfused`: why the step is not one kernel, where that was asked for."""
    region, types = step.region, step.types
    if isinstance(step, FusedStep):
        numerics, unfused = FUSED_STEP, ""
    else:
        exact = EXACT if region.evaluates else EXACT_STEP
        numerics = STAGED_STEP if step.kernels else exact
    leaves = {leaf.input: leaf for leaf in region.leaves}
    inputs: list[RegionInput] = []
    waiting: list[str] = []
    for given in region.inputs:
        leaf = leaves.get(given.value)
        role: Role = "read" if leaf is None else "trained" if leaf.trained else "written"
        inputs.append(RegionInput(given.name, _what(given.kind, given.value, types), role))
        if leaf is not None and leaf.none_on_entry:
            waiting.append(f"the gradient of {given.name} is not None at first")
    return DescribedRegion(
        "forward pass" if region.evaluates else "training step",
        region.side,
        numerics,
        _through(region.functions),
        _operators(region.steps),
        tuple(inputs),
        (*_EVERY, *_KERNEL, *(_EVALUATES if region.evaluates else _TRAINS), *waiting),
        unfused,
    )


def _through(functions: Iterable[Reached]) -> tuple[tuple[str, str, int], ...]:
    return tuple(dict.fromkeys((found.function, found.file, found.line) for found in functions))


def _operators(steps: Iterable[object]) -> tuple[tuple[str, int], ...]:
    counted = Counter(
        step.operator.name
        for step in steps
        if isinstance(step, Call) and step.operator.name != "detach"
    )
    return tuple(counted.items())


def _what(kind: str, value: int, types: Mapping[Value, TensorType]) -> str:
    type = types.get(Value(value))
    if type is None or type.shape is None:
        return kind.replace("_", " ")
    sizes = ", ".join("batch" if size == BATCH else str(size) for size in type.shape)
    return f"{type.dtype}[{sizes}]"
