"""`ppybuild clean`."""

from __future__ import annotations

from pathlib import Path

import click

from ppybuild.cli.common import Command, load_manifest, manifest_option, shown
from ppybuild.diagnostics import Diagnostic, Failure

_HELP = """Remove the build folder, and nothing else.

A folder that ppybuild did not make is left alone.
"""


@click.command("clean", cls=Command, help=_HELP, short_help="Remove the build folder.")
@manifest_option
def command(manifest_path: Path | None) -> None:
    """As `_HELP` says."""
    from ppybuild.cli.progress import Progress
    from ppybuild.targets.folder import remove

    folder = load_manifest(manifest_path).build.dir
    try:
        removed = remove(folder, Progress().waiting)
    except OSError as error:
        raise Failure(
            Diagnostic(
                "E2108", f"`{error.filename or folder}` cannot be removed: {error.strerror}"
            ),
            status=2,
        ) from error
    click.echo(f"removed {shown(folder)}" if removed else "nothing to remove")
