"""`ppybuild check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppybuild.cli.common import (
    Command,
    counted,
    format_option,
    keep,
    load_manifest,
    manifest_option,
    show,
)
from ppybuild.diagnostics import CODES, Diagnostic
from ppybuild.places import by_place

if TYPE_CHECKING:
    from ppybuild.graph.program import Facts
    from ppybuild.manifest import Manifest
    from ppybuild.render import Format

_HELP = """Say what is wrong with the program. Nothing is built.

The whole program is read, not one file at a time: a call is checked against the function
that it reaches in another module. What is not known is not reported. The exit status is 1
where there is an error.

\b
  ppybuild check
  ppybuild check --remarks              what stays in Python, and why
  ppybuild check --format sarif > out   for an editor or a code host
  ppybuild explain E1206                what a code means
"""


@click.command("check", cls=Command, help=_HELP, short_help="Say what is wrong with a program.")
@click.option("--remarks", is_flag=True, help="Also what was optimised, what was not, and why.")
@format_option
@manifest_option
@click.pass_context
def command(
    ctx: click.Context, remarks: bool, style: Format, manifest_path: Path | None
) -> None:
    """As `_HELP` says."""
    from ppybuild.graph.analyse import PIPELINE, TYPES_ALONE, analyse
    from ppybuild.graph.check import check
    from ppybuild.graph.library import Library
    from ppybuild.graph.load import load

    manifest = load_manifest(manifest_path)
    program = load(manifest)
    library = Library()
    facts = analyse(program, library, PIPELINE if remarks else TYPES_ALONE)
    keep(ctx, facts)
    found = {*program.diagnostics, *facts.diagnostics, *check(facts, library)}
    if remarks:
        found |= _remarks(manifest, facts)
    else:
        found = {one for one in found if CODES[one.code].severity != "remark"}
    show(sorted(found, key=by_place), style, Path.cwd())
    errors = sum(CODES[one.code].severity == "error" for one in found)
    if style == "text":
        modules = counted(len(program.modules), "module")
        click.echo(f"{counted(errors, 'error')} in {modules}", err=True)
    ctx.exit(1 if errors else 0)


def _remarks(manifest: Manifest, facts: Facts) -> set[Diagnostic]:
    """What building each entry would remark."""
    from ppybuild.targets.emitting import emit_entry
    from ppybuild.targets.modules import main_module

    found: set[Diagnostic] = set()
    for entry in manifest.entry.values():
        main = main_module(facts.program, entry.module)
        if main is not None:
            found |= {*emit_entry(facts, entry, main, manifest.build.device).remarks}
    return found
