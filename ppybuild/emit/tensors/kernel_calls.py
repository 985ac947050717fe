"""Spell calls of the kernels that stand between a step's calls of ATen, as C++.

    at::Tensor y = ppy::empty(at::kFloat, {x.size(0), 10});
    at::Tensor w2 = first ? ppy::empty(at::kFloat, w.sizes()) : w;
    k_step_1({ppy::data(ppy::dense(x)), ppy::data(w)}, {y.mutable_data_ptr(), ...}, x.size(0));

A result that the program writes goes into its tensor's own memory, except on the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.exact_step import ExactStep, Kernel
from ppybuild.emit.tensors.forward import SCALAR_TYPES
from ppybuild.emit.tensors.ir import Node, TensorType, Value


def kernel_name(function: str, number: int) -> str:
    """The C function of a step's kernel with that number."""
    return f"k_{mangle(function)}_{number}"


def emit_declaration(kernel: str) -> str:
    return (
        f'extern "C" ppy::Kernel {kernel};\n'
        f'extern "C" const int64_t {kernel}_scratch;\n'
        f"static std::atomic<void *> {kernel}_memory{{nullptr}};\n\n"
    )


def emit_call(
    step: ExactStep,
    node: Node,
    kernel: Kernel,
    names: Mapping[Value, str],
    place: Callable[[int], str],
) -> list[str]:
    """`place` gives the element of `t` that holds an input."""
    types = step.types
    read = [arg for arg in node.args if isinstance(arg, Value)]
    sized = _sized(kernel, read, types)
    dtype = SCALAR_TYPES[kernel.plan.program.dtype]
    lines = []
    for value in node.results:
        leaf = step.landed.get(value)
        made = f"ppy::empty({dtype}, {_sizes(kernel, types[value], sized, names)})"
        made = made if leaf is None else f"first ? {made} : {place(leaf.id)}"
        lines.append(f"at::Tensor {names[value]} = {made};")
    by_aten = {
        value
        for other in step.graph.nodes
        if step.kernel(other) is None
        for value in other.results
        if value in types
    }
    given = [f"ppy::dense({names[v]})" if v in by_aten else names[v] for v in read]
    inputs = ", ".join(f"ppy::data({one})" for one in given)
    outputs = ", ".join(f"{names[value]}.mutable_data_ptr()" for value in node.results)
    count = f"{names[sized]}.{'numel()' if kernel.flat else 'size(0)'}" if sized else "1"
    name = kernel_name(step.region.function, step.kernels.index(kernel))
    run = f"ppy::run_stage({name}, {name}_memory, {name}_scratch"
    return [*lines, f"{run}, {{{inputs}}}, {{{outputs}}}, {count});"]


def _sized(
    kernel: Kernel, read: list[Value], types: Mapping[Value, TensorType]
) -> Value | None:
    """The first tensor that tells how many rows there are."""
    for value in read:
        shape = types[value].shape if value in types else None
        if shape and (kernel.flat or isinstance(shape[0], str)):
            return value
    return None


def _sizes(
    kernel: Kernel, type: TensorType, sized: Value | None, names: Mapping[Value, str]
) -> str:
    shape = type.shape or ()
    if sized is not None and shape and kernel.flat:
        return f"{names[sized]}.sizes()"
    spelled = (
        f"{names[sized]}.size(0)" if sized and isinstance(size, str) else str(size)
        for size in shape
    )
    return f"{{{', '.join(spelled)}}}"
