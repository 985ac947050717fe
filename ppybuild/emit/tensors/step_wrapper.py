"""The C++ between Python and a training step: guards, first call, effects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

from ppybuild.emit.names import mangle, wrapper_name
from ppybuild.emit.tensors.cuda import CudaRegion, emit_kernels
from ppybuild.emit.tensors.exact_body import emit_exact_body, exact_name
from ppybuild.emit.tensors.exact_step import ExactStep
from ppybuild.emit.tensors.forward import BATCH, SCALAR_TYPES
from ppybuild.emit.tensors.ir import TensorType, Value
from ppybuild.emit.tensors.meta import FLOATING
from ppybuild.emit.tensors.step import FusedStep, Output
from ppybuild.emit.tensors.step_objects import emit_objects, optimizer_name
from ppybuild.graph.regions.records import Input
from ppybuild.graph.regions.step_records import Leaf
from ppybuild.graph.schemas import Schemas

NUMBERS = {"int": ("int64_t", "ppy::is_int"), "float": ("double", "ppy::is_float")}
REALS = {"float32": "float", "float64": "double"}


def kernel_name(function: str) -> str:
    return f"k_{mangle(function)}"


def emit_step_wrapper(step: FusedStep, cuda: CudaRegion | None = None) -> str:
    """The declaration of the kernel, and `w_name` as `ppy_impl` in `ppy_boundary.h`; with
    `cuda`, of its form for a GPU too."""
    return _Fused(step, cuda).text()


def emit_exact_wrapper(step: ExactStep, schemas: Schemas) -> tuple[str, frozenset[str]]:
    """The function that makes the calls, and `w_name`; and the headers of the operators."""
    wrapper = _Exact(step)
    body, headers = emit_exact_body(step, schemas, wrapper.place)
    return f"{body}\n{wrapper.text()}", headers


@dataclass(slots=True)
class _Wrapper(ABC):
    """What both forms have in common. A form says how its outputs are made and compared."""

    step: FusedStep | ExactStep

    @abstractmethod
    def declarations(self) -> str:
        """What stands before the function."""

    @abstractmethod
    def body(self) -> list[str]:
        """Statements that compute and answer, once all guards have held."""

    @abstractmethod
    def agree(self, output: Output, made: str) -> str:
        """Whether an output is what Python's run, whose answer is `result`, has left."""

    @abstractmethod
    def agree_item(self, made: str, place: int) -> str:
        """The same of an item of the tuple that is `result`."""

    @abstractmethod
    def number(self, place: int) -> str:
        """The number that is the output in that place."""

    def together(self) -> list[str]:
        """More guards on the tensors."""
        return []

    @property
    def _tensors(self) -> list[Input]:
        """What is only read, then what is trained."""
        region = self.step.region
        leaves = {leaf.input for leaf in region.leaves}
        used = {given.value.id for given in self.step.graph.inputs} | leaves
        tensors = [i for i in region.inputs if i.kind == "tensor" and i.value in used]
        return sorted(tensors, key=lambda given: given.value in leaves)

    @property
    def _numbers(self) -> list[Input]:
        used = {given.value.id for given in self.step.graph.inputs}
        return [i for i in self.step.region.inputs if i.kind in NUMBERS and i.value in used]

    def _is_read(self, number: int) -> bool:
        return any(given.value == number for given in self._numbers)

    def place(self, value: int) -> str:
        places = {given.value: place for place, given in enumerate(self._tensors)}
        return f"t[{places[value]}]"

    @property
    def _items(self) -> list[int]:
        """The places of the outputs that a fragment gives, in order."""
        tensors = [i for i, output in enumerate(self.step.outputs) if output.kind == "tensor"]
        return tensors if self.step.region.fragment else []

    def _leaf(self, output: Output) -> str:
        assert output.leaf is not None
        return self.place(output.leaf)

    def text(self) -> str:
        region = self.step.region
        tensors = self._tensors
        mode = "evaluates" if region.evaluates else "trains"
        lines = [
            f'    static ppy::Verdict verdict{{"{region.function}"}};',
            f"    PyObject *found[{max(region.parameters, 1)}];",
            "    PyObject *const *given = ppy_arguments(self, args, nargsf, kwnames, found);",
            f"    if (given == nullptr || verdict.refused() || !ppy::{mode}())",
            "        return nullptr;",
            *(f"    {NUMBERS[i.kind][0]} n{i.value} = 0;" for i in self._numbers),
            f"    std::array<at::Tensor, {len(tensors)}> t;",
            *(f"    {line}" for line in emit_objects(region, self.place, self._is_read)),
            f"    if ({self._joined(self._checks())})",
            "        return nullptr;",
            "    const bool first = verdict.untried();",
            *self.body(),
            "    if (first) {",
            *(f"        {line}" for line in self._first()),
            "    }",
            *(f"    {line}" for line in self._effects()),
        ]
        inside = ["try {", *lines, "} catch (...) {", "    return nullptr;", "}"]
        listing = "\n".join("    " + line for line in inside)
        return (
            f"{self.declarations()}"
            f"// {region.function}, line {region.line}: "
            + ", ".join(f"t[{i}] {given.name}" for i, given in enumerate(tensors))
            + f"\nstatic PyObject *{wrapper_name(region.function)}(\n"
            "    ppy_native *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)\n"
            f"{{\n{listing}\n}}\n"
        )

    @staticmethod
    def _joined(checks: list[str]) -> str:
        return "\n        || ".join(f"!{check}" for check in checks)

    # Guards

    def _checks(self) -> list[str]:
        region = self.step.region
        leaves = {leaf.input: leaf for leaf in region.leaves}
        places = {given.place for given in region.inputs}
        checks = [
            f"ppy::has_length(given[{place}], {length})"
            for place, length in region.lengths
            if place in places
        ]
        checks += [
            f"(given[{each.place}] == {'Py_True' if each.truth else 'Py_False'})"
            for each in region.assumes
        ]
        checks += [
            f"{NUMBERS[i.kind][1]}(given[{i.place}], n{i.value})"
            for i in self._numbers
            if not i.path
        ]
        for given in self._tensors:
            if given.path:
                continue  # taken out of its object before
            name = self.place(given.value)
            taken = f"given[{given.place}]"
            checks.append(
                f"ppy::is_tensor({taken}, {name})"
                if given.index is None
                else f"ppy::is_item({taken}, {given.index}, {name})"
            )
        for given in self._tensors:
            checks += self._tensor_checks(given, leaves.get(given.value))
        first = len(self._tensors) - len(leaves)
        checks.append(f"ppy::are_apart(t, {first})")
        checks += self.together()
        batches = self._batched()
        checks += [f"({batches[0]}.size(0) == {other}.size(0))" for other in batches[1:]]
        return checks

    def _tensor_checks(self, given: Input, leaf: Leaf | None) -> list[str]:
        name = self.place(given.value)
        checks = []
        type = self._type(given)
        if type is not None:
            what = "leaf" if leaf is not None and leaf.trained else "data"
            what = "read" if self.step.region.evaluates else what
            checks.append(f"ppy::is_{what}({name}, {_spelled(type)})")
        if leaf is not None and leaf.none_on_entry:
            checks.append(f"(!{name}.grad().defined())")
        return checks

    def _type(self, given: Input) -> TensorType | None:
        """None for a tensor that the kernel does not read."""
        inputs = {used.value.id for used in self.step.graph.inputs}
        if given.value not in inputs:
            return None
        return self.step.types[Value(given.value)]

    def _batched(self) -> list[str]:
        return [
            self.place(given.value)
            for given in self._tensors
            if (type := self._type(given)) is not None and type.shape and type.shape[0] == BATCH
        ]

    # The call

    def _first(self) -> list[str]:
        """Python's run is the answer; what was made is compared with it."""
        region = self.step.region
        checks: list[str] = []
        before: list[str] = []
        for leaf in region.leaves:
            name = self.place(leaf.input)
            before.append(f"const uint32_t v{leaf.input} = ppy::version({name});")
            checks.append(f"ppy::version({name}) == v{leaf.input} + {leaf.writes}")
            if leaf.trained and leaf.gradient is None:
                checks.append(f"!{name}.grad().defined()")
        items = {place: index for index, place in enumerate(self._items)}
        checks += [
            self.agree_item(f"made[{place}]", items[place])
            if place in items
            else self.agree(output, f"made[{place}]")
            for place, output in enumerate(self.step.outputs)
        ]
        if region.returned.kind == "none":
            checks.append("result == Py_None")
        condition = "\n            && ".join(checks)
        return [
            *before,
            "PyObject *result = ppy::call_python(self, args, nargsf, kwnames);",
            "if (result != nullptr)",
            "    verdict.settle(ppy::holds([&] {",
            f"        return {condition};",
            "    }));",
            "return result;",
        ]

    def _effects(self) -> list[str]:
        region = self.step.region
        lines = [
            f"ppy::written({self.place(leaf.input)}, {leaf.writes});"
            for leaf in region.leaves
            if leaf.writes
        ]
        lines += [
            f"{self.place(leaf.input)}.mutable_grad().reset();"
            for leaf in region.leaves
            if leaf.trained and leaf.gradient is None and not leaf.none_on_entry
        ]
        lines += [f"{optimizer_name(each)}.count();" for each in region.optimized]
        answer = "Py_NewRef(Py_None)"
        if region.fragment:
            given = [f"std::move(made[{place}])" for place in self._items]
            several = f"std::array<at::Tensor, {len(given)}>{{{', '.join(given)}}}"
            answer = f"ppy::wrap({several})" if given else "PyTuple_New(0)"
        for place, output in enumerate(self.step.outputs):
            if output.kind == "gradient":
                times = {leaf.input: leaf.gradient_writes for leaf in region.leaves}
                assert output.leaf is not None
                if times[output.leaf]:
                    lines.append(f"ppy::written(made[{place}], {times[output.leaf]});")
                lines.append(f"{self._leaf(output)}.mutable_grad() = std::move(made[{place}]);")
            elif output.kind == "number":
                answer = f"PyFloat_FromDouble({self.number(place)})"
            elif output.kind == "tensor" and not region.fragment:
                answer = f"ppy::wrap(std::move(made[{place}]))"
        return [*lines, f"return {answer};"]


@final
@dataclass(slots=True)
class _Fused(_Wrapper):
    """One kernel computes all outputs, at once into the memory where they belong."""

    step: FusedStep
    cuda: CudaRegion | None

    def declarations(self) -> str:
        kernel = kernel_name(self.step.region.function)
        return (
            f'extern "C" ppy::Kernel {kernel};\n'
            f'extern "C" const int64_t {kernel}_scratch;\n\n'
            f"{self.cuda.table if self.cuda else ''}"
        )

    def together(self) -> list[str]:
        return [] if self.cuda is None else ["ppy::are_together(t)"]

    def number(self, place: int) -> str:
        return "number"

    def agree(self, output: Output, made: str) -> str:
        match output.kind:
            case "write":
                return f"ppy::agree({made}, {self._leaf(output)})"
            case "gradient":
                return f"ppy::agree({made}, {self._leaf(output)}.grad())"
            case "tensor":
                return f"ppy::agree_tensor({made}, result)"
            case "number":
                where = "" if self.cuda is None else ", place"
                return f"ppy::agree(number, result{where})"

    def agree_item(self, made: str, place: int) -> str:
        return f"ppy::agree_item({made}, result, {place})"

    def body(self) -> list[str]:
        step = self.step
        kernel = kernel_name(step.region.function)
        inputs = [
            f"&n{given.value.id}"
            if given.kind in NUMBERS
            else f"ppy::data({self.place(given.value.id)})"
            for given in step.graph.inputs
        ]
        real = REALS[step.plan.program.dtype]
        kinds = {output.kind for output in step.outputs}
        batches = self._batched()
        batch = f"{batches[0]}.size(0)" if batches else "1"
        return [
            "    static std::atomic<void *> scratch{nullptr};",
            f"    const int64_t batch = {batch};",
            *([] if self.cuda is None else ["    const at::Device place = t[0].device();"]),
            *([f"    {real} number = 0;"] if "number" in kinds else []),
            f"    std::array<at::Tensor, {max(len(step.outputs), 1)}> made;",
            "    try {",
            *(
                f"        {line}"
                for i, o in enumerate(step.outputs)
                for line in self._made(i, o)
            ),
            "    } catch (...) {",
            "        return nullptr;",
            "    }",
            f"    void *const inputs[] = {{{', '.join(inputs)}}};",
            "    void *const outputs[] = {",
            *(f"        {self._target(i, o)}," for i, o in enumerate(step.outputs)),
            "    };",
            *(f"    {line}" for line in self._run(kernel)),
        ]

    def _run(self, kernel: str) -> list[str]:
        if self.cuda is None:
            return [
                f"const int64_t bytes = {kernel}_scratch;",
                f"if (!ppy::run_kernel({kernel}, scratch, bytes, inputs, outputs, batch))",
                "    return nullptr;",
            ]
        lines = [
            *emit_kernels(self.cuda, self.step.region.function),
            "if (!ppy::run_kernels(kernels, place, scratch, inputs, outputs, batch))",
            "    return nullptr;",
        ]
        for place, output in enumerate(self.step.outputs):
            if output.kind == "number":
                lines += [
                    f"if (ppy::is_gpu(place) && !ppy::number_of(made[{place}], number))",
                    "    return nullptr;",
                ]
        return lines

    def _made(self, place: int, output: Output) -> list[str]:
        type = SCALAR_TYPES[self.step.plan.program.dtype]
        where = "" if self.cuda is None else ", place"
        match output.kind:
            case "write":
                leaf = self._leaf(output)
                return [
                    f"if (first) made[{place}] = ppy::empty({type}, {leaf}.sizes(){where});"
                ]
            case "gradient":
                leaf = self._leaf(output)
                return [f"made[{place}] = ppy::empty({type}, {leaf}.sizes(){where});"]
            case "tensor":
                shape = self.step.plan.program.outputs[place].shape
                sizes = ", ".join("batch" if size is None else str(size) for size in shape)
                return [f"made[{place}] = ppy::empty({type}, {{{sizes}}}{where});"]
            case "number":
                if self.cuda is None:
                    return []
                return [
                    "if (ppy::is_gpu(place))",
                    f"    made[{place}] = ppy::empty({type}, {{}}, place);",
                ]

    def _target(self, place: int, output: Output) -> str:
        match output.kind:
            case "write":
                leaf = self._leaf(output)
                return f"first ? ppy::data(made[{place}]) : {leaf}.mutable_data_ptr()"
            case "gradient" | "tensor":
                return f"ppy::data(made[{place}])"
            case "number":
                if self.cuda is None:
                    return "&number"
                return f"ppy::is_gpu(place) ? ppy::data(made[{place}]) : (void *)&number"


@final
@dataclass(slots=True)
class _Exact(_Wrapper):
    """Calls of ATen compute the outputs; what is written is written as they run."""

    step: ExactStep

    def declarations(self) -> str:
        return ""

    def number(self, place: int) -> str:
        return f"ppy::number_in(made[{place}])"

    def _test(self, output: Output) -> str:
        """How it is compared: bit for bit, unless kernels have computed with such numbers."""
        by_kernels = self.step.kernels and self.step.types[output.value].dtype in FLOATING
        return "ppy::agree" if by_kernels else "ppy::same"

    def agree(self, output: Output, made: str) -> str:
        test = self._test(output)
        match output.kind:
            case "write":
                return f"{test}({made}, {self._leaf(output)})"
            case "gradient":
                return f"{test}({made}, {self._leaf(output)}.grad())"
            case "tensor" | "number":
                return f"{test}_{output.kind}({made}, result)"

    def agree_item(self, made: str, place: int) -> str:
        return f"{self._test(self.step.outputs[place])}_item({made}, result, {place})"

    def body(self) -> list[str]:
        step = self.step
        passed = [f"n{i.value.id}" for i in step.graph.inputs if i.kind != "tensor"]
        arguments = ", ".join(["t", *passed, "first", "wrote", "made"])
        again = ["drawn.again();"] if step.draws else []
        return [
            f"    std::array<at::Tensor, {max(len(step.outputs), 1)}> made;",
            "    bool wrote = false;",
            *(["    ppy::Drawn drawn;"] if step.draws else []),
            "    if (!ppy::compute(wrote, [&] {",
            f"            {exact_name(step.region.function)}({arguments});",
            "        })) {",
            *(f"        {line}" for line in again),
            "        return nullptr;",
            "    }",
            *(f"    if (first) {line}" for line in again),
        ]

    def together(self) -> list[str]:
        return ["ppy::are_on_cpu(t)"] if self.step.on_cpu else []


def _spelled(type: TensorType) -> str:
    assert type.dtype is not None
    assert type.shape is not None
    sizes = ", ".join("-1" if size == BATCH else str(size) for size in type.shape)
    return f"{SCALAR_TYPES[type.dtype]}, {{{sizes}}}"
