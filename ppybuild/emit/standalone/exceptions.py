"""Exceptions: the built-in ones that a program without Python knows, and classes of its own."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ppybuild.emit.names import mangle
from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.whole import Whole
from ppybuild.graph.types import Class

# By name, what it is a kind of: `PPY_EXCEPTIONS` of `ppy_failure.h`.
BUILT_IN = {
    "BaseException": "",
    "SystemExit": "BaseException",
    "KeyboardInterrupt": "BaseException",
    "Exception": "BaseException",
    "ArithmeticError": "Exception",
    "OverflowError": "ArithmeticError",
    "ZeroDivisionError": "ArithmeticError",
    "FloatingPointError": "ArithmeticError",
    "AssertionError": "Exception",
    "AttributeError": "Exception",
    "BufferError": "Exception",
    "EOFError": "Exception",
    "LookupError": "Exception",
    "IndexError": "LookupError",
    "KeyError": "LookupError",
    "MemoryError": "Exception",
    "NameError": "Exception",
    "UnboundLocalError": "NameError",
    "OSError": "Exception",
    "BrokenPipeError": "OSError",
    "FileNotFoundError": "OSError",
    "TimeoutError": "OSError",
    "RuntimeError": "Exception",
    "NotImplementedError": "RuntimeError",
    "RecursionError": "RuntimeError",
    "StopIteration": "Exception",
    "SyntaxError": "Exception",
    "TypeError": "Exception",
    "ValueError": "Exception",
    "UnicodeError": "ValueError",
    "UnicodeDecodeError": "UnicodeError",
    "UnicodeEncodeError": "UnicodeError",
}
_NOT_RAISED = (
    "BrokenPipeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
)
"""What the runtime alone raises: their texts are made of several arguments."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception's class."""

    name: str
    c: str
    """Its number."""
    ancestors: tuple[str, ...]
    """The built-in ones that it is a kind of, itself included."""
    own: bool = False
    """Of the program."""

    def is_a(self, name: str) -> bool:
        return name in self.ancestors

    @property
    def may_be_raised(self) -> bool:
        return not any(map(self.is_a, _NOT_RAISED))


def exception_of(body: Body, node: ast.expr) -> Raised:
    """The class that an expression names."""
    type_ = body.whole.facts.types.get(node)
    if isinstance(type_, Class) and type_.name in body.whole.facts.program.classes:
        return own_exception(body.whole, type_.name, node)
    name = ast.unparse(node)
    if name not in BUILT_IN:
        raise Refused(node, f"the exception `{name}`", "use a built-in one, or derive from one")
    return _built_in(name)


def _built_in(name: str) -> Raised:
    ancestors = [name]
    while BUILT_IN[ancestors[-1]]:
        ancestors.append(BUILT_IN[ancestors[-1]])
    return Raised(name, f"PPY_{name}", tuple(ancestors))


def is_exception(whole: Whole, name: str) -> bool:
    """Whether a class of the program derives from a built-in exception."""
    bases = whole.facts.program.classes[name].bases
    return len(bases) == 1 and (
        bases[0].removeprefix("builtins.") in BUILT_IN
        or (bases[0] in whole.facts.program.classes and is_exception(whole, bases[0]))
    )


def own_exception(whole: Whole, name: str, node: ast.AST) -> Raised:
    """An exception's class of the program, which has nothing but its name."""
    if not is_exception(whole, name):
        raise Refused(node, f"`{name}` as an exception")
    found = whole.facts.program.classes[name]
    for each in found.node.body:
        if not isinstance(each, ast.Pass | ast.Expr) or found.node.keywords:
            raise Refused(each, f"code in the exception `{found.node.name}`")
    (base,) = found.bases
    plain = base.removeprefix("builtins.")
    parent = _built_in(plain) if plain in BUILT_IN else own_exception(whole, base, node)
    c = f"ppy_E_{mangle(name)}"
    if name not in whole.exceptions:
        shown = found.node.name if found.module == whole.main else name
        whole.exceptions[name] = (c, found.node.name, shown, parent.c)
    return Raised(found.node.name, c, parent.ancestors, own=True)
