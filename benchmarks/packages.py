"""Measure the packages of a program that needs torch: sizes, and how soon they start.

    benchmarks/packages.py --program train.ppy [--full] [--write]

`--full` makes the format `full` too, and beside it what PyInstaller makes with its defaults:
minutes. `--write` writes docs/benchmarks-packages.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks-packages.md"
MANIFEST = '[sources]\nroots = ["."]\n\n[entry.train]\nmodule = "train"\n'
RUNS = 5

Row = tuple[str, str, str]
"""Figure, what to reach, measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(asked.program, folder / "train.ppy")
        (folder / "ppy.toml").write_text(MANIFEST)
        rows = [*small(folder), *(full(folder) if asked.full else ())]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    table = "\n".join(("| figure | reach | measured |", "|---|---|---|", *lines)) + "\n"
    print(table, end="")
    if asked.write:
        flags = " --full" if asked.full else ""
        head = (
            "# Packages, measured\n\nWritten by `benchmarks/packages.py --program train.ppy"
            f"{flags} --write`; times are the best of {RUNS}, in turns.\n\n"
        )
        PAGE.write_text(head + table, encoding="utf-8")


def small(folder: Path) -> Iterator[Row]:
    """`dir` as an archive and as a folder, and `onefile`."""
    package(folder, "dir")
    package(folder, "onefile")
    for path in sorted((folder / "dist").iterdir()):
        if path.suffix != ".sha256":
            kind = "`onefile`" if path.name == "train" else "`dir`, " + kind_of(path)
            yield f"{kind}, size", "≤ 1.5 MB", f"{size(path) / 1e6:.2f} MB"
    commands = ([sys.executable, str(folder / "train.ppy")], [str(folder / "dist" / "train")])
    python, onefile = starts(*commands)
    yield "`onefile`, unpacked already, over python", "≤ 0.15 s", f"{onefile - python:.2f} s"


def full(folder: Path) -> Iterator[Row]:
    """`full`, over what PyInstaller makes of the same program by itself."""
    package(folder, "full")
    (made,) = (folder / "dist").glob("*-full")
    source = folder / "train.py"
    (folder / "train.ppy").rename(source)
    options = ["--noconfirm", "--log-level", "WARN", "--paths", str(ROOT), str(source)]
    command = [sys.executable, "-m", "PyInstaller", "--distpath", "defaults", *options]
    subprocess.run(command, cwd=folder, check=True)
    other = folder / "defaults" / "train"
    ratio = size(made) / size(other)
    sizes = f"{size(made) / 1e6:.0f} of {size(other) / 1e6:.0f} MB, {ratio:.2f}×"
    yield "`full`, size over PyInstaller's defaults", "≤ 0.7×", sizes
    ours, theirs = starts([str(made / "train")], [str(other / "train")])
    yield "`full`, run over PyInstaller's defaults", "≤ 1×", f"{ours / theirs:.2f}×"


def package(folder: Path, form: str) -> None:
    command = [sys.executable, "-m", "ppybuild", "package", "train", "--format", form]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL)


def starts(*commands: list[str]) -> list[float]:
    """Seconds from start to end of each, the best of several runs in turns."""
    environment = os.environ | {"PPY_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    best = [float("inf")] * len(commands)
    for _ in range(RUNS + 1):  # the first fills caches
        for at, command in enumerate(commands):
            begun = time.perf_counter()
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            best[at] = min(best[at], time.perf_counter() - begun)
    return best


def kind_of(path: Path) -> str:
    return "folder" if path.is_dir() else "archive"


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    if path.is_dir():
        return sum(one.lstat().st_size for one in path.rglob("*") if not one.is_dir())
    return path.stat().st_size


if __name__ == "__main__":
    main()
