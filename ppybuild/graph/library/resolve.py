"""From a dotted name to what defines it, through imports, aliases and re-exports."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from ppybuild.graph.library.files import (
    Files,
    find_module,
    mentioned_in_standard,
    names_in_library,
)
from ppybuild.graph.library.source import Source, read_source

PUBLIC_NAMES = {
    "posixpath": "os.path",
    "ntpath": "os.path",
    "torch._C._nn": "torch.nn.functional",
}
"""Modules that are better known under another name."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a name stands for. `nodes` are a function's overloads, a class, a variable's
    assignments; a module has none."""

    kind: Literal["function", "class", "module", "variable", "unknown"]
    module: str
    name: str
    nodes: tuple[ast.stmt, ...] = ()
    stub: bool = False

    @property
    def dotted(self) -> str:
        if self.kind == "module":
            return self.module
        return f"{self.module}.{self.name}"


UNKNOWN_DEFINITION = Definition("unknown", "", "")


class Resolver:
    """Resolves names; keeps what it has read."""

    def __init__(self) -> None:
        self._sources: dict[str, tuple[Source, ...]] = {}
        self._resolved: dict[tuple[str, str], Definition | None] = {}
        self._public: dict[str, str] = {}

    def sources(self, module: str) -> tuple[Source, ...]:
        """The stub, then the source, of a module; empty where it has no text."""
        found = self._sources.get(module)
        if found is None:
            files = find_module(module)
            paths = (files.stub, files.source) if files else ()
            read = [read_source(path) for path in paths if path is not None]
            found = tuple(source for source in read if source is not None)
            self._sources[module] = found
        return found

    def resolve(self, module: str, name: str) -> Definition | None:
        """What `module.name` is; None where the module is known not to have it."""
        key = (module, name)
        if key not in self._resolved:
            self._resolved[key] = UNKNOWN_DEFINITION  # an import cycle ends here
            self._resolved[key] = self._resolve(module, name)
        return self._resolved[key]

    def _resolve(self, module: str, name: str) -> Definition | None:
        files = find_module(module)
        if files is None:
            return None
        sources = self.sources(module)
        for source in sources:
            statements = source.lookup(name)
            if statements:
                return self._definition(files, source, name, statements)
        for source in sources:
            found = self._from_stars(files, source, name)
            if found is not None:
                return found
        if files.is_package and find_module(f"{module}.{name}"):
            return Definition("module", f"{module}.{name}", "")
        if not sources or name in MODULE_ATTRIBUTES:
            return UNKNOWN_DEFINITION
        return self._missing(files, sources, name)

    def _missing(
        self, files: Files, sources: tuple[Source, ...], name: str
    ) -> Definition | None:
        """None where nothing could have made the name; unknown where something could."""
        if name.startswith("_") or names_in_library(files.name, name):
            return UNKNOWN_DEFINITION
        if files.standard or (files.stub and not files.source):
            # A name of another platform or version may stand behind a test of this one.
            dynamic = any(
                source.lookup("__getattr__") or re.search(rf"\b{name}\b", source.text)
                for source in sources
            )
            dynamic = dynamic or mentioned_in_standard(files.name, name)
            return UNKNOWN_DEFINITION if dynamic else None
        texts = list(sources)
        for source in sources:
            for star in source.stars:
                starred = self.sources(import_target(files, star))
                if not starred:
                    return UNKNOWN_DEFINITION
                texts.extend(starred)
        # A name that is made at run time is written somewhere in the module, or in one of
        # those that it takes everything from; or it has a number in it, which a loop may
        # have put there: `int5` (not so `Conv2D` beside `Conv2d`).
        dynamic = any(source.dynamic for source in texts)
        numbered = re.search(r"\d", name) and not any(
            name.casefold() == other.casefold() for s in texts for other in s.names()
        )
        if numbered or (dynamic and any(name in s.text for s in texts)):
            return UNKNOWN_DEFINITION
        return None

    def _from_stars(self, files: Files, source: Source, name: str) -> Definition | None:
        for star in reversed(source.stars):
            target = import_target(files, star)
            starred = self.sources(target)
            if not starred:
                continue
            exports = starred[0].exports
            if exports is not None and name not in exports:
                continue
            if exports is None and name.startswith("_"):
                continue
            found = self.resolve(target, name)
            if found is not None and found.kind != "unknown":
                return found
        return None

    def _definition(
        self, files: Files, source: Source, name: str, statements: list[ast.stmt]
    ) -> Definition | None:
        last = statements[-1]
        match last:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                functions = [
                    s
                    for s in statements
                    if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)
                ]
                return Definition(
                    "function", files.name, name, overloads(functions), source.stub
                )
            case ast.ClassDef():
                return Definition("class", files.name, name, (last,), source.stub)
            case ast.Import(names=names):
                return self._imported_module(names, name)
            case ast.ImportFrom(names=names):
                target = import_target(files, last)
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        return self._imported(target, alias.name)
                return UNKNOWN_DEFINITION
            case ast.Assign(value=value) | ast.AnnAssign(value=value):
                if isinstance(value, ast.Name | ast.Attribute) and not is_annotated(last):
                    aliased = self.resolve_expression(files.name, value)
                    if aliased.kind in ("function", "class", "module"):
                        return aliased
                if is_documented_builtin(value):
                    return Definition("function", files.name, name, (), source.stub)
                return Definition("variable", files.name, name, tuple(statements), source.stub)
            case _:
                return UNKNOWN_DEFINITION

    def _imported_module(self, names: list[ast.alias], name: str) -> Definition:
        for alias in names:
            if alias.asname == name:
                return Definition("module", alias.name, "")
            if alias.asname is None and alias.name.partition(".")[0] == name:
                return Definition("module", name, "")
        return UNKNOWN_DEFINITION

    def _imported(self, target: str, name: str) -> Definition:
        """What `from target import name` binds, which is never known to be nothing."""
        found = self.resolve(target, name) or UNKNOWN_DEFINITION
        if found.kind == "unknown" and find_module(f"{target}.{name}"):
            return Definition("module", f"{target}.{name}", "")
        return found

    def resolve_expression(self, module: str, node: ast.expr) -> Definition:
        """What a dotted name written in the module stands for."""
        match node:
            case ast.Name(id=name):
                found = self.resolve(module, name)
                if found is None or found.kind == "unknown":
                    # What the module itself does not bind is the built-in.
                    found = self.resolve("builtins", name) or found
                return found or UNKNOWN_DEFINITION
            case ast.Attribute(value=value, attr=attribute):
                owner = self.resolve_expression(module, value)
                if owner.kind == "module":
                    return self.resolve(owner.module, attribute) or UNKNOWN_DEFINITION
                if owner.kind == "class":
                    return nested_definition(owner, attribute)
                return UNKNOWN_DEFINITION
            case _:
                return UNKNOWN_DEFINITION

    def find(self, dotted: str) -> Definition | None:
        """The definition of a dotted name (`torch.nn.Linear`); None where it has none."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if find_module(module) is None:
                continue
            found: Definition | None = Definition("module", module, "")
            for part in parts[length:]:
                if found is None:
                    return None
                if found.kind == "module":
                    found = self.resolve(found.module, part)
                elif found.kind == "class":
                    found = nested_definition(found, part)
                else:
                    return UNKNOWN_DEFINITION
            return found
        return None

    def names(self, module: str) -> set[str]:
        """Every name that a module's text shows."""
        files = find_module(module)
        found: set[str] = set()
        for source in self.sources(module):
            found |= source.names()
            for star in source.stars:
                if files is not None:
                    for starred in self.sources(import_target(files, star)):
                        found |= starred.exports or starred.names()
        return found

    def public_name(self, definition: Definition) -> str:
        """The shortest name of a definition: the outermost package that offers it."""
        dotted = definition.dotted
        known = self._public.get(dotted)
        if known is None:
            known = self._public[dotted] = self._public_name(definition)
        return known

    def _public_name(self, definition: Definition) -> str:
        module = PUBLIC_NAMES.get(definition.module, definition.module)
        if definition.kind == "module":
            return module
        first, dot, rest = definition.name.partition(".")
        parts = definition.module.split(".")
        for length in range(1, len(parts)):
            package = ".".join(parts[:length])
            found = self.resolve(package, first)
            if found is not None and (found.module, found.name) == (definition.module, first):
                return f"{package}.{first}{dot}{rest}"
        return f"{module}.{definition.name}"


MODULE_ATTRIBUTES = frozenset(
    {
        "__name__",
        "__file__",
        "__doc__",
        "__dict__",
        "__package__",
        "__path__",
        "__spec__",
        "__loader__",
        "__class__",
        "__cached__",
        "__builtins__",
        "__annotations__",
    }
)


def import_target(files: Files, node: ast.ImportFrom) -> str:
    """The absolute name of the module that a `from ... import` names."""
    if not node.level:
        return node.module or ""
    parts = files.name.split(".")
    if not files.is_package:
        parts = parts[:-1]
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, node.module] if node.module else parts)


def is_annotated(statement: ast.stmt) -> bool:
    """True for `x: int = y`, but not for `X: TypeAlias = Y`."""
    return isinstance(statement, ast.AnnAssign) and not is_type_alias(statement)


def is_documented_builtin(value: ast.expr | None) -> bool:
    """True for torch's `erf = _add_docstr(_special.special_erf, ...)`: a built-in function
    without a written signature."""
    match value:
        case ast.Call(func=ast.Name(id="_add_docstr")):
            return True
        case _:
            return False


def is_type_alias(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.AnnAssign):
        return False
    match statement.annotation:
        case ast.Name(id="TypeAlias") | ast.Attribute(attr="TypeAlias"):
            return True
        case _:
            return False


def overloads(functions: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> tuple[ast.stmt, ...]:
    """The overloads of a function, or its only definition."""
    marked = [node for node in functions if decorator_names(node) & {"overload"}]
    if marked:
        return tuple(marked)
    return (functions[-1],)


def decorator_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    names = set()
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(target, ast.Name):
            names.add(target.id)
        elif isinstance(target, ast.Attribute):
            names.add(target.attr)
    return names


def nested_definition(owner: Definition, name: str) -> Definition:
    """A class nested in a class."""
    node = owner.nodes[0]
    if isinstance(node, ast.ClassDef):
        for statement in node.body:
            if isinstance(statement, ast.ClassDef) and statement.name == name:
                return Definition(
                    "class", owner.module, f"{owner.name}.{name}", (statement,), owner.stub
                )
    return UNKNOWN_DEFINITION
