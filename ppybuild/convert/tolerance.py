"""Whether a function may bear annotations without the program noticing."""

from __future__ import annotations

import ast

from ppybuild.graph.program import Facts, Function

TOLERANT = frozenset(
    {
        "property", "staticmethod", "classmethod", "abstractmethod", "cached_property",
        "lru_cache", "cache", "wraps", "contextmanager", "override", "final", "pure",
        "total_ordering", "no_grad", "inference_mode", "compile",
    }
)  # fmt: skip
"""Decorators, by their last name, that do not look at annotations."""

READERS = frozenset({"signature", "get_type_hints", "get_annotations", "getfullargspec"})
"""Functions of `inspect` and `typing` that do."""


def tolerates_annotations(facts: Facts, function: Function) -> str:
    """Why the function's decorators may look at its annotations; empty where none does."""
    for decorator in function.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = _last_name(target)
        if name not in TOLERANT | {"setter", "getter", "deleter", "register"}:
            return f"decorator `{ast.unparse(target)}` may look at annotations"
        if name == "register":
            return "`register` dispatches on annotations"
    return ""


def annotations_are_read(facts: Facts, function: Function) -> str:
    """Where the program reads this function's annotations; empty where it does not."""
    for module in facts.program.modules.values():
        if not any(word in module.text for word in (*READERS, "__annotations__")):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == "__annotations__":
                return f"line {node.lineno} of {module.name} reads `__annotations__`"
            if isinstance(node, ast.Call) and _last_name(node.func) in READERS:
                return f"line {node.lineno} of {module.name} reads annotations"
    return ""


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
