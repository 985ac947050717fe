"""Tensor IR → C++ that makes the same calls of ATen as Python would.

    hidden = torch.relu(x @ w)          at::Tensor t0 = at::_ops::matmul::call(x, w);
                                   →    at::Tensor hidden = at::_ops::relu::call(t0);
                                        t0.reset();

A value is let go after its last use, as CPython lets go of a temporary, so that the
allocator hands the same memory to the next operator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.ir import Argument, Constant, Graph, Items, Node, Value
from ppybuild.emit.tensors.lower import SAME_SIZE, UNPACK
from ppybuild.emit.tensors.spelling import spell
from ppybuild.graph.schemas import Operator, Schemas

INPUT_TYPES: Mapping[str, str] = {
    "tensor": "const at::Tensor &",
    "optional_tensor": "const std::optional<at::Tensor> &",
    "tensors": "const std::vector<at::Tensor> &",
    "int": "int64_t ",
    "float": "double ",
    "bool": "bool ",
}
"""By kind of input: the C++ parameter, up to its name."""

_LIST_HEADERS = {False: "ATen/core/IListRef.h", True: "ATen/core/List.h"}


def body_name(graph: Graph) -> str:
    """The C++ function that holds a region's calls."""
    return f"r_{mangle(graph.name)}"


def header_of(operator: Operator) -> str:
    """The header that declares the operator; in-place forms share the plain one's."""
    name = operator.name
    if name.startswith("__") and name.endswith("__"):
        name = name.strip("_")
        name = name[1:] if operator.mutates and name.startswith("i") else name
    return f"ATen/ops/{name.removesuffix('_') if operator.mutates else name}_ops.h"


def _is_factory(operator: Operator) -> bool:
    """Whether the binding calls it below autograd, as one that makes a tensor from nothing."""
    options = {argument.name for argument in operator.arguments} >= {
        "dtype",
        "layout",
        "device",
    }
    return not operator.method and (options or operator.name.endswith("_like"))


def emit_body(graph: Graph, schemas: Schemas) -> tuple[str, frozenset[str]]:
    """The C++ function of a region, and the headers of its operators."""
    return _Printer(graph, schemas).print()


@final
@dataclass(slots=True)
class _Printer:
    graph: Graph
    schemas: Schemas

    def print(self) -> tuple[str, frozenset[str]]:
        graph = self.graph
        names = variable_names(graph)
        operators = [
            None if node.op.startswith("ppy::") else self.schemas.operator(node.op)
            for node in graph.nodes
        ]
        written = {
            argument
            for node, operator in zip(graph.nodes, operators, strict=True)
            if operator is not None
            for argument, declared in zip(node.args, operator.arguments, strict=True)
            if declared.type.writes and isinstance(argument, Value)
        }
        parameters = []
        lines: list[str] = []
        for used in graph.inputs:
            name = names[used.value]
            if used.value in written:
                lines.append(f"at::Tensor {name} = {name}_in;")
                name += "_in"
            parameters.append(f"{INPUT_TYPES[used.kind]}{name}")
        tensors = [names[used.value] for used in graph.inputs if "tensor" in used.kind]
        if tensors and not written:
            lines.append(f"ppy::PastAutograd past({', '.join(tensors)});")
        last = self._last_uses()
        for index, (node, operator) in enumerate(zip(graph.nodes, operators, strict=True)):
            lines.append(self._statement(node, operator, names))
            lines.extend(f"{names[value]}.reset();" for value in last.get(index, ()))
        outputs = [names[output] for output in graph.outputs if isinstance(output, Value)]
        if len(outputs) == 1:
            result = "at::Tensor"
            lines.append(f"return {outputs[0]};")
        else:
            result = f"std::array<at::Tensor, {len(outputs)}>"
            lines.append(f"return {{{', '.join(outputs)}}};")
        inside = "\n".join("    " + line for line in lines)
        text = (
            f"// {graph.name}, line {graph.location.line}\n"
            f"static {result} {body_name(graph)}({', '.join(parameters)})\n{{\n{inside}\n}}\n"
        )
        called = [operator for operator in operators if operator is not None]
        needed = {header_of(operator) for operator in called}
        for operator in called:
            needed |= list_headers(operator)
        return text, frozenset(needed)

    def _statement(
        self, node: Node, operator: Operator | None, names: Mapping[Value, str]
    ) -> str:
        where = f"  // line {node.location.line}"
        values = ", ".join(_values(node.args, names))
        if node.op == SAME_SIZE:
            return f"ppy::same_size({values});{where}"
        if operator is None:
            call = f"ppy::unpack<{len(node.results)}>({values})"
            return (
                f"auto [{', '.join(names[value] for value in node.results)}] = {call};{where}"
            )
        call = self._call(node, operator, names)
        if str(operator.returns[0]) == "Tensor[]":
            return f"std::vector<at::Tensor> {names[node.results[0]]} = {call};{where}"
        if len(node.results) == 1:
            return f"at::Tensor {names[node.results[0]]} = {call};{where}"
        return f"auto [{', '.join(names[value] for value in node.results)}] = {call};{where}"

    def _call(self, node: Node, operator: Operator, names: Mapping[Value, str]) -> str:
        numbers = frozenset(
            i.value for i in self.graph.inputs if i.kind in ("int", "float", "bool")
        )
        if operator.qualified == "aten::alias":
            (sliced,) = values_in(node.args[0])
            return f"ppy::alias({names[sliced]}, {names[self._root(node)]})"
        call = spell_call(node, operator, names, numbers)
        if _is_factory(operator):
            return f"ppy::made([&] {{ return {call}; }})"
        return call

    def _root(self, alias: Node) -> Value:
        """What was sliced, for the `alias` that ends an indexing of slices only."""
        makers = {node.results[0]: node for node in self.graph.nodes if node.results}
        value = alias.args[0]
        while value in makers and makers[value].op == "aten::slice.Tensor":
            value = makers[value].args[0]
        assert isinstance(value, Value)
        return value

    def _last_uses(self) -> Mapping[int, tuple[Value, ...]]:
        """By node, the results of nodes that nothing reads any more once it has run."""
        lists = {node.args[0] for node in self.graph.nodes if node.op == UNPACK}
        made = {
            value: index
            for index, node in enumerate(self.graph.nodes)
            for value in node.results
            if value not in lists
        }
        kept = {value for output in self.graph.outputs for value in values_in(output)}
        last = dict(made)
        for index, node in enumerate(self.graph.nodes):
            used = {value for argument in node.args for value in values_in(argument)}
            if node.op == "aten::alias":
                used.add(self._root(node))
            last.update((value, index) for value in used if value in made)
        ends: dict[int, tuple[Value, ...]] = {}
        for value, index in last.items():
            if value not in kept:
                ends[index] = (*ends.get(index, ()), value)
        return ends


def spell_call(
    node: Node, operator: Operator, names: Mapping[Value, str], numbers: frozenset[Value]
) -> str:
    """The call of ATen in C++; `numbers` are the values that are no tensors."""
    spelled = [
        f"ppy::number(at::Scalar({names[argument]}))"
        if declared.type.base == "Tensor"
        and isinstance(argument, Value)
        and argument in numbers
        else spell(declared.type, argument, lambda value: names[value])
        for argument, declared in zip(node.args, operator.arguments, strict=True)
    ]
    if operator.qualified == "aten::slice.Tensor" and node.args[2] == Constant(None):
        return f"ppy::slice({', '.join(spelled)})"
    return f"at::_ops::{symbol_of(operator)}::call({', '.join(spelled)})"


def symbol_of(operator: Operator) -> str:
    """What ATen calls the operator in `at::_ops`."""
    return operator.name + (f"_{operator.overload}" if operator.overload else "")


def list_headers(operator: Operator) -> set[str]:
    """The headers of the lists of tensors that the operator takes."""
    return {
        _LIST_HEADERS[a.type.item_optional]
        for a in operator.arguments
        if a.type.base == "Tensor" and a.type.is_list
    }


def values_in(argument: Argument) -> tuple[Value, ...]:
    match argument:
        case Value():
            return (argument,)
        case Items(items=items):
            return tuple(value for item in items for value in values_in(item))
        case _:
            return ()


def _values(arguments: tuple[Argument, ...], names: Mapping[Value, str]) -> list[str]:
    return [names[value] for argument in arguments for value in values_in(argument)]


def variable_names(graph: Graph) -> Mapping[Value, str]:
    """A C++ variable for each value: `v_x` of one that the program calls `x`, which is no word
    of C++, no macro and no name of the code around it; else `t0`, `t1`."""
    wanted = dict(graph.names)
    wanted.update((used.value, used.name) for used in graph.inputs)
    made = [value for node in graph.nodes for value in node.results]
    names: dict[Value, str] = {}
    taken: set[str] = set()
    for value in [*(used.value for used in graph.inputs), *made]:
        base = re.sub(r"\W+", "_", wanted.get(value, ""), flags=re.ASCII).strip("_")
        base = f"v_{base}" if base else f"t{value.id}"
        name, count = base, 1
        while name in taken or f"{name}_in" in taken:
            count += 1
            name = f"{base}_{count}"
        taken.add(name)
        names[value] = name
    return names
