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
  ppybuild run train --nproc 2     as `torchrun --nproc-per-node 2` starts it
"""


_STARTER = ("-m", "torch.distributed.run", "--standalone")
"""What `torchrun` runs; alone, so that two runs on one machine do not meet."""


@click.command("run", cls=Command, help=_HELP, short_help="Build an entry, then run it.")
@click.argument("entry")
@click.argument("args", nargs=-1, metavar="[-- ARGS]...")
@device_option
@jobs_option
@numerics_option
@verbose_option
@click.option(
    "--nproc",
    type=click.IntRange(min=1),
    metavar="N",
    help="Start N processes of torch.distributed on this machine, which share the build.",
)
@manifest_option
def command(
    entry: str,
    args: tuple[str, ...],
    device: str | None,
    jobs: int | None,
    numerics: Literal["fused", "exact"] | None,
    verbose: bool,
    nproc: int | None,
    manifest_path: Path | None,
) -> None:
    """As `_HELP` says."""
    if nproc is not None:
        from ppybuild.targets.toolchain import need_torch

        need_torch()
    manifest = load_manifest(manifest_path)
    options = make_options(jobs, numerics, verbose)
    (result,) = build_entries(manifest, (entry,), device, options)
    sys.stdout.flush()
    sys.stderr.flush()
    starter = [] if nproc is None else [*_STARTER, f"--nproc-per-node={nproc}"]
    # In place of this process, so that signals and the terminal are the program's.
    os.execv(sys.executable, [sys.executable, *starter, str(result.start), *args])
