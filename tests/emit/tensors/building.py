"""Build regions from source, for tests: the whole way, from Python text to a module."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ppybuild.emit.emission import Extension
from ppybuild.emit.names import mangle
from ppybuild.emit.tensors.headers import torch_include
from ppybuild.emit.tensors.regions import RegionEmission, emit_regions
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from ppybuild.graph.regions import Region, Regions, discover
from ppybuild.graph.schemas import installed_schemas

Function = Callable[..., Any]


@dataclass(frozen=True)
class Built:
    """`python` and `native` by function name; `native` lacks what is no region."""

    found: Regions
    python: Mapping[str, Function]
    native: Mapping[str, Function]

    @property
    def regions(self) -> Mapping[str, Region]:
        return {region.function.rpartition(".")[2]: region for region in self.found.regions}


def find(folder: Path, source: str, module: str = "program") -> Regions:
    """The regions of one module, and the remarks."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(source, "utf-8")
    return discover(analyse(read_sources([folder])))


def emit(found: Regions, module: str = "program") -> RegionEmission:
    schemas = installed_schemas()
    assert schemas is not None
    return emit_regions({module: found.regions}, schemas)


def build(folder: Path, source: str, module: str = "program") -> Built:
    """Find, emit, compile and load."""
    found = find(folder / "source", source, module)
    emission = emit(found, module)
    path = folder / "source" / f"{module}.py"
    space: dict[str, Any] = {"__name__": module}
    linecache.checkcache(str(path))
    exec(compile(source, str(path), "exec"), space)
    python = {name: value for name, value in space.items() if callable(value)}
    native: dict[str, Function] = {}
    if emission.extension is not None:
        loaded = compile_extension(folder / "native", emission.extension)
        for name in emission.bindings:
            simple = name.rpartition(".")[2]
            native[simple] = getattr(loaded, mangle(name))(python[simple])
    return Built(found, python, native)


def compile_extension(
    folder: Path, extension: Extension, more: tuple[str, ...] = ()
) -> ModuleType:
    """Compile the sources with plain compiler calls, without warnings, and import."""
    folder.mkdir(parents=True, exist_ok=True)
    include = torch_include()
    assert include is not None
    python = sysconfig.get_paths()["include"]
    objects = []
    for source in extension.sources:
        (folder / str(source.path)).write_text(source.text, "utf-8")
    for source in extension.sources:
        path = folder / str(source.path)
        # Most of what C++ costs is reading torch's headers; kernels have to be quick as well.
        options = {".c": ("gcc", "-O1"), ".cpp": ("g++", "-std=c++20")}.get(path.suffix)
        if options is None:
            continue
        flags = ("-fPIC", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden")
        target = path.with_suffix(path.suffix + ".o")
        subprocess.run(
            [
                *options,
                *flags,
                *more,
                f"-Wa,-I{folder}",
                f"-I{python}",
                "-isystem",
                str(include),
                "-c",
                path,
                "-o",
                target,
            ],
            check=True,
        )
        objects.append(target)
    library = folder / f"{extension.name}.so"
    libraries = ("-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10")
    linked = [
        "g++",
        "-shared",
        *objects,
        "-o",
        library,
        f"-L{include.parent / 'lib'}",
        *libraries,
    ]
    subprocess.run(linked, check=True)
    spec = importlib.util.spec_from_file_location(extension.name, library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def has_compiler() -> bool:
    return shutil.which("g++") is not None
