"""`ppybuild build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ppybuild.cli.common import (
    Command,
    counted,
    device_option,
    format_option,
    jobs_option,
    load_manifest,
    manifest_option,
    numerics_option,
    show,
    shown,
    verbose_option,
)

if TYPE_CHECKING:
    from ppybuild.manifest import Manifest
    from ppybuild.render import Format
    from ppybuild.targets.build import Options, Result

_HELP = """Build entries of the manifest, all of them where none is named.

What was built before and has not changed is left alone. Each entry becomes a folder
`build/<device>/<entry>/` that runs without ppybuild and without a compiler.

\b
  ppybuild build                   everything
  ppybuild build train --verbose   one entry, with the compiler's commands
  ppybuild build --remarks         with what stays in Python, and why
"""


@click.command("build", cls=Command, help=_HELP, short_help="Build entries.")
@click.argument("entries", nargs=-1, metavar="[ENTRY]...")
@device_option
@jobs_option
@numerics_option
@verbose_option
@click.option("--remarks", is_flag=True, help="Say what became native, what did not, and why.")
@format_option
@manifest_option
def command(
    entries: tuple[str, ...],
    device: str | None,
    jobs: int | None,
    numerics: Literal["fused", "exact"] | None,
    verbose: bool,
    remarks: bool,
    style: Format,
    manifest_path: Path | None,
) -> None:
    """As `_HELP` says."""
    manifest = load_manifest(manifest_path)
    options = make_options(jobs, numerics, verbose)
    results = build_entries(manifest, entries, device, options)
    told = [one for result in results for one in result.remarks]
    if remarks or style != "text":
        show(told if remarks else [], style, Path.cwd())
    if style == "text":
        for result in results:
            state = "built" if result.reason else "up to date"
            click.echo(f"{result.entry}: {state}, {shown(result.launcher)}")
        errors = max((result.errors for result in results), default=0)
        if errors:
            click.echo(f"{counted(errors, 'error')}: ppybuild check", err=True)
        if told and not remarks:
            click.echo(f"{counted(len(told), 'remark')}: ppybuild check --remarks", err=True)


def make_options(
    jobs: int | None, numerics: Literal["fused", "exact"] | None, verbose: bool
) -> Options:
    from ppybuild.targets.build import Options

    return Options(jobs=jobs, numerics=numerics, verbose=verbose)


def build_entries(
    manifest: Manifest,
    entries: tuple[str, ...],
    device: str | None,
    options: Options,
) -> tuple[Result, ...]:
    """Build with progress shown."""
    from ppybuild.cli.progress import Progress
    from ppybuild.targets.build import build

    progress = Progress()
    try:
        return build(manifest, entries, device or manifest.build.device, options, progress)
    finally:
        progress.close()
