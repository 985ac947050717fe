"""Run a small program twice, as Python and with its regions native, and compare."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ppy.loader import _replace
from ppy.splices import insert
from ppybuild.emit.driver import emit
from ppybuild.emit.emission import Emission
from ppybuild.emit.names import mangle
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from ppybuild.targets.modules import splices_by_module
from tests.emit.tensors.building import compile_extension
from tests.emit.tensors.cuda.host import pretend


@dataclass(frozen=True)
class Trained:
    """What `main` of the program's last module gave, each way."""

    python: Any
    native: Any
    emission: Emission
    warnings: tuple[str, ...]

    @property
    def regions(self) -> set[str]:
        return {
            name for name, (place, _) in self.emission.bindings.items() if place == "regions"
        }

    @property
    def fused(self) -> set[str]:
        """Functions that are a kernel of their own."""
        return self._with(".fused.c")

    @property
    def staged(self) -> set[str]:
        """Functions with kernels between calls of ATen."""
        return self._with(".stage0_.c")

    def _with(self, ending: str) -> set[str]:
        return {
            source.path.name.removesuffix(ending)
            for extension in self.emission.extensions
            for source in extension.sources
            if source.path.name.endswith(ending)
        }


def train(
    folder: Path, sources: Mapping[str, str], numerics: Any = "fused", *, gpu: bool = False
) -> Trained:
    """Run `main()` of the last module of `sources`, which maps module names to texts; with
    `gpu`, by kernels for a GPU, for which the processor stands in."""
    place = folder / "source"
    place.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (place / f"{name}.py").write_text(text, "utf-8")
    facts = analyse(read_sources([place]))
    emission = emit(facts, tuple(facts.program.modules), numerics=numerics, cuda=gpu)
    python = _run(place, sources, {}, {})
    stand_ins: dict[str, Any] = {}
    splices: dict[str, list[Any]] = {}
    for extension in emission.extensions:
        if extension.name == "regions":
            if gpu:
                (folder / "native").mkdir(parents=True, exist_ok=True)
                pretend(folder / "native", extension)
            flags = ("-DPPY_GPU=at::kCPU",) if gpu else ()
            loaded = compile_extension(folder / "native", extension, flags)
            for name, (where, _) in emission.bindings.items():
                if where == "regions":
                    stand_ins[name] = getattr(loaded, mangle(name))
            for module, several in splices_by_module(emission.splices).items():
                splices[module] = [
                    (found, getattr(loaded, found["target"][1])) for found in several
                ]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        native = _run(place, sources, stand_ins, splices)
    told = tuple(str(warning.message) for warning in heard)
    return Trained(python, native, emission, told)


def _run(
    folder: Path,
    sources: Mapping[str, str],
    stand_ins: Mapping[str, Any],
    splices: Mapping[str, list[Any]],
) -> Any:
    modules = {}
    try:
        for name, text in sources.items():
            module = types.ModuleType(name)
            modules[name] = sys.modules[name] = module
            path = str(folder / f"{name}.py")
            tree = _decorated(text, name, stand_ins)
            constants = insert(tree, path, splices.get(name, ()))
            exec(_replace(compile(tree, path, "exec"), constants), vars(module))
        torch.manual_seed(0)
        return list(modules.values())[-1].main()
    finally:
        for name in modules:
            sys.modules.pop(name, None)


def _decorated(text: str, module: str, stand_ins: Mapping[str, Any]) -> Any:
    """The module with each native function replaced as soon as its `def` has run."""
    import ast

    tree = ast.parse(text)

    class Replace(ast.NodeTransformer):
        def __init__(self) -> None:
            self.inside = [module]

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
            self.inside.append(node.name)
            self.generic_visit(node)
            self.inside.pop()
            return node

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            name = ".".join((*self.inside, node.name))
            if name in stand_ins:
                sys.modules[module].__dict__.setdefault("_native", {})[name] = stand_ins[name]
                mark = ast.parse(f"_native[{name!r}]", mode="eval").body
                node.decorator_list.append(ast.copy_location(mark, node))
            return node

    return ast.fix_missing_locations(Replace().visit(tree))


def assert_close(found: Any, wanted: Any) -> None:
    """Nested lists of numbers and tensors, within the tolerance of single precision sums."""
    if isinstance(wanted, torch.Tensor):
        torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)
    elif isinstance(wanted, float):
        assert abs(found - wanted) <= 2e-5 * max(1.0, abs(wanted)), (found, wanted)
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_close(one, other)
    else:
        assert found == wanted


def assert_same(found: Any, wanted: Any) -> None:
    """Nested containers of numbers and tensors, bit for bit, with the tensors' strides."""
    assert type(found) is type(wanted)
    if isinstance(wanted, torch.Tensor):
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert found.stride() == wanted.stride()
        assert found.requires_grad == wanted.requires_grad
        torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        assert_same(list(found.values()), list(wanted.values()))
    else:
        assert found == wanted or (found != found and wanted != wanted)
