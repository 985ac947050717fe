"""C++ of a training step in exact form: one call of ATen after another.

    static void s_step(std::array<at::Tensor, 4> &t, double rate, bool first, bool &wrote,
                       std::array<at::Tensor, 3> &made)

`t` holds the tensors that the step is given. On the `first` call nothing is written, and
`made` gets what would be; later, what is written is written in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.exact import (
    INPUT_TYPES,
    header_of,
    list_headers,
    spell_call,
    values_in,
    variable_names,
)
from ppybuild.emit.tensors.exact_step import ExactStep, in_place, read_by
from ppybuild.emit.tensors.ir import Node, Value
from ppybuild.emit.tensors.kernel_calls import emit_call, emit_declaration, kernel_name
from ppybuild.emit.tensors.lower import SAME_SIZE
from ppybuild.emit.tensors.step import Output
from ppybuild.graph.schemas import Operator, Schemas

NUMBERS: Mapping[str, str] = {
    "aten::sym_size.int": "{}.size({})",
    "aten::sym_numel": "{}.numel()",
}
"""Operators that give a number."""


def exact_name(function: str) -> str:
    return f"s_{mangle(function)}"


def emit_exact_body(
    step: ExactStep, schemas: Schemas, place: Callable[[int], str]
) -> tuple[str, frozenset[str]]:
    """The C++ function, and the headers of its operators. `place` gives the element of `t`
    that holds an input."""
    return _Body(step, schemas, place).print()


@final
@dataclass(slots=True)
class _Body:
    step: ExactStep
    schemas: Schemas
    place: Callable[[int], str]
    names: Mapping[Value, str] = field(default_factory=dict)
    numbers: frozenset[Value] = frozenset()
    headers: set[str] = field(default_factory=set)

    def print(self) -> tuple[str, frozenset[str]]:
        graph, region = self.step.graph, self.step.region
        self.names = variable_names(graph)
        given = [i for i in graph.inputs if i.kind != "tensor"]
        counts = [v for node in graph.nodes if node.op in NUMBERS for v in node.results]
        self.numbers = frozenset([*(i.value for i in given), *counts])
        lines = [
            f"const at::Tensor &{self.names[i.value]} = {self.place(i.value.id)};"
            for i in graph.inputs
            if i.kind == "tensor"
        ]
        ends = self._ends()
        writing = self._first_write()
        for place, node in enumerate(graph.nodes):
            if place == writing:
                lines.append("wrote = !first;")
            where = f"  // line {node.location.line}"
            lines += [f"{line}{where}" for line in self._statements(place, node)]
            lines += [f"{self.names[value]}.reset();" for value in ends.get(place, ())]
        if writing is None:
            lines.append("wrote = !first;")
        for place, output in enumerate(self.step.outputs):
            lines += self._output(place, output)
        inside = "\n".join("    " + line for line in lines)
        numbers = "".join(f", {INPUT_TYPES[i.kind]}{self.names[i.value]}" for i in given)
        text = (
            f"{self._declarations()}"
            f"// {region.function}, line {region.line}, as autograd's calls\n"
            f"template <size_t Given>\n"
            f"static void {exact_name(region.function)}(std::array<at::Tensor, Given> &t"
            f"{numbers}, bool first, bool &wrote,\n"
            f"    std::array<at::Tensor, {max(len(self.step.outputs), 1)}> &made)\n"
            f"{{\n{inside}\n}}\n"
        )
        return text, frozenset(self.headers)

    def _declarations(self) -> str:
        function = self.step.region.function
        return "".join(
            emit_declaration(kernel_name(function, i)) for i in range(len(self.step.kernels))
        )

    def _first_write(self) -> int | None:
        """The node that may be the first to write what the program sees."""
        nodes = enumerate(self.step.graph.nodes)
        landed = [i for i, n in nodes if any(v in self.step.landed for v in n.results)]
        return min([*self.step.landing, *landed], default=None)

    def _statements(self, place: int, node: Node) -> list[str]:
        kernel = self.step.kernel(node)
        if kernel is not None:
            return emit_call(self.step, node, kernel, self.names, self.place)
        return [self._statement(place, node)]

    def _statement(self, place: int, node: Node) -> str:
        if node.op == SAME_SIZE:
            first, second = (self.names[v] for arg in node.args for v in values_in(arg))
            return f"ppy::same_size({first}, {second});"
        results = ", ".join(self.names[value] for value in node.results)
        if node.op in NUMBERS:
            spelled = [
                self.names[arg] if isinstance(arg, Value) else str(getattr(arg, "value", ""))
                for arg in node.args
            ]
            return f"const int64_t {results} = {NUMBERS[node.op].format(*spelled)};"
        if node.op.startswith("ppy::"):
            passed = ", ".join(
                self.names[arg] if isinstance(arg, Value) else repr(getattr(arg, "value", None))
                for arg in node.args
            )
            given = f"at::Tensor {results} = " if node.results else ""
            return f"{given}{node.op}({passed});"
        operator = self.schemas.operator(node.op)
        call = self._call(node, operator)
        if place in self.step.landing:
            call = f"first ? {call} : {self._written(node, operator)}"
        if len(operator.returns) == 1:
            return f"at::Tensor {results} = {call};"
        return f"auto [{results}] = {call};"

    def _call(self, node: Node, operator: Operator) -> str:
        self.headers |= {header_of(operator), *list_headers(operator)}
        return spell_call(node, operator, self.names, self.numbers)

    def _written(self, node: Node, operator: Operator) -> str:
        """The call that writes its first argument, which is or shares the leaf's memory."""
        written = in_place(operator, self.schemas)
        target = node.args[0]
        assert written is not None
        assert isinstance(target, Value)
        names = {**self.names, target: f"ppy::writable({self.names[target]})"}
        self.headers.add(header_of(written))
        return spell_call(replace(node, op=written.qualified), written, names, self.numbers)

    def _output(self, place: int, output: Output) -> list[str]:
        value = self.names[output.value]
        match output.kind:
            case "write":
                assert output.leaf is not None
                if output.value in self._landed():
                    return [f"made[{place}] = {value};"]
                leaf = f"ppy::writable({self.place(output.leaf)})"
                self.headers.add("ATen/ops/copy_ops.h")
                return [
                    f"made[{place}] = first ? {value} "
                    f": at::_ops::copy_::call({leaf}, {value}, false);"
                ]
            case "number":
                return [f"made[{place}] = {value};"]
            case "gradient" | "tensor":
                return [f"made[{place}] = ppy::owned(at::Tensor({self._last(output, place)}));"]

    def _last(self, output: Output, place: int) -> str:
        """The value, moved out where no later output is the same."""
        value = self.names[output.value]
        later = [other.value for other in self.step.outputs[place + 1 :]]
        inputs = {given.value for given in self.step.graph.inputs}
        return (
            value if output.value in later or output.value in inputs else f"std::move({value})"
        )

    def _landed(self) -> set[Value]:
        nodes = self.step.graph.nodes
        called = {value for place in self.step.landing for value in nodes[place].results}
        return called | set(self.step.landed)

    def _ends(self) -> dict[int, list[Value]]:
        """By node, the results of nodes that nothing reads any more once it has run."""
        graph = self.step.graph
        last: dict[Value, int] = {}
        for place, node in enumerate(graph.nodes):
            last.update((value, place) for value in node.results)
            last.update((value, place) for value in read_by(node) if value in last)
        ends: dict[int, list[Value]] = {}
        for value, place in last.items():
            if value not in graph.outputs and value not in self.numbers:
                ends.setdefault(place, []).append(value)
        return ends
