"""Which modules a bundle holds, and what stands where."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppybuild.graph.load import load as read
from ppybuild.targets.modules import (
    app_path,
    bindings_by_module,
    entry_modules,
    main_module,
)
from tests.targets.projects import project

FILES = {
    "main.py": "from pack.inner import f\n",
    "pack/__init__.py": "",
    "pack/inner.ppy": "from . import sister\n",
    "pack/sister.py": "",
    "other.py": "",
    "pack/__main__.py": "",
}


def test_what_is_reached_goes_along(tmp_path: Path) -> None:
    program = read(project(tmp_path, FILES))
    modules = entry_modules(program, "main")
    assert [app_path(module) for module in modules.values()] == [
        "main.py",
        "pack/__init__.py",
        "pack/inner.ppy",
        "pack/sister.py",
    ]


@pytest.mark.parametrize(
    "text",
    ["import importlib\nimportlib.import_module('o' + 'ther')\n", "__import__('other')\n"],
)
def test_everything_goes_along_where_imports_are_computed(tmp_path: Path, text: str) -> None:
    program = read(project(tmp_path, {**FILES, "main.py": text}))
    assert set(entry_modules(program, "main")) == set(program.modules)


def test_main_module(tmp_path: Path) -> None:
    program = read(project(tmp_path, {**FILES, "bare/__init__.py": ""}))
    assert main_module(program, "main") == "main"
    assert main_module(program, "pack") == "pack.__main__"
    assert main_module(program, "bare") is None
    assert main_module(program, "gone") is None


def test_bindings_by_module(tmp_path: Path) -> None:
    program = read(project(tmp_path, FILES))
    modules = entry_modules(program, "main")
    bindings = {
        "main.f": ("loops", "main_f"),
        "pack.f": ("loops", "pack_f"),
        "pack.inner.C.f": ("loops", "c_f"),
        "pack.inner.f.<locals>.g": ("loops", "g"),
    }
    assert bindings_by_module(bindings, modules) == {
        "main": {"f": ("loops", "main_f")},
        "pack": {"f": ("loops", "pack_f")},
        "pack.inner": {"C.f": ("loops", "c_f"), "f.<locals>.g": ("loops", "g")},
    }
    with pytest.raises(ValueError):
        bindings_by_module({"gone.f": ("loops", "f")}, modules)
