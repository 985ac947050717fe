"""`package --format native` against C written by hand: N-body, start, size.

    python benchmarks/standalone.py [--steps 5000000] [--runs 7]

The C is compiled with -O3 -march=native, and with -ffp-contract=off, which CPython's bits
take. Both run by turns; the least processor time of each counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs" / "nbody"
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-lm")


def seconds(*command: str) -> float:
    """Processor time of one run."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system


def clocked(*command: str) -> float:
    """Time of one run, from start to end."""
    before = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        by_hand, made = folder / "by_hand", folder / "made"
        source = str(PROGRAMS / "nbody.c")
        subprocess.run(["gcc", source, "-o", str(by_hand), *FLAGS], check=True)
        package = [sys.executable, "-m", "ppybuild", "package", "nbody", "--format", "native"]
        manifest = ["--manifest", str(PROGRAMS / "ppy.toml"), "--output", str(made)]
        subprocess.run([*package, *manifest], check=True, capture_output=True)
        outputs = {
            subprocess.run([each, "1000"], capture_output=True, check=True).stdout
            for each in (by_hand, made)
        }
        times: dict[Path, list[float]] = {by_hand: [], made: []}
        for _ in range(args.runs):
            for each, found in times.items():
                found.append(seconds(str(each), str(args.steps)))
        c, native = min(times[by_hand]), min(times[made])
        start = min(clocked(str(made), "1") for _ in range(20))
        print(f"the same output: {len(outputs) == 1}")
        print(f"C by hand  {c:.2f} s\nnative     {native:.2f} s\nratio      {native / c:.2f}")
        print(f"start      {start * 1000:.1f} ms\nsize       {made.stat().st_size} bytes")


if __name__ == "__main__":
    main()
