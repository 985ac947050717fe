"""Check a generated project of 1,000 modules and 100,000 lines: time and memory.

    python benchmarks/large.py                 generate, check, edit one file, check again
    python benchmarks/large.py --write         write docs/benchmarks-large.md too
    python benchmarks/large.py --keep FOLDER   leave the project there

Prints seconds of the clock and of the processor, and the peak resident memory.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks-large.md"
PACKAGES, MODULES = 25, 40
LINES = 100


def generate(root: Path, *, packages: int = PACKAGES, modules: int = MODULES) -> int:
    """Write the project; the result is its number of lines. The same each time."""
    chance = random.Random(0)
    (root / "ppy.toml").write_text(
        '[sources]\nroots = ["src"]\n\n[entry.main]\nmodule = "main"\n'
    )
    names: list[str] = []
    lines = 0
    for package in range(packages):
        folder = root / "src" / f"package_{package}"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        for number in range(modules):
            text = module_text(chance, names)
            (folder / f"module_{number}.py").write_text(text)
            names.append(f"package_{package}.module_{number}")
            lines += text.count("\n")
    imports = "".join(f"import {name}\n" for name in names)
    calls = "".join(f"print({name}.run({position}))\n" for position, name in enumerate(names))
    (root / "src" / "main.py").write_text(imports + calls)
    return lines + 2 * len(names)


def module_text(chance: random.Random, earlier: list[str]) -> str:
    """A module of about `LINES` lines that calls into up to four earlier ones."""
    used = chance.sample(earlier, min(4, len(earlier)))
    parts = ['"""Generated."""\n', "import math\n"]
    parts += [f"import {name}\n" for name in used]
    parts.append("\nLIMIT = 100\n\n")
    parts.append(CLASS)
    count = 0
    while sum(part.count("\n") for part in parts) < LINES - 12:
        parts.append(FUNCTIONS[count % len(FUNCTIONS)].format(n=count, k=chance.randint(2, 9)))
        count += 1
    calls = "".join(f"    total += {name}.work_0([1.0, 2.0], n)\n" for name in used)
    parts.append(f"\n\ndef run(n):\n    box = Box(n, 0.5)\n    total = box.grow(2)\n{calls}")
    parts.append("    return total\n")
    return "".join(parts)


CLASS = """
class Box:
    def __init__(self, size, weight):
        self.size = size
        self.weight = weight
        self.items = []

    def grow(self, by):
        self.items.append(by)
        self.size += by
        return self.size * self.weight

    def heaviest(self):
        if not self.items:
            return None
        return max(self.items)

"""

FUNCTIONS = [
    """
def work_{n}(values, n):
    total = 0.0
    for index in range(len(values)):
        if index % {k} == 0:
            total += math.sqrt(values[index] * values[index] + n)
        else:
            total -= values[index] / {k}
    return total

""",
    """
def names_{n}(count, prefix="item"):
    found = {{}}
    for index in range(count):
        key = f"{{prefix}}_{{index % {k}}}"
        found[key] = found.get(key, 0) + index
    return sorted(found)

""",
    """
def steps_{n}(start, limit=LIMIT):
    count = 0
    while start != 1 and count < limit:
        start = start // 2 if start % 2 == 0 else {k} * start + 1
        count += 1
    return count, steps_{n}(1) if start > limit * 10 else None

""",
]


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of `ppybuild check` took."""

    name: str
    seconds: float
    """By the clock."""
    processor: float
    """Seconds of processor time: what the clock would show on a quiet machine."""
    peak: float
    """MiB of resident memory; of the largest run so far."""


def measure(name: str, root: Path) -> Run:
    """Runs `ppybuild check`; exits where it finds anything."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "ppybuild", "check"],
        cwd=root,
        text=True,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        raise SystemExit(ran.stdout[-2000:] + ran.stderr[-2000:])
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(name, seconds, processor, after.ru_maxrss / 1024)


def page(lines: int, runs: list[Run]) -> str:
    """The page of figures."""
    rows = "".join(
        f"| {run.name} | {run.seconds:.1f} s | {run.processor:.1f} s | {run.peak:.0f} MiB |\n"
        for run in runs
    )
    return f"""# `ppybuild check` on a large project

Written by `make benchmark-large` (`benchmarks/large.py`): {PACKAGES * MODULES:,} generated
modules of {lines:,} lines in all, each calling functions of up to four others, checked as
one program with CPython {platform.python_version()} on {os.cpu_count()} processors. Where
other work ran beside it, the clock shows more than the processor.

| run | clock | processor | peak memory |
|---|---:|---:|---:|
{rows}
Nothing is kept from one run to the next.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="where to leave the project")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or Path(scratch)
        root.mkdir(parents=True, exist_ok=True)
        lines = generate(root)
        runs = [measure("the whole project", root)]
        edited = root / "src" / "package_0" / "module_0.py"
        edited.write_text(edited.read_text().replace("return total\n", "return total + 1\n", 1))
        runs.append(measure("again, after an edit in one file", root))
        for run in runs:
            print(
                f"{run.name}: {run.seconds:.1f} s, processor {run.processor:.1f} s, "
                f"{run.peak:.0f} MiB"
            )
        if options.write:
            PAGE.write_text(page(lines, runs))


if __name__ == "__main__":
    main()
