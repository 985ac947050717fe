"""Whether a function may bear annotations without the program noticing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ppybuild.graph.program import Facts, Function
from ppybuild.graph.types import Function as FunctionType

TOLERANT = frozenset(
    {
        "property", "staticmethod", "classmethod", "abstractmethod", "cached_property",
        "lru_cache", "cache", "wraps", "contextmanager", "asynccontextmanager", "override",
        "final", "pure", "export", "no_grad", "inference_mode", "enable_grad", "recursive_repr",
        "abstractproperty", "abstractclassmethod", "abstractstaticmethod", "register",
        "total_ordering", "setter", "getter", "deleter",
    }
)  # fmt: skip
"""Decorators of libraries, by their last name, that do not look at annotations. `register`
is `atexit.register`; that of `singledispatch` is told apart."""

READERS = frozenset(
    {"signature", "get_type_hints", "get_annotations", "getfullargspec", "help", "getsource",
     "getsourcelines", "render_doc", "from_callable", "formatannotation"}
)  # fmt: skip
"""Functions of `inspect`, `typing` and `pydoc` that do."""


class Tolerance:
    """What the whole program does with annotations, found once."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.everywhere = ""
        self.of: Mapping[str, str] = {}
        single: dict[str, str] = {}
        for name, reason in _readings(facts):
            if name:
                single.setdefault(name, reason)
            else:
                self.everywhere = self.everywhere or reason
        self.of = single
        self.defined = frozenset(found.node.name for found in facts.program.functions.values())

    def objection(self, function: Function) -> str:
        """Why the function is left without annotations; empty where it may have them."""
        return self.read(function) or self.decorated(function)

    def read(self, function: Function) -> str:
        """Where the program reads annotations that may be this function's."""
        return self.everywhere or self.of.get(function.name, "")

    def decorated(self, function: Function) -> str:
        for decorator in function.node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = _last_name(target)
            own = isinstance(target, ast.Name) and name in self.defined
            if name not in TOLERANT or own:
                return f"decorator `{ast.unparse(target)}` may look at annotations"
            if name == "register" and ast.unparse(target) != "atexit.register":
                return "`register` dispatches on annotations"
        return ""


def _readings(facts: Facts) -> Iterator[tuple[str, str]]:
    """The function whose annotations are read, empty for any, and where."""
    for module in facts.program.modules.values():
        if not any(word in module.text for word in (*READERS, "__annotations__")):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute | ast.Constant) and "__annotations__" in (
                getattr(node, "attr", ""),
                getattr(node, "value", ""),
            ):
                yield (
                    _named(facts, node),
                    f"line {node.lineno} of {module.name} reads annotations",
                )
            elif isinstance(node, ast.Name) and node.id == "__annotations__":
                yield "", f"line {node.lineno} of {module.name} reads annotations"
            elif isinstance(node, ast.Call) and _last_name(node.func) in READERS:
                wanted = node.args[0] if node.args else node
                reason = f"line {node.lineno} of {module.name} reads annotations"
                yield _named(facts, wanted), reason


def _named(facts: Facts, node: ast.AST) -> str:
    if isinstance(node, ast.Attribute) and node.attr == "__annotations__":
        node = node.value
    found = facts.types.get(node) if isinstance(node, ast.expr) else None
    return found.name if isinstance(found, FunctionType) else ""


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
