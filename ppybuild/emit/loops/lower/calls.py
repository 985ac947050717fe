"""Calls: of the library by table, of buffers' lengths and sums, of other native functions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import F64, I64, Builder, at, op, require_scalar
from ppybuild.emit.loops.lower.library import FUNCTIONS, Call, Mixed, NotAnInt
from ppybuild.emit.loops.lower.operators import constant, to_int
from ppybuild.emit.loops.lower.signatures import NativeSignature, Undecided
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.values import BufferRef, Value, describe, leaves
from ppybuild.emit.loops.verify import flat_result
from ppybuild.emit.relied import ReliedLibrary, ReliedNative
from ppybuild.graph.program import Callee, Parameter

COMPENSATED_SUM = sys.version_info >= (3, 12)
"""Whether `sum` of floats carries a correction along, which kernels do not."""


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
        callee.name in FUNCTIONS or callee.name in _ON_BUFFERS
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
    if callee.name in _ON_BUFFERS and (len(values) == 1 or callee.name not in FUNCTIONS):
        return _ON_BUFFERS[callee.name](builder, node, values)
    function = FUNCTIONS[callee.name]
    shown = callee.name.removeprefix("builtins.")
    if node.keywords or not function.least <= len(values) <= function.most:
        raise Stay(node, f"this form of `{shown}`")
    args = tuple(require_scalar(node, value) for value in values)
    try:
        return function.rule(Call(builder, node, args, at(node)))
    except NotAnInt:
        raise Stay(node, f"`{shown}` of a float", "convert it with `int`") from None
    except Mixed as mixed:
        raise Stay(
            node,
            f"`{shown}` of {mixed}, whose type depends on the values",
            "make the arguments one type, such as by writing 0.0 for 0",
        ) from None


# Buffers

BufferRule = Callable[[Builder, ast.Call, list[Value]], Value]


def _length(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
    if node.keywords or len(values) != 1:
        raise Stay(node, "this form of `len`")
    value = values[0]
    if isinstance(value, tuple):
        return ir.Const(len(value), I64)
    if not isinstance(value, BufferRef):
        raise Stay(node, f"the length of {describe(value)}")
    return ir.Length(value.name)


def _sum(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
    """`sum(buffer)`: from the int 0, so that an empty sum of floats is Python's."""
    if not node.args or any(each.arg != "start" for each in node.keywords):
        raise Stay(node, "this form of `sum`")
    buffer, *given = values
    if not isinstance(buffer, BufferRef) or len(given) > 1:
        raise Stay(node, "`sum` of anything but a buffer", "write the loop out")
    location = at(node)
    type_ = buffer.element.type
    if type_ is F64 and COMPENSATED_SUM:
        raise Stay(node, "`sum` of floats", "write the loop out")
    start = to_int(require_scalar(node, given[0])) if given else ir.Const(0, I64)
    if type_ is F64 and start.type is I64:
        _require_items(builder, buffer, location)
        start = op("to_f64", start) if not isinstance(start, ir.Const) else ir.Const(0.0, F64)
        if given and start != ir.Const(0.0, F64):
            raise Stay(node, "`sum` of floats from an int", "start from a float")
    if start.type is not type_:
        raise Stay(node, "`sum` of ints from a float", "write the loop out")
    total = builder.temporary(type_, "sum")
    builder.emit(ir.Assign(total.name, start, location))
    index, item = _item(builder, buffer)
    body: ir.Statement
    if type_ is F64:
        body = ir.Assign(total.name, op("add.f64", total, item), location)
    else:
        body = ir.Checked(total.name, "add.i64", (total, item), location)
    builder.emit(_over(buffer, index, 0, (body,), location))
    return total


def _extreme_item(name: str) -> BufferRule:
    def lower(builder: Builder, node: ast.Call, values: list[Value]) -> Value:
        if node.keywords:
            raise Stay(node, f"this form of `{name}`")
        buffer = values[0]
        if not isinstance(buffer, BufferRef):
            raise Stay(node, f"`{name}` of anything but numbers or a buffer")
        location = at(node)
        type_ = buffer.element.type
        _require_items(builder, buffer, location)
        best = builder.temporary(type_, name)
        first = ir.Load(buffer.name, ir.Const(0, I64), type_)
        builder.emit(ir.Assign(best.name, first, location))
        index, item = _item(builder, buffer)
        body = ir.Assign(best.name, op(f"{name}.{type_.value}", best, item), location)
        builder.emit(_over(buffer, index, 1, (body,), location))
        return best

    return lower


def _require_items(builder: Builder, buffer: BufferRef, location: ir.Location) -> None:
    some = op("gt.i64", ir.Length(buffer.name), ir.Const(0, I64))
    builder.emit(ir.Guard(some, "empty buffer", location))


def _item(builder: Builder, buffer: BufferRef) -> tuple[ir.Var, ir.Load]:
    index = builder.temporary(I64, "index")
    return index, ir.Load(buffer.name, index, buffer.element.type)


def _over(
    buffer: BufferRef, index: ir.Var, start: int, body: ir.Block, location: ir.Location
) -> ir.For:
    first, one = ir.Const(start, I64), ir.Const(1, I64)
    return ir.For(index.name, first, ir.Length(buffer.name), one, body, (), location)


_ON_BUFFERS: dict[str, BufferRule] = {
    "builtins.len": _length,
    "builtins.sum": _sum,
    "builtins.min": _extreme_item("min"),
    "builtins.max": _extreme_item("max"),
}


# Native functions


def _project_call(
    builder: Builder, node: ast.Call, name: str, given: list[Value]
) -> Value | None:
    signature = builder.known[name]
    if isinstance(signature.result, Undecided):
        raise Stay(node, f"a call of `{name}`, whose result has no one type", "annotate it")
    values = _arguments(builder, node, signature, given)
    passed: list[ir.Expr | str] = []
    for parameter, value in zip(signature.parameters, values, strict=True):
        if not _fits(parameter, value):
            raise Stay(
                node,
                f"{describe(value)} for parameter `{parameter.name}` of `{name}`",
                "convert it where it is passed",
            )
        for leaf in leaves(value):
            passed.append(leaf.name if isinstance(leaf, BufferRef) else leaf)
    targets = [builder.temporary(type_, "result") for type_ in flat_result(signature.result)]
    names = tuple(target.name for target in targets)
    builder.emit(ir.Call(names, name, tuple(passed), at(node)))
    return _shaped(signature.result, list(targets))


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
            return not isinstance(value, tuple | BufferRef) and value.type is type_
        case ir.BufferParameter(_, element, _):
            return isinstance(value, BufferRef) and value.element is element
        case ir.TupleParameter(_, items):
            if not isinstance(value, tuple) or len(value) != len(items):
                return False
            return all(_fits(item, each) for item, each in zip(items, value, strict=True))


def _shaped(result: ir.Result, targets: Sequence[ir.Var]) -> Value | None:
    remaining = iter(targets)

    def shape(part: ir.Type | ir.TupleResult) -> Value:
        if isinstance(part, ir.TupleResult):
            return tuple(shape(item) for item in part.items)
        return next(remaining)

    return None if result is None else shape(result)
