"""`ppybuild run`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

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

if TYPE_CHECKING:
    from ppybuild.manifest import Manifest

_HELP = """Build an entry if anything changed, then run it.

What stands after `--` are the program's arguments, in place of the `args` of the manifest.
Its standard input, signals and exit status are its own.

\b
  ppybuild run train
  ppybuild run train -- --epochs 10
  ppybuild run train --nproc 2     as `torchrun --nproc-per-node 2` starts it
  ppybuild run train --record      under Python, and write down the shapes it meets

With `--record` nothing is built: the next build specialises on what `ppy.shapes.toml` says
where it does not find out itself what shapes tensors have.
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
@click.option(
    "--record",
    is_flag=True,
    help="Run under Python, and write the shapes of tensors into ppy.shapes.toml.",
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
    record: bool,
    manifest_path: Path | None,
) -> None:
    """As `_HELP` says."""
    if nproc is not None:
        from ppybuild.targets.toolchain import need_torch

        need_torch()
    if record and nproc is not None:
        raise click.UsageError("--record runs one process: leave --nproc out")
    manifest = load_manifest(manifest_path)
    if record:
        _record(manifest, entry, args)
    options = make_options(jobs, numerics, verbose)
    (result,) = build_entries(manifest, (entry,), device, options)
    sys.stdout.flush()
    sys.stderr.flush()
    starter = [] if nproc is None else [*_STARTER, f"--nproc-per-node={nproc}"]
    # In place of this process, so that signals and the terminal are the program's.
    os.execv(sys.executable, [sys.executable, *starter, str(result.start), *args])


def _record(manifest: Manifest, entry: str, args: tuple[str, ...]) -> NoReturn:
    """In place of this process, as the program would run."""
    from ppybuild.graph.shapes import NAME, read_shapes
    from ppybuild.targets.build import choose_entries

    choose_entries(manifest, (entry,))
    read_shapes(manifest.root)  # what cannot be kept is said before the program runs
    said = manifest.entry[entry]
    roots = os.pathsep.join(str(root) for root in manifest.sources.roots)
    words = ("-m", "ppybuild.cli.recorder", str(manifest.root / NAME), roots, said.module)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *words, *(args or said.args)])
