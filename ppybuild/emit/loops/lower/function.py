"""Lower one function, from its parameters to its last way out."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import Builder, NeedsFlag, NeedsMemory, at, path_of
from ppybuild.emit.loops.lower.folding import lower_folded
from ppybuild.emit.loops.lower.growing import lower_method
from ppybuild.emit.loops.lower.made import lower_made
from ppybuild.emit.loops.lower.signatures import NativeSignature, argument_node
from ppybuild.emit.loops.lower.statements import lower_block, note_result
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.through import goes_through
from ppybuild.emit.loops.lower.values import Binding, BufferRef, GridRef, Value
from ppybuild.emit.loops.tree import expressions, own_targets, rename, statements
from ppybuild.emit.loops.verify import scalars
from ppybuild.emit.relied import Relied, ReliedConstant
from ppybuild.graph import types
from ppybuild.graph.program import Facts, Function
from ppybuild.graph.scopes import scope_of


@dataclass(frozen=True, slots=True)
class Attempt:
    function: ir.Function | None
    stay: Stay | None
    """Why it does not lower; None where it does."""
    called: frozenset[str]
    """Functions of the project whose signatures mattered."""


def lower_function(facts: Facts, name: str, known: Mapping[str, NativeSignature]) -> Attempt:
    """The function as loop IR, `known` being what may be called natively."""
    function = facts.program.functions[name]
    flagged: frozenset[str] = frozenset()
    holding: frozenset[str] = frozenset()
    while True:
        builder = Builder(facts, known, _local_names(function), flagged, holding)
        try:
            _check_form(facts, function)
            builder.targets = _targets(function)
            builder.make = partial(_lower_made, builder)
            builder.method = partial(lower_method, builder)
            lowered = _lower_body(builder, function, known[name])
        except NeedsFlag as needs:
            flagged |= {needs.name}
            continue
        except NeedsMemory as needs:
            holding |= {needs.name}
            continue
        except Stay as stay:
            return Attempt(None, stay, frozenset(builder.called))
        return Attempt(lowered, None, frozenset(builder.called))


def _lower_made(builder: Builder, node: ast.expr) -> Value | None:
    made = lower_made(builder, node)
    return lower_folded(builder, node) if made is None else made


def _targets(function: Function) -> dict[ast.AST, str]:
    """The variable that a value is bound to, and nothing else is, by the value's node."""
    found: dict[ast.AST, str] = {}
    for node in ast.walk(function.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[value] = name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[value] = name
    return found


def _lower_body(
    builder: Builder, function: Function, signature: NativeSignature
) -> ir.Function:
    assert builder.env is not None
    for parameter in signature.parameters:
        builder.env[parameter.name] = Binding(_parameter_value(parameter), True)
    fixed = {each.name: each.type for each in scalars(signature.parameters)}
    builder.locals |= fixed
    location = at(function.node)
    for name in sorted(builder.flagged):
        bound = ir.Const(name in builder.env, ir.Type.BOOL)
        builder.emit(ir.Assign(builder.flag(name).name, bound, location))
    lower_block(builder, function.node.body)
    if builder.env is not None:
        note_result(builder, function.node, None)
    guards = [
        ir.Guard(ir.Disjoint(*pair), "memory shared with a slice", location)
        for pair in sorted(builder.apart)
    ]
    for parameter in signature.parameters:
        listed = isinstance(parameter, ir.BufferParameter) and parameter.holder in ir.LISTS
        if listed and not goes_through(tuple(builder.block), parameter.name):
            raise Stay(
                argument_node(function, parameter.name),
                f"the list `{parameter.name}`, which it does not always go through",
                "make it a Buffer, which is not copied",
            )
    body, locals_ = _tidy(builder, (*guards, *builder.block), frozenset(fixed))
    result = builder.result[0] if builder.result else None
    return ir.Function(
        function.name,
        signature.parameters,
        result,
        locals_,
        body,
        location,
        _relies(builder, function),
        tuple(ir.OwnBuffer(each.name, each.element) for each in builder.buffers()),
    )


def _relies(builder: Builder, function: Function) -> tuple[Relied, ...]:
    """Also on the constants that defaults are: a caller that leaves one out has its value."""
    args = function.node.args
    constants = builder.facts.constants
    for default in (*args.defaults, *(each for each in args.kw_defaults if each)):
        for node in ast.walk(default):
            if isinstance(node, ast.Name | ast.Attribute) and node in constants:
                value, path = constants[node], path_of(node)
                if path is not None and not isinstance(value, str):
                    builder.relies.setdefault(path, ReliedConstant(path, value))
    return tuple(builder.relies.values())


def _tidy(
    builder: Builder, body: ir.Block, parameters: frozenset[str]
) -> tuple[ir.Block, tuple[tuple[str, ir.Type], ...]]:
    """Locals in order of first binding, temporaries numbered in that order."""
    order = dict.fromkeys(target for each in statements(body) for target in own_targets(each))
    order |= dict.fromkeys(each.name for each in expressions(body) if isinstance(each, ir.Var))
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    for name in order:
        if name in builder.temporaries:
            stem = name.rpartition(".")[0]
            numbers[stem] += 1
            names[name] = f"{stem}.t{numbers[stem]}"
    locals_ = tuple(
        (names.get(name, name), builder.locals[name])
        for name in order
        if name not in parameters
    )
    return rename(body, names), locals_


def _parameter_value(parameter: ir.Parameter) -> Value:
    match parameter:
        case ir.ScalarParameter(name, type_):
            return ir.Var(name, type_)
        case ir.BufferParameter(name, element, _, holder):
            return BufferRef(name, element, holder)
        case ir.GridParameter(name, element, _):
            return GridRef(name, element)
        case ir.TupleParameter(_, items):
            return tuple(_parameter_value(item) for item in items)


def _local_names(function: Function) -> frozenset[str]:
    args = function.node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    scope = scope_of(function.node.body, expressions=True)
    return frozenset(scope.bound | {each.arg for each in every if each})


_MARKS = (types.Function("ppy.pure"), types.Function("ppy.export"))
"""Decorators that give the function itself."""
_DEEPEST = 120  # parts in parts: the compiler's own recursion has to end


def _is_deep(node: ast.AST) -> bool:
    level: list[ast.AST] = [node]
    for _ in range(_DEEPEST):
        level = [child for each in level for child in ast.iter_child_nodes(each)]
        if not level:
            return False
    return True


def _check_form(facts: Facts, function: Function) -> None:
    """What rules a function out however its statements look."""
    node = function.node
    if _is_deep(node):
        raise Stay(node, f"code nested more than {_DEEPEST} deep", "split the function")
    if isinstance(node, ast.AsyncFunctionDef):
        raise Stay(node, "an async function")
    for decorator in node.decorator_list:
        if facts.types.get(decorator) not in _MARKS:
            raise Stay(
                decorator,
                f"decorator `{ast.unparse(decorator)}`",
                "only ppy.pure and ppy.export may stay",
            )
    for each in ast.walk(node):
        match each:
            case ast.Yield() | ast.YieldFrom():
                raise Stay(each, "a generator")
            case ast.Global() | ast.Nonlocal():
                raise Stay(each, "a variable of another scope", "pass it in and return it")
