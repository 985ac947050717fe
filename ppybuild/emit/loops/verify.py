"""Check a function of the loop IR: names, types, and where statements may stand.

Run after lowering and after every pass in tests, and by users behind `--verbose`. A
finding is a fault of the compiler, never of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.ops import CHECKED, OPS


class InvalidIR(AssertionError):
    """The compiler made loop IR that breaks its rules."""


def scalars(parameters: tuple[ir.Parameter, ...]) -> tuple[ir.ScalarParameter, ...]:
    """The scalars among the parameters as a kernel has them."""
    flat = flat_parameters(parameters)
    return tuple(each for each in flat if isinstance(each, ir.ScalarParameter))


def flat_result(result: ir.Result) -> tuple[ir.Type | ir.ArrayResult, ...]:
    """The scalars and arrays of a result in order; none for Python's None."""
    match result:
        case None:
            return ()
        case ir.TupleResult(items):
            return tuple(each for item in items for each in flat_result(item))
        case _:
            return (result,)


@dataclass(frozen=True, slots=True)
class _Scope:
    variables: Mapping[str, ir.Type]
    buffers: Mapping[str, ir.BufferParameter]
    """Those that the function makes are like parameters that it stores into."""
    own: frozenset[str]
    function: ir.Function
    functions: Mapping[str, ir.Function]


def verify(function: ir.Function, functions: Mapping[str, ir.Function]) -> None:
    """Raise `InvalidIR` unless the function is well-formed; `functions` are those it calls."""
    named = [(each.name, each.type) for each in scalars(function.parameters)]
    named += function.locals
    flat = flat_parameters(function.parameters)
    buffers = {each.name: each for each in flat if isinstance(each, ir.BufferParameter)}
    own = [each.name for each in function.buffers]
    names = [name for name, _ in named] + list(buffers) + own
    buffers |= {
        each.name: ir.BufferParameter(each.name, each.element, True)
        for each in function.buffers
    }
    for name in names:
        _require(names.count(name) == 1, function, f"{name} is declared twice")
    scope = _Scope(dict(named), buffers, frozenset(own), function, functions)
    _check_block(scope, function.body, in_loop=False)
    if function.result is not None:
        _require(not _falls_through(function.body), function, "control reaches the end")


def _require(condition: bool, function: ir.Function, message: str) -> None:
    if not condition:
        raise InvalidIR(f"{function.name}: {message}")


def _check_block(scope: _Scope, block: ir.Block, in_loop: bool) -> None:
    for statement in block:
        _check_statement(scope, statement, in_loop)


def _check_statement(scope: _Scope, statement: ir.Statement, in_loop: bool) -> None:
    match statement:
        case ir.Assign(target, value, _):
            _check_target(scope, target, _check_expr(scope, value))
        case ir.Checked(target, op, args, _):
            _require(op in CHECKED, scope.function, f"no checked operator {op}")
            row = CHECKED[op]
            wanted = row.args * len(args) if row.many else row.args
            _check_args(scope, op, wanted, args)
            _check_target(scope, target, row.result)
        case ir.Guard(condition, _, _):
            _check_type(scope, condition, ir.Type.BOOL)
        case ir.Store(buffer, index, value, _):
            _check_type(scope, index, ir.Type.I64)
            parameter = _buffer(scope, buffer)
            _require(parameter.writable, scope.function, f"{buffer} is not writable")
            _check_type(scope, value, parameter.element.type)
        case ir.Make(buffer, length, _) | ir.Resize(buffer, length, _):
            _require(buffer in scope.own, scope.function, f"{buffer} is not its own")
            _check_type(scope, length, ir.Type.I64)
        case ir.Swap(first, second, _):
            _require({first, second} <= scope.own, scope.function, f"swap of {first}, {second}")
            alike = _buffer(scope, first).element is _buffer(scope, second).element
            _require(alike, scope.function, f"elements of {first} and {second}")
        case ir.Save(buffers):
            for buffer in buffers:
                _require(buffer not in scope.own, scope.function, f"save of {buffer}")
                _require(_buffer(scope, buffer).writable, scope.function, f"save of {buffer}")
        case ir.Call():
            _check_call(scope, statement)
        case ir.If(condition, then, orelse, _):
            _check_type(scope, condition, ir.Type.BOOL)
            _check_block(scope, then, in_loop)
            _check_block(scope, orelse, in_loop)
        case ir.For(target, start, stop, step, body, orelse, _, _):
            for bound in (start, stop, step):
                _check_type(scope, bound, ir.Type.I64)
            _check_target(scope, target, ir.Type.I64)
            _check_block(scope, body, True)
            _check_block(scope, orelse, in_loop)
        case ir.While(test, condition, body, orelse, _):
            _check_block(scope, test, False)
            _check_type(scope, condition, ir.Type.BOOL)
            _check_block(scope, body, True)
            _check_block(scope, orelse, in_loop)
        case ir.Versioned(condition, fast, checked, _):
            _check_type(scope, condition, ir.Type.BOOL)
            _check_block(scope, fast, in_loop)
            _check_block(scope, checked, in_loop)
        case ir.Break() | ir.Continue():
            _require(in_loop, scope.function, "break or continue outside a loop")
        case ir.Return(values, _):
            results = flat_result(scope.function.result)
            found = tuple(_check_result(scope, value) for value in values)
            expected: tuple[ir.Type | ir.Element, ...] = tuple(
                each.element if isinstance(each, ir.ArrayResult) else each for each in results
            )
            _require(found == expected, scope.function, f"returns {found}, not {expected}")
        case _:
            assert_never(statement)


def _check_result(scope: _Scope, value: ir.Expr) -> ir.Type | ir.Element:
    """What a value that is returned is: a scalar, or elements of a buffer of its own."""
    if not isinstance(value, ir.Elements):
        return _check_expr(scope, value)
    _require(value.buffer in scope.own, scope.function, f"returns {value.buffer}")
    _check_bounds(scope, value)
    return _buffer(scope, value.buffer).element


def _check_call(scope: _Scope, call: ir.Call) -> None:
    callee = scope.functions.get(call.function)
    if callee is None:
        raise InvalidIR(f"{scope.function.name}: no function {call.function}")
    wanted = flat_parameters(callee.parameters)
    _require(len(wanted) == len(call.args), scope.function, f"arguments of {call.function}")
    for parameter, arg in zip(wanted, call.args, strict=True):
        if isinstance(parameter, ir.ScalarParameter):
            _require(not isinstance(arg, str), scope.function, f"{arg} is a buffer")
            assert not isinstance(arg, str)
            _check_type(scope, arg, parameter.type)
        else:
            given = _check_buffer(scope, arg)
            _require(given.element is parameter.element, scope.function, f"element of {arg}")
            writable = given.writable or not parameter.writable
            _require(writable, scope.function, f"write to {arg}")
    results = flat_result(callee.result)
    _require(len(results) == len(call.targets), scope.function, f"results of {call.function}")
    for target, type_ in zip(call.targets, results, strict=True):
        if isinstance(type_, ir.ArrayResult):
            raise InvalidIR(f"{scope.function.name}: {call.function} gives an array")
        _check_target(scope, target, type_)


def _check_buffer(scope: _Scope, arg: ir.Expr | str) -> ir.BufferParameter:
    """The buffer that an argument is, or lies in."""
    if isinstance(arg, str):
        return _buffer(scope, arg)
    if not isinstance(arg, ir.Elements):
        raise InvalidIR(f"{scope.function.name}: {arg} is no buffer")
    _require(arg.start is not None, scope.function, f"{arg.buffer} is passed by its name")
    _check_bounds(scope, arg)
    return _buffer(scope, arg.buffer)


def _check_bounds(scope: _Scope, elements: ir.Elements) -> None:
    """Both bounds are ints, or there are none."""
    bounds = [each for each in (elements.start, elements.length) if each is not None]
    _require(len(bounds) != 1, scope.function, f"a part of {elements.buffer} with one bound")
    for bound in bounds:
        _check_type(scope, bound, ir.Type.I64)


def flat_parameters(
    parameters: tuple[ir.Parameter, ...],
) -> tuple[ir.ScalarParameter | ir.BufferParameter, ...]:
    """The parameters as a kernel has them: tuples and grids in their parts."""
    found: list[ir.ScalarParameter | ir.BufferParameter] = []
    for parameter in parameters:
        if isinstance(parameter, ir.TupleParameter):
            found += flat_parameters(parameter.items)
        elif isinstance(parameter, ir.GridParameter):
            found += parameter.flat
        else:
            found.append(parameter)
    return tuple(found)


def _buffer(scope: _Scope, name: str) -> ir.BufferParameter:
    if name not in scope.buffers:
        raise InvalidIR(f"{scope.function.name}: no buffer {name}")
    return scope.buffers[name]


def _check_target(scope: _Scope, name: str, type_: ir.Type) -> None:
    declared = scope.variables.get(name)
    _require(declared is type_, scope.function, f"{name} is {declared}, given {type_}")


def _check_type(scope: _Scope, expr: ir.Expr, wanted: ir.Type) -> None:
    found = _check_expr(scope, expr)
    _require(found is wanted, scope.function, f"{expr} is {found}, not {wanted}")


def _check_args(
    scope: _Scope,
    op: str,
    wanted: tuple[ir.Type | ir.Element, ...],
    args: tuple[ir.Expr, ...],
) -> None:
    _require(0 < len(args) == len(wanted), scope.function, f"arguments of {op}")
    for type_, arg in zip(wanted, args, strict=True):
        if isinstance(type_, ir.Type):
            _check_type(scope, arg, type_)
        else:
            fits = isinstance(arg, ir.Elements) and _buffer(scope, arg.buffer).element is type_
            _require(fits, scope.function, f"{arg} for {op}")
            if isinstance(arg, ir.Elements):
                _check_bounds(scope, arg)


_PYTHON_TYPES = {ir.Type.I64: int, ir.Type.F64: float, ir.Type.BOOL: bool}


def _check_expr(scope: _Scope, expr: ir.Expr) -> ir.Type:
    """The expression's type, once everything in it is known to be right."""
    match expr:
        case ir.Const(value, type_):
            _require(type(value) is _PYTHON_TYPES[type_], scope.function, f"constant {value!r}")
            if type_ is ir.Type.I64:
                _require(-(2**63) <= value < 2**63, scope.function, f"constant {value!r}")
        case ir.Var(name, type_):
            _require(scope.variables.get(name) is type_, scope.function, f"variable {name}")
        case ir.Op(name, args, type_):
            _require(name in OPS, scope.function, f"no operator {name}")
            _check_args(scope, name, OPS[name].args, args)
            _require(type_ is OPS[name].result, scope.function, f"result of {name}")
        case ir.Select(condition, then, orelse, type_):
            _check_type(scope, condition, ir.Type.BOOL)
            _check_type(scope, then, type_)
            _check_type(scope, orelse, type_)
        case ir.Load(buffer, index, type_):
            _check_type(scope, index, ir.Type.I64)
            _require(
                _buffer(scope, buffer).element.type is type_, scope.function, f"{buffer}[]"
            )
        case ir.Length(buffer, type_):
            _buffer(scope, buffer)
            _require(buffer not in scope.own, scope.function, f"the length of {buffer}")
            _require(type_ is ir.Type.I64, scope.function, f"length of {buffer}")
        case ir.Disjoint(first, second, type_):
            _buffer(scope, first)
            _buffer(scope, second)
            _require(type_ is ir.Type.BOOL, scope.function, "disjoint")
        case ir.Elements(buffer):
            _require(False, scope.function, f"the elements of {buffer} stand alone")
        case _:
            assert_never(expr)
    return expr.type


def always_fails(statement: ir.Statement) -> bool:
    """Whether this is how a `raise` is lowered."""
    return isinstance(statement, ir.Guard) and statement.condition == ir.Const(
        False, ir.Type.BOOL
    )


def _falls_through(block: ir.Block) -> bool:
    return not any(_leaves(statement) for statement in block)


def _leaves(statement: ir.Statement) -> bool:
    """Whether control never goes on to the next statement."""
    match statement:
        case ir.Return() | ir.Break() | ir.Continue():
            return True
        case ir.If(_, then, orelse, _) | ir.Versioned(_, then, orelse, _):
            return not _falls_through(then) and not _falls_through(orelse)
        case ir.While(_, condition, body, orelse, _):
            endless = condition == ir.Const(True, ir.Type.BOOL) and not has_break(body)
            return endless or (not has_break(body) and not _falls_through(orelse))
        case ir.For(_, _, _, _, body, orelse, _, _):
            return not has_break(body) and not _falls_through(orelse)
        case _:
            return always_fails(statement)


def has_break(block: ir.Block) -> bool:
    """Whether a break in this block leaves the loop that the block is the body of."""
    for statement in block:
        match statement:
            case ir.Break():
                return True
            case ir.If(_, then, orelse, _) | ir.Versioned(_, then, orelse, _):
                if has_break(then) or has_break(orelse):
                    return True
            case ir.For(_, _, _, _, _, orelse, _, _) | ir.While(_, _, _, orelse, _):
                if has_break(orelse):
                    return True
            case _:
                pass
    return False
