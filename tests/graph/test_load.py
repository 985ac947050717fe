"""Reading sources: what becomes a module, and what is wrong with the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ppybuild.graph.load import reachable, read_sources
from ppybuild.graph.program import Program


def write(folder: Path, **files: str) -> Path:
    """Writes files; `__` in a name is a folder, a trailing `_ppy` the suffix."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def codes(program: Program) -> list[str]:
    return [found.code for found in program.diagnostics]


def test_names_of_modules(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "main.ppy": "",
            "pkg/__init__.py": "",
            "pkg/inner/deep.py": "",
            "pkg/inner/typed.ppy": "",
            ".hidden/x.py": "",
            "__pycache__/y.py": "",
            "venv/pyvenv.cfg": "",
            "venv/lib.py": "",
            "notes.txt": "",
        },
    )
    program = read_sources([tmp_path])
    assert list(program.modules) == ["main", "pkg", "pkg.inner.deep", "pkg.inner.typed"]
    assert program.modules["pkg"].is_package
    assert not program.diagnostics


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("**/legacy/**", ["a", "pkg.b"]),
        ("pkg/*.py", ["a", "legacy.c"]),
        ("*.py", ["legacy.c", "pkg.b"]),
        ("**/*.py", []),
        ("legacy", ["a", "pkg.b"]),
        ("[ap].py", ["legacy.c", "pkg.b"]),
    ],
)
def test_exclude(tmp_path: Path, glob: str, left: list[str]) -> None:
    write(tmp_path, **{"a.py": "", "pkg/b.py": "", "legacy/c.py": ""})
    assert list(read_sources([tmp_path], [glob]).modules) == left


def test_a_root_inside_a_root_and_a_build_folder_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path, **{"src/a.py": "", "build/cpu/app/a.py": "", "b.py": ""})
    roots = [tmp_path / "src", tmp_path]
    program = read_sources(roots, skip=[tmp_path / "build"])
    assert list(program.modules) == ["a", "b"]


def test_provided_twice(tmp_path: Path) -> None:
    write(tmp_path, **{"a.py": "", "a.ppy": "", "b.py": "", "b/__init__.py": ""})
    assert codes(read_sources([tmp_path])) == ["E1003", "E1003"]


def test_syntax(tmp_path: Path) -> None:
    write(tmp_path, **{"a.py": "def f(:\n", "b.py": "x = 1\nreturn x\n", "c.py": "x = '\0'\n"})
    program = read_sources([tmp_path])
    assert codes(program) == ["E1001"] * 3
    location = program.diagnostics[1].location
    assert location is not None
    assert (location.line, location.column) == (2, 1)
    assert not program.modules


def test_encoding(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_bytes(b"x = '\xff'\n")
    (tmp_path / "odd.py").write_bytes(b"# -*- coding: klingon -*-\n")
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n")
    (tmp_path / "marked.py").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    program = read_sources([tmp_path])
    assert codes(program) == ["E1002", "E1002"]
    assert list(program.modules) == ["latin", "marked"]
    assert "é" in program.modules["latin"].text


def test_a_folder_that_looks_like_a_source(tmp_path: Path) -> None:
    write(tmp_path, **{"a.py/b.py": ""})
    assert not read_sources([tmp_path]).diagnostics


def test_imports(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "pkg/__init__.py": "from .one import f\n",
            "pkg/one.py": "from . import two\nfrom .two import g, missing\ndef f(): pass\n",
            "pkg/two.py": "import pkg.three\nfrom ... import far\ndef g(): pass\n",
            "main.py": (
                "import os, math\n"
                "from pkg import f, one, nothing\n"
                "from pkg.two import *\n"
                "try:\n    from pkg import maybe\nexcept ImportError:\n    maybe = None\n"
                "import not_installed_anywhere\n"
            ),
        },
    )
    program = read_sources([tmp_path])
    found = [
        (each.location.path.name, each.location.line)
        for each in program.diagnostics
        if each.location is not None
    ]
    assert codes(program) == ["E1102"] * 4
    assert sorted(found) == [("main.py", 2), ("one.py", 2), ("two.py", 1), ("two.py", 2)]


def test_names_that_cannot_be_known_are_not_missing(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "open.py": "globals()['x'] = 1\n",
            "lazy.py": "def __getattr__(name): return 1\n",
            "star.py": "from os.path import *\n",
            "ring.py": "from main import *\n",
            "declares.py": "def f():\n    global late\n    late = 1\n",
            "main.py": (
                "from open import x\nfrom lazy import y\nfrom star import join\n"
                "from ring import *\nfrom declares import late\n"
            ),
        },
    )
    assert not read_sources([tmp_path]).diagnostics


def test_reachable(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "pkg/__init__.py": "",
            "pkg/a.py": "from . import b\n",
            "pkg/b.py": "def f():\n    import late\n",
            "late.py": "import main\n",
            "main.py": "import pkg.a\n",
            "other.py": "",
        },
    )
    program = read_sources([tmp_path])
    assert reachable(program, "main") == ("late", "main", "pkg", "pkg.a", "pkg.b")
    assert reachable(program, "other") == ("other",)


def test_functions_and_classes(tmp_path: Path) -> None:
    text = (
        "class A(Base, x.Y, Generic[T]):\n"
        "    def m(self):\n        def inner(): pass\n"
        "    @m.setter\n    def m(self, v): pass\n"
        "    class B: pass\n"
        "if 1:\n    def f(): pass\nelse:\n    def f(): pass\n"
    )
    write(tmp_path, **{"m.py": "from z import Base\nimport x\n" + text})
    program = read_sources([tmp_path])
    assert list(program.functions) == [
        "m.A.m",
        "m.A.m.<locals>.inner",
        "m.A.m#2",
        "m.f",
        "m.f#2",
    ]
    assert program.functions["m.A.m"].owner == "m.A"
    assert program.functions["m.A.m.<locals>.inner"].owner is None
    assert program.classes["m.A"].bases == ("z.Base", "x.Y", "Generic")
    assert "m.A.B" in program.classes


def test_a_pipe_is_no_source(tmp_path: Path) -> None:
    write(tmp_path, **{"main.py": ""})
    os.mkfifo(tmp_path / "pipe.py")
    assert list(read_sources([tmp_path]).modules) == ["main"]
