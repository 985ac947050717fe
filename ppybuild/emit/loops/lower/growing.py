"""Methods that make an array or list of the function's own longer or shorter.

out.append(x)    →    resize out[length + 1]; out[length] = x
"""

from __future__ import annotations

import ast

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    I64,
    Builder,
    at,
    op,
    require_number,
    require_scalar,
)
from ppybuild.emit.loops.lower.expressions import lower_expr
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.emit.loops.lower.storing import stored_value
from ppybuild.emit.loops.lower.values import BufferRef, Number, Value

_ZERO, _ONE = ir.Const(0, I64), ir.Const(1, I64)


def lower_method(builder: Builder, node: ast.Call, method: ast.Attribute) -> list[Value] | None:
    """A method of an array or list that the function has made: no value for Python's None;
    None where it is something else."""
    owner = method.value
    if not isinstance(owner, ast.Name) or not builder.is_local(owner.id):
        return None
    buffer = builder.read(owner, at(owner))
    if not isinstance(buffer, BufferRef) or not buffer.own:
        return None
    match method.attr, node.args, node.keywords:
        case "append", [item], []:
            push(builder, node, buffer, require_number(item, lower_expr(builder, item)))
            return []
        case "pop", [], []:
            return [_pop(builder, node, buffer)]
        case "clear", [], [] if buffer.holder != "array":
            builder.emit(ir.Assign(buffer.size.name, _ZERO, at(node)))
            builder.emit(ir.Resize(buffer.name, buffer.size, at(node)))
            return []
    raise Stay(node, f"`{method.attr}` of an array or list", "write it as a loop")


def push(builder: Builder, node: ast.AST, buffer: BufferRef, value: Number) -> None:
    stored = builder.settled(stored_value(builder, node, buffer, value), at(node))
    longer = op("add.i64", buffer.size, _ONE)
    builder.emit(ir.Resize(buffer.name, longer, at(node)))
    builder.emit(ir.Store(buffer.name, buffer.size, stored, at(node)))
    builder.emit(ir.Assign(buffer.size.name, longer, at(node)))


def _pop(builder: Builder, node: ast.AST, buffer: BufferRef) -> Value:
    some = op("gt.i64", buffer.size, _ZERO)
    builder.emit(ir.Guard(some, "pop of an empty list", at(node)))
    shorter = op("sub.i64", buffer.size, _ONE)
    last = builder.assign_temporary(require_scalar(node, buffer.item(shorter)), at(node))
    builder.emit(ir.Assign(buffer.size.name, shorter, at(node)))
    builder.emit(ir.Resize(buffer.name, buffer.size, at(node)))
    return last
