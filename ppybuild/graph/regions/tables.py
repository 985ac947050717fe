"""What operators of Python, properties and helpers of torch stand for, as tables."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
COMPARE: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
    ast.Lt: ("lt", "gt"),
    ast.LtE: ("le", "ge"),
    ast.Gt: ("gt", "lt"),
    ast.GtE: ("ge", "le"),
}
"""The special method, and the one that is asked of the right operand instead."""
UNARY: Mapping[type[ast.unaryop], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__"}
FOLDED: Mapping[type[ast.AST], Callable[[int | float, int | float], int | float | bool]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""Operators between numbers that are known when building."""
PROPERTIES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}
"""Properties of `Tensor` that call one operator."""
FALSE_HERE = frozenset(
    {
        "has_torch_function",
        "has_torch_function_unary",
        "has_torch_function_variadic",
        "torch.jit.is_scripting",
        "torch.jit.is_tracing",
    }
)
"""What torch's sources ask and the region's guards have answered."""
TORCH_MODULES = {"_VF": "torch._C._VariableFunctions", "_C": "torch._C"}
"""Names in torch's sources that stand for another module."""
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
IGNORES_CUDNN = ("torch.nn.functional.layer_norm", "torch.nn.functional.group_norm")
"""Functions that pass on whether cuDNN is enabled to operators that do not look at it."""

DESCRIPTIONS: Mapping[type[ast.AST], str] = {
    ast.With: "a `with` statement",
    ast.For: "a `for` loop",
    ast.While: "a `while` loop",
    ast.Raise: "a `raise` statement",
    ast.Try: "a `try` statement",
    ast.Delete: "a `del` statement",
    ast.FunctionDef: "an inner function",
    ast.Lambda: "a lambda",
    ast.Attribute: "an attribute",
    ast.Subscript: "an item",
    ast.Starred: "a starred expression",
    ast.JoinedStr: "an f-string",
    ast.ListComp: "a comprehension",
    ast.Assert: "an `assert`",
}


def described(node: ast.AST) -> str:
    return DESCRIPTIONS.get(type(node), f"`{type(node).__name__}`")
