"""Python expressions to loop IR: what cannot fail is an expression, what may is emitted."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    BOOL,
    F64,
    I64,
    Builder,
    at,
    op,
    require_number,
    require_scalar,
)
from ppybuild.emit.loops.lower.calls import apply_call, require_callee
from ppybuild.emit.loops.lower.operators import (
    check_comparison,
    constant,
    lower_binary,
    lower_unary,
    mix,
    negation,
    to_bool,
    to_int,
)
from ppybuild.emit.loops.lower.slices import Bounds, make_view, slice_parts
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.texts import (
    TEXT_METHODS,
    lower_among,
    lower_compared,
    lower_membership,
    text_constant,
)
from ppybuild.emit.loops.lower.values import (
    Binding,
    BufferRef,
    Char,
    Environment,
    GridRef,
    Items,
    Letters,
    Mixed,
    Number,
    Value,
    View,
    describe,
    join,
    unmixed,
)
from ppybuild.emit.relied import ReliedConstant
from ppybuild.graph import types
from ppybuild.graph.constants import LIBRARY

_UNSUPPORTED: dict[type[ast.expr], tuple[str, str]] = {
    ast.List: ("a list", "fill a buffer that is passed in"),
    ast.ListComp: ("a list comprehension", "fill a buffer that is passed in"),
    ast.Dict: ("a dict", ""),
    ast.DictComp: ("a dict comprehension", ""),
    ast.Set: ("a set", ""),
    ast.SetComp: ("a set comprehension", ""),
    ast.GeneratorExp: ("a generator expression", "write the loop out"),
    ast.Lambda: ("a lambda", "make it a function of the module"),
    ast.JoinedStr: ("a formatted string", ""),
    ast.Starred: ("unpacking with `*`", "write the items out"),
}


def lower_expr(builder: Builder, node: ast.expr) -> Value:
    """The value of any expression."""
    if node in builder.facts.constants and not _is_local(builder, node):
        return _module_constant(builder, node, builder.facts.constants[node])
    made = builder.make(node)
    if made is not None:
        return made
    match node:
        case ast.Constant(value=str() as text):
            return text_constant(text)
        case ast.Constant():
            return _constant(node, node.value)
        case ast.Name():
            return _name(builder, node)
        case ast.BinOp(left=left, op=operator_, right=right):
            first, second = lower_numbers(builder, (left, right))
            return lower_binary(builder, node, operator_, first, second, at(node))
        case ast.UnaryOp(op=ast.Not()):
            return lower_test(builder, node)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return _constant(node, -number)
        case ast.UnaryOp(operand=operand):
            return lower_unary(builder, node, lower_scalar(builder, operand), at(node))
        case ast.Compare():
            return _comparison(builder, node)
        case ast.BoolOp():
            return _bool_op(builder, node)
        case ast.IfExp():
            return _conditional(builder, node)
        case ast.Call():
            value = lower_call(builder, node)
            if value is None:
                raise Stay(node, "the value of a call that returns None")
            return value
        case ast.Tuple(elts=items):
            return tuple(lower_operands(builder, items))
        case ast.Subscript():
            return _subscript(builder, node)
        case ast.Attribute():
            return _attribute(builder, node)
        case ast.NamedExpr(target=target, value=inner):
            value = lower_expr(builder, inner)
            if isinstance(value, BufferRef) and value.own:
                raise Stay(node, "an array bound inside an expression", "bind it before")
            builder.bind(target.id, value, at(node))
            return builder.read(target, at(node))
        case _:
            construct, help = _UNSUPPORTED.get(
                type(node), (f"`{type(node).__name__}` expressions", "")
            )
            raise Stay(node, construct, help)


def lower_call(builder: Builder, node: ast.Call) -> Value | None:
    """The value of a call; None for Python's None."""
    made = builder.make(node)
    if made is not None:
        return made
    if isinstance(node.func, ast.Attribute):
        given = builder.method(node, node.func)
        if given is not None:
            return given[0] if given else None
        callee = builder.facts.callees.get(node)
        if callee and callee.name in TEXT_METHODS and not node.keywords:
            owner = node.func.value
            values = lower_operands(builder, [owner, *node.args])
            return TEXT_METHODS[callee.name](builder, node, values)
    callee = require_callee(builder, node)
    if callee.name == "builtins.float" and (special := _float_of_text(node)):
        return special
    nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
    return apply_call(builder, node, callee, lower_operands(builder, nodes))


def _float_of_text(node: ast.Call) -> ir.Const | None:
    """`float("inf")` and its like."""
    match node:
        case ast.Call(args=[ast.Constant(value=str() as text)], keywords=[]):
            try:
                return ir.Const(float(text), F64)
            except ValueError:
                return None
    return None


def lower_scalar(builder: Builder, node: ast.expr) -> ir.Expr:
    """The value of an expression that must be a number."""
    return require_scalar(node, lower_expr(builder, node))


def lower_operands(builder: Builder, nodes: Sequence[ast.expr]) -> list[Value]:
    """Values in order of evaluation, each as it was when it was evaluated."""
    values: list[Value] = []
    for node in nodes:
        mark = len(builder.block)
        value = lower_expr(builder, node)
        if builder.has_effects(mark):
            builder.keep(node, tuple(values), builder.written(builder.block[mark:]))
            for index, earlier in enumerate(values):
                before = len(builder.block)
                values[index] = builder.pin(earlier, mark, at(node))
                mark += len(builder.block) - before
        values.append(value)
    return values


def lower_numbers(builder: Builder, nodes: Sequence[ast.expr]) -> list[Number]:
    values = lower_operands(builder, nodes)
    return [require_number(node, value) for node, value in zip(nodes, values, strict=True)]


def lower_scalars(builder: Builder, nodes: Sequence[ast.expr]) -> list[ir.Expr]:
    values = lower_operands(builder, nodes)
    return [require_scalar(node, value) for node, value in zip(nodes, values, strict=True)]


def lower_test(builder: Builder, node: ast.expr) -> ir.Expr:
    """The truth of an expression, as a bool."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return negation(lower_test(builder, operand))
        case ast.BoolOp(op=operator_, values=nodes):
            return _short_circuit(builder, isinstance(operator_, ast.And), nodes)
    value = lower_expr(builder, node)
    if isinstance(value, tuple):
        return ir.Const(bool(value), BOOL)
    if isinstance(value, Items | GridRef):
        return to_bool(value.length)
    if isinstance(value, Char | Letters):
        return ir.Const(value != Letters(""), BOOL)
    return to_bool(unmixed(value))


def lower_element(builder: Builder, node: ast.Subscript) -> tuple[Items, ir.Expr]:
    """What a subscript stores into, and its index there, checked to be inside."""
    value = builder.pin(lower_expr(builder, node.value), len(builder.block), at(node))
    if not isinstance(value, Items) or (isinstance(value, View) and not value.shared):
        help = "store into the buffer itself" if isinstance(value, View) else ""
        raise Stay(node, f"an item of {describe(value)} that changes", help)
    buffer = value.buffer if isinstance(value, View) else value
    if buffer.is_constant:
        raise Stay(node, f"an item of {describe(value)} that changes")
    if buffer.is_list and not buffer.own:
        raise Stay(node, "a list that is passed in and changed", "make it a Buffer")
    return value, check_index(builder, node, value, lower_expr(builder, node.slice))


def check_index(
    builder: Builder, node: ast.Subscript, items: Items | GridRef, given: Value
) -> ir.Expr:
    """The index of a subscript of these items, checked to be inside."""
    index = to_int(require_scalar(node.slice, given))
    if index.type is not I64:
        raise Stay(node.slice, "an index that is not an int")
    return builder.checked("index", (index, items.length), at(node))


def _is_local(builder: Builder, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and builder.is_local(node.id)


def _constant(node: ast.expr, value: object) -> ir.Const:
    made = constant(value)
    if made is None:
        what = "an int past 64 bits" if isinstance(value, int) else f"a {type(value).__name__}"
        raise Stay(node, what)
    return made


def _module_constant(builder: Builder, node: ast.expr, value: object) -> Value:
    if isinstance(value, str):
        if not value.isascii() or "\0" in value:
            raise Stay(node, "a str of a module that is not ASCII", "write it in the function")
        builder.rely(node, lambda path: ReliedConstant(path, value))
        return text_constant(value)
    made = _constant(node, value)
    builder.rely(node, lambda path: ReliedConstant(path, made.value))
    return made


def _name(builder: Builder, node: ast.Name) -> Value:
    if builder.is_local(node.id):
        return builder.read(node, at(node))
    raise Stay(
        node,
        f"`{node.id}`, which is not a local variable or a constant of a module",
        f"pass `{node.id}` as a parameter, or bind it once to a number",
    )


def _attribute(builder: Builder, node: ast.Attribute) -> Value:
    module = builder.facts.types.get(node.value)
    if module == types.Module("math") and node.attr in LIBRARY["math"]:
        return _module_constant(builder, node, LIBRARY["math"][node.attr])
    raise Stay(node, f"attribute `{node.attr}`", "read it before the loop and pass it in")


def _comparison(builder: Builder, node: ast.Compare) -> ir.Expr:
    """`a < b <= c`: each operand once, and none past the first that does not hold."""
    match node.ops, node.comparators:
        case [ast.In() | ast.NotIn() as operator_], [whole]:
            return _membership(builder, node, operator_, whole)
    for each in node.ops:
        check_comparison(node, each)
    if len(node.ops) == 1:
        left, right = lower_operands(builder, (node.left, node.comparators[0]))
        return lower_compared(node, node.ops[0], left, right)
    return _chain(builder, node, 0, lower_expr(builder, node.left))


def _membership(
    builder: Builder, node: ast.Compare, operator_: ast.cmpop, whole: ast.expr
) -> ir.Expr:
    match whole:
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if all(
            isinstance(item, ast.Constant) for item in items
        ):
            left, *among = lower_operands(builder, (node.left, *items))
            return lower_among(builder, node, operator_, left, among)
    left, right = lower_operands(builder, (node.left, whole))
    return lower_membership(builder, node, operator_, left, right)


def _chain(builder: Builder, node: ast.Compare, position: int, left: Value) -> ir.Expr:
    mark = len(builder.block)
    right = lower_expr(builder, node.comparators[position])
    if builder.has_effects(mark):
        before = len(builder.block)
        left = builder.pin(left, mark, at(node))
        mark += len(builder.block) - before
    first = lower_compared(node, node.ops[position], left, right)
    if position == len(node.ops) - 1:
        return first
    right = builder.pin(right, len(builder.block), at(node))
    first = lower_compared(node, node.ops[position], left, right)
    env = dict(builder.env or {})
    with builder.sub_block() as rest:
        second = _chain(builder, node, position + 1, right)
    return _either(builder, node, True, first, rest, second, env)


def _either(
    builder: Builder,
    node: ast.AST,
    is_and: bool,
    first: ir.Expr,
    rest: list[ir.Statement],
    second: ir.Expr,
    env: Environment,
) -> ir.Expr:
    """`first and second`, where `rest` has to run before `second` has its value."""
    if not rest:
        return op("and" if is_and else "or", first, second)
    target = builder.assign_temporary(first, at(node))
    rest.append(ir.Assign(target.name, second, at(node)))
    condition = target if is_and else negation(target)
    builder.emit(ir.If(condition, tuple(rest), (), at(node)))
    builder.env = _merge(builder.env, env)
    return target


def _short_circuit(builder: Builder, is_and: bool, nodes: Sequence[ast.expr]) -> ir.Expr:
    """The truth of `a and b and ...`."""
    first = lower_test(builder, nodes[0])
    if len(nodes) == 1:
        return first
    env = dict(builder.env or {})
    with builder.sub_block() as rest:
        second = _short_circuit(builder, is_and, nodes[1:])
    return _either(builder, nodes[0], is_and, first, rest, second, env)


def _bool_op(builder: Builder, node: ast.BoolOp) -> Value:
    """`a or b` with its value: the last operand that was evaluated."""
    return _values(builder, isinstance(node.op, ast.And), node.values)


def _values(builder: Builder, is_and: bool, nodes: Sequence[ast.expr]) -> Number:
    first = require_number(nodes[0], lower_expr(builder, nodes[0]))
    if len(nodes) == 1:
        return first
    if isinstance(first, Mixed) or first.type is not BOOL:  # read twice: tested, and taken
        first = require_number(nodes[0], builder.pin(first, len(builder.block), at(nodes[0])))
    env = dict(builder.env or {})
    with builder.sub_block() as rest:
        second = _values(builder, is_and, nodes[1:])
    one, two, mixed = _one_type(nodes[0], first, second)
    if one.type is BOOL:
        return _either(builder, nodes[0], is_and, one, rest, two, env)
    test = to_bool(one)
    test = test if is_and else negation(test)
    chosen = _choose(builder, nodes[0], test, (rest, two), ([], one), env)
    return Mixed(chosen) if mixed else chosen


def _conditional(builder: Builder, node: ast.IfExp) -> Value:
    test = lower_test(builder, node.test)
    env = dict(builder.env or {})
    with builder.sub_block() as then:
        first = lower_expr(builder, node.body)
    after, builder.env = builder.env, dict(env)
    with builder.sub_block() as orelse:
        second = lower_expr(builder, node.orelse)
    if isinstance(first, Char) and isinstance(second, Char):
        ways = (then, first.code), (orelse, second.code)
        return Char(_choose(builder, node, test, *ways, after))
    first = require_number(node.body, first)
    second = require_number(node.orelse, second)
    one, two, mixed = _one_type(node, first, second)
    chosen = _choose(builder, node, test, (then, one), (orelse, two), after)
    return Mixed(chosen) if mixed else chosen


def _choose(
    builder: Builder,
    node: ast.AST,
    test: ir.Expr,
    then: tuple[list[ir.Statement], ir.Expr],
    orelse: tuple[list[ir.Statement], ir.Expr],
    env: Environment | None,
) -> ir.Expr:
    """One of two values; only the statements of the chosen one run."""
    (first_block, first), (second_block, second) = then, orelse
    builder.env = _merge(builder.env, env)
    if not first_block and not second_block:
        return ir.Select(test, first, second, first.type)
    target = builder.temporary(first.type, "value")
    first_block.append(ir.Assign(target.name, first, at(node)))
    second_block.append(ir.Assign(target.name, second, at(node)))
    builder.emit(ir.If(test, tuple(first_block), tuple(second_block), at(node)))
    return target


def _one_type(node: ast.AST, first: Number, second: Number) -> tuple[ir.Expr, ir.Expr, bool]:
    """Two values of which one is taken, and whether that may be a float or an int."""
    if isinstance(first, ir.Expr) and isinstance(second, ir.Expr):  # noqa: SIM102 -- narrows
        if first.type is second.type:
            return first, second, False
    mixed = mix(first, second)
    if mixed is None:
        raise Stay(
            node,
            f"a value that is {describe(first)} or {describe(second)}",
            "make both sides one type",
        )
    return *mixed, True


def _merge(one: Environment | None, other: Environment | None) -> dict[str, Binding] | None:
    joined = join(one, other)
    return None if joined is None else dict(joined)


def _subscript(builder: Builder, node: ast.Subscript) -> Value:
    if isinstance(node.slice, ast.Slice):
        return _slice(builder, node, node.slice)
    value, index = lower_operands(builder, (node.value, node.slice))
    if isinstance(value, Items):
        return value.item(check_index(builder, node, value, index))
    if isinstance(value, GridRef):
        row = value.item(check_index(builder, node, value, index))
        return replace(row, start=builder.settled(row.start, at(node)))
    if isinstance(value, tuple) and isinstance(index, ir.Const):
        position = int(index.value)
        if index.type is not F64 and -len(value) <= position < len(value):
            return value[position]
    raise Stay(node, "an item of a tuple at an index that is not constant", "unpack it first")


def _slice(builder: Builder, node: ast.Subscript, bounds: ast.Slice) -> Value:
    parts = slice_parts(bounds)
    source, *given = lower_operands(builder, [node.value, *(each for each in parts if each)])
    values = iter(given)
    lower, upper, step = (next(values) if each else None for each in parts)
    return make_view(builder, node, source, Bounds(lower, upper, step))
