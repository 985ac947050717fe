"""Convert the untyped program of a folder: processor time, interpreter start-up left out.

    python benchmarks/convert.py PROGRAM.py [--runs 5]

Prints the least seconds of `ppybuild convert --dry-run` over the runs, and how much of them
an empty program takes, in seconds of the processor: other work on the machine hardly shows.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

MANIFEST = '[sources]\nroots = ["."]\n\n[entry.main]\nmodule = "{module}"\n'


def processor_seconds(command: Sequence[str], folder: Path) -> float:
    """What one run of a command takes; exits with what it says where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    convert = [sys.executable, "-m", "ppybuild", "convert", "--dry-run"]
    empty = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "ppy.toml").write_text(MANIFEST.format(module=options.program.stem))
        shutil.copy(options.program, folder)
        whole = min(processor_seconds(convert, folder) for _ in range(options.runs))
        start = min(processor_seconds(empty, folder) for _ in range(options.runs))
    print(f"convert: {whole:.2f} s, of which start-up {start:.2f} s")


if __name__ == "__main__":
    main()
