"""Measure training steps on a GPU against PyTorch and torch.compile, in one run.

    python benchmarks/gpu.py             print the table
    python benchmarks/gpu.py --write     and put it into docs/benchmarks-gpu.md
    python benchmarks/gpu.py --cpu       try the script without a GPU: figures mean nothing

Each column is one process: times are medians of 30, by the GPU's own events, over data and
memory that are new each time. A column that answers otherwise than PyTorch is refused. The
whole takes less than four minutes: columns that do not fit are left out.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import torch
from measure import Run, read_run

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "benchmarks" / "programs" / "gpu"
PAGE = ROOT / "docs" / "benchmarks-gpu.md"
ROWS = ("64", "2000", "20000", "200000")
TRIAL_ROWS = ("5", "64")
MODES = ("default", "reduce-overhead")
LIMIT = 230
"""Seconds for everything."""
CLOSE = 2e-3
"""How far answers, sums of losses and weights of order one, may lie apart."""


class NotDone(Exception):
    """A command failed, or the time was over before it ended."""


class Clock:
    """What is left of the time."""

    def __init__(self) -> None:
        self.end = time.monotonic() + LIMIT

    def run(self, command: Sequence[str | Path]) -> str:
        """Its standard output."""
        words = [str(word) for word in command]
        left = max(1.0, self.end - time.monotonic())
        try:
            ran = subprocess.run(
                words, text=True, capture_output=True, check=False, timeout=left
            )
        except subprocess.TimeoutExpired:
            raise NotDone("the time was over") from None
        if ran.returncode:
            raise NotDone(f"{' '.join(words)}\n{ran.stdout}{ran.stderr}")
        return ran.stdout


def build(clock: Clock, folder: Path, arch: str) -> Path:
    """What starts the program's bundle for the card."""
    for path in PROGRAM.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    manifest = folder / "ppy.toml"
    manifest.write_text(f'{manifest.read_text()}\n[device.cuda]\narch = ["{arch}"]\n')
    ppybuild = [sys.executable, "-m", "ppybuild", "build", "--manifest", manifest]
    clock.run([*ppybuild, "--device", "cuda", "gpu"])
    return folder / "build" / "cuda" / "gpu" / "ppy" / "launch.py"


def measure(device: str, arch: str, rows: Sequence[str]) -> dict[str, Run]:
    """By column; without those of `torch.compile` that fail or were not done in time."""
    clock = Clock()
    python = sys.executable
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        start = build(clock, folder, arch)
        commands: dict[str, list[str | Path]] = {
            "PyTorch": [python, folder / "gpu.ppy", device, *rows],
            "ppybuild": [python, start, device, *rows],
            **{
                f"torch.compile, {mode}": [python, folder / "compiled.py", mode, device, *rows]
                for mode in MODES
                if device != "cpu"
            },
        }
        runs: dict[str, Run] = {}
        for name, command in commands.items():
            try:
                runs[name] = read_run(clock.run(command))
            except NotDone as reason:
                if name in ("PyTorch", "ppybuild"):
                    raise
                print(f"{name} is left out: {reason}", file=sys.stderr)
    return runs


def differing(runs: Mapping[str, Run]) -> list[str]:
    """Columns whose answers are not PyTorch's."""
    wanted = [float(word) for word in runs["PyTorch"].answer.split()]
    found = {name: [float(word) for word in run.answer.split()] for name, run in runs.items()}
    return [
        name
        for name, answers in found.items()
        if len(answers) != len(wanted)
        or any(not abs(a - b) <= CLOSE for a, b in zip(answers, wanted, strict=True))
    ]


def table(runs: Mapping[str, Run]) -> str:
    """Microseconds, and how many times faster than each of the others ppybuild is."""
    names = list(runs)
    others = [name for name in names if name != "ppybuild"]
    heads = [*names, *(f"over {name}" for name in others)]
    lines = [f"| µs | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for figure, ours in runs["ppybuild"].figures.items():
        cells = [f"{runs[name].figures[figure]:.1f}" for name in names]
        cells += [f"{runs[name].figures[figure] / ours:.1f}×" for name in others]
        lines.append(f"| {figure} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs")
    parser.add_argument("--cpu", action="store_true", help="try the script without a GPU")
    arguments = parser.parse_args()
    if not arguments.cpu and not torch.cuda.is_available():
        raise SystemExit("no GPU that this torch can use; --cpu tries the script without one")
    if arguments.cpu:
        device, arch, rows = "cpu", "sm_90", TRIAL_ROWS
        card = "no GPU: the processor, a trial of the script"
    else:
        major, minor = torch.cuda.get_device_capability()
        device, arch, rows = "cuda", f"sm_{major}{minor}", ROWS
        card = torch.cuda.get_device_name()
    try:
        runs = measure(device, arch, rows)
    except NotDone as reason:
        raise SystemExit(str(reason)) from None
    wrong = differing(runs)
    if wrong:
        raise SystemExit(f"answers differ from PyTorch's: {', '.join(wrong)}")
    text = f"{card}; torch {version('torch')}, CUDA {torch.version.cuda}\n\n{table(runs)}\n"
    print(text)
    if arguments.write and not arguments.cpu:
        PAGE.write_text(f"# On a GPU\n\n`python benchmarks/gpu.py --write`\n\n{text}")


if __name__ == "__main__":
    main()
