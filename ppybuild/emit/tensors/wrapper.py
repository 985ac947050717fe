"""The C++ between Python and a region's body: takes the arguments, checks, runs, wraps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppybuild.emit.boundary.relied import constant_row, relied_name
from ppybuild.emit.boundary.wrappers import table_name
from ppybuild.emit.names import mangle, wrapper_name
from ppybuild.emit.tensors.exact import body_name, variable_names
from ppybuild.emit.tensors.forward import forward_name
from ppybuild.emit.tensors.ir import Graph
from ppybuild.graph.regions import Input, Region, StepRegion

TAKEN: Mapping[str, tuple[str, str]] = {
    "tensor": ("", "ppy::is_tensor({object})"),
    "optional_tensor": ("", "ppy::is_optional({object})"),
    "tensors": ("std::vector<at::Tensor> {name};", "ppy::is_sequence({object}, {name})"),
    "int": ("int64_t {name};", "ppy::is_int({object}, {name})"),
    "float": ("double {name};", "ppy::is_float({object}, {name})"),
    "bool": ("bool {name};", "ppy::is_bool({object}, {name})"),
}
"""By kind of input: what is declared for it, and the check that also takes its value."""
PASSED = {
    "tensor": "ppy::tensor({object})",
    "optional_tensor": "ppy::optional({object})",
}


def emit_wrapper(region: Region, graph: Graph, results: int | None = None) -> str:
    """`w_name`, as `ppy_impl` in `ppy_boundary.h`. `results`: how many tensors the fused form
    gives, where there is one."""
    names = variable_names(graph)
    declared: list[str] = []
    checks: list[str] = []
    passed: list[str] = []
    for used, value in zip(region.inputs, graph.inputs, strict=True):
        name = names[value.value]
        declaration, check, expression = _taken(used)
        texts = {"object": f"args[{used.place}]", "name": name, "index": used.index}
        if declaration:
            declared.append("    " + declaration.format(**texts))
        checks.append(check.format(**texts))
        passed.append(expression.format(**texts))
    conditions = "".join(f"\n        || !{check}" for check in checks)
    lines = [
        f"static PyObject *{wrapper_name(region.function)}(",
        "    ppy_native *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)",
        "{",
        f"    PyObject *found[{max(region.parameters, 1)}];",
        *declared,
        "    args = ppy_arguments(self, args, nargsf, kwnames, found);",
        f"    if (args == nullptr{conditions}",
        "        || !ppy::eager())",
        "        return nullptr;",
        *(() if results is None else _fused(region, graph, passed, results)),
        f"    return ppy::run<{str(region.restartable).lower()}>([&] {{",
        f"        return {body_name(graph)}({', '.join(passed)});",
        "    });",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _fused(region: Region, graph: Graph, passed: list[str], results: int) -> list[str]:
    """Try the fused form first; its first call is compared with the exact form's."""
    single = region.result.kind == "tensor"
    answer = "made[0]" if single else "made"
    return [
        f'    static ppy::Verdict verdict{{"{region.function}"}};',
        "    if (!c10::GradMode::is_enabled() && !verdict.refused() && ppy::computes()) {",
        f"        std::array<at::Tensor, {results}> made;",
        f"        if ({forward_name(graph)}({', '.join((*passed, 'made'))})) {{",
        "            if (!verdict.untried())",
        f"                return ppy::wrap(std::move({answer}));",
        "            PyObject *exact = ppy::run<true>([&] {",
        f"                return {body_name(graph)}({', '.join(passed)});",
        "            });",
        "            if (exact != nullptr)",
        "                verdict.settle(ppy::agree_all(made, exact));",
        "            return exact;",
        "        }",
        "        if (PyErr_Occurred())",
        "            return nullptr;",
        "    }",
    ]


def _taken(used: Input) -> tuple[str, str, str]:
    if used.index is not None:
        return "at::Tensor {name};", "ppy::is_item({object}, {index}, {name})", "{name}"
    return *TAKEN[used.kind], PASSED.get(used.kind, "{name}")


def emit_table(module: str, regions: Sequence[Region | StepRegion]) -> str:
    """The entries that the extension offers for one Python module."""
    rows = [
        f'    {{"{mangle(region.function)}", {wrapper_name(region.function)}, '
        f"{region.parameters}, {_flags(region)}, {_relies(region)}}},"
        for region in regions
    ]
    return "\n".join(
        (
            *(_relied(region) for region in regions if _relies(region) != "nullptr"),
            f'extern "C" const ppy_entry {table_name(module)}[] = {{',
            *rows,
            "    {nullptr, nullptr, 0, 0, nullptr},",
            "};\n",
        )
    )


def _flags(region: Region | StepRegion) -> str:
    fragment = isinstance(region, StepRegion) and region.fragment
    return "PPY_REGION | PPY_FRAGMENT" if fragment else "PPY_REGION"


def _relies(region: Region | StepRegion) -> str:
    if region.functions or region.constants:
        return relied_name(region.function)
    return "nullptr"


def _relied(region: Region | StepRegion) -> str:
    """What the region has looked through or taken for a number, to be found unchanged."""
    rows = [
        f'    {{"{held.path}", PPY_TORCH, "{held.value}", 0}},'
        if isinstance(held.value, str)
        else f"    {constant_row(held.path, held.value)},"
        for held in region.constants
    ]
    for found in region.functions:
        module = found.file.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
        qualified = found.function.removeprefix(f"{module}.")
        name = f"{found.file}:{qualified}"
        rows.append(f'    {{"{found.path}", PPY_FUNCTION, "{name}", {found.line}}},')
    return "\n".join(
        (
            f"static const ppy_relied {relied_name(region.function)}[] = {{",
            *rows,
            "    {nullptr, 0, nullptr, 0},",
            "};",
        )
    )
