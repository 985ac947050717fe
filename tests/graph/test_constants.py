"""Module-level constants: what stands for one, and what stops it."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from ppybuild.graph.analyse import analyse
from ppybuild.graph.constants import find_constants
from ppybuild.graph.library import Library
from ppybuild.graph.load import read_sources


def constants(folder: Path, **modules: str) -> dict[str, dict[str, object]]:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return {name: dict(found) for name, found in find_constants(read_sources([folder])).items()}


def test_kept(tmp_path: Path) -> None:
    text = (
        "N = 4\nRATE: float = 0.5\nNAME = 'x'\nON = True\nSIZE = N * 2 ** 3\nLOW = -N\n"
        "HALF = N / 8\nshift = 1 << 70\n"
    )
    assert constants(tmp_path, m=text)["m"] == {
        "N": 4,
        "RATE": 0.5,
        "NAME": "x",
        "ON": True,
        "SIZE": 32,
        "LOW": -4,
        "HALF": 0.5,
        "shift": 1 << 70,
    }


@pytest.mark.parametrize(
    "text",
    [
        "N = 4\nN = 5\n",
        "N = 4\nN += 1\n",
        "N = 4\ndel N\n",
        "N = 4\nfor N in []: pass\n",
        "N = 4\ndef f():\n    global N\n    N = 5\n",
        "N = 4\ndef f(N): pass\ndef N(): pass\n",
        "N = 4\nimport N\n",
        "if x:\n    N = 4\n",
        "N = 4\n(N := 5)\n",
        "N = 4\nglobals()['N'] = 5\n",
        "N = 4\ntry: pass\nexcept E as N: pass\n",
        "N = 4\nmatch 1:\n    case N: pass\n",
        "N = 4\nwith x as N: pass\n",
        "N = [4]\n",
        "N = 1 / 0\n",
        "N = 10 ** 10 ** 10\n",
        "N = 'a' * 3\n",
    ],
)
def test_not_kept(tmp_path: Path, text: str) -> None:
    assert "N" not in constants(tmp_path, m=text)["m"]


@pytest.mark.parametrize(
    "other", ["import m\nm.N = 5\n", "import m\nsetattr(m, 'N', 5)\n", "import m\ndel m.N\n"]
)
def test_rebound_from_another_module(tmp_path: Path, other: str) -> None:
    assert constants(tmp_path, m="N = 4\n", other=other)["m"] == {}


def test_imported(tmp_path: Path) -> None:
    found = constants(tmp_path, a="N = 4\n", b="from a import N as M\n", c="from b import M\n")
    assert found["c"] == {"M": 4}


def test_expressions(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("N = 4\n")
    (tmp_path / "m.py").write_text(
        "import a\nfrom a import N\n"
        "def f(n):\n    return N + a.N\n"
        "def g(N):\n    return N\n"
        "def h():\n    def inner():\n        return N\n    N = 5\n    return inner() + N\n"
        "def comprehends():\n    return [N for N in range(3)]\n"
        "f(1), g(2), h(), comprehends()\n"
    )
    facts = analyse(read_sources([tmp_path]), Library())
    where = {
        (node.lineno, ast.unparse(node)): value
        for node, value in facts.constants.items()
        if node in facts.types
    }
    assert where == {(4, "N"): 4, (4, "a.N"): 4}


def test_a_star_import_may_bind_anything(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("N = 5\n")
    (tmp_path / "main.py").write_text("N = 3\nfrom settings import *\nprint(N)\n")
    assert find_constants(read_sources([tmp_path]))["main"] == {}


def test_constants_of_math(tmp_path: Path) -> None:
    text = (
        "import math\nimport math as m\nfrom math import pi, inf as most, sqrt\n"
        "TWO = 2 * math.pi\nHALF = m.tau / 4\nTHREE = pi * 3\n"
    )
    assert constants(tmp_path, m=text)["m"] == {
        "pi": math.pi,
        "most": math.inf,
        "TWO": 2 * math.pi,
        "HALF": math.tau / 4,
        "THREE": math.pi * 3,
    }


@pytest.mark.parametrize(
    "text",
    [
        "from math import pi\npi = 3\n",
        "import math\nmath = f()\nN = math.pi\n",
        "import torch as math\nN = math.pi\n",
        "from math import pi\ndef f(x):\n    x.pi = 3\n",
    ],
)
def test_what_stops_them(tmp_path: Path, text: str) -> None:
    assert constants(tmp_path, m=text)["m"] == {}


def test_a_module_of_the_project_called_math(tmp_path: Path) -> None:
    found = constants(tmp_path, math="pi = 3\n", m="from math import pi\n")
    assert found["m"] == {"pi": 3}
