"""Calls: of the library by table, and of other native functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import Builder, at, is_written, require_number
from ppybuild.emit.loops.lower.library import FUNCTIONS, Call, NotAnInt, bind_arguments
from ppybuild.emit.loops.lower.operators import constant
from ppybuild.emit.loops.lower.sequences import ON_SEQUENCES
from ppybuild.emit.loops.lower.signatures import NativeSignature, Undecided
from ppybuild.emit.loops.lower.slices import side_by_side
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.texts import ON_TEXT
from ppybuild.emit.loops.lower.values import (
    GridRef,
    Items,
    Value,
    View,
    Whole,
    describe,
    leaves,
)
from ppybuild.emit.loops.verify import flat_result
from ppybuild.emit.relied import ReliedLibrary, ReliedNative
from ppybuild.graph.program import Callee, Parameter


def require_callee(builder: Builder, node: ast.Call) -> Callee:
    """What a call reaches, which has to be native or in a table."""
    callee = builder.facts.callees.get(node)
    if callee is None:
        raise Stay(node, f"a call of `{ast.unparse(node.func)}`, which is not known")
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    if starred or any(each.arg is None for each in node.keywords):
        raise Stay(node, "an argument with `*`", "pass the arguments one by one")
    if callee.kind == "project":
        builder.called.add(callee.name)
        if callee.name not in builder.known:
            raise Stay(node, f"a call of `{callee.name}`, which stays in Python")
        builder.rely(node.func, lambda path: ReliedNative(path, callee.name))
    elif callee.kind == "method" or not (
        callee.name in FUNCTIONS or callee.name in ON_SEQUENCES or callee.name in ON_TEXT
    ):
        shown = callee.name.removeprefix("builtins.")
        raise Stay(node, f"a call of `{shown}`", "move it out of this function")
    else:
        rely_on_library(builder, node, callee)
    return callee


def rely_on_library(builder: Builder, node: ast.Call, callee: Callee) -> None:
    builder.rely(node.func, lambda path: ReliedLibrary(path, callee.name))


def apply_call(
    builder: Builder, node: ast.Call, callee: Callee, values: list[Value]
) -> Value | None:
    """The result of a call; `values` are of the arguments, then of the keywords."""
    if callee.kind == "project":
        return _project_call(builder, node, callee.name, values)
    if callee.name in ON_TEXT:
        found = ON_TEXT[callee.name](builder, node, values)
        if found is not None:
            return found
    if callee.name in ON_SEQUENCES and (len(values) == 1 or callee.name not in FUNCTIONS):
        return ON_SEQUENCES[callee.name](builder, node, values)
    shown = callee.name.removeprefix("builtins.")
    if callee.name not in FUNCTIONS:
        raise Stay(node, f"this form of `{shown}`")
    function = FUNCTIONS[callee.name]
    bound = bind_arguments(function, node, [require_number(node, value) for value in values])
    if bound is None:
        raise Stay(node, f"this form of `{shown}`")
    try:
        return function.rule(Call(builder, node, bound[0], at(node), bound[1]))
    except NotAnInt:
        raise Stay(node, f"`{shown}` of a float", "convert it with `int`") from None


# Native functions


def _project_call(
    builder: Builder, node: ast.Call, name: str, given: list[Value]
) -> Value | None:
    signature = builder.known[name]
    if isinstance(signature.result, Undecided):
        raise Stay(node, f"a call of `{name}`, whose result has no one type", "annotate it")
    results = [each for each in flat_result(signature.result) if isinstance(each, ir.Type)]
    if len(results) < len(flat_result(signature.result)):
        raise Stay(
            node,
            f"a call of `{name}`, whose result is an array that it makes",
            "let it fill an array that is passed in",
        )
    values = _arguments(builder, node, signature, given)
    passed: list[ir.Expr | str] = []
    for parameter, value in zip(signature.parameters, values, strict=True):
        if not _fits(parameter, value):
            raise Stay(
                node,
                f"{describe(value)} for parameter `{parameter.name}` of `{name}`",
                "convert it where it is passed",
            )
        passed += _passed(node, parameter, value)
    stores = frozenset(
        value.name if isinstance(value, GridRef) else value.memory
        for parameter, value in zip(signature.parameters, values, strict=True)
        if is_written(parameter) and isinstance(value, Items | GridRef)
    )
    builder.keep(node, tuple(values), stores)
    targets = [builder.temporary(type_, "result") for type_ in results]
    names = tuple(target.name for target in targets)
    builder.emit(ir.Call(names, name, tuple(passed), at(node)))
    return _shaped(signature.result, list(targets))


def _passed(node: ast.Call, parameter: ir.Parameter, value: Value) -> list[ir.Expr | str]:
    """The arguments of the kernel for one parameter."""
    if isinstance(value, GridRef):
        return [value.name, value.length, value.width]
    if not isinstance(value, View):
        return [leaf.name if isinstance(leaf, Whole) else leaf for leaf in leaves(value)]
    if is_written(parameter) and not value.shared:
        raise Stay(
            node,
            f"a slice for parameter `{parameter.name}`, which is stored into",
            "pass the buffer and an offset",
        )
    return [side_by_side(node, value)]


def _arguments(
    builder: Builder, node: ast.Call, signature: NativeSignature, values: list[Value]
) -> list[Value]:
    """A value for each parameter of the callee."""
    parameters = signature.python.parameters
    given: dict[str, Value] = {}
    positional = [each for each in parameters if each.kind != "keyword"]
    if len(node.args) > len(positional):
        raise Stay(node, "a call with too many arguments")
    for parameter, value in zip(positional, values[: len(node.args)], strict=False):
        given[parameter.name] = value
    by_keyword = {each.name for each in parameters if each.kind != "positional"}
    for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
        if keyword.arg is None or keyword.arg in given or keyword.arg not in by_keyword:
            raise Stay(node, f"a call with a wrong keyword `{keyword.arg}`")
        given[keyword.arg] = value
    return [
        given[each.name] if each.name in given else _default(builder, node, each)
        for each in parameters
    ]


def _default(builder: Builder, node: ast.Call, parameter: Parameter) -> Value:
    value = _default_value(builder, parameter.default)
    if value is None:
        raise Stay(
            node,
            f"a call that leaves `{parameter.name}` out",
            f"pass `{parameter.name}`, or make its default a constant",
        )
    return value


def _default_value(builder: Builder, default: ast.expr | None) -> Value | None:
    match default:
        case ast.Constant(value=value):
            return constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return constant(-value)
        case ast.Tuple(elts=items):
            values = [_default_value(builder, item) for item in items]
            kept = tuple(each for each in values if each is not None)
            return kept if len(kept) == len(values) else None
        case None:
            return None
    return constant(builder.facts.constants.get(default))


def _fits(parameter: ir.Parameter, value: Value) -> bool:
    match parameter:
        case ir.ScalarParameter(_, type_):
            return isinstance(value, ir.Expr) and value.type is type_
        case ir.BufferParameter(_, element, _):
            return (
                isinstance(value, Items)
                and value.element is element
                and _kept_as(value) == parameter.holder
            )
        case ir.GridParameter(_, element, _):
            return isinstance(value, GridRef) and value == GridRef(value.name, element)
        case ir.TupleParameter(_, items):
            if not isinstance(value, tuple) or len(value) != len(items):
                return False
            return all(_fits(item, each) for item, each in zip(items, value, strict=True))


def _kept_as(value: Items) -> ir.Holder | None:
    """What holds a value's numbers; None for any buffer."""
    buffer = value.buffer if isinstance(value, View) else value
    return buffer.holder if buffer.is_list or buffer.is_constant else None


def _shaped(result: ir.Result, targets: Sequence[ir.Var]) -> Value | None:
    remaining = iter(targets)

    def shape(part: ir.Type | ir.TupleResult | ir.ArrayResult) -> Value:
        if isinstance(part, ir.TupleResult):
            return tuple(shape(item) for item in part.items)
        return next(remaining)

    return None if result is None else shape(result)
