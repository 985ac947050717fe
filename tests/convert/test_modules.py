"""Modules that nobody here wrote give the same after conversion: their own doctests, and a
script for each that uses it. `cases/modules.txt` lists them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from ppybuild.convert.convert import convert
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from tests.golden import Case, cases, read_cases

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIST = HERE / "cases" / "modules.txt"

RUNNER = """\
import ppy
import contextlib, doctest, importlib, io, sys, traceback, warnings

warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            m = importlib.import_module("borrowed." + name)
            print(m.__file__.rpartition(".")[2] in ("py", "ppy"))
            with open("scripts/" + name + ".py") as script:
                exec(compile(script.read(), name, "exec"), {"m": m})
            print(doctest.testmod(m))
        except Exception as error:
            print(type(error).__name__, error)
    print("==", name)
    print(out.getvalue())
"""

Results = dict[str, str]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    """What each module printed before and after; all are converted as one program."""
    folder = tmp_path_factory.mktemp("modules")
    original, typed = folder / "original", folder / "typed"
    listed = read_cases(LIST)
    for side in (original, typed):
        (side / "borrowed").mkdir(parents=True)
        (side / "scripts").mkdir()
        (side / "borrowed" / "__init__.py").write_text("")
        (side / "runner.py").write_text(RUNNER)
        for case in listed:
            (side / "scripts" / f"{case.name}.py").write_text(case.source)
    for case in listed:
        text = source_of(case.options.get("module", case.name)).read_bytes()
        (original / "borrowed" / f"{case.name}.py").write_bytes(text)
    program = read_sources([original], ["scripts/**", "runner.py"])
    assert len(program.modules) == len(listed) + 1
    conversion = convert(analyse(program), list(program.modules), promote=True, partial=True)
    for file in conversion.files:
        if file.source.name != "__init__.py":
            (typed / "borrowed" / file.target.name).write_text(file.text, "utf-8")
    return run(original, listed), run(typed, listed)


def source_of(name: str) -> Path:
    """The file, also of modules that Python has frozen."""
    package = name.rpartition(".")[0]
    paths = list(importlib.import_module(package).__path__) if package else None
    spec = PathFinder.find_spec(name, paths)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def run(folder: Path, listed: list[Case]) -> Results:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    ran = subprocess.run(
        [sys.executable, "runner.py", *(case.name for case in listed)],
        cwd=folder, text=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    parts = ran.stdout.split("== ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


@cases(LIST)
def test_module_gives_the_same(case: Case, results: tuple[Results, Results]) -> None:
    before, after = results
    assert before[case.name].startswith("True"), before[case.name]
    assert "Error" not in before[case.name].splitlines()[-2], before[case.name]
    assert after[case.name] == before[case.name]
