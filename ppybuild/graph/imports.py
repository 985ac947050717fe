"""Resolves import statements inside the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES

from ppybuild.diagnostics import Diagnostic, nearest
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Module
from ppybuild.graph.scopes import Scope, blocks_of, scope_of, statements_of
from ppybuild.graph.syntax import walk

Modules = Mapping[str, Module]
IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def absolute_name(module: Module, statement: ast.ImportFrom) -> str:
    """The module that `from … import` names; "" where the dots leave the top package."""
    if not statement.level:
        return statement.module or ""
    package = module.name.split(".")
    drop = statement.level - (1 if module.is_package else 0)
    if drop >= len(package) + (1 if module.is_package else 0) or drop > len(package):
        return ""
    base = package[: len(package) - drop]
    if statement.module:
        base.append(statement.module)
    return ".".join(base)


def provides(modules: Modules, name: str) -> bool:
    """True for a module of the project and for a folder that holds some."""
    return name in modules or is_namespace(modules, name)


def is_namespace(modules: Modules, name: str) -> bool:
    """True for a folder without `__init__` that holds modules of the project."""
    if name in modules or not name:
        return False
    prefix = name + "."
    return any(other.startswith(prefix) for other in modules)


def imported_modules(modules: Modules, module: Module) -> Iterator[str]:
    """The project's modules that a module's import statements name, at any depth."""
    for statement, _ in imports_of(module.tree.body):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield from _with_packages(modules, alias.name)
        else:
            source = absolute_name(module, statement)
            yield from _with_packages(modules, source)
            for alias in statement.names:
                if f"{source}.{alias.name}" in modules:
                    yield f"{source}.{alias.name}"


def _with_packages(modules: Modules, name: str) -> Iterator[str]:
    while name:
        if name in modules:
            yield name
        name = name.rpartition(".")[0]


def imports_of(
    body: Sequence[ast.stmt], *, guarded: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import statement at any depth, and whether its failing is provided for (inside
    `try` with a handler for ImportError or in that handler, or below `if TYPE_CHECKING`)."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                yield statement, guarded
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield from imports_of(statement.body, guarded=guarded)
            case ast.Try():
                caught = guarded or any(map(_catches_import, statement.handlers))
                yield from imports_of(statement.body, guarded=caught)
                for handler in statement.handlers:
                    instead = guarded or _catches_import(handler)
                    yield from imports_of(handler.body, guarded=instead)
                yield from imports_of(statement.orelse, guarded=guarded)
                yield from imports_of(statement.finalbody, guarded=guarded)
            case ast.If():
                for_types = any(map(_is_type_checking, walk(statement.test)))
                yield from imports_of(statement.body, guarded=guarded or for_types)
                yield from imports_of(statement.orelse, guarded=guarded)
            case _:
                for block in blocks_of(statement):
                    yield from imports_of(block, guarded=guarded)


def _is_type_checking(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case _:
            return False


def _catches_import(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in IMPORT_ERRORS for kind in kinds)


def check_imports(modules: Modules) -> Iterator[Diagnostic]:
    """E1102 for each import that names a project's module or name that is not there."""
    exports = Exports(modules)
    for module in modules.values():
        found = list(imports_of(module.tree.body))
        tried = {
            name
            for statement, guarded in found
            if guarded
            for name in _asked(module, statement)
            if name not in modules
        }
        for statement, guarded in found:
            if guarded or not tried.isdisjoint(_asked(module, statement)):
                continue
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if _missing(modules, alias.name):
                        yield _unresolved(modules, module, alias, alias.name)
            else:
                yield from _check_from(modules, exports, module, statement)


def _asked(module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules that a statement needs: what one `try` provides for is optional below a
    test of what that gave, too."""
    if isinstance(statement, ast.ImportFrom):
        yield absolute_name(module, statement)
    else:
        yield from (alias.name for alias in statement.names)


def _check_from(
    modules: Modules, exports: Exports, module: Module, statement: ast.ImportFrom
) -> Iterator[Diagnostic]:
    source = absolute_name(module, statement)
    if statement.level and not source:
        yield Diagnostic(
            "E1102",
            "a relative import that leaves the top package",
            locate(module, statement),
            help=f"`{module.name}` lies {module.name.count('.')} packages deep",
        )
    elif (statement.level and not provides(modules, source)) or _missing(modules, source):
        yield _unresolved(modules, module, statement, source)
    elif source in modules:
        for alias in statement.names:
            if not exports.has(source, alias.name) and not _binary(modules, source, alias.name):
                yield Diagnostic(
                    "E1102",
                    f"module `{source}` has no `{alias.name}`",
                    locate(module, alias),
                    help=_nearest(alias.name, sorted(exports.names(source))),
                )


def _missing(modules: Modules, name: str) -> bool:
    """True where the project provides the module's top package, as a package with an
    `__init__` or a module, and does not provide the module."""
    top = name.partition(".")[0]
    if top not in modules or provides(modules, name):
        return False
    package, _, last = name.rpartition(".")
    if last == "__init__" and package in modules and modules[package].is_package:
        return False
    return not _binary(modules, package, last) and not _registered(modules, name)


def _registered(modules: Modules, name: str) -> bool:
    """True where the program itself writes the module's name into `sys.modules`, or where a
    module above it acts as a package does (`six`)."""
    package = name.rpartition(".")[0]
    while package:
        found = modules.get(package)
        if found is not None and not found.is_package and "__path__" in found.text:
            return True
        package = package.rpartition(".")[0]
    spelled = (f'sys.modules["{name}"]', f"sys.modules['{name}']")
    return any(text in module.text for module in modules.values() for text in spelled)


def _binary(modules: Modules, package: str, name: str) -> bool:
    """True where a compiled extension lies in the package's folder, or is the package."""
    if "." in package and package not in modules:
        return _binary(modules, *package.rpartition(".")[::2])
    if package not in modules or not modules[package].is_package:
        return False
    folder = modules[package].path.parent
    return any((folder / f"{name}{suffix}").exists() for suffix in EXTENSION_SUFFIXES)


def _unresolved(modules: Modules, module: Module, node: ast.AST, name: str) -> Diagnostic:
    return Diagnostic(
        "E1102",
        f"the project has no module `{name}`",
        locate(module, node),
        help=_nearest(name, sorted(modules)),
    )


def _nearest(name: str, known: Sequence[str]) -> str:
    close = nearest(name, known)
    return f"did you mean `{close}`?" if close else ""


class Exports:
    """What can be imported from each module of the project."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._scopes: dict[str, Scope] = {}
        self._open: dict[str, bool] = {}
        self._listed: dict[str, frozenset[str] | None] = {}

    def names(self, name: str) -> frozenset[str]:
        """Everything the module binds, through `from m import *` too."""
        found: set[str] = set()
        seen: set[str] = set()
        pending = [name]
        while pending:
            current = pending.pop()
            if current in seen or current not in self.modules:
                continue
            seen.add(current)
            scope = self._scope(current)
            found |= scope.bound
            pending.extend(absolute_name(self.modules[current], star) for star in scope.stars)
        return frozenset(found)

    def has(self, module: str, name: str) -> bool:
        """False where importing the name is certain to fail."""
        if name == "*" or name.startswith("__") or name in self._scope(module).bound:
            return True
        if provides(self.modules, f"{module}.{name}"):
            return True
        names = self.names(module)
        if name in names or "__getattr__" in names:
            return True
        if module not in self._open:
            self._open[module] = self._is_open(module, frozenset())
        return self._open[module]

    def offers(self, module: str, name: str) -> bool:
        """Whether `from module import *` brings the name, if the module has it."""
        if module not in self._listed:
            found = self.modules.get(module)
            self._listed[module] = _listed_names(found.tree) if found else None
        listed = self._listed[module]
        return not name.startswith("_") if listed is None else name in listed

    def _is_open(self, name: str, seen: frozenset[str]) -> bool:
        """True where names may come from what is not read: a star import from a library,
        `globals()`, `setattr`, `exec`."""
        module = self.modules[name]
        if any(word in module.text for word in ("globals()", "setattr(", "exec(", "vars()")):
            return True
        return any(
            source not in self.modules or self._is_open(source, seen | {name})
            for source in (absolute_name(module, star) for star in self._scope(name).stars)
            if source not in seen | {name}
        )

    def _scope(self, name: str) -> Scope:
        if name not in self._scopes:
            module = self.modules[name]
            scope = scope_of(module.tree.body, expressions=":=" in module.text)
            if "global " in module.text:
                scope.bound |= _declared_global(module.tree.body)
            self._scopes[name] = scope
        return self._scopes[name]


def _listed_names(tree: ast.Module) -> frozenset[str] | None:
    """The names of an `__all__` that is written out once and used nowhere else."""
    listed: frozenset[str] | None = None
    for statement in tree.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="__all__")],
                value=ast.List(elts=items) | ast.Tuple(elts=items),
            ):
                texts = [each.value for each in items if isinstance(each, ast.Constant)]
                names = frozenset(text for text in texts if isinstance(text, str))
                listed = names if len(texts) == len(items) else None
    if listed is None:
        return None
    uses = [each for each in walk(tree) if isinstance(each, ast.Name) and each.id == "__all__"]
    return listed if len(uses) == 1 else None


def _declared_global(body: Sequence[ast.stmt]) -> set[str]:
    """Names that some function below declares `global`."""
    found: set[str] = set()
    for statement in statements_of(body):
        match statement:
            case ast.Global():
                found.update(statement.names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found |= _declared_global(statement.body)
    return found
