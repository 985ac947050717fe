"""Find the functions of the program whose whole body is tensor operations."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.diagnostics import Diagnostic, Location
from ppybuild.graph.program import Facts, Function, Parameter
from ppybuild.graph.regions.inline import (
    ProgramBody,
    ProgramNames,
    held,
    is_generator,
    reached,
)
from ppybuild.graph.regions.records import (
    Call,
    InputKind,
    Region,
    Step,
    all_restartable,
)
from ppybuild.graph.regions.trace import Trace
from ppybuild.graph.regions.values import Results, Sequence, Symbol, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.names import Torch, installed_torch
from ppybuild.graph.types import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    Collection,
    Scalar,
    Tensor,
    Type,
    Union,
)

_SCALARS: Mapping[Scalar, InputKind] = {INT: "int", FLOAT: "float", BOOL: "bool"}
_SEQUENCES = ("list", "tuple", "Sequence")


@final
@dataclass(frozen=True, slots=True)
class Regions:
    """The regions by function name, and a remark for each function that just missed."""

    regions: tuple[Region, ...]
    remarks: tuple[Diagnostic, ...]


def discover(facts: Facts, torch: Torch | None = None) -> Regions:
    """Regions of the program, in order of function name; none where torch is not installed."""
    torch = torch if torch is not None else installed_torch()
    regions: list[Region] = []
    remarks: list[Diagnostic] = []
    if torch is None:
        return Regions((), ())
    for name in sorted(facts.program.functions):
        function = facts.program.functions[name]
        if not _takes_tensor(facts, name):
            continue
        trace = Trace(torch)
        try:
            regions.append(_region(facts, function, trace))
        except Unsupported as stopped:
            if trace.steps or _makes_tensor(facts, function):
                remarks.append(_remark(facts, function, stopped))
    return Regions(tuple(regions), tuple(remarks))


def _region(facts: Facts, function: Function, trace: Trace) -> Region:
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef):
        raise Unsupported("a coroutine", node)
    if is_generator(node):
        raise Unsupported("a generator", node)
    parameters = facts.signatures[function.name].parameters
    variables = {
        parameter.name: _entering(trace, parameter, place, node)
        for place, parameter in enumerate(parameters)
    }
    body = ProgramBody(trace, ProgramNames(facts), variables, inside=(function.name,))
    result = _returned(body.run(node.body), node)
    if not trace.steps:
        raise Unsupported("no tensor operation in it", node)
    if not all_restartable(trace.steps) and any(map(_leaves_errors_to_python, trace.steps)):
        raise Unsupported(
            "indexing or a check of sizes beside writing or random operations", node
        )
    types = {
        value: facts.types[expression]
        for value, expression in trace.nodes.items()
        if isinstance(facts.types.get(expression), Tensor)
    } | {
        used.value: parameters[used.place].type
        for used in trace.inputs
        if isinstance(parameters[used.place].type, Tensor)
    }
    return Region(
        function=function.name,
        parameters=len(parameters),
        inputs=tuple(trace.inputs),
        steps=tuple(trace.steps),
        result=result,
        names=tuple(sorted(trace.names.items())),
        types=tuple(sorted(types.items(), key=lambda item: item[0])),
        line=node.lineno,
        column=node.col_offset + 1,
        functions=reached(facts, trace),
        constants=held(trace),
    )


def _entering(trace: Trace, parameter: Parameter, place: int, node: ast.AST) -> Symbol:
    """What a parameter stands for in the body."""
    if parameter.kind in ("rest", "keywords"):
        raise Unsupported(f"the parameter `{parameter.name}`, whose arguments vary", node)
    match parameter.type:
        case Collection(kind=collection, item=Tensor()) if collection in _SEQUENCES:
            return Sequence(parameter.name, place)
        case _:
            pass
    kind = _input_kind(parameter.type)
    if kind is None:
        raise Unsupported(f"`{parameter.name}` is no tensor or number", node)
    return trace.new_input(parameter.name, kind, place, None)


def _input_kind(type: Type) -> InputKind | None:
    match type:
        case Tensor():
            return "tensor"
        case Union(members=members) if NONE in members and len(members) == 2:
            return "optional_tensor" if any(isinstance(m, Tensor) for m in members) else None
        case Scalar():
            return _SCALARS.get(type)
        case _:
            return None


def _leaves_errors_to_python(step: Step) -> bool:
    """Whether only Python's own run of the body raises what this step must raise."""
    return not isinstance(step, Call) or step.operator.qualified in (
        "aten::slice.Tensor",
        "aten::select.int",
        "aten::alias",
    )


def _returned(value: Symbol, node: ast.AST) -> Given:
    match value:
        case Given(kind="tensor"):
            return value
        case Given(kind="list", value="tuple") if (
            all(item.kind == "tensor" for item in value.items) and len(value.items) > 1
        ):
            return value
        case Results(named=False):
            return Given("list", "tuple", value.items)
        case _:
            raise Unsupported("a result that is not a tensor or a tuple of tensors", node)


def _takes_tensor(facts: Facts, name: str) -> bool:
    signature = facts.signatures.get(name)
    if signature is None:
        return False
    return any(
        isinstance(part, Tensor)
        for parameter in signature.parameters
        for part in _parts(parameter.type)
    )


def _parts(type: Type) -> tuple[Type, ...]:
    match type:
        case Union(members=members):
            return members
        case Collection(kind=kind, item=item) if kind in _SEQUENCES:
            return (item,)
        case _:
            return (type,)


def _makes_tensor(facts: Facts, function: Function) -> bool:
    """Whether something in it calls torch or computes a tensor: then a region is expected."""
    for node in ast.walk(function.node):
        callee = facts.callees.get(node) if isinstance(node, ast.Call) else None
        if callee is not None and callee.name.startswith("torch."):
            return True
        if isinstance(node, ast.BinOp | ast.Compare | ast.UnaryOp) and isinstance(
            facts.types.get(node), Tensor
        ):
            return True
    return False


_HELP = (
    "a tensor region is a function that only calls operators of torch on its parameters; "
    "move the rest out of it"
)
_HELP_OF_METHODS = (
    "a training step, or code under `torch.no_grad()`, that calls it may be native with it"
)


def _remark(facts: Facts, function: Function, stopped: Unsupported) -> Diagnostic:
    module = facts.program.modules[function.module]
    node = stopped.node
    line = getattr(node, "lineno", function.node.lineno)
    column = getattr(node, "col_offset", function.node.col_offset)
    end_line, end_column = line, column + 1
    if node is not function.node:
        end_line = getattr(node, "end_lineno", line)
        end_column = getattr(node, "end_col_offset", column)
    simple = function.name.removeprefix(function.module + ".")
    return Diagnostic(
        "R3004",
        f"`{simple}` stays in Python: {stopped.reason}",
        Location(module.path, line, column + 1, end_line, end_column + 1),
        help=_HELP_OF_METHODS if function.owner is not None else _HELP,
    )
