"""`ppybuild run`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

import click

from ppybuild.cli.build import build_entries, make_options
from ppybuild.cli.common import (
    Command,
    device_option,
    jobs_option,
    load_manifest,
    manifest_option,
    numerics_option,
    verbose_option,
)

_HELP = """Build an entry if anything changed, then run it.

What stands after `--` are the program's arguments, in place of the `args` of the manifest.
Its standard input, signals and exit status are its own.

\b
  ppybuild run train
  ppybuild run train -- --epochs 10
"""


@click.command("run", cls=Command, help=_HELP, short_help="Build an entry, then run it.")
@click.argument("entry")
@click.argument("args", nargs=-1, metavar="[-- ARGS]...")
@device_option
@jobs_option
@numerics_option
@verbose_option
@manifest_option
def command(
    entry: str,
    args: tuple[str, ...],
    device: str | None,
    jobs: int | None,
    numerics: Literal["fused", "exact"] | None,
    verbose: bool,
    manifest_path: Path | None,
) -> None:
    """As `_HELP` says."""
    manifest = load_manifest(manifest_path)
    options = make_options(jobs, numerics, verbose)
    (result,) = build_entries(manifest, (entry,), device, options)
    sys.stdout.flush()
    sys.stderr.flush()
    # In place of this process, so that signals and the terminal are the program's.
    os.execv(sys.executable, [sys.executable, str(result.start), *args])
