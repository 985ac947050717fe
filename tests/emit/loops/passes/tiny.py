"""A small lowering for the tests of passes: one typed Python function to loop IR.

Only what the cases use: int, float and buffer parameters, arithmetic, comparisons, `range`
loops, `while`, `if`, `break`, `continue`, `return`, `math.sqrt`, calls with names.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ppybuild.emit.loops import ir

I64, F64, BOOL = ir.Type.I64, ir.Type.F64, ir.Type.BOOL
_TYPES = {"int": I64, "float": F64, "bool": BOOL}
_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}
_COMPARISONS = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
# Float arithmetic that cannot fail.
_TOTAL = {"add.f64", "sub.f64", "mul.f64"}


def lower(source: str) -> dict[str, ir.Function]:
    """The functions of a source, by name."""
    tree = ast.parse(source)
    found: dict[str, ir.Function] = {}
    nodes = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    heads = {node.name: _head(node) for node in nodes}
    for node in nodes:
        found[node.name] = _Lowering(node, heads).function()
    writable = {
        name: {one.buffer for one in _stores(function.body)} for name, function in found.items()
    }
    changed = True
    while changed:
        changed = False
        for name, function in found.items():
            for call in _calls(function.body):
                callee = found[call.function]
                for parameter, arg in zip(callee.parameters, call.args, strict=True):
                    if parameter.name in writable[call.function] and arg not in writable[name]:
                        assert isinstance(arg, str)
                        writable[name].add(arg)
                        changed = True
    return {
        name: ir.Function(
            function.name,
            tuple(
                ir.BufferParameter(one.name, one.element, one.name in writable[name])
                if isinstance(one, ir.BufferParameter)
                else one
                for one in function.parameters
            ),
            function.result,
            function.locals,
            function.body,
            function.location,
        )
        for name, function in found.items()
    }


def _walk(block: ir.Block) -> list[ir.Statement]:
    found: list[ir.Statement] = []
    for statement in block:
        found.append(statement)
        for name in ("then", "orelse", "body", "test"):
            found += _walk(getattr(statement, name, ()))
    return found


def _stores(block: ir.Block) -> list[ir.Store]:
    return [one for one in _walk(block) if isinstance(one, ir.Store)]


def _calls(block: ir.Block) -> list[ir.Call]:
    return [one for one in _walk(block) if isinstance(one, ir.Call)]


def _head(node: ast.FunctionDef) -> tuple[tuple[ir.Parameter, ...], ir.Type | None]:
    parameters: list[ir.Parameter] = []
    for arg in node.args.args:
        assert arg.annotation is not None
        text = ast.unparse(arg.annotation)
        if text.startswith("Buffer["):
            element = {"float": "f64", "int": "i64"}.get(text[7:-1], text[7:-1])
            parameters.append(ir.BufferParameter(arg.arg, ir.Element(element), False))
        else:
            parameters.append(ir.ScalarParameter(arg.arg, _TYPES[text]))
    assert node.returns is not None
    return tuple(parameters), _TYPES.get(ast.unparse(node.returns))


class _Lowering:
    def __init__(
        self,
        node: ast.FunctionDef,
        heads: Mapping[str, tuple[tuple[ir.Parameter, ...], ir.Type | None]],
    ) -> None:
        self.node = node
        self.heads = heads
        self.parameters, self.result = heads[node.name]
        self.types = {
            one.name: one.type for one in self.parameters if isinstance(one, ir.ScalarParameter)
        }
        self.elements = {
            one.name: one.element
            for one in self.parameters
            if isinstance(one, ir.BufferParameter)
        }
        self.locals: dict[str, ir.Type] = {}
        self.out: list[ir.Statement] = []
        self.count = 0
        self.at = ir.Location(1, 1)

    def function(self) -> ir.Function:
        body = self.block(self.node.body)
        return ir.Function(
            self.node.name,
            self.parameters,
            self.result,
            tuple(self.locals.items()),
            body,
            ir.Location(self.node.lineno, 1),
        )

    def block(self, nodes: list[ast.stmt]) -> ir.Block:
        outer, self.out = self.out, []
        for node in nodes:
            self.at = ir.Location(node.lineno, node.col_offset + 1)
            self.statement(node)
        inner, self.out = self.out, outer
        return tuple(inner)

    def bind(self, name: str, type_: ir.Type) -> None:
        if name not in self.types:
            self.types[name] = self.locals[name] = type_

    def temporary(self, type_: ir.Type) -> str:
        self.count += 1
        name = f"t{self.count}"
        self.bind(name, type_)
        return name

    def statement(self, node: ast.stmt) -> None:
        at = self.at
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(name, self.expr(value), at)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.assign(name, self.expr(value), at)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                left = ir.Var(name, self.types[name])
                self.assign(name, self.binary(_OPERATORS[type(op)], left, self.expr(value)), at)
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                buffer, index = self.subscript(target)
                old = ir.Load(buffer, index, self.elements[buffer].type)
                new = self.binary(_OPERATORS[type(op)], old, self.expr(value))
                self.out.append(ir.Store(buffer, index, new, at))
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                found = self.expr(value)
                buffer, index = self.subscript(target)
                if found.type is not self.elements[buffer].type:
                    found = ir.Op("to_f64", (found,), F64)
                self.out.append(ir.Store(buffer, index, found, at))
            case ast.Return(value=None):
                self.out.append(ir.Return((), at))
            case ast.Return(value=ast.expr() as value):
                self.out.append(ir.Return((self.expr(value),), at))
            case ast.If():
                condition = self.expr(node.test)
                then, orelse = self.block(node.body), self.block(node.orelse)
                self.out.append(ir.If(condition, then, orelse, at))
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args)):
                bounds = [self.expr(arg) for arg in args]
                zero, one = ir.Const(0, I64), ir.Const(1, I64)
                if len(bounds) == 1:
                    bounds = [zero, *bounds]
                start, stop, step = [*bounds, one][:3]
                self.bind(name, I64)
                body, orelse = self.block(node.body), self.block(node.orelse)
                self.out.append(ir.For(name, start, stop, step, body, orelse, at))
            case ast.While():
                outer, self.out = self.out, []
                condition = self.expr(node.test)
                test, self.out = tuple(self.out), outer
                body, orelse = self.block(node.body), self.block(node.orelse)
                self.out.append(ir.While(test, condition, body, orelse, at))
            case ast.Break():
                self.out.append(ir.Break(at))
            case ast.Continue():
                self.out.append(ir.Continue(at))
            case ast.Expr(value=ast.Call() as call):
                self.expr(call)
            case ast.Assert(test=test):
                self.out.append(ir.Guard(self.expr(test), "assert", at))
            case ast.Pass():
                pass
            case _:
                raise NotImplementedError(ast.dump(node))

    def assign(self, name: str, value: ir.Expr, at: ir.Location) -> None:
        self.bind(name, value.type)
        if self.types[name] is F64 and value.type is I64:
            value = ir.Op("to_f64", (value,), F64)
        self.out.append(ir.Assign(name, value, at))

    def subscript(self, node: ast.Subscript) -> tuple[str, ir.Expr]:
        assert isinstance(node.value, ast.Name)
        buffer = node.value.id
        index = self.check("index", (self.expr(node.slice), ir.Length(buffer)), I64)
        return buffer, index

    def check(self, op: str, args: tuple[ir.Expr, ...], type_: ir.Type) -> ir.Expr:
        name = self.temporary(type_)
        self.out.append(ir.Checked(name, op, args, self.at))
        return ir.Var(name, type_)

    def binary(self, op: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        if F64 in (left.type, right.type) or op == "div":
            if op == "div" and left.type is I64 and right.type is I64:
                return self.check("truediv.i64", (left, right), F64)
            args = tuple(
                one if one.type is F64 else ir.Op("to_f64", (one,), F64)
                for one in (left, right)
            )
            name = f"{op}.f64"
            return ir.Op(name, args, F64) if name in _TOTAL else self.check(name, args, F64)
        return self.check(f"{op}.i64", (left, right), I64)

    def expr(self, node: ast.expr) -> ir.Expr:
        match node:
            case ast.Constant(value=bool(value)):
                return ir.Const(value, BOOL)
            case ast.Constant(value=int(value)):
                return ir.Const(value, I64)
            case ast.Constant(value=float(value)):
                return ir.Const(value, F64)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return ir.Const(-value, I64)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.expr(operand)
                if found.type is F64:
                    return ir.Op("neg.f64", (found,), F64)
                return self.check("neg.i64", (found,), I64)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ir.Op("not", (self.expr(operand),), BOOL)
            case ast.Name(id=name):
                return ir.Var(name, self.types[name])
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(_OPERATORS[type(op)], self.expr(left), self.expr(right))
            case ast.BoolOp(op=op, values=[one, two]):
                name = "and" if isinstance(op, ast.And) else "or"
                return ir.Op(name, (self.expr(one), self.expr(two)), BOOL)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                first, second = self.expr(left), self.expr(right)
                if F64 in (first.type, second.type):
                    first, second = (
                        one if one.type is F64 else ir.Op("to_f64", (one,), F64)
                        for one in (first, second)
                    )
                kind = "f64" if first.type is F64 else "i64"
                return ir.Op(f"{_COMPARISONS[type(op)]}.{kind}", (first, second), BOOL)
            case ast.Subscript():
                buffer, index = self.subscript(node)
                return ir.Load(buffer, index, self.elements[buffer].type)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                return ir.Length(name)
            case ast.Call(func=ast.Name(id="float"), args=[arg]):
                return ir.Op("to_f64", (self.expr(arg),), F64)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[one, two]):
                return ir.Op(f"{name}.i64", (self.expr(one), self.expr(two)), I64)
            case ast.Call(
                func=ast.Attribute(attr=("sqrt" | "log" | "exp") as name), args=[arg]
            ):
                return self.check(name, (self.expr(arg),), F64)
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, args)
            case _:
                raise NotImplementedError(ast.dump(node))

    def call(self, name: str, nodes: list[ast.expr]) -> ir.Expr:
        args: list[ir.Expr | str] = []
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in self.elements:
                args.append(node.id)
            else:
                args.append(self.expr(node))
        result = self.heads[name][1]
        targets = () if result is None else (self.temporary(result),)
        self.out.append(ir.Call(targets, name, tuple(args), self.at))
        return ir.Var(targets[0], result) if result is not None else ir.Const(0, I64)
