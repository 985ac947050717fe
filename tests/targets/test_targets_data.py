"""Data files, requirements, and the same bytes from any folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppybuild.diagnostics import Failure
from ppybuild.graph.load import load as load_program
from ppybuild.manifest import load
from ppybuild.targets.build import Options, build
from ppybuild.targets.bundle import remove_tree
from ppybuild.targets.data import data_files
from ppybuild.targets.report import Silent
from ppybuild.targets.requirements import licences, requirements
from tests.targets.projects import project

DATA = '[entry.main]\ndata = ["w/**/*.pt", "more"]\n'
FILES = {
    "main.py": "def add(a: int, b: int) -> int:\n    return a + b\nprint(add(1, 2))\n",
    "w/a.pt": "1",
    "w/b/c.pt": "2",
    "w/b/c.txt": "3",
    "more/x/y": "4",
}


def test_patterns(tmp_path: Path) -> None:
    manifest = project(tmp_path, FILES, DATA)
    assert list(data_files(manifest, "main")) == ["more/x/y", "w/a.pt", "w/b/c.pt"]


@pytest.mark.parametrize("pattern", ["none/*.pt", "w/*.txt", "build/**/*"])
def test_a_pattern_that_matches_nothing(tmp_path: Path, pattern: str) -> None:
    manifest = project(tmp_path, FILES, f'[entry.main]\ndata = ["{pattern}"]\n')
    with pytest.raises(Failure) as failure:
        data_files(manifest, "main")
    assert [found.code for found in failure.value.diagnostics] == ["E2110"]


@pytest.mark.parametrize("pattern", ["", "/etc/passwd", "../x", "a/../../b", "..", "."])
def test_a_pattern_that_leads_out(tmp_path: Path, pattern: str) -> None:
    if pattern == ".":
        assert project(tmp_path, FILES, '[entry.main]\ndata = ["."]\n').entry["main"].data
        return
    with pytest.raises(Failure):
        project(tmp_path, FILES, f'[entry.main]\ndata = ["{pattern}"]\n')


def test_changed_data_are_noticed_and_folders_do_not_matter(tmp_path: Path) -> None:
    bundles = []
    for name in ("one", "another place"):
        manifest = project(tmp_path / name, FILES, DATA)
        (result,) = build(manifest, ("main",), "cpu", Options(), Silent())
        bundles.append(
            {
                path.relative_to(result.bundle): path.read_bytes()
                for path in result.bundle.rglob("*")
                if path.is_file()
            }
        )
    assert bundles[0] == bundles[1]
    assert Path("data/w/b/c.pt") in bundles[0]
    description = json.loads(bundles[0][Path("bundle.json")])
    assert description["version"] == "0.1.0"
    assert any(title.startswith("ppybuild") for title in description["licences"])
    (tmp_path / "one/w/a.pt").write_text("changed")
    (result,) = build(load(tmp_path / "one/ppy.toml"), (), "cpu", Options(), Silent())
    assert "data files" in result.reason
    manifest_file = tmp_path / "one/ppy.toml"
    manifest_file.write_text(f'[project]\nversion = "2.0"\n{manifest_file.read_text()}')
    (result,) = build(load(manifest_file), (), "cpu", Options(), Silent())
    assert json.loads((result.bundle / "bundle.json").read_text())["version"] == "2.0"
    remove_tree(tmp_path / "one/w")
    with pytest.raises(Failure):
        build(load(tmp_path / "one/ppy.toml"), (), "cpu", Options(), Silent())


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        ("import pytest", {"pytest"}),
        ("import pytest.mark as m, os, ppy", {"pytest"}),
        ("import json\nX = 1\ndef f(): pass\nfrom pytest import fixture", {"pytest"}),
        ("from pkg import inner", {"pytest", "click"}),
        ("import pkg.other", {"click"}),
        ("import pkg.other\nimport pytest", {"click"}),
        ("import missing_library", set()),
        ("import sys\nsys.path.append('x')\nimport pytest", set()),
        ("try:\n    import pytest\nexcept ImportError:\n    pass", set()),
        ("if 1:\n    import pytest", set()),
        ("def f():\n    import pytest", set()),
    ],
)
def test_requirements(tmp_path: Path, main: str, expected: set[str]) -> None:
    files = {
        "main.py": main,
        "pkg/__init__.py": "import click",
        "pkg/inner.py": "import pytest",
        "pkg/other.py": "print()\nimport pytest",
    }
    program = load_program(project(tmp_path, files))
    found = requirements(program, "main")
    assert set(found) == expected
    assert all(pin.startswith(f"{name}==") for name, pin in found.items())


def test_licences() -> None:
    found = licences(["pytest", "click", "no-such-distribution"])
    assert [title.partition(" ")[0] for title in found] == [
        "click",
        "no-such-distribution",
        "pytest",
    ]
    assert found["no-such-distribution"] == "not stated"
    assert "MIT" in next(said for title, said in found.items() if title.startswith("pytest"))
