"""`ppybuild graph`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppybuild.cli.common import Command, load_manifest, manifest_option, shown
from ppybuild.diagnostics import Diagnostic, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppybuild.cli.program_map import ProgramMap

_HELP = """Show modules, functions, calls, and what is native of them.

\b
  ppybuild graph                              for reading here
  ppybuild graph --format json                for other tools
  ppybuild graph --format dot | dot -Tsvg     a drawing of the calls, with Graphviz
  ppybuild graph --format page -o map.html    one page, to open in a browser
"""


@click.command("graph", cls=Command, help=_HELP, short_help="Show the program and its calls.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "dot", "page"]),
    default="text",
    show_default=True,
    help="How it is written.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="A file, instead of standard output.",
)
@manifest_option
def command(form: str, output: Path | None, manifest_path: Path | None) -> None:
    """As `_HELP` says."""
    from ppybuild.cli.program_map import map_program

    text = _writer(form)(map_program(load_manifest(manifest_path)))
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"cannot write {output}: {error.strerror}"
        raise Failure(Diagnostic("E2108", message), status=2) from error
    click.echo(f"wrote {shown(output.absolute())}", err=True)


def _writer(form: str) -> Callable[[ProgramMap], str]:
    from ppybuild.cli import graph_formats, graph_page

    return {
        "text": graph_formats.write_text,
        "json": graph_formats.write_json,
        "dot": graph_formats.write_dot,
        "page": graph_page.write_page,
    }[form]
