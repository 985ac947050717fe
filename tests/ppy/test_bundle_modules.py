"""Modules of a bundle under the tools of `importlib` and `inspect`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Lay = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]

TRAIN = "import ppy\n\ndef add(a, b):\n    return a + b\n"


def output(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_reload(lay: Lay, run: Run) -> None:
    main = (
        "import importlib, train\n"
        "before = train.add\n"
        "importlib.reload(train)\n"
        "print(train.ppy.native.compiled(train.add), before is train.add, train.add(1, 2))\n"
    )
    assert output(run(lay({"main.py": main, "train.ppy": TRAIN}, "main"))) == "True False 3\n"


def test_resources_and_sources(lay: Lay, run: Run) -> None:
    main = (
        "import inspect, linecache, pkgutil, importlib.resources, importlib.util, pkg, train\n"
        "print(pkgutil.get_data('pkg', 'data.txt').decode())\n"
        "print(importlib.resources.files('pkg').joinpath('data.txt').read_text())\n"
        "print(inspect.getsource(train.add))\n"
        "print(train.__loader__.get_source('train') == inspect.getsource(train))\n"
        "print(importlib.util.find_spec('pkg.none'), importlib.util.find_spec('absent'))\n"
    )
    sources = {"main.py": main, "train.ppy": TRAIN, "pkg/__init__.py": "", "pkg/data.txt": "17"}
    assert output(run(lay(sources, "main"))) == (
        "17\n17\ndef add(a, b):\n    return a + b\n\nTrue\nNone None\n"
    )


def test_the_folders_of_a_bundle_are_no_packages(lay: Lay, run: Run) -> None:
    main = (
        "import sys\ntry:\n    import native\nexcept ImportError as error:\n    print(error)\n"
    )
    assert output(run(lay({"main.py": main}, "main"))) == "No module named 'native'\n"


def test_names_of_the_standard_library(lay: Lay, run: Run) -> None:
    """Built-in modules come before the program's, and the program's before the library's."""
    sources = {
        "main.py": "import time, colorsys\nprint(hasattr(time, 'X'), hasattr(colorsys, 'X'))\n",
        "time.py": "X = 1\n",
        "colorsys.py": "X = 1\n",
    }
    assert output(run(lay(sources, "main"))) == "False True\n"


def test_a_module_that_nests_very_deep_stays_python(lay: Lay, run: Run) -> None:
    deep = f"total = {'+'.join(['1'] * 1500)}\n"
    main = "import train\nprint(train.total, train.add(1, 2))\n"
    assert output(run(lay({"main.py": main, "train.ppy": TRAIN + deep}, "main"))) == "1500 3\n"
