"""A program imports its own `.ppy` modules under plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import ppy

RUNTIME = str(Path(ppy.__file__).parents[1])


def run(
    folder: Path, files: Mapping[str, str], *command: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    variables = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    }
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=variables | {"PYTHONPATH": RUNTIME} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def answer(folder: Path, files: Mapping[str, str], *command: str) -> str:
    done = run(folder, files, *command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_packages_and_relative_imports(tmp_path: Path) -> None:
    files = {
        "train.ppy": "import ppy\nimport app\nfrom app.model import area\n"
        "print(area(3), app.__file__)\n",
        "app/__init__.ppy": "SCALE = 2\n",
        "app/model.ppy": "from . import SCALE\nfrom .deep.part import side\n\n"
        "def area(x): return side(x) * SCALE\n",
        "app/deep/part.ppy": "def side(x): return x * x\n",
    }
    assert answer(tmp_path, files, "train.ppy") == f"18 {tmp_path}/app/__init__.ppy\n"
    assert answer(tmp_path, {}, "train.ppy") == f"18 {tmp_path}/app/__init__.ppy\n", "cached"
    assert list(tmp_path.glob("app/__pycache__/model.*.ppy.pyc"))


def test_module_knows_where_it_is(tmp_path: Path) -> None:
    files = {
        "train.py": "import ppy, m, inspect\n"
        "print(m.__spec__.origin == m.__file__, m.__spec__.has_location)\n"
        "print(inspect.getsource(m.f))\n",
        "m.ppy": "def f():\n    return 1\n",
    }
    assert answer(tmp_path, files, "train.py") == "True True\ndef f():\n    return 1\n\n"


def test_traceback_shows_the_line(tmp_path: Path) -> None:
    files = {"train.py": "import ppy, m\nm.f(0)\n", "m.ppy": "def f(x):\n    return 1 / x\n"}
    shown = run(tmp_path, files, "train.py").stderr
    assert f'File "{tmp_path}/m.ppy", line 2, in f\n    return 1 / x\n' in shown
    assert "importer" not in shown


def test_ppy_is_taken_before_py_and_cached_apart(tmp_path: Path) -> None:
    files = {
        "m.py": "X = 'p'\n",
        "m.ppy": "X = 'q'\n",
        "train.py": "import ppy, m\nprint(m.X)\n",
    }
    assert answer(tmp_path, files, "-c", "import m; print(m.X)") == "p\n"
    for name in ("m.py", "m.ppy"):
        os.utime(tmp_path / name, (10**9, 10**9))
    assert answer(tmp_path, {}, "-c", "import m; print(m.X)") == "p\n"
    assert answer(tmp_path, {}, "train.py") == "q\n"
    assert answer(tmp_path, {}, "-c", "import m; print(m.X)") == "p\n"


def test_reload(tmp_path: Path) -> None:
    files = {
        "m.ppy": "X = 1\n",
        "train.py": "import importlib, os, pathlib\nimport ppy, m\n"
        "path = pathlib.Path(m.__file__)\npath.write_text('X = 22\\n')\n"
        "importlib.reload(m)\nprint(m.X)\nimportlib.reload(ppy)\n"
        "import sys\nprint(sum(ppy.importer._hook is hook for hook in sys.path_hooks))\n",
    }
    assert answer(tmp_path, files, "train.py") == "22\n1\n"


def test_modules_imported_before_ppy(tmp_path: Path) -> None:
    files = {
        "train.py": "import pkg.a\nimport ppy\nimport pkg.b\nprint(pkg.b.X)\n",
        "pkg/__init__.py": "",
        "pkg/a.py": "",
        "pkg/b.ppy": "X = 5\n",
    }
    assert answer(tmp_path, files, "train.py") == "5\n"


def test_as_a_module(tmp_path: Path) -> None:
    files = {
        "app/__init__.ppy": "",
        "app/train.ppy": "import sys\nfrom .m import X\nprint(__name__, X, sys.argv[1:])\n",
        "app/m.ppy": "X = 5\n",
    }
    assert (
        answer(tmp_path, files, "-m", "ppy", "app.train", "a", "b") == "__main__ 5 ['a', 'b']\n"
    )
    assert "usage" in run(tmp_path, {}, "-m", "ppy").stderr


def test_syntax_error_names_the_file(tmp_path: Path) -> None:
    files = {"train.py": "import ppy, m\n", "m.ppy": "def f(:\n"}
    shown = run(tmp_path, files, "train.py").stderr
    assert f'File "{tmp_path}/m.ppy", line 1' in shown
    assert "importer" not in shown
