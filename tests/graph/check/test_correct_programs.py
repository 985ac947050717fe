"""Programs that run have no finding: the examples, modules of the standard library taken as
a project's sources, and programs written to come close to each finding."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from ppybuild.diagnostics import CODES
from ppybuild.graph.analyse import analyse
from ppybuild.graph.check import check
from ppybuild.graph.library import Library
from ppybuild.graph.load import read_sources

ROOT = Path(__file__).parents[3]
CORPUS = Path(__file__).parent / "correct"
STANDARD = Path(sysconfig.get_paths()["stdlib"])
MODULES = """
    abc ast base64 bisect bdb calendar cmd codeop colorsys configparser contextlib copy csv
    dataclasses difflib dis fileinput fnmatch fractions functools getopt glob graphlib
    gzip hashlib heapq hmac html inspect io ipaddress keyword linecache locale numbers
    operator optparse pickletools queue quopri random reprlib sched secrets selectors shelve
    shlex shutil signal ssl stat statistics string subprocess tabnanny tempfile textwrap
    threading timeit token tokenize traceback types typing uuid warnings wave zipfile
"""


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def findings(folder: Path, library: Library) -> list[str]:
    facts = analyse(read_sources([folder]), library)
    found = {*facts.program.diagnostics, *facts.diagnostics, *check(facts, library)}
    return sorted(
        f"{one.code} {one.location.path.name}:{one.location.line} {one.message}"
        for one in found
        if one.location is not None and CODES[one.code].severity != "remark"
    )


def project(folder: Path, source: Path) -> Path:
    if source.is_dir():
        shutil.copytree(source, folder / source.name)
    else:
        shutil.copy(source, folder / source.name)
    return folder


@pytest.mark.parametrize("source", sorted(CORPUS.iterdir()), ids=lambda path: path.stem)
def test_corpus(source: Path, tmp_path: Path, library: Library) -> None:
    assert findings(project(tmp_path, source), library) == []


@pytest.mark.parametrize(
    "source",
    [path for path in sorted((ROOT / "examples").iterdir()) if path.is_dir()],
    ids=lambda path: path.name,
)
def test_examples(source: Path, tmp_path: Path, library: Library) -> None:
    typed = shutil.copytree(
        source, tmp_path / source.name, ignore=shutil.ignore_patterns("untyped", "__pycache__")
    )
    assert findings(typed, library) == []
    if (source / "untyped").is_dir():
        assert findings(source / "untyped", library) == []


@pytest.mark.parametrize("name", MODULES.split())
def test_standard_module(name: str, tmp_path: Path, library: Library) -> None:
    source = STANDARD / name
    source = source if source.is_dir() else STANDARD / f"{name}.py"
    assert findings(project(tmp_path, source), library) == []
