"""Helpers for tests of tensor graphs: build one from calls, run one through torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ppybuild.emit.tensors.derivatives.builder import Builder, Operand, argument
from ppybuild.emit.tensors.ir import (
    Argument,
    Constant,
    Dim,
    Graph,
    Input,
    Items,
    Location,
    Node,
    Symbolic,
    TensorType,
    Value,
)

HERE = Location("test", 1, 1)


def overload(op: str) -> Any:
    name, _, variant = op.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, name), variant or "default")


def complete(op: str, *operands: Operand, **named: Operand) -> tuple[Argument, ...]:
    """Every argument of the schema, in its order: those given, then the defaults."""
    args = []
    for place, parameter in enumerate(overload(op)._schema.arguments):
        if place < len(operands):
            args.append(argument(operands[place]))
        elif parameter.name in named:
            args.append(argument(named[parameter.name]))
        else:
            args.append(argument(parameter.default_value))
    return tuple(args)


class Tracer:
    """Builds a graph from calls by operator name; types come from inference or from `like`."""

    def __init__(self, **inputs: TensorType | str) -> None:
        self.inputs = tuple(
            Input(name, "tensor" if isinstance(kind, TensorType) else kind, Value(i))
            for i, (name, kind) in enumerate(inputs.items())
        )
        types = [
            (i.value, kind)
            for i, kind in zip(self.inputs, inputs.values(), strict=True)
            if isinstance(kind, TensorType)
        ]
        self.builder = Builder((), types, [i.value for i in self.inputs], HERE)

    def __call__(self, op: str, *operands: Operand, **named: Operand) -> Value:
        return self.builder.call(op, *complete(op, *operands, **named))

    def all(self, op: str, *operands: Operand, **named: Operand) -> tuple[Value, ...]:
        return self.builder.results(op, *complete(op, *operands, **named))

    def graph(self, *outputs: Argument) -> Graph:
        types = tuple(sorted(self.builder.types.items(), key=lambda item: item[0].id))
        return Graph("test", self.inputs, tuple(self.builder.nodes), outputs, types, HERE)


def tensor_type(dtype: str, *shape: Dim) -> TensorType:
    return TensorType(dtype, shape)


def type_of(tensor: torch.Tensor) -> TensorType:
    return TensorType(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))


def trace(function: Callable[..., Any], **kinds: TensorType | str) -> Graph:
    """`function(tracer, value, ...)` gives the outputs."""
    tracer = Tracer(**kinds)
    outputs = function(tracer, *(i.value for i in tracer.inputs))
    return tracer.graph(*(outputs if isinstance(outputs, tuple) else (outputs,)))


def run(graph: Graph, *inputs: Any) -> list[Any]:
    """Run the graph through torch's dispatcher, without autograd."""
    values: dict[Value, Any] = dict(zip((i.value for i in graph.inputs), inputs, strict=True))
    with torch.no_grad():
        for node in graph.nodes:
            results = _execute(node, values)
            values.update(zip(node.results, results, strict=False))
    return [_evaluate(output, values) for output in graph.outputs]


def _execute(node: Node, values: Mapping[Value, Any]) -> tuple[Any, ...]:
    function = overload(node.op)
    parameters = function._schema.arguments
    assert len(parameters) == len(node.args), node.op
    positional = [
        _evaluate(arg, values)
        for arg, parameter in zip(node.args, parameters, strict=True)
        if not parameter.kwarg_only
    ]
    named = {
        parameter.name: _evaluate(arg, values)
        for arg, parameter in zip(node.args, parameters, strict=True)
        if parameter.kwarg_only
    }
    result = function(*positional, **named)
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _evaluate(arg: Argument, values: Mapping[Value, Any]) -> Any:
    match arg:
        case Value():
            return values[arg]
        case Constant(value):
            return value
        case Items(items):
            return [_evaluate(item, values) for item in items]
        case Symbolic(_, name):
            return getattr(torch, name)


__all__ = ["Tracer", "complete", "run", "tensor_type", "trace", "type_of"]
