"""`ppybuild package`."""

from __future__ import annotations

from pathlib import Path

import click

from ppybuild.cli.build import make_options
from ppybuild.cli.common import (
    Command,
    device_option,
    jobs_option,
    load_manifest,
    manifest_option,
    shown,
    verbose_option,
)

_HELP = """Build an entry, and make of it what can be handed over.

\b
  dir       a folder, and the same as one archive with its digest
  onefile   one executable file; the host has Python and the program's libraries
  full      a folder with Python and the libraries; the host needs neither
  native    one executable with no Python inside, of a program that lowers as a whole

What is written goes into `dist` beside the manifest, unless --output says otherwise.

\b
  ppybuild package train
  ppybuild package train --format onefile --output ./train
  ppybuild package train --library     a C library of what is marked `ppy.export`
"""

FORMATS = ("dir", "onefile", "full", "native")


@click.command("package", cls=Command, help=_HELP, short_help="Make an entry's package.")
@click.argument("entry")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="What to make.  [default: dir]",
)
@click.option(
    "--library",
    is_flag=True,
    help="Make a shared library of the exported functions, for C and for Python.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(),
    help="The folder to write into; for one file, the file.  [default: dist]",
)
@click.option("--force", is_flag=True, help="Replace what is there.")
@device_option
@jobs_option
@verbose_option
@manifest_option
def command(
    entry: str,
    form: str | None,
    library: bool,
    output: str | None,
    force: bool,
    device: str | None,
    jobs: int | None,
    verbose: bool,
    manifest_path: Path | None,
) -> None:
    """As `_HELP` says."""
    from ppybuild.cli.progress import Progress
    from ppybuild.targets.package.package import package, package_library, package_native

    if library and form is not None:
        raise click.UsageError("--library is a format of its own: leave --format out")
    manifest = load_manifest(manifest_path)
    device = device or manifest.build.device
    options = make_options(jobs, None, verbose)
    progress = Progress()
    try:
        made = (
            (
                package_library(
                    manifest,
                    entry,
                    device,
                    output,
                    force=force,
                    options=options,
                    report=progress,
                ),
            )
            if library
            else (
                package_native(
                    manifest,
                    entry,
                    device,
                    output,
                    force=force,
                    options=options,
                    report=progress,
                ),
            )
            if form == "native"
            else package(
                manifest,
                entry,
                device,
                form or "dir",
                output,
                force=force,
                options=options,
                report=progress,
            )
        )
    finally:
        progress.close()
    for one in made:
        click.echo(f"{entry}: {shown(one.path)}, {megabytes(one.size)}")
        for name, size in one.parts.items():
            click.echo(f"  {megabytes(size):>11}  {name}")
        if one.parts:
            click.echo(f"  the largest part is {next(iter(one.parts))}")


def megabytes(size: int) -> str:
    """`0.13 MB`; 1 MB is a million bytes."""
    return f"{size / 1e6:.2f} MB"
