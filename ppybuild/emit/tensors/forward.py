"""The fused form of a region without a backward pass, for calls with gradients off.

with torch.no_grad():                      if (no gradients, types and sizes as expected)
    loss = forward_loss(x, y, w, b)   →        one kernel
                                           else the calls of ATen, as `exact.py` has them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.derivatives import NotDifferentiable, decompose
from ppybuild.emit.tensors.exact import INPUT_TYPES, variable_names
from ppybuild.emit.tensors.fused import NotFusible, Plan, plan_fused
from ppybuild.emit.tensors.ir import Dim, Graph, TensorType, Value
from ppybuild.emit.tensors.lower import SAME_SIZE, lower_region
from ppybuild.graph.regions.records import Call, Region
from ppybuild.graph.regions.seeds import UNKNOWN_SIZE, Found, Seed, seed_of

BATCH = "n"
"""The symbol of the batch."""

SCALAR_TYPES = {
    "float32": "at::kFloat",
    "float64": "at::kDouble",
    "int64": "at::kLong",
    "bool": "at::kBool",
}


@final
@dataclass(frozen=True, slots=True)
class FusedForward:
    graph: Graph
    plan: Plan


def seeded_types(
    seeds: Mapping[int, Seed], trained: frozenset[int]
) -> list[tuple[Value, TensorType]]:
    """The types to specialise on, by input. The batch is the first dimension of the first
    tensor that is not trained, and of those that have the same there; it is left open."""
    lead: Dim | None = None
    types = []
    for value, seed in sorted(seeds.items()):
        shape: tuple[Dim, ...] | None = seed.type.shape
        if shape and value not in trained and not seed.grows:
            lead = shape[0] if lead is None else lead
            shape = (BATCH, *shape[1:]) if shape[0] == lead else shape
        if shape is not None and UNKNOWN_SIZE in shape:
            shape = None
        types.append((Value(value), TensorType(seed.type.dtype, shape)))
    return types


def plan_forward(region: Region, found: Mapping[int, Found]) -> FusedForward:
    """The region in fused form, by what calls pass for each parameter's place.

    NotFusible says what that does not hold."""
    for step in region.steps:
        if isinstance(step, Call) and (step.operator.mutates or step.operator.random):
            raise NotFusible(step.operator.qualified)
    graph = lower_region(region)
    _check_results(region)
    seeds = {
        given.value: seed
        for given in region.inputs
        if (seed := seed_of(found.get(given.place), given)) is not None
    }
    nodes = tuple(node for node in graph.nodes if node.op != SAME_SIZE)
    if len(nodes) != len(graph.nodes):
        raise NotFusible("a check of sizes")
    types = tuple(seeded_types(seeds, frozenset()))
    try:
        graph = decompose(replace(graph, nodes=nodes, types=types))
    except NotDifferentiable as missing:
        raise NotFusible(str(missing)) from None
    return FusedForward(graph, plan_fused(graph, BATCH))


def _check_results(region: Region) -> None:
    """Each result must be memory of its own."""
    made = {
        value: step.operator
        for step in region.steps
        if isinstance(step, Call)
        for value in step.results
    }
    items = region.result.items or (region.result,)
    values = [item.payload for item in items]
    if len(set(values)) != len(values):
        raise NotFusible("the same result twice")
    for value in values:
        operator = made.get(value) if isinstance(value, int) else None
        if operator is None or any(type.alias is not None for type in operator.returns):
            raise NotFusible("a result that shares memory with another tensor")


def forward_name(graph: Graph) -> str:
    return f"f_{mangle(graph.name)}"


def emit_forward(forward: FusedForward, kernel: str) -> str:
    """`f_name`: takes what the exact body takes; false where the exact body has to run."""
    graph, program = forward.graph, forward.plan.program
    names = variable_names(graph)
    types = dict(graph.types)
    checks = []
    batches = []
    for given in graph.inputs:
        if given.kind == "tensor":
            kind = types[given.value]
            assert kind.shape is not None
            assert kind.dtype is not None
            sizes = ", ".join("-1" if size == BATCH else str(size) for size in kind.shape)
            name = names[given.value]
            checks.append(f"!ppy::is_plain({name}, {SCALAR_TYPES[kind.dtype]}, {{{sizes}}})")
            if kind.shape and kind.shape[0] == BATCH:
                batches.append(f"{name}.size(0)")
    checks += [f"{batches[0]} != {other}" for other in batches[1:]]
    parameters = [f"{INPUT_TYPES[i.kind]}{names[i.value]}" for i in graph.inputs]
    inputs = [
        f"ppy::data({names[i.value]})" if i.kind == "tensor" else f"&{names[i.value]}"
        for i in graph.inputs
    ]
    made = []
    for place, output in enumerate(program.outputs):
        sizes = ", ".join("batch" if size is None else str(size) for size in output.shape)
        made.append(f"made[{place}] = ppy::empty({SCALAR_TYPES[program.dtype]}, {{{sizes}}});")
    count = len(program.outputs)
    joined = "\n            || ".join(checks)
    lines = [
        f"if ({joined or 'false'})",
        "    return false;",
        f"const int64_t batch = {batches[0] if batches else '1'};",
        *made,
        f"void *inputs[] = {{{', '.join(inputs)}}};",
        f"void *outputs[] = {{{', '.join(f'ppy::data(made[{i}])' for i in range(count))}}};",
        "static std::atomic<void *> scratch{nullptr};",
        f"return ppy::run_kernel({kernel}, scratch, {kernel}_scratch, inputs, outputs, batch);",
    ]
    inside = "\n".join("        " + line for line in lines)
    return (
        f'extern "C" ppy::Kernel {kernel};\n'
        f'extern "C" const int64_t {kernel}_scratch;\n\n'
        f"// {graph.name}, line {graph.location.line}, as one kernel\n"
        f"static bool {forward_name(graph)}({', '.join(parameters)}, "
        f"std::array<at::Tensor, {count}> &made)\n"
        f"{{\n    try {{\n{inside}\n    }} catch (...) {{\n        return false;\n    }}\n}}\n"
    )
