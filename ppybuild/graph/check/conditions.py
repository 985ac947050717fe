"""Tests of the machine: what stands below one may be meant for another machine than this."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from ppybuild.graph.program import Module
from ppybuild.graph.scopes import blocks_of, target_names
from ppybuild.graph.syntax import walk

CONDITION_WORDS = frozenset(
    {
        "hexversion",
        "platform",
        "implementation",
        "TYPE_CHECKING",
        "hasattr",
        "getattr",
        "find_spec",
        "__debug__",
        "environ",
    }
)
PLATFORMS = frozenset({"nt", "posix", "win32", "darwin", "java", "cygwin", "linux", "Windows"})
NO_NAMES: frozenset[str] = frozenset()

_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break


def is_conditional(test: ast.expr, flags: frozenset[str] = NO_NAMES) -> bool:
    """True for a test of the machine, of what an object has, or of one of the flags."""
    for node in walk(test):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if (
                name in CONDITION_WORDS or name in flags or "version" in name.lower()
            ):
                return True
            case ast.Attribute(value=ast.Name(id=owner), attr="name") if owner.endswith("os"):
                return True
            case ast.Constant(value=str(text)) if text in PLATFORMS:
                return True
            case _:
                pass
    return False


def chooses(statement: ast.stmt, flags: frozenset[str]) -> bool:
    """True for an `if` on the machine one side of which leaves the block: what comes after
    it stands on the other side."""
    return (
        isinstance(statement, ast.If)
        and is_conditional(statement.test, flags)
        and any(
            bool(side) and isinstance(side[-1], _LEAVES)
            for side in (statement.body, statement.orelse)
        )
    )


def find_flags(modules: Mapping[str, Module]) -> frozenset[str]:
    """The names of modules' variables that hold what a test of the machine gave, such as
    `WINDOWS = os.name == "nt"`. They are known by name alone, since a module that imports
    one may use it as a variable or as an attribute."""
    found: set[str] = set()
    for module in modules.values():
        found.update(_flags_of(module.tree.body, conditional=False))
    return frozenset(found)


def _flags_of(body: Sequence[ast.stmt], *, conditional: bool) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                if conditional or is_conditional(value):
                    for target in targets:
                        yield from target_names(target)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                if conditional or is_conditional(value):
                    yield from target_names(target)
            case ast.If(test=test):
                inner = conditional or is_conditional(test)
                yield from _flags_of(statement.body, conditional=inner)
                yield from _flags_of(statement.orelse, conditional=inner)
            case ast.Try(handlers=handlers):
                inner = conditional or any(map(is_import_handler, handlers))
                for block in blocks_of(statement):
                    yield from _flags_of(block, conditional=inner)
            case _:
                pass


def is_import_handler(handler: ast.ExceptHandler) -> bool:
    """True where it stands for what cannot be imported: its body is for other machines."""
    kinds = [] if handler.type is None else list(walk(handler.type))
    return any(
        isinstance(kind, ast.Name) and kind.id in ("ImportError", "ModuleNotFoundError")
        for kind in kinds
    )
