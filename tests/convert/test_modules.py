"""Programs that nobody here wrote give the same after conversion.

`cases/modules.txt` lists modules and packages of the standard library and of the package
index (`packages.txt` pins those). Each is converted as a program with a script that uses it,
then both are judged under CPython: by what the script prints, by their own doctests, and,
where `tests=` names one, by the module of CPython's test suite. `but=` names a module whose
doctests say something else of `.ppy` files.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from ppybuild.convert.convert import convert
from ppybuild.graph.analyse import analyse
from ppybuild.graph.library import Library
from ppybuild.graph.load import read_sources
from tests.golden import Case, read_cases

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = HERE / "packages.txt"
LISTED = read_cases(HERE / "cases" / "modules.txt")
QUICK = frozenset({"bisect", "colorsys", "graphlib", "keyword", "mdurl", "sched", "stat"})
"""Those that `make test` runs too."""

RUNNER = """\
import contextlib, doctest, importlib, io, sys, unittest, warnings
import ppy

name, tests, alias, *modules = sys.argv[1:]
warnings.simplefilter("ignore")
for loaded in [*sys.modules]:
    if loaded == name or loaded.startswith(name + "."):
        del sys.modules[loaded]
spec = importlib.machinery.PathFinder.find_spec(name, sys.path[:1])
used = sys.modules[name] = sys.modules[alias] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(used)
import use
for module in map(importlib.import_module, modules):
    with contextlib.redirect_stdout(io.StringIO()):
        plain = doctest.testmod(module, extraglobs={alias: used, name: used})
    print(module.__name__, plain, file=sys.stdout)
    if not module.__file__.startswith(sys.path[0]):
        print("elsewhere", module.__file__)
if tests:
    suite = unittest.defaultTestLoader.loadTestsFromName("test." + tests)
    with contextlib.redirect_stdout(io.StringIO()):
        result = unittest.TextTestRunner(io.StringIO()).run(suite)
    print("tests", result.testsRun, "skipped", len(result.skipped))
    failed = {test.id() for test, _ in result.failures + result.errors}
    # What conversion imports is one more name that `__all__` does not list.
    print(*sorted(name for name in failed if not name.endswith("__all__")), sep="\\n")
"""


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A program of one module or package, and how it is used."""

    name: str
    """What it is imported as."""
    origin: str
    """Its own name, where it comes from."""
    tests: str
    """A module of CPython's test suite, or nothing."""
    script: str

    @property
    def use(self) -> str:
        return f"import {self.name} as m\n\n{self.script}"

    def copy(self, folder: Path) -> None:
        """The sources, without the tests of a package."""
        folder.mkdir()
        source = source_of(self.origin)
        if source.name == "__init__.py":
            ignored = shutil.ignore_patterns("test", "tests", "__pycache__", "*.pyi", "*.so")
            shutil.copytree(source.parent, folder / self.name, ignore=ignored)
        else:
            shutil.copy(source, folder / f"{self.name}.py")


def borrowed(case: Case) -> Borrowed:
    origin = case.options.get("module", case.name)
    return Borrowed(case.name, origin, case.options.get("tests", ""), case.source)


def source_of(name: str) -> Path:
    """The file, also of modules that Python has frozen."""
    package = name.rpartition(".")[0]
    paths = list(importlib.import_module(package).__path__) if package else None
    spec = PathFinder.find_spec(name, paths)
    assert spec is not None, f"{name} is not installed"
    assert spec.origin is not None
    return Path(spec.origin)


def run(folder: Path, program: Borrowed, modules: list[str]) -> str:
    """What the program prints; its folder holds `use.py` and the runner."""
    (folder / "use.py").write_text(program.use, "utf-8")
    (folder / "run.py").write_text(RUNNER, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    ran = subprocess.run(
        [sys.executable, "run.py", program.name, program.tests, program.origin, *modules],
        cwd=folder, text=True, capture_output=True, env=environment, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    return ran.stdout


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=() if case.name in QUICK else pytest.mark.slow, id=case.name)
        for case in LISTED
    ],
)
def test_does_the_same(case: Case, tmp_path: Path, library: Library) -> None:
    program = borrowed(case)
    original, typed = tmp_path / "original", tmp_path / "typed"
    program.copy(original)
    (original / "use.py").write_text(program.use, "utf-8")
    facts = analyse(read_sources([original]), library)
    assert not [found for found in facts.program.diagnostics if found.code != "E1102"]
    modules = [name for name in facts.program.modules if name != "use"]
    conversion = convert(facts, modules, promote=True, partial=True)
    for file in conversion.files:
        target = typed / file.target.relative_to(original)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
    judged = [name for name in modules if name != case.options.get("but")]
    before, after = run(original, program, judged), run(typed, program, judged)
    assert "elsewhere" not in before
    assert after == before


def test_packages_are_those_that_are_pinned() -> None:
    for line in PACKAGES.read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        try:
            installed = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # the slow tests alone need it
        assert installed == version
