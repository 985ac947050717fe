"""Conversion: golden text, the same output under CPython, and nothing left to convert."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ppybuild.convert.convert import Conversion, convert
from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from tests.golden import Case, Golden, cases

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)


def files_of(source: str) -> dict[str, str]:
    """A case's source as files: `# file: NAME` starts one; `main.py` where there is none."""
    parts = FILE.split(source)
    if len(parts) == 1:
        return {"main.py": source}
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def convert_folder(folder: Path, *, promote: bool = True, partial: bool = True) -> Conversion:
    program = read_sources([folder], [])
    return convert(analyse(program), list(program.modules), promote=promote, partial=partial)


def converted_files(folder: Path, conversion: Conversion) -> dict[str, str]:
    return {str(file.target.relative_to(folder)): file.text for file in conversion.files}


def run(folder: Path, script: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, script],
        cwd=folder,
        text=True,
        capture_output=True,
        env=environment,
        check=False,
    )
    last = ran.stderr.strip().splitlines()[-1:] if ran.returncode else []
    return ran.returncode, ran.stdout, "".join(last)


@cases(HERE / "cases" / "annotations.txt", HERE / "cases" / "buffers.txt")
def test_golden(case: Case, golden: Golden, tmp_path: Path) -> None:
    files = files_of(case.source)
    original, typed = tmp_path / "original", tmp_path / "typed"
    write_files(original, files)
    conversion = convert_folder(original, promote=case.options.get("promote", "yes") == "yes")
    texts = converted_files(original, conversion)
    shown = "\n".join(
        f"# file: {name}\n{text}" if len(texts) > 1 else text for name, text in texts.items()
    )
    remarks = "\n".join(
        f"{found.code} {found.location.path.name}:{found.location.line}: {found.message}"
        for found in conversion.diagnostics
        if found.location
    )
    golden(case, ppy=shown, remarks=remarks or "none")
    write_files(typed, texts)
    assert run(typed, "main.ppy") == run(original, "main.py")
    again = convert_folder(typed, promote=case.options.get("promote", "yes") == "yes")
    assert converted_files(typed, again) == texts


@cases(*(HERE / "cases" / f"{name}.txt" for name in ("nasty_lists", "nasty_names", "grids")))
def test_nasty(case: Case, golden: Golden, tmp_path: Path) -> None:
    """The output is the original's, and nothing is left to convert."""
    original, typed = tmp_path / "original", tmp_path / "typed"
    write_files(original, files_of(case.source))
    conversion = convert_folder(original)
    texts = converted_files(original, conversion)
    decided = [
        f"{found.code} {found.location.path.name}:{found.location.line}: {found.message}"
        for found in conversion.diagnostics
        if found.location and found.code in ("R3002", "R3003")
    ]
    write_files(typed, texts)
    assert run(typed, "main.ppy") == run(original, "main.py")
    assert converted_files(typed, convert_folder(typed)) == texts
    golden(case, decided="\n".join(decided) or "nothing")


def test_a_parameter_that_nothing_types_is_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, {"main.py": "def unused(value):\n    return value\n"})
    conversion = convert_folder(tmp_path, partial=False)
    [found] = conversion.diagnostics
    assert found.code == "E1304"
    assert found.location is not None
    assert (found.location.line, found.location.column) == (1, 12)


def test_the_seed_becomes_its_typed_form() -> None:
    check = ROOT.parent / "shared" / "acceptance" / "check_convert.py"
    if not check.is_file():
        pytest.skip("the seed programs are not beside this checkout")
    ran = subprocess.run([sys.executable, check], text=True, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
