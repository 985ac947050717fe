"""Facts about small annotated modules, without the type engine: names mean what they say."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

from ppybuild.graph import types
from ppybuild.graph.program import (
    Callee,
    Constant,
    Effects,
    Facts,
    Function,
    Module,
    Parameter,
    Program,
    Signature,
)

_NAMED: dict[str, types.Type] = {
    "int": types.INT,
    "float": types.FLOAT,
    "bool": types.BOOL,
    "str": types.STR,
    "bytes": types.BYTES,
    "None": types.NONE,
}
_ELEMENTS = {"float": "f64", "int": "i64", "f32": "f32", "i32": "i32", "u8": "u8", "i8": "i8"}
_NO_EFFECTS = Effects(frozenset(), frozenset(), frozenset(), False, False, frozenset())


def small_facts(source: str, name: str = "m") -> Facts:
    """Facts about one module of functions; `math` is a module, constants are upper-case."""
    tree = ast.parse(source)
    module = Module(name, Path(f"{name}.py"), source, tree, False)
    functions = {
        f"{name}.{node.name}": Function(f"{name}.{node.name}", name, node, None)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    constants = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    loads: dict[ast.expr, Constant] = {
        node: constants[node.id]
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in constants
    }
    known: dict[ast.expr, types.Type] = {}
    callees: dict[ast.Call, Callee] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "math":
            known[node] = types.Module("math")
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "ppy.pure":
            known[node] = types.Function("ppy.pure")
        if isinstance(node, ast.Call):
            text = ast.unparse(node.func)
            if f"{name}.{text}" in functions:
                callees[node] = Callee("project", f"{name}.{text}")
            elif text.startswith("math.") or text in ("array.array", "ppy.grid"):
                callees[node] = Callee("external", text)
            elif hasattr(builtins, text):
                callees[node] = Callee("external", f"builtins.{text}")
            elif isinstance(node.func, ast.Attribute) and hasattr(str, node.func.attr):
                callees[node] = Callee("method", f"str.{node.func.attr}")
    return Facts(
        Program({name: module}, functions, {}),
        known,
        {each: _signature(function) for each, function in functions.items()},
        {each: {} for each in functions},
        {},
        callees,
        loads,
        dict.fromkeys(functions, _NO_EFFECTS),
        (),
    )


def _signature(function: Function) -> Signature:
    args = function.node.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    parameters = [
        Parameter(each.arg, _type(each.annotation), "normal", default, True)
        for each, default in zip(positional, defaults, strict=True)
    ]
    parameters += [
        Parameter(each.arg, _type(each.annotation), "keyword", default, True)
        for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    if args.vararg:
        type_ = types.Collection("tuple", _type(args.vararg.annotation))
        parameters.append(Parameter(args.vararg.arg, type_, "rest", None, True))
    return Signature(tuple(parameters), _type(function.node.returns), True, True)


def _type(node: ast.expr | None) -> types.Type:
    text = ast.unparse(node) if node else ""
    if text in _NAMED:
        return _NAMED[text]
    if isinstance(node, ast.Subscript) and text.startswith("Buffer["):
        return types.Buffer(_ELEMENTS[ast.unparse(node.slice).removeprefix("ppy.")])
    if isinstance(node, ast.Subscript) and text.startswith("tuple["):
        assert isinstance(node.slice, ast.Tuple)
        return types.Tuple(tuple(map(_type, node.slice.elts)))
    return types.UNKNOWN
