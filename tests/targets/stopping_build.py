"""Builds the project in a folder and stops at a moment, for a test to kill it there.

    python -m tests.targets.stopping_build FOLDER MODULE FUNCTION

stops on entry to the function, after a line on standard output; `- -` never stops.
"""

from __future__ import annotations

import importlib
import signal
import sys
import types
from pathlib import Path
from typing import Any

from ppybuild.graph.load import load as read
from ppybuild.manifest import load
from ppybuild.targets import build as building
from ppybuild.targets.report import Silent
from tests.targets.projects import emission, extension


def stop(*_: Any, **__: Any) -> None:
    print("here", flush=True)
    while True:
        signal.pause()


def main(folder: Path, module: str, function: str) -> None:
    fake = types.ModuleType("ppybuild.targets.emitting")
    fake.__dict__["emit_entry"] = lambda *_: emission(extension())
    sys.modules[fake.__name__] = fake
    facts: Any = types.SimpleNamespace(diagnostics=())
    building.analyse_entries = lambda manifest, _: (read(manifest), facts)
    if function != "-":
        owner: Any = importlib.import_module(module)
        *path, last = function.split(".")
        for name in path:
            owner = getattr(owner, name)
        setattr(owner, last, stop)
    building.build(load(folder / "ppy.toml"), (), "cpu", building.Options(), Silent())
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
