"""Measure training steps on a GPU against PyTorch and torch.compile, in one run.

    python benchmarks/gpu.py             print the table
    python benchmarks/gpu.py --write     and put it into docs/benchmarks-gpu.md
    python benchmarks/gpu.py --cpu       try the script without a GPU: figures mean nothing

Each column is one process: times are medians of 30, by the GPU's own events, over data and
memory that are new each time. A column that answers otherwise than PyTorch is refused.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import torch
from measure import Run, read_run, run_program

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "benchmarks" / "programs" / "gpu"
PAGE = ROOT / "docs" / "benchmarks-gpu.md"
MODES = ("default", "reduce-overhead")
CLOSE = 2e-3
"""How far answers, sums of losses of order one, may lie apart."""


def build(folder: Path, arch: str) -> Path:
    """What starts the program's bundle for the card."""
    for path in PROGRAM.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    manifest = folder / "ppy.toml"
    manifest.write_text(f'{manifest.read_text()}\n[device.cuda]\narch = ["{arch}"]\n')
    ppybuild = [sys.executable, "-m", "ppybuild", "build", "--manifest", manifest]
    run_program([*ppybuild, "--device", "cuda", "gpu"])
    return folder / "build" / "cuda" / "gpu" / "ppy" / "launch.py"


def measure(device: str, arch: str) -> dict[str, Run]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        start = build(folder, arch)
        commands: dict[str, list[str | Path]] = {
            "PyTorch": [sys.executable, folder / "gpu.ppy", device],
            **{
                f"torch.compile, {mode}": [sys.executable, folder / "compiled.py", device, mode]
                for mode in MODES
                if device != "cpu"
            },
            "ppybuild": [sys.executable, start, device],
        }
        return {name: read_run(run_program(command)) for name, command in commands.items()}


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
    names = list(runs)
    lines = [f"| µs | {' | '.join(names)} | over PyTorch |", "|---" * (len(names) + 2) + "|"]
    for figure, eager in runs["PyTorch"].figures.items():
        cells = [f"{runs[name].figures[figure]:.1f}" for name in names]
        ratio = eager / runs["ppybuild"].figures[figure]
        lines.append(f"| {figure} | {' | '.join(cells)} | {ratio:.1f}× |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs")
    parser.add_argument("--cpu", action="store_true", help="try the script without a GPU")
    arguments = parser.parse_args()
    if not arguments.cpu and not torch.cuda.is_available():
        raise SystemExit("no GPU that this torch can use; --cpu tries the script without one")
    if arguments.cpu:
        device, arch, card = "cpu", "sm_90", "no GPU: the processor, a trial of the script"
    else:
        major, minor = torch.cuda.get_device_capability()
        device, arch, card = "cuda", f"sm_{major}{minor}", torch.cuda.get_device_name()
    runs = measure(device, arch)
    wrong = differing(runs)
    if wrong:
        raise SystemExit(f"answers differ from PyTorch's: {', '.join(wrong)}")
    text = f"{card}; torch {version('torch')}, CUDA {torch.version.cuda}\n\n{table(runs)}\n"
    print(text)
    if arguments.write and not arguments.cpu:
        PAGE.write_text(f"# On a GPU\n\n`python benchmarks/gpu.py --write`\n\n{text}")


if __name__ == "__main__":
    main()
