"""Measure the packages of a program that needs torch, and a native one, a part at a time.

    benchmarks/packages.py PART… --program train.ppy [--write]

    small    sizes of `dir` and `onefile`; how soon `onefile` starts      about a minute
    full     size and start of `full`, beside what PyInstaller makes
             with its defaults (`pip install 'ppybuild[full]'`)           ten minutes, 5 GB
    native   N-body against C written by hand; start and size             about two minutes

`--write` puts the rows of these parts into docs/benchmarks-packages.md; those of others stay.
No command may take longer than LIMIT.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks-packages.md"
MANIFEST = '[sources]\nroots = ["."]\n[entry.train]\n[entry.start]\n'
RUNS = 5
LIMIT = 900.0
"""Seconds for one command."""

Row = tuple[str, str, str]
"""Figure, what to reach, measured."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART")
    parser.add_argument("--program", type=Path, help="for `small` and `full`")
    parser.add_argument("--steps", type=int, default=5_000_000, help="of N-body")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.program is None and set(asked.parts) != {"native"}:
        parser.error("--program is missing")
    found: dict[str, list[Row]] = {}
    for part in dict.fromkeys(asked.parts):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if part != "native":
                shutil.copy(asked.program, folder / "train.ppy")
                text = asked.program.read_text(encoding="utf-8")
                (folder / "start.ppy").write_text(start_of(text), encoding="utf-8")
                (folder / "ppy.toml").write_text(MANIFEST, encoding="utf-8")
            found[part] = list(PARTS[part](folder, asked.steps))
        print(table(found[part]), end="", flush=True)
    if asked.write:
        write(found)


def small(folder: Path, steps: int) -> Iterator[Row]:
    """`dir` as an archive and as a folder, and `onefile`."""
    package(folder, "train", "dir")
    package(folder, "train", "onefile")
    for path in sorted((folder / "dist").iterdir()):
        if path.suffix != ".sha256":
            kind = "`onefile`" if path.name == "train" else "`dir`, " + kind_of(path)
            yield f"{kind}, size", "≤ 1.5 MB", f"{size(path) / 1e6:.2f} MB"
    package(folder, "start", "onefile")
    commands = ([sys.executable, str(folder / "start.ppy")], [str(folder / "dist" / "start")])
    python, onefile = starts(*commands)
    yield (
        "`onefile`, start, unpacked already, over python",
        "≤ 0.15 s",
        f"{onefile - python:.2f} s",
    )


def full(folder: Path, steps: int) -> Iterator[Row]:
    """`full` of `start_of` the program, over what PyInstaller makes of the same by itself."""
    package(folder, "start", "full")
    (made,) = (folder / "dist").glob("*-full")
    source = folder / "start.py"
    (folder / "start.ppy").rename(source)
    options = ["--noconfirm", "--log-level", "WARN", "--paths", str(ROOT), str(source)]
    run([sys.executable, "-m", "PyInstaller", "--distpath", "defaults", *options], folder)
    other = folder / "defaults" / "start"
    ratio = size(made) / size(other)
    sizes = f"{size(made) / 1e6:.0f} of {size(other) / 1e6:.0f} MB, {ratio:.2f}×"
    yield "`full`, size over PyInstaller's defaults", "≤ 0.7×", sizes
    ours, theirs = starts([str(made / "start")], [str(other / "start")])
    yield "`full`, start over PyInstaller's defaults", "≤ 1×", f"{ours / theirs:.2f}×"


def native(folder: Path, steps: int) -> Iterator[Row]:
    """What benchmarks/standalone.py prints."""
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "standalone.py"),
        "--steps",
        str(steps),
    ]
    said = run([*command, "--runs", str(RUNS)], folder)
    figures = dict(re.findall(r"^(\S.*?)(?:: |\s{2,})(.+)$", said, re.MULTILINE))
    assert figures["the same output"] == "True", said
    yield f"`native`, N-body of {steps:,} steps over C", "≤ 1.15×", f"{figures['ratio']}×"
    yield "`native`, start", "< 5 ms", figures["start"]
    yield "`native`, size", "< 200 kB", f"{int(figures['size'].split()[0]) / 1000:.0f} kB"


PARTS: Mapping[str, Callable[[Path, int], Iterator[Row]]] = {
    "small": small,
    "full": full,
    "native": native,
}


def start_of(text: str) -> str:
    """A program up to where it begins to work: its imports, definitions and constants."""
    kept = (
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.ClassDef,
        ast.Assign,
        ast.AnnAssign,
    )
    body: list[ast.stmt] = [each for each in ast.parse(text).body if isinstance(each, kept)]
    return ast.unparse(ast.Module(body, [])) + "\nraise SystemExit\n"


def package(folder: Path, entry: str, form: str) -> None:
    run([sys.executable, "-m", "ppybuild", "package", entry, "--format", form], folder)


def run(command: list[str], folder: Path) -> str:
    """What a command prints."""
    environment = os.environ | {"PPY_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, check=True, env=environment, timeout=LIMIT,
        stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip


def starts(*commands: list[str]) -> list[float]:
    """Seconds from start to end of each, the best of several runs in turns."""
    best = [float("inf")] * len(commands)
    for _ in range(RUNS + 1):  # the first fills caches
        for at, command in enumerate(commands):
            begun = time.perf_counter()
            run(command, Path.cwd())
            best[at] = min(best[at], time.perf_counter() - begun)
    return best


def table(rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(row)} |\n" for row in rows]
    return "".join(("| figure | reach | measured |\n", "|---|---|---|\n", *lines))


def write(found: Mapping[str, Sequence[Row]]) -> None:
    """The page, with these parts anew."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    kept = dict(re.findall(r"^## `(\w+)`\n\n((?:\|.*\n)+)", before, re.MULTILINE))
    shown = kept | {part: table(rows) for part, rows in found.items()}
    head = f"# Packages, measured\n\nWritten by `benchmarks/packages.py`: the best of {RUNS}.\n"
    body = "".join(f"\n## `{part}`\n\n{shown[part]}" for part in PARTS if part in shown)
    PAGE.write_text(head + body, encoding="utf-8")


def kind_of(path: Path) -> str:
    return "folder" if path.is_dir() else "archive"


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    if path.is_dir():
        return sum(one.lstat().st_size for one in path.rglob("*") if not one.is_dir())
    return path.stat().st_size


if __name__ == "__main__":
    main()
