"""Import a bundle's modules, native functions bound.

A module with native functions is compiled from its source with one more, innermost
decorator on each of them, as if

    @decorated
    def f(x): ...

had been written with `@bind` above `def`; `f` is native as soon as its `def` has run, and
what decorates it sees the native function. Lines, columns and names are unchanged.
Statements for which there is native code are replaced as `splices.py` says.
"""

from __future__ import annotations

import _ast
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from types import CodeType

from ppy.refusal import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import FunctionType, ModuleType
    from typing import Any

SUFFIXES = (".ppy", ".py")
NEEDS_TORCH = "regions"
"""The extension whose libraries are torch's, which importing torch loads."""


class Bundle:
    """The modules and extensions of a bundle that has been checked."""

    def __init__(
        self,
        root: str,
        sources: Mapping[str, bytes],
        extensions: Mapping[str, str],
        bindings: Mapping[str, Mapping[str, Sequence[str]]],
        splices: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self.root = root
        self.sources = {f"{root}/{path}": text for path, text in sources.items()}
        self.modules = dict(_modules(sources))
        """Path inside the bundle by dotted name."""
        self.extensions = extensions
        self.bindings = bindings
        self.splices = splices or {}
        self._loaded: dict[str, ModuleType] = {}

    def path(self, name: str) -> str:
        """The absolute path of a module's source."""
        return f"{self.root}/{self.modules[name]}"

    def spec(self, name: str) -> ModuleSpec:
        path = self.path(name)
        spec = spec_from_file_location(name, path, loader=BundleLoader(name, path, self))
        assert spec is not None  # a loader was given
        return spec

    def code(self, name: str) -> CodeType:
        code = BundleLoader(name, self.path(name), self).get_code(name)
        assert code is not None  # there is a source
        return code

    def extension(self, name: str) -> ModuleType:
        """The extension module, loaded when it is first asked for.

        It is kept out of `sys.modules`: a program may have a module of that name.
        """
        module = self._loaded.get(name)
        if module is None:
            if name == NEEDS_TORCH:
                __import__("torch")
            file = f"native/{self.extensions[name]}"
            try:
                module = load_extension(name, f"{self.root}/{file}")
            except ImportError as error:
                refuse(self.root, f"{file} cannot be loaded: {error}")
            self._loaded[name] = module
        return module


def _modules(paths: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Dotted name and path of each source, `.ppy` after `.py`, as the later one counts."""
    for path in sorted(paths, reverse=True):
        stem = path.removeprefix("app/").rpartition(".")[0]
        yield stem.removesuffix("/__init__").replace("/", "."), path


def load_extension(name: str, path: str) -> ModuleType:
    """The extension module in this file, not entered in `sys.modules`."""
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BundleLoader(SourceFileLoader):
    """Loads a module of a bundle from the source that was checked; caches nothing."""

    def __init__(self, name: str, path: str, bundle: Bundle) -> None:
        super().__init__(name, path)
        self.bundle = bundle

    def get_data(self, path: str) -> bytes:
        source = self.bundle.sources.get(path)
        return super().get_data(path) if source is None else source

    def path_stats(self, path: str) -> Mapping[str, object]:
        raise OSError("no bytecode is cached in a bundle")

    def source_to_code(  # type: ignore[override]  # only ever called with bytes and a str
        self, data: bytes, path: str, *, _optimize: int = -1
    ) -> CodeType:
        bindings = self.bundle.bindings.get(self.name, {})
        splices = self.bundle.splices.get(self.name, ())
        if not bindings and not splices:
            return super().source_to_code(data, path)
        binders = {name: Binder(self.bundle, *target) for name, target in bindings.items()}
        spliced = [(found, Binder(self.bundle, *found["target"])) for found in splices]
        return compile_bound(data, path, binders, _optimize, spliced)


class Binder:
    """Gives a Python function its native stand-in."""

    def __init__(self, bundle: Bundle, extension: str, attribute: str) -> None:
        self.bundle = bundle
        self.extension = extension
        self.attribute = attribute

    def __call__(self, function: FunctionType) -> object:
        return getattr(self.bundle.extension(self.extension), self.attribute)(function)


def compile_bound(
    source: bytes,
    path: str,
    binders: Mapping[str, Binder],
    optimize: int = -1,
    spliced: Sequence[tuple[Mapping[str, Any], Binder]] = (),
) -> CodeType:
    """Compile a module so that the functions named, by qualified name, pass their binders,
    with native code in the place of the statements that are `spliced`.

    A name that is defined more than once stays as it is: the native code is of one of them.
    So does a module whose expressions nest deeper than syntax trees can be handed over.
    """
    try:
        return _compile_marked(source, path, binders, optimize, spliced)
    except RecursionError:
        return compile(source, path, "exec", 0, True, optimize)


def _compile_marked(
    source: bytes,
    path: str,
    binders: Mapping[str, Binder],
    optimize: int,
    spliced: Sequence[tuple[Mapping[str, Any], Binder]],
) -> CodeType:
    tree = compile(source, path, "exec", _ast.PyCF_ONLY_AST, True, optimize)
    assert isinstance(tree, _ast.Module)
    defined: dict[str, list[_ast.FunctionDef]] = {}
    _find_functions(tree.body, "", defined)
    marks: dict[object, object] = {}
    for name, binder in binders.items():
        nodes = defined.get(name, ())
        if len(nodes) == 1:
            node = nodes[0]
            mark = f"\0ppy {name}"
            marks[mark] = binder
            decorator = _ast.Constant(
                value=mark, lineno=node.lineno, col_offset=node.col_offset
            )
            decorator.end_lineno, decorator.end_col_offset = node.lineno, node.col_offset
            node.decorator_list.append(decorator)
    if spliced:
        from ppy.splices import insert  # needs `ast`, which takes a while to import

        marks |= insert(tree, path, spliced, optimize)
    return _replace(compile(tree, path, "exec", 0, True, optimize), marks)


def _find_functions(
    statements: Iterable[_ast.AST], prefix: str, found: dict[str, list[_ast.FunctionDef]]
) -> None:
    """All `def`s by qualified name. Handlers and cases are looked into like statements."""
    for statement in statements:
        if isinstance(statement, _ast.FunctionDef | _ast.AsyncFunctionDef):
            name = prefix + statement.name
            found.setdefault(name, []).append(statement)  # type: ignore[arg-type]
            _find_functions(statement.body, f"{name}.<locals>.", found)
        elif isinstance(statement, _ast.ClassDef):
            _find_functions(statement.body, f"{prefix}{statement.name}.", found)
        else:
            for field in ("body", "handlers", "orelse", "finalbody", "cases"):
                _find_functions(getattr(statement, field, ()), prefix, found)


def _replace(code: CodeType, marks: Mapping[object, object]) -> CodeType:
    """Put the binders themselves among the constants, so that no name has to hold them."""
    constants = tuple(
        _replace(constant, marks)
        if isinstance(constant, CodeType)
        else marks.get(constant, constant)
        if isinstance(constant, str)
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=constants)


class BundleFinder:
    """Finds a bundle's modules; namespace packages are left to the finder of folders."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        if name not in self.bundle.modules:
            return None
        spec = self.bundle.spec(name)
        folder = f"{self.bundle.root}/app/{name.rpartition('.')[0].replace('.', '/')}"
        return spec if path is None or folder in path else None

    def invalidate_caches(self) -> None:
        """Nothing is cached."""


def current() -> Bundle | None:
    """The bundle that this process runs, if it does."""
    for finder in sys.meta_path:
        if isinstance(finder, BundleFinder):
            return finder.bundle
    return None


def install(bundle: Bundle) -> None:
    """Have the bundle looked into where Python would look into the program's folder: after
    built-in and frozen modules, before everything that lies on `sys.path`."""
    finders = sys.meta_path
    at = finders.index(PathFinder) if PathFinder in finders else len(finders)
    finders.insert(at, BundleFinder(bundle))
