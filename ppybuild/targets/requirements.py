"""What a program needs of the host, and the licences of what goes along."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata

from ppybuild.graph.imports import absolute_name
from ppybuild.graph.program import Module, Program


def requirements(program: Program, main: str) -> dict[str, str]:
    """Import name → pin (`torch==2.13.0`) of each installed library that running `main`
    imports before it does anything else.

    Only these can be asked for when the program starts: whether a later import is reached,
    or what the program has put on `sys.path` by then, only running it shows.
    """
    needed: dict[str, str] = {}
    for name in sorted(set(_Start(program).imports(main))):
        pin = _pin(name)
        if pin is not None:
            needed[name] = pin
    return needed


class _Start:
    """Follows imports in the order in which they run, as far as nothing else runs."""

    def __init__(self, program: Program) -> None:
        self.modules = program.modules
        self.seen: set[str] = set()
        self.ended = False

    def imports(self, name: str) -> Iterator[str]:
        """The top-level names of libraries that importing the project's `name` imports."""
        package = name.rpartition(".")[0]
        if package:
            yield from self.imports(package)
        if self.ended or name in self.seen or name not in self.modules:
            return
        self.seen.add(name)
        module = self.modules[name]
        for statement in module.tree.body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                for imported in _named(module, statement):
                    yield from self._library_or_own(imported)
            elif not _is_quiet(statement):
                self.ended = True
            if self.ended:
                return

    def _library_or_own(self, name: str) -> Iterator[str]:
        top = name.partition(".")[0]
        own = any(known.partition(".")[0] == top for known in self.modules)
        if own:
            yield from self.imports(name)
        elif top != "ppy" and top not in sys.stdlib_module_names:
            yield top


def _named(module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
        return
    source = absolute_name(module, statement)
    if source:
        yield source
        yield from (f"{source}.{alias.name}" for alias in statement.names)


def _is_quiet(statement: ast.stmt) -> bool:
    """Whether running it changes nothing that a later import depends on."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef(decorator_list=[]) | ast.AsyncFunctionDef(decorator_list=[]):
            return True
        case ast.Assign(value=ast.Constant(), targets=[ast.Name()]):
            return True
        case ast.AnnAssign(value=ast.Constant() | None, target=ast.Name()):
            return True
    return False


def _pin(module: str) -> str | None:
    """The distribution that gives an importable top-level name, with its version here."""
    names = [module] if _gives_itself(module) else _distributions().get(module, ())
    for distribution in names:
        return f"{distribution}=={metadata.version(distribution)}"
    return None


def _gives_itself(module: str) -> bool:
    """Whether the distribution of the same name says that it has the module: far quicker
    to read than what every installed distribution holds."""
    try:
        said = metadata.distribution(module).read_text("top_level.txt")
    except metadata.PackageNotFoundError:
        return False
    return module in (said or "").split()


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def licences(distributions: Iterable[str]) -> dict[str, str]:
    """What each of them says of its licence, by name and version."""
    found = {}
    for name in sorted(distributions):
        try:
            found[f"{name} {metadata.version(name)}"] = _stated(name)
        except metadata.PackageNotFoundError:
            found[name] = "not stated"
    return found


def _stated(distribution: str) -> str:
    """As its metadata says: an SPDX expression, the older free text's first line, or the
    classifiers."""
    said = metadata.metadata(distribution)
    for key in ("License-Expression", "License"):
        if key in said and said[key].strip():
            return said[key].strip().partition("\n")[0]
    names = [
        classifier.rpartition(" :: ")[2]
        for classifier in said.get_all("Classifier") or ()
        if classifier.startswith("License ::")
    ]
    return ", ".join(names) or "not stated"
