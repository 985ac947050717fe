"""Measure ppybuild against CPython, PyTorch, torch.compile, Numba and C, in one run.

    python benchmarks/compare.py --seed FOLDER            print the tables
    python benchmarks/compare.py --seed FOLDER --write    and put them into docs and README

FOLDER holds the seed programs (`train_bench.ppy`, `train_eager.py`, ...). Each figure is the
best of five in each of five processes; the tables give mean ± deviation over processes.
A row whose programs answer differently is refused.
"""

from __future__ import annotations

import argparse
import functools
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from measure import PROCESSES, Column, Figure, peak_memory, run_columns, run_program, wall_time

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "benchmarks" / "programs"
PYTHON = Path(sys.executable)
TRAIN_LOOP = re.compile(r"^train\s+([0-9.]+) ms", re.MULTILINE)
MARKERS = ("<!-- benchmarks -->", "<!-- end of benchmarks -->")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure in several columns, all with the same answer."""

    name: str
    unit: str
    columns: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to reach: `limit` is an upper bound where `at_most`, else a lower one."""

    name: str
    measured: float
    limit: float
    at_most: bool
    unit: str = "×"

    @property
    def reached(self) -> bool:
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit


def build_seed(seed: Path, folder: Path) -> None:
    """Lay a project of the seed's typed programs into `folder`."""
    for name in ("train.ppy", "train_bench.ppy"):
        shutil.copy(seed / name, folder)
    entries = "".join(
        f'[entry.{name}]\nmodule = "{name}"\n' for name in ("train", "train_bench")
    )
    (folder / "ppy.toml").write_text('[sources]\nroots = ["."]\n' + entries)


def ppybuild(folder: Path, *words: str) -> str:
    return run_program([PYTHON, "-m", "ppybuild", *words], cwd=folder)


def launcher(folder: Path, entry: str) -> list[Path | str]:
    return [PYTHON, "-m", "ppybuild", "run", "--manifest", folder / "ppy.toml", entry]


def compare_programs(seed: Path, project: Path) -> tuple[list[Comparison], list[Goal]]:
    """The seed's loop and forward pass in every column."""
    columns = run_columns(
        {
            "CPython": [PYTHON, seed / "train_bench.ppy"],
            "PyTorch": [PYTHON, seed / "train_eager.py"],
            "torch.compile": [PYTHON, seed / "train_compile.py"],
            "ppybuild": launcher(project, "train_bench"),
            "Numba": [PYTHON, PROGRAMS / "numba_standardize.py", "numba"],
            "floor (C)": [PYTHON, PROGRAMS / "numba_standardize.py", "floor"],
        }
    )
    loop = "standardize, 20000 rows"
    forward = "forward pass, per call"
    rows = [
        pick(columns, loop, "ms", ["CPython", "PyTorch", "Numba", "ppybuild", "floor (C)"], 1),
        pick(columns, forward, "ms", ["PyTorch", "torch.compile", "ppybuild"], 3),
    ]
    ours = rows[0].columns["ppybuild"].mean
    goals = [
        Goal(
            "standardize, over the floor", ours / rows[0].columns["floor (C)"].mean, 1.5, True
        ),
        Goal(
            "standardize, PyTorch over it", rows[0].columns["PyTorch"].mean / ours, 4.0, False
        ),
        Goal("standardize, Numba over it", rows[0].columns["Numba"].mean / ours, 1.9, False),
        Goal(
            "forward at 20,000 rows, PyTorch over it",
            rows[1].columns["PyTorch"].mean / rows[1].columns["ppybuild"].mean,
            1.0,
            False,
        ),
    ]
    return rows, goals


def pick(
    columns: Mapping[str, Column], figure: str, unit: str, names: list[str], words: int
) -> Comparison:
    """One row; the first `words` words of the columns' answers must agree."""
    answers = {name: columns[name].answer.split()[:words] for name in names}
    if len({tuple(answer) for answer in answers.values()}) != 1:
        raise SystemExit(f"refused: {figure}: the answers differ: {answers}")
    return Comparison(figure, unit, {name: columns[name].figures[figure] for name in names})


def compare_rows() -> tuple[list[Comparison], list[Goal]]:
    """Other loops of the kind of the seed's, to see that they gain what it gains."""
    project = copied(PROGRAMS / "rows")
    columns = run_columns(
        {"CPython": [PYTHON, project / "rows.ppy"], "ppybuild": launcher(project, "rows")}
    )
    names = ("centre", "layer norm", "products")
    return [pick(columns, name, "ms", ["CPython", "ppybuild"], 2) for name in names], []


def compare_calls() -> tuple[list[Comparison], list[Goal]]:
    project = copied(PROGRAMS / "calls")
    column = run_columns({"calls": launcher(project, "calls")})["calls"]
    native, python = column.figures["native call"], column.figures["python call"]
    row = Comparison("a call with two ints", "ns", {"CPython": python, "ppybuild": native})
    return [row], [
        Goal("a native call over a Python call", native.mean / python.mean, 1.0, True)
    ]


def compare_starts() -> tuple[list[Comparison], list[Goal]]:
    project = copied(PROGRAMS / "start")
    ppybuild(project, "build")
    bundle = [PYTHON, project / "build" / "cpu" / "start" / "ppy" / "launch.py"]
    python = [PYTHON, project / "start.ppy"]
    times: dict[str, list[float]] = {"CPython": [], "ppybuild": []}
    for _ in range(PROCESSES):
        times["CPython"].append(wall_time(lambda: run_program(python)))
        times["ppybuild"].append(wall_time(lambda: run_program(bundle)))
    figures = {name: Figure(tuple(samples)) for name, samples in times.items()}
    extra = figures["ppybuild"].mean - figures["CPython"].mean
    row = Comparison("start of a bundle that imports torch", "s", figures)
    return [row], [Goal("start of a bundle over python", extra, 0.1, True, " s")]


def compare_memory(seed: Path, project: Path) -> tuple[list[Comparison], list[Goal]]:
    """What the seed's training program holds at most, as a bundle and under python."""
    bundle = project / "build" / "cpu" / "train" / "ppy" / "launch.py"
    commands = {"CPython": [PYTHON, seed / "train.ppy"], "ppybuild": [PYTHON, bundle]}
    samples: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(PROCESSES):
        for name, command in commands.items():
            samples[name].append(peak_memory(command) / 2**20)
    figures = {name: Figure(tuple(sizes)) for name, sizes in samples.items()}
    ratio = figures["ppybuild"].mean / figures["CPython"].mean
    row = Comparison("peak memory of the seed's training", "MiB", figures)
    return [row], [Goal("peak memory, over CPython", ratio, 1.0, True)]


def compare_builds(seed: Path) -> tuple[list[Comparison], list[Goal]]:
    """Cold, unchanged and one-function builds of the seed's training program."""
    cold, same, edited = [], [], []
    for attempt in range(3):
        project = Path(tempfile.mkdtemp(dir=SCRATCH.name))
        build_seed(seed, project)
        source = project / "train.ppy"
        build = functools.partial(ppybuild, project, "build", "train")
        cold.append(wall_time(build))
        same.append(wall_time(build))
        source.write_text(source.read_text().replace("+ 1e-8", f"+ {attempt + 2}e-8"))
        edited.append(wall_time(build))
    figures = {
        "cold": Figure(tuple(cold)),
        "nothing changed": Figure(tuple(same)),
        "one loop edited": Figure(tuple(edited)),
    }
    goals = [
        Goal("cold build", figures["cold"].mean, 15.0, True, " s"),
        Goal("build with nothing to do", figures["nothing changed"].mean, 0.6, True, " s"),
        Goal("one edited loop function", figures["one loop edited"].mean, 3.0, True, " s"),
    ]
    return [Comparison("`ppybuild build` of the seed", "s", figures)], goals


def compare_training(seed: Path, project: Path) -> tuple[list[Comparison], list[Goal]]:
    """The train loop of the seed's program, as a bundle and under python."""
    commands = {"CPython": [PYTHON, seed / "train.ppy"], "ppybuild": launcher(project, "train")}
    samples: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(PROCESSES):
        for name, command in commands.items():
            found = TRAIN_LOOP.search(run_program(command))
            if found is None:
                raise SystemExit(f"{name}: no line for the train loop")
            samples[name].append(float(found[1]))
    figures = {name: Figure(tuple(times)) for name, times in samples.items()}
    ratio = figures["CPython"].mean / figures["ppybuild"].mean
    row = Comparison("train loop of the seed, 100 steps", "ms", figures)
    return [row], [Goal("train loop, CPython over it", ratio, 1.0, False)]


STEPS = {20000: (2.8, 2.5), 2000: (5.0, None), 64: (20.0, 20.0), 1: (25.0, None)}
"""By batch size: how many times faster than eager PyTorch, and than torch.compile."""


EXACT = {20000: 1.0, 64: 1.5}
"""By batch size: how many times faster than eager PyTorch in exact numerics."""


FORWARDS = {20000: {"PyTorch": 1.7, "torch.compile": 1.7}, 8: {"PyTorch": 1.3}}
"""By batch size: how many times faster than each."""


EXACTLY = "ppybuild, exact"


def compare_steps() -> tuple[list[Comparison], list[Goal]]:
    """A training step, and a forward pass without gradients, in every column."""
    project = copied(PROGRAMS / "steps")
    compiled = [PYTHON, project / "compiled.py"]
    eager = [PYTHON, project / "steps.ppy"]
    columns = run_columns(
        {
            "PyTorch": eager,
            "torch.compile": [*compiled, "forward"],
            "torch.compile, whole": [*compiled, "whole"],
            "ppybuild": launcher(project, "steps"),
        }
    )
    # The same calls of ATen on both sides, fast or slow by where a process's memory lies.
    exact = run_columns({"PyTorch": eager, EXACTLY: launcher(project, "exact")}, 3 * PROCESSES)
    columns[EXACTLY] = exact[EXACTLY]
    for name in [name for name in columns if columns[name].answer != columns["PyTorch"].answer]:
        # torch.compile of a whole step with its update has answered otherwise.
        print(f"left out: {name} answers {columns.pop(name).answer!r}", file=sys.stderr)
    names = list(columns)
    rows, goals = [], []
    for size, (eager, compile) in STEPS.items():
        row = pick(columns, f"step, {size} rows", "us", names, 6)
        rows.append(row)
        ours = row.columns["ppybuild"].mean
        limits = {"PyTorch": eager, "torch.compile": compile, "torch.compile, whole": compile}
        goals += [
            Goal(f"{row.name}, {name} over it", row.columns[name].mean / ours, limit, False)
            for name, limit in limits.items()
            if limit is not None and name in columns
        ]
        if size in EXACT and EXACTLY in columns:
            both = pick(exact, row.name, "us", list(exact), 6).columns
            ratio = both["PyTorch"].mean / both[EXACTLY].mean
            name = f"{row.name}, exact, PyTorch over it"
            goals.append(Goal(name, ratio, EXACT[size], False))
    for size, limits in FORWARDS.items():
        row = pick(columns, f"forward, {size} rows", "us", [*limits, "ppybuild"], 6)
        rows.append(row)
        ours = row.columns["ppybuild"].mean
        goals += [
            Goal(f"{row.name}, {name} over it", row.columns[name].mean / ours, limit, False)
            for name, limit in limits.items()
        ]
    return rows, goals


def compare_classifier() -> tuple[list[Comparison], list[Goal]]:
    """A training step with three layers, cross-entropy and Adam."""
    project = copied(PROGRAMS / "classifier")
    columns = run_columns(
        {
            "PyTorch": [PYTHON, project / "classifier.ppy"],
            "torch.compile": [PYTHON, project / "compiled.py"],
            "ppybuild": launcher(project, "classifier"),
        }
    )
    row = pick(columns, "classifier step, 256 rows", "us", list(columns), 1)
    ours = row.columns["ppybuild"].mean
    return [row], [
        Goal(f"{row.name}, {name} over it", row.columns[name].mean / ours, limit, False)
        for name, limit in {"PyTorch": 3.0, "torch.compile": 1.5}.items()
    ]


def compare_staged() -> tuple[list[Comparison], list[Goal]]:
    """Steps that no one kernel holds: kernels between PyTorch's own calls."""
    project = copied(PROGRAMS / "staged")
    columns = run_columns(
        {
            "PyTorch": [PYTHON, project / "staged.ppy"],
            "ppybuild": launcher(project, "staged"),
        }
    )
    rows = [pick(columns, name, "ms", list(columns), 3) for name in STAGED]
    return rows, [
        Goal(
            f"{row.name}, PyTorch over it",
            row.columns["PyTorch"].mean / row.columns["ppybuild"].mean,
            1.0,
            False,
        )
        for row in rows
    ]


STAGED = ("wide step, 64 rows", "residual step, 64 rows", "convolutional step, 64 images")


def copied(project: Path) -> Path:
    return Path(
        shutil.copytree(project, Path(tempfile.mkdtemp(dir=SCRATCH.name)) / project.name)
    )


SCRATCH = tempfile.TemporaryDirectory()


def machine() -> str:
    cpu = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "numba", "scons"))
    compiler = run_program(["g++", "--version"]).splitlines()[0]
    return (
        f"{cpu[1] if cpu else 'unknown CPU'}, {platform.system()} {platform.machine()}, "
        f"CPython {platform.python_version()}, {packages}, {compiler}"
    )


def render(rows: list[Comparison], goals: list[Goal]) -> str:
    lines = ["| what | unit | measured (mean ± deviation) |", "|---|---|---|"]
    for row in rows:
        cells = "; ".join(f"{name} **{figure}**" for name, figure in row.columns.items())
        lines.append(f"| {row.name} | {row.unit} | {cells} |")
    lines += ["", "| goal | reach | measured | |", "|---|---|---|---|"]
    for goal in goals:
        sign = "≤" if goal.at_most else "≥"
        verdict = "reached" if goal.reached else "**missed**"
        limit, measured = f"{goal.limit:g}{goal.unit}", f"{goal.measured:.2f}{goal.unit}"
        lines.append(f"| {goal.name} | {sign} {limit} | {measured} | {verdict} |")
    return "\n".join(lines) + "\n"


def write(text: str) -> None:
    page = ROOT / "docs" / "benchmarks.md"
    page.write_text(
        "# Benchmarks\n\nWritten by `make benchmark` (`benchmarks/compare.py --write`); "
        "every figure was measured in one run, the best of several in each of "
        f"{PROCESSES} processes. A column whose program answers otherwise is left out: so "
        "far `torch.compile` of a whole training step with its update.\n\n"
        f"{machine()}.\n\n{text}"
    )
    readme = ROOT / "README.md"
    before, rest = readme.read_text().split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    readme.write_text(f"{before}{MARKERS[0]}\n{text}{MARKERS[1]}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=Path, required=True, help="folder of the seed programs")
    parser.add_argument("--write", action="store_true", help="update docs and README")
    options = parser.parse_args()
    project = Path(tempfile.mkdtemp(dir=SCRATCH.name))
    build_seed(options.seed, project)
    parts = [
        compare_programs(options.seed, project),
        compare_training(options.seed, project),
        compare_memory(options.seed, project),
        compare_steps(),
        compare_classifier(),
        compare_staged(),
        compare_rows(),
        compare_calls(),
        compare_starts(),
        compare_builds(options.seed),
    ]
    text = render(
        [row for rows, _ in parts for row in rows],
        [goal for _, goals in parts for goal in goals],
    )
    print(machine() + "\n\n" + text)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
