"""Walking and rebuilding the loop IR: what every part needs, and nothing that decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ppybuild.emit.loops.ir import (
    Assign,
    Block,
    Break,
    Call,
    Checked,
    Const,
    Continue,
    Disjoint,
    Elements,
    Expr,
    For,
    Function,
    Guard,
    If,
    Length,
    Load,
    Make,
    Op,
    Resize,
    Return,
    Save,
    Select,
    Statement,
    Store,
    Swap,
    Type,
    Var,
    Versioned,
    While,
)
from ppybuild.emit.loops.verify import flat_parameters


def operands(expression: Expr) -> tuple[Expr, ...]:
    """The direct parts of an expression, in order of evaluation."""
    match expression:
        case Op(args=args):
            return args
        case Select(condition=condition, then=then, orelse=orelse):
            return (condition, then, orelse)
        case Load(index=index):
            return (index,)
        case Elements(start=start, length=length):
            return tuple(each for each in (start, length) if each is not None)
        case Const() | Var() | Length() | Disjoint():
            return ()


def rewrite(expression: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with `change` applied to every part, innermost first."""
    match expression:
        case Op(args=args):
            parts = tuple(rewrite(arg, change) for arg in args)
            return change(expression if parts == args else replace(expression, args=parts))
        case Select(condition=condition, then=then, orelse=orelse):
            return change(
                replace(
                    expression,
                    condition=rewrite(condition, change),
                    then=rewrite(then, change),
                    orelse=rewrite(orelse, change),
                )
            )
        case Load(index=index):
            return change(replace(expression, index=rewrite(index, change)))
        case Elements(start=start, length=length):
            if start is not None and length is not None:
                start, length = rewrite(start, change), rewrite(length, change)
            return change(replace(expression, start=start, length=length))
        case Const() | Var() | Length() | Disjoint():
            return change(expression)


def parts(expression: Expr) -> Iterator[Expr]:
    """The expression and everything in it, from the outside in and left to right."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, Var | Const):
            waiting += reversed(operands(part))


def variables(expression: Expr) -> frozenset[str]:
    """The names of the variables that an expression reads."""
    if isinstance(expression, Var):
        return frozenset((expression.name,))
    return frozenset(part.name for part in parts(expression) if isinstance(part, Var))


def loaded(expression: Expr) -> frozenset[str]:
    """The buffers whose elements an expression reads."""
    return frozenset(
        part.buffer for part in parts(expression) if isinstance(part, Load | Elements)
    )


def own_expressions(statement: Statement) -> tuple[Expr, ...]:
    """The expressions of a statement itself, not of the blocks inside it."""
    match statement:
        case Assign(value=value):
            return (value,)
        case Checked(args=args):
            return args
        case Guard(condition=condition) | If(condition=condition) | While(condition=condition):
            return (condition,)
        case Versioned(condition=condition):
            return (condition,)
        case Store(index=index, value=value):
            return (index, value)
        case Make(length=length) | Resize(length=length):
            return (length,)
        case Call(args=call_args):
            return tuple(arg for arg in call_args if not isinstance(arg, str))
        case For(start=start, stop=stop, step=step):
            return (start, stop, step)
        case Return(values=values):
            return values
        case Swap() | Save() | Break() | Continue():
            return ()


def map_own(statement: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """The statement with `change` applied to each of its own expressions as a whole."""
    match statement:
        case Assign(value=value):
            return replace(statement, value=change(value))
        case Checked(args=args):
            return replace(statement, args=tuple(change(arg) for arg in args))
        case Guard(condition=condition) | If(condition=condition) | While(condition=condition):
            return replace(statement, condition=change(condition))
        case Versioned(condition=condition):
            return replace(statement, condition=change(condition))
        case Store(index=index, value=value):
            return replace(statement, index=change(index), value=change(value))
        case Make(length=length) | Resize(length=length):
            return replace(statement, length=change(length))
        case Call(args=call_args):
            return replace(
                statement,
                args=tuple(arg if isinstance(arg, str) else change(arg) for arg in call_args),
            )
        case For(start=start, stop=stop, step=step):
            return replace(statement, start=change(start), stop=change(stop), step=change(step))
        case Return(values=values):
            return replace(statement, values=tuple(change(value) for value in values))
        case Swap() | Save() | Break() | Continue():
            return statement


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside a statement, in order of appearance."""
    match statement:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case For(body=body, orelse=orelse):
            return (body, orelse)
        case While(test=test, body=body, orelse=orelse):
            return (test, body, orelse)
        case Versioned(fast=fast, checked=checked):
            return (fast, checked)
        case _:
            return ()


def map_blocks(statement: Statement, change: Callable[[Block], Block]) -> Statement:
    """The statement with `change` applied to each block inside it."""
    match statement:
        case If(then=then, orelse=orelse):
            return replace(statement, then=change(then), orelse=change(orelse))
        case For(body=body, orelse=orelse):
            return replace(statement, body=change(body), orelse=change(orelse))
        case While(test=test, body=body, orelse=orelse):
            return replace(
                statement, test=change(test), body=change(body), orelse=change(orelse)
            )
        case Versioned(fast=fast, checked=checked):
            return replace(statement, fast=change(fast), checked=change(checked))
        case _:
            return statement


def statements(block: Block) -> Iterator[Statement]:
    """Every statement of a block and of the blocks inside it, in source order."""
    for statement in block:
        yield statement
        for inner in blocks(statement):
            yield from statements(inner)


def expressions(block: Block) -> Iterator[Expr]:
    """Every expression and part of one in a block."""
    for statement in statements(block):
        for expression in own_expressions(statement):
            yield from parts(expression)


def own_targets(statement: Statement) -> tuple[str, ...]:
    """The variables that the statement itself binds."""
    match statement:
        case Assign(target=target) | Checked(target=target) | For(target=target):
            return (target,)
        case Call(targets=targets):
            return targets
        case _:
            return ()


def assigned(block: Block) -> frozenset[str]:
    """Every variable that a block may bind."""
    return frozenset(
        target for statement in statements(block) for target in own_targets(statement)
    )


def writes_memory(statement: Statement) -> bool:
    """Whether the statement itself may change what a load gives."""
    return isinstance(statement, Store | Call | Make | Resize | Swap)


def rename(block: Block, names: dict[str, str]) -> Block:
    """The block with variables renamed, where they are read and where they are bound."""

    def change(expression: Expr) -> Expr:
        if isinstance(expression, Var) and expression.name in names:
            return replace(expression, name=names[expression.name])
        return expression

    def visit(statement: Statement) -> Statement:
        statement = map_own(statement, lambda whole: rewrite(whole, change))
        match statement:
            case Assign(target=target) | Checked(target=target) | For(target=target):
                statement = replace(statement, target=names.get(target, target))
            case Call(targets=targets):
                statement = replace(
                    statement, targets=tuple(names.get(target, target) for target in targets)
                )
            case _:
                pass
        return map_blocks(statement, lambda inner: tuple(visit(one) for one in inner))

    return tuple(visit(statement) for statement in block)


def fresh(function: Function, stem: str, type: Type) -> tuple[Function, str]:
    """The function with one more local, and the local's name: `stem_1`, `stem_2`, ..."""
    taken = {name for name, _ in function.locals}
    taken |= {parameter.name for parameter in flat_parameters(function.parameters)}
    taken |= {buffer.name for buffer in function.buffers}
    number = 1
    while f"{stem}_{number}" in taken:
        number += 1
    name = f"{stem}_{number}"
    return replace(function, locals=(*function.locals, (name, type))), name
