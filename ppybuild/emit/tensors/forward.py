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
from ppybuild.emit.tensors.cuda import CudaRegion, emit_kernels
from ppybuild.emit.tensors.derivatives import NotDifferentiable
from ppybuild.emit.tensors.derivatives.builder import Builder
from ppybuild.emit.tensors.derivatives.decompose import decompose_node, values_of
from ppybuild.emit.tensors.exact import INPUT_TYPES, values_in, variable_names
from ppybuild.emit.tensors.fused import NotFusible, Plan, plan_fused
from ppybuild.emit.tensors.ir import Argument, Dim, Graph, Items, Node, TensorType, Value
from ppybuild.emit.tensors.lower import SAME_SIZE, UNPACK, lower_region
from ppybuild.graph.regions.found import UNKNOWN_SIZE, VARIES, Found, Seed, seed_of
from ppybuild.graph.regions.records import Call, Region

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
    seeds: Mapping[int, Seed], fixed: frozenset[int]
) -> list[tuple[Value, TensorType]]:
    """The types to specialise on, by input. The batch is the first dimension of the first
    tensor that is not trained, and of those that have the same there; it is left open.
    `fixed`: what is trained, or reached through a module."""
    lead: Dim | None = None
    types = []
    for value, seed in sorted(seeds.items()):
        shape: tuple[Dim, ...] | None = seed.type.shape
        if shape and value not in fixed and not seed.grows:
            lead = shape[0] if lead is None else lead
            both = (shape[0], lead)
            open_size = any(isinstance(size, str) for size in both) and VARIES not in both
            fits = shape[0] == lead or open_size
            shape = (BATCH, *shape[1:]) if fits else shape
        if shape is not None and {UNKNOWN_SIZE, VARIES} & {*shape}:
            shape = None
        types.append((Value(value), TensorType(seed.type.dtype, shape)))
    return types


def plan_forward(region: Region, found: Mapping[int, Found]) -> FusedForward:
    """The region in fused form, by what calls pass for each parameter's place.

    NotFusible says what that does not hold."""
    for step in region.steps:
        if isinstance(step, Call) and (step.operator.mutates or step.operator.random):
            raise NotFusible(step.operator.qualified)
    _check_results(region)
    graph = lower_region(region)
    seeds = {
        given.value: seed
        for given in region.inputs
        if (seed := seed_of(found.get(given.place), given)) is not None
    }
    types = seeded_types(seeds, frozenset())
    builder = Builder((), types, values_of(graph), graph.location)
    stands_for: dict[Value, Value] = {}
    try:
        for node in graph.nodes:
            append(builder, node, stands_for)
    except NotDifferentiable as missing:
        raise NotFusible(str(missing)) from None
    graph = replace(
        graph,
        nodes=tuple(builder.nodes),
        outputs=tuple(renamed(output, stands_for) for output in graph.outputs),
        types=tuple(sorted(builder.types.items(), key=lambda item: item[0].id)),
    )
    return FusedForward(graph, plan_fused(graph, BATCH))


def append(builder: Builder, node: Node, stands_for: dict[Value, Value]) -> None:
    """Append a region's node; what only passes tensors on adds to `stands_for` instead."""
    args = tuple(renamed(arg, stands_for) for arg in node.args)
    if node.op == SAME_SIZE:
        shapes = [builder.type(arg).shape for arg in args]
        if shapes[0] is None or shapes[0] != shapes[1]:
            raise NotFusible("tensors that may differ in size")
    elif node.op == UNPACK:
        assert isinstance(args[0], Value)
        items = _listed(builder, args[0])
        if len(items) != len(node.results):
            raise NotFusible("a list of another length")
        stands_for.update(zip(node.results, items, strict=True))
    elif node.op != "aten::broadcast_tensors":
        decompose_node(builder, replace(node, args=args))
    else:
        builder.append(replace(node, args=args))


def _listed(builder: Builder, many: Value) -> tuple[Value, ...]:
    """The tensors of a list, which must be those that were broadcast to their own shape."""
    maker = builder.producers.get(many)
    if maker is None or maker.op != "aten::broadcast_tensors":
        raise NotFusible("a list of tensors")
    builder.nodes.remove(maker)
    items = values_in(maker.args[0])
    shapes = {builder.type(item).shape for item in items}
    if len(shapes) != 1 or None in shapes:
        raise NotFusible("tensors that may differ in size")
    return items


def renamed(arg: Argument, names: Mapping[Value, Value]) -> Argument:
    match arg:
        case Value():
            return names.get(arg, arg)
        case Items(items=items):
            return Items(tuple(renamed(item, names) for item in items))
        case _:
            return arg


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


def emit_forward(forward: FusedForward, kernel: str, cuda: CudaRegion | None = None) -> str:
    """`f_name`: takes what the exact body takes; false where the exact body has to run, or
    with an exception set. With `cuda`, for tensors on a GPU too."""
    graph, program = forward.graph, forward.plan.program
    names = variable_names(graph)
    types = dict(graph.types)
    checks = []
    batches = []
    tensors = [names[given.value] for given in graph.inputs if given.kind == "tensor"]
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
    if cuda is not None:
        checks += [f"{tensors[0]}.device() != {other}.device()" for other in tensors[1:]]
    parameters = [f"{INPUT_TYPES[i.kind]}{names[i.value]}" for i in graph.inputs]
    inputs = [
        f"ppy::data({names[i.value]})" if i.kind == "tensor" else f"&{names[i.value]}"
        for i in graph.inputs
    ]
    made = []
    for place, output in enumerate(program.outputs):
        sizes = ", ".join("batch" if size is None else str(size) for size in output.shape)
        where = "" if cuda is None else ", place"
        made.append(
            f"made[{place}] = ppy::empty({SCALAR_TYPES[program.dtype]}, {{{sizes}}}{where});"
        )
    count = len(program.outputs)
    place_of = f"{tensors[0]}.device()" if tensors else "at::kCPU"
    run = [
        f"return ppy::run_kernel({kernel}, scratch, {kernel}_scratch, inputs, outputs, batch);"
    ]
    if cuda is not None:
        run = [
            *emit_kernels(cuda, graph.name),
            "return ppy::run_kernels(kernels, place, scratch, inputs, outputs, batch);",
        ]
    joined = "\n            || ".join(checks)
    lines = [
        f"if ({joined or 'false'})",
        "    return false;",
        f"const int64_t batch = {batches[0] if batches else '1'};",
        *([] if cuda is None else [f"const at::Device place = {place_of};"]),
        *made,
        f"void *inputs[] = {{{', '.join(inputs)}}};",
        f"void *outputs[] = {{{', '.join(f'ppy::data(made[{i}])' for i in range(count))}}};",
        "static std::atomic<void *> scratch{nullptr};",
        *run,
    ]
    inside = "\n".join("        " + line for line in lines)
    return (
        f'extern "C" ppy::Kernel {kernel};\n'
        f'extern "C" const int64_t {kernel}_scratch;\n\n'
        f"{cuda.table if cuda else ''}"
        f"// {graph.name}, line {graph.location.line}, as one kernel\n"
        f"static bool {forward_name(graph)}({', '.join(parameters)}, "
        f"std::array<at::Tensor, {count}> &made)\n"
        f"{{\n    try {{\n{inside}\n    }} catch (...) {{\n        return false;\n    }}\n}}\n"
    )
