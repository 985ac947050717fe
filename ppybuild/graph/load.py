"""Reads the program: every source below the manifest's roots, as one `Program`."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppybuild.diagnostics import Diagnostic, Location
from ppybuild.graph.imports import check_imports, imported_modules
from ppybuild.graph.index import index_module
from ppybuild.graph.locations import locate_point
from ppybuild.graph.products import is_product
from ppybuild.graph.program import Class, Function, Module, Program
from ppybuild.graph.recursion import deep_recursion
from ppybuild.graph.shapes import read_shapes
from ppybuild.places import is_environment

if TYPE_CHECKING:
    from ppybuild.manifest import Manifest

SUFFIXES = (".ppy", ".py")


def load(manifest: Manifest, *, originals: bool = False) -> Program:
    """Everything below the manifest's source roots; `originals` as in `read_sources`."""
    program = read_sources(
        manifest.sources.roots,
        manifest.sources.exclude,
        skip=(manifest.build.dir,),
        originals=originals,
    )
    return replace(program, shapes=read_shapes(manifest.root))


def read_sources(
    roots: Sequence[Path],
    exclude: Sequence[str] = (),
    *,
    skip: Sequence[Path] = (),
    originals: bool = False,
) -> Program:
    """Reads the `.ppy` and `.py` files below `roots`.

    `exclude` holds globs relative to a root (`**` crosses folders); `skip` folders that are
    never entered. Hidden folders, caches and virtual environments are passed over. What is
    wrong is in the program's `diagnostics`, and a file that cannot be read is left out.
    Where a `.py` has a `.ppy` beside it, `originals` reads the `.py`: the other is what
    conversion made of it.
    """
    diagnostics: list[Diagnostic] = []
    modules: dict[str, Module] = {}
    found = sorted(_find(roots, exclude, skip))
    converted = {path.with_suffix(".ppy") for _, path, _ in found if path.suffix == ".py"}
    for name, path, is_package in found:
        if originals and path in converted:
            continue
        if name in modules:
            diagnostics.append(_provided_twice(name, modules[name].path, path))
            continue
        read = _read(name, path, is_package)
        if isinstance(read, Diagnostic):
            diagnostics.append(read)
        else:
            modules[name] = read
    functions: dict[str, Function] = {}
    classes: dict[str, Class] = {}
    for module in modules.values():
        index_module(module, functions, classes)
    diagnostics.extend(check_imports(modules))
    return Program(modules, functions, classes, tuple(diagnostics))


def reachable(program: Program, module: str) -> tuple[str, ...]:
    """The modules that importing `module` may import, itself included, sorted: through any
    number of imports, wherever they stand, with the packages they lie in."""
    found: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if name in found or name not in program.modules:
            continue
        found.add(name)
        pending.extend(imported_modules(program.modules, program.modules[name]))
        pending.extend(_packages_of(name))
    return tuple(sorted(found))


def _packages_of(name: str) -> Iterator[str]:
    package = name.rpartition(".")[0]
    while package:
        yield package
        package = package.rpartition(".")[0]


def _find(
    roots: Sequence[Path], exclude: Sequence[str], skip: Sequence[Path]
) -> Iterator[tuple[str, Path, bool]]:
    """Module name, file, and whether it is a package's `__init__`."""
    excluded = [re.compile(_pattern(glob)) for glob in exclude]
    closed = {path.absolute() for path in (*roots, *skip)}
    for root in roots:
        top = root.absolute()
        for folder, folders, files in os.walk(top):
            here = Path(folder)
            folders[:] = sorted(
                inner for inner in folders if _enters(here / inner, top, closed, excluded)
            )
            for file in sorted(files):
                path = here / file
                if path.suffix not in SUFFIXES or file.startswith(".") or not _is_source(path):
                    continue
                relative = path.relative_to(top)
                if any(pattern.fullmatch(relative.as_posix()) for pattern in excluded):
                    continue
                parts = relative.with_suffix("").parts
                is_package = len(parts) > 1 and parts[-1] == "__init__"
                yield ".".join(parts[:-1] if is_package else parts), path, is_package


def _is_source(path: Path) -> bool:
    """Not a pipe or a device, which could be read for ever; a link to nothing is reported."""
    return path.is_file() or not path.exists()


def _enters(
    folder: Path, top: Path, closed: set[Path], excluded: Sequence[re.Pattern[str]]
) -> bool:
    if folder.name.startswith(".") or folder.name == "__pycache__" or folder in closed:
        return False
    relative = folder.relative_to(top).as_posix()
    if any(pattern.fullmatch(relative) for pattern in excluded):
        return False
    return not (is_environment(folder) or is_product(folder))


def _pattern(glob: str) -> str:
    """A regular expression for a glob in which `**` stands for any folders."""
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        pieces.get(piece) or (f"[{piece[1:-1]}]" if len(piece) > 2 else re.escape(piece))
        for piece in re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", glob, re.DOTALL)
    )


def _read(name: str, path: Path, is_package: bool) -> Module | Diagnostic:
    start = locate_point(path, 1, 1)
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except OSError as error:
        return Diagnostic("E1002", f"cannot read {path.name}: {error.strerror}", start)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Diagnostic(
            "E1002",
            f"cannot decode {path.name}: {error}",
            start,
            help="save it as UTF-8, or name its encoding in the first line: "
            "`# -*- coding: latin-1 -*-`",
        )
    try:
        with warnings.catch_warnings(), deep_recursion():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, str(path))
            compile(tree, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        return Diagnostic("E1001", error.msg or "invalid syntax", _place(path, error))
    except ValueError as error:
        return Diagnostic("E1001", str(error), start)
    except (RecursionError, MemoryError):
        return Diagnostic("E1001", "nested too deeply for Python to read", start)
    return Module(name, path, text, tree, is_package)


def encoded(text: str) -> bytes:
    """A source's text as bytes, in the encoding that it declares."""
    start = "".join(text.splitlines(keepends=True)[:2]).encode("ascii", "replace")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(start).readline)
    return text.encode(encoding)


def _place(path: Path, error: SyntaxError) -> Location:
    line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
    end_line, end = error.end_lineno or line, error.end_offset or 0
    if (end_line, end) <= (line, column):
        end_line, end = line, column + 1
    return Location(path, line, column, end_line, end)


def _provided_twice(name: str, first: Path, second: Path) -> Diagnostic:
    return Diagnostic(
        "E1003",
        f"module `{name}` is provided twice: by {first} and by {second}",
        locate_point(second, 1, 1),
        help="remove or exclude one of them",
    )
