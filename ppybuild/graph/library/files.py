"""Where a module's text lies: typeshed for the standard library, else the installed package.

A package is found through `importlib` without being run: only its top-level name is asked
for, and everything below it is looked up in its folders.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import mmap
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path


def typeshed_folder() -> Path:
    """The stubs that `typeshed_client` carries; the package itself is not imported."""
    spec = importlib.util.find_spec("typeshed_client")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("typeshed_client is not installed")
    return Path(spec.submodule_search_locations[0]) / "typeshed"


TYPESHED = typeshed_folder()


@dataclass(frozen=True, slots=True)
class Files:
    """The texts of one module: its stub, its source, either, or neither (compiled)."""

    name: str
    stub: Path | None
    source: Path | None
    is_package: bool
    standard: bool
    """From typeshed: the stub is complete, so a name that it lacks does not exist."""


STUB_ONLY = frozenset({"_typeshed", "typing_extensions", "__main__"})
"""What typeshed has stubs of beside the standard library's modules."""


@functools.cache
def find_module(name: str) -> Files | None:
    """The files of the module with this dotted name; None where there is no such module."""
    top, _, rest = name.partition(".")
    if top in sys.stdlib_module_names or top in STUB_ONLY:
        return find_standard(name)
    folders = package_folders(top)
    if folders is None:
        return None
    if not rest:
        return folders.files
    *parents, last = rest.split(".")
    for folder in folders.paths:
        found = find_in_folder(folder.joinpath(*parents), last, name)
        if found is not None:
            return found
    return None


def find_standard(name: str) -> Files | None:
    """A module of the standard library that exists in this version of Python."""
    if not in_version(name):
        return None
    path = TYPESHED.joinpath(*name.split("."))
    package = path / "__init__.pyi"
    if package.is_file():
        return Files(name, package, None, True, True)
    stub = path.with_name(path.name + ".pyi")
    if stub.is_file():
        return Files(name, stub, None, False, True)
    if "." not in name:
        # Part of the standard library, but without a stub: `test`, `idlelib`.
        return Files(name, None, None, True, False)
    source = standard_source(name)  # as `re._parser`
    return Files(name, None, None, source.name == "__init__.py", False) if source else None


@functools.cache
def standard_versions() -> dict[str, tuple[tuple[int, int], tuple[int, int] | None]]:
    """First and last version of Python by module, from typeshed's `VERSIONS`."""
    versions = {}
    for line in (TYPESHED / "VERSIONS").read_text("utf-8").splitlines():
        found = re.match(r"([\w.]+): (\d+)\.(\d+)-(?:(\d+)\.(\d+))?", line)
        if found:
            name, *numbers = found.groups()
            first = (int(numbers[0]), int(numbers[1]))
            last = (int(numbers[2]), int(numbers[3])) if numbers[2] else None
            versions[name] = (first, last)
    return versions


def in_version(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        row = standard_versions().get(".".join(parts[:length]))
        if row is not None:
            first, last = row
            current = sys.version_info[:2]
            return first <= current and (last is None or current <= last)
    return True


def standard_source(name: str) -> Path | None:
    """The file that a module of the standard library runs; None for one in C."""
    path = Path(sysconfig.get_paths()["stdlib"]).joinpath(*name.split("."))
    candidates = (path.with_name(path.name + ".py"), path / "__init__.py")
    return next((each for each in candidates if each.is_file()), None)


@functools.cache
def standard_text(name: str) -> str:
    """The source that a module of the standard library runs; empty for one in C."""
    source = standard_source("posixpath" if name == "os.path" else name)
    return "" if source is None else source.read_text("utf-8", errors="replace")


STAR_IMPORT = re.compile(r"^ *from (\w+) import \*", re.MULTILINE)


def mentioned_in_standard(module: str, name: str) -> bool:
    """True where a name that typeshed leaves out stands in the module's source, or in that
    (or the stub, for every platform) of one that it takes everything from."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    text = standard_text(module)
    if word.search(text):
        return True
    for starred in STAR_IMPORT.findall(text):
        stub = TYPESHED / f"{starred}.pyi"
        if stub.is_file() and word.search(stub.read_text("utf-8")):
            return True
        if word.search(standard_text(starred)):
            return True
    return False


BINARIES = {"torch": "lib/libtorch_python.so"}
"""Compiled libraries that put names into modules of their package."""


@functools.cache
def names_in_library(module: str, name: str) -> bool:
    """True where the package's compiled library holds the name as a string."""
    top = module.partition(".")[0]
    folders = package_folders(top) if top in BINARIES else None
    if folders is None:
        return False
    for folder in folders.paths:
        path = folder / BINARIES[top]
        if path.is_file():
            with (
                path.open("rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                return data.find(b"\0" + name.encode() + b"\0") >= 0
    return False


@dataclass(frozen=True, slots=True)
class TopLevel:
    files: Files
    paths: tuple[Path, ...]


@functools.cache
def package_folders(top: str) -> TopLevel | None:
    """The installed module or package `top`, and the folders its submodules are in."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    paths = tuple(Path(folder) for folder in spec.submodule_search_locations or ())
    if spec.origin is None or spec.origin in ("built-in", "frozen", "namespace"):
        return TopLevel(Files(top, None, None, bool(paths), False), paths)
    origin = Path(spec.origin)
    source = origin if origin.suffix == ".py" and origin.is_file() else None
    stub = origin.parent / (origin.name.partition(".")[0] + ".pyi")
    return TopLevel(
        Files(top, stub if stub.is_file() else None, source, bool(paths), False), paths
    )


def find_in_folder(folder: Path, last: str, name: str) -> Files | None:
    package = folder / last
    if package.is_dir():
        source, stub = package / "__init__.py", package / "__init__.pyi"
        return Files(
            name,
            stub if stub.is_file() else None,
            source if source.is_file() else None,
            True,
            False,
        )
    source, stub = folder / f"{last}.py", folder / f"{last}.pyi"
    compiled = any(
        (folder / f"{last}{suffix}").is_file()
        for suffix in importlib.machinery.EXTENSION_SUFFIXES
    )
    if not (source.is_file() or stub.is_file() or compiled):
        return None
    return Files(
        name,
        stub if stub.is_file() else None,
        source if source.is_file() else None,
        False,
        False,
    )
