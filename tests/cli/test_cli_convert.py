"""`ppybuild convert` from the outside: every option, and what failing leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import ppybuild, write

MANIFEST = '[entry.main]\nmodule = "main"\n'
SUM = """\
def total(n):
    values = [0.5] * n
    return sum(values) / n


print(total(3))
"""
TYPED = "def total(n: int) -> float:"
LIST = "    values: list[float] = [0.5] * n\n"
ARRAY = '    values = array.array("d", [0.5] * n)\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, {"ppy.toml": MANIFEST, "main.py": SUM, "lib/use.py": "X = 1\n"})
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(
        found.relative_to(folder).as_posix()
        for found in folder.rglob("*")
        if found.is_file() and "__pycache__" not in found.parts
    )


def test_every_module_without_a_path(project: Path) -> None:
    done = ppybuild(project, "convert")
    assert done.returncode == 0, done.stderr
    assert names(project) == ["lib/use.ppy", "lib/use.py", "main.ppy", "main.py", "ppy.toml"]
    assert (project / "main.py").read_text() == SUM
    assert (project / "lib/use.ppy").read_text() == (
        "from typing import Final\n\nX: Final = 1\n"
    )
    again = ppybuild(project, "convert")
    assert again.returncode == 0
    assert "2 files unchanged" in again.stderr


@pytest.mark.parametrize("path", ["lib", "lib/use.py"])
def test_a_file_or_folder(project: Path, path: str) -> None:
    assert ppybuild(project, "convert", path).returncode == 0
    assert "lib/use.ppy" in names(project)
    assert "main.ppy" not in names(project)


def test_call_sites_in_other_files_count(project: Path) -> None:
    write(
        project,
        {
            "lib/use.py": "def f(x):\n    return x\n",
            "main.py": "import lib.use\n\nlib.use.f(1.5)\n",
        },
    )
    assert ppybuild(project, "convert", "lib/use.py").returncode == 0
    assert "def f(x: float) -> float:" in (project / "lib/use.ppy").read_text()


def test_in_place_removes_the_sources(project: Path) -> None:
    assert ppybuild(project, "convert", "--in-place").returncode == 0
    assert names(project) == ["lib/use.ppy", "main.ppy", "ppy.toml"]


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_printing_writes_nothing(project: Path, option: str) -> None:
    before = names(project)
    done = ppybuild(project, "convert", "main.py", option)
    assert done.returncode == 0
    assert TYPED in done.stdout
    assert ("@@" in done.stdout) is (option == "--diff")
    assert names(project) == before


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
@pytest.mark.parametrize("style", ["json", "sarif"])
def test_a_machine_reads_one_document(project: Path, style: str, option: str) -> None:
    done = ppybuild(project, "convert", "main.py", option, "--format", style)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    if style == "sarif":
        found = found["runs"][0]["properties"]
    assert list(found["texts"]) == ["main.ppy"]
    assert TYPED in found["texts"]["main.ppy"]


def test_check_tells_whether_a_file_would_change(project: Path) -> None:
    before = names(project)
    done = ppybuild(project, "convert", "--check")
    assert done.returncode == 1
    assert "main.py: would change main.ppy" in done.stderr
    assert names(project) == before
    ppybuild(project, "convert")
    assert ppybuild(project, "convert", "--check").returncode == 0


def test_overwriting_needs_force(project: Path) -> None:
    write(project, {"main.ppy": "# mine\n"})
    done = ppybuild(project, "convert")
    assert done.returncode == 2
    assert "E2104" in done.stderr
    assert (project / "main.ppy").read_text() == "# mine\n"
    assert "lib/use.ppy" not in names(project)
    assert ppybuild(project, "convert", "--force").returncode == 0
    assert TYPED in (project / "main.ppy").read_text()


@pytest.mark.parametrize(
    ("manifest", "options", "line"),
    [
        ("", ["--promote-buffers"], ARRAY),
        ("", ["--no-promote-buffers"], LIST),
        ("[convert]\npromote-buffers = true\n", [], ARRAY),
        ("[convert]\npromote-buffers = true\n", ["--no-promote-buffers"], LIST),
        ("[convert]\npromote-buffers = false\n", [], LIST),
    ],
)
def test_promotion(project: Path, manifest: str, options: list[str], line: str) -> None:
    write(project, {"ppy.toml": MANIFEST + manifest})
    assert ppybuild(project, "convert", *options).returncode == 0
    assert line in (project / "main.ppy").read_text()


def test_partial(project: Path) -> None:
    write(
        project, {"lib/use.py": "def unused(x):\n    return x\n\n\ndef f(y=1):\n    return y\n"}
    )
    before = names(project)
    done = ppybuild(project, "convert")
    assert done.returncode == 1
    assert "E1304" in done.stderr
    assert names(project) == before
    done = ppybuild(project, "convert", "--partial")
    assert done.returncode == 0
    assert "W1304" in done.stderr
    text = (project / "lib/use.ppy").read_text()
    assert "def unused(x):" in text
    assert "def f(y: int = 1) -> int:" in text


@pytest.mark.parametrize("style", ["json", "sarif"])
def test_formats(project: Path, style: str) -> None:
    write(project, {"lib/use.py": "def unused(x):\n    return x\n"})
    done = ppybuild(project, "convert", "--format", style)
    assert done.returncode == 1
    assert "E1304" in json.dumps(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"def f(:\n", "E1001"), (b"x = '\xff'\n", "E1002"), (b"# coding: nope\n", "E1002")],
)
def test_a_source_that_cannot_be_read(project: Path, text: bytes, code: str) -> None:
    (project / "lib/use.py").write_bytes(text)
    before = names(project)
    done = ppybuild(project, "convert")
    assert done.returncode == 1
    assert code in done.stderr
    assert names(project) == before


@pytest.mark.parametrize("path", ["gone.py", "ppy.toml", "/etc/passwd"])
def test_a_path_that_is_no_source(project: Path, path: str) -> None:
    done = ppybuild(project, "convert", path)
    assert done.returncode == 2
    assert "E2109" in done.stderr


def test_bytes_are_kept(project: Path) -> None:
    """Line ends, encodings and a missing last newline."""
    (project / "lib/use.py").write_bytes(
        b"# -*- coding: latin-1 -*-\r\ndef f(n=1):\r\n\ts = '\xe9'\r\n\treturn s * n"
    )
    done = ppybuild(project, "convert", "lib/use.py")
    assert done.returncode == 0, done.stderr
    assert (project / "lib/use.ppy").read_bytes() == (
        b"# -*- coding: latin-1 -*-\r\nimport ppy\r\n\r\n\r\n@ppy.pure\r\n"
        b"def f(n: int = 1) -> str:\r\n\ts: str = '\xe9'\r\n\treturn s * n"
    )


def test_a_folder_that_cannot_be_written(project: Path) -> None:
    """Something stands where the new text would be laid down first."""
    (project / "lib/.use.ppy.new").mkdir()
    done = ppybuild(project, "convert")
    assert done.returncode == 2
    assert "E2108" in done.stderr
    assert "main.ppy" not in names(project)
    assert "Traceback" not in done.stderr
