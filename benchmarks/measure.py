"""Run programs as processes and read what they measured about themselves.

A benchmark program prints a line `# NAME: VALUE UNIT` for each figure, the best of its own
repetitions, and last a line with its answer.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FIGURE = re.compile(r"^# ([^:]+):\s+([0-9.]+) (?:ms|us|ns|s)\b", re.MULTILINE)
PROCESSES = 5


@dataclass(frozen=True, slots=True)
class Run:
    """What one process printed: its figures by name, and its last line."""

    figures: Mapping[str, float]
    answer: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity measured in several processes, in the unit that the program printed."""

    samples: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.samples)

    @property
    def deviation(self) -> float:
        return statistics.stdev(self.samples) if len(self.samples) > 1 else 0.0

    def __str__(self) -> str:
        digits = 4 if self.mean < 0.1 else 3 if self.mean < 10 else 1
        return f"{self.mean:.{digits}f} ± {self.deviation:.{digits}f}"


@dataclass(frozen=True, slots=True)
class Column:
    """One program, run several times."""

    figures: Mapping[str, Figure]
    answer: str


def read_run(output: str) -> Run:
    """Read a program's output.

    >>> read_run("# loop, 10 rows: 1.50 ms\\n3.0 4.0\\n")
    Run(figures={'loop, 10 rows': 1.5}, answer='3.0 4.0')
    """
    figures = {name: float(value) for name, value in FIGURE.findall(output)}
    lines = output.strip().splitlines()
    return Run(figures, lines[-1] if lines else "")


def run_program(command: Sequence[str | Path], cwd: Path | None = None) -> str:
    """The standard output of a command, which must succeed."""
    ran = subprocess.run(
        [str(word) for word in command], cwd=cwd, text=True, capture_output=True, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def peak_memory(command: Sequence[str | Path]) -> int:
    """The bytes that a command, which must succeed, holds at most (its resident set)."""
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return usage.ru_maxrss * 1024


def run_columns(
    commands: Mapping[str, Sequence[str | Path]], processes: int = PROCESSES
) -> dict[str, Column]:
    """Run each program so many times, the programs in turn, so that a slow minute of the
    machine falls on all of them."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(processes):
        for name, command in commands.items():
            runs[name].append(read_run(run_program(command)))
    return {name: collect(name, found) for name, found in runs.items()}


def collect(name: str, runs: Sequence[Run]) -> Column:
    answers = {run.answer for run in runs}
    if len(answers) != 1:
        raise SystemExit(f"{name} answers differently from run to run: {sorted(answers)}")
    figures = {
        figure: Figure(tuple(run.figures[figure] for run in runs)) for figure in runs[0].figures
    }
    return Column(figures, answers.pop())


def wall_time(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
