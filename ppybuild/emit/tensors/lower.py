"""Region facts → tensor IR."""

from __future__ import annotations

from ppybuild.emit.tensors.ir import (
    Argument,
    Constant,
    Graph,
    Input,
    Items,
    Location,
    Node,
    Symbolic,
    TensorType,
    Value,
)
from ppybuild.graph.regions import Call, Region, SameSize, Step, Unpack
from ppybuild.graph.schemas import Given
from ppybuild.graph.types import Tensor

SAME_SIZE = "ppy::same_size"
"""Not an operator: its two tensors must have equal sizes, else the run is abandoned."""

UNPACK = "ppy::unpack"
"""Not an operator: the tensors of a list; the run is abandoned unless their number is right."""

_SYMBOLIC = ("dtype", "layout", "memory_format")


def lower_region(region: Region) -> Graph:
    """The region as a graph; its function's name is the graph's."""
    location = Location(region.function, region.line, region.column)
    single = region.result.kind == "tensor"
    outputs = (region.result,) if single else region.result.items
    return Graph(
        name=region.function,
        inputs=tuple(Input(i.name, i.kind, Value(i.value)) for i in region.inputs),
        nodes=tuple(lower_step(step, region.function) for step in region.steps),
        outputs=tuple(lower_argument(output) for output in outputs),
        types=tuple(
            (Value(value), TensorType(type.dtype, type.shape))
            for value, type in region.types
            if isinstance(type, Tensor)
        ),
        location=location,
        names=tuple((Value(value), name) for value, name in region.names),
    )


def lower_step(step: Step, function: str) -> Node:
    location = Location(function, step.line, step.column)
    match step:
        case SameSize():
            return Node(SAME_SIZE, (Value(step.first), Value(step.second)), (), location)
        case Unpack():
            results = tuple(Value(result) for result in step.results)
            return Node(UNPACK, (Value(step.many),), results, location)
        case Call():
            arguments = tuple(lower_argument(given) for given in step.arguments)
            results = tuple(Value(result) for result in step.results)
            return Node(step.operator.qualified, arguments, results, location)


def lower_argument(given: Given) -> Argument:
    """An argument of an operator; a payload is the number of a value."""
    if isinstance(given.payload, int):
        return Value(given.payload)
    if given.kind == "list":
        return Items(tuple(lower_argument(item) for item in given.items))
    if given.kind in _SYMBOLIC:
        return Symbolic(given.kind, str(given.value))
    return Constant(given.value)
