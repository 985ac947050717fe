"""`ppybuild convert`."""

from __future__ import annotations

import contextlib
import difflib
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppybuild.cli.common import (
    Command,
    counted,
    format_option,
    load_manifest,
    manifest_option,
    show,
    shown,
)
from ppybuild.diagnostics import CODES, Diagnostic, Failure

if TYPE_CHECKING:
    from ppybuild.convert.convert import Conversion, ConvertedFile
    from ppybuild.graph.program import Program
    from ppybuild.manifest import Manifest
    from ppybuild.render import Format

_HELP = """Make a typed .ppy of each .py: annotations, `@ppy.pure`, buffers.

Types are inferred over the whole program, whatever files are named, and nothing is guessed:
a parameter that nothing types is an error (or, with --partial, is left as it is). Remarks
say what was promoted to buffers and what was not. Nothing is written if anything fails.

\b
  ppybuild convert                    every .py of the project
  ppybuild convert src/train.py       one file, typed from all of them
  ppybuild convert --diff             what would change
  ppybuild convert --in-place         write the .ppy files and remove the .py files
  ppybuild convert --check            exit 1 if a file would change: for CI
"""


@click.command(
    "convert", cls=Command, help=_HELP, short_help="Make typed .ppy files of .py files."
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option(
    "--promote-buffers/--no-promote-buffers",
    "promote",
    default=None,
    help="Make buffers of lists of numbers.  [default: as `[convert]` says]",
)
@click.option("--partial", is_flag=True, help="Leave what cannot be typed, with a warning.")
@click.option("--in-place", is_flag=True, help="Remove each .py that was converted.")
@click.option("--dry-run", is_flag=True, help="Print the new text; write nothing.")
@click.option("--diff", is_flag=True, help="Print what would change; write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--force", is_flag=True, help="Overwrite .ppy files that differ.")
@format_option
@manifest_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    promote: bool | None,
    partial: bool,
    in_place: bool,
    dry_run: bool,
    diff: bool,
    check: bool,
    force: bool,
    style: Format,
    manifest_path: Path | None,
) -> None:
    """As `_HELP` says."""
    manifest = load_manifest(manifest_path)
    if promote is None:
        promote = manifest.convert.promote_buffers
    conversion = _convert(manifest, paths, promote=promote, partial=partial)
    failed = any(CODES[found.code].severity == "error" for found in conversion.diagnostics)
    printed = {}
    if (dry_run or diff) and not failed:
        printed = {
            shown(file.target): _diff(file) if diff else file.text for file in conversion.files
        }
    show(conversion.diagnostics, style, Path.cwd(), printed)
    if failed:
        ctx.exit(1)
    changed = [file for file in conversion.files if _current(file.target) != file.data]
    if check:
        for file in changed:
            click.echo(f"{shown(file.source)}: would change {shown(file.target)}", err=True)
        ctx.exit(1 if changed else 0)
    if dry_run or diff:
        return
    _refuse_overwriting(changed, force=force)
    _write(changed, [file.source for file in conversion.files] if in_place else [])
    if style == "text":
        _tell(changed, conversion.files, in_place=in_place)


def _convert(
    manifest: Manifest, paths: Sequence[Path], *, promote: bool, partial: bool
) -> Conversion:
    from ppybuild.convert.convert import convert
    from ppybuild.graph.analyse import analyse
    from ppybuild.graph.load import load

    program = load(manifest, originals=True)
    unreadable = [found for found in program.diagnostics if found.code.startswith("E100")]
    if unreadable:
        raise Failure(*unreadable)
    names = _modules(program, paths)
    return convert(analyse(program), names, promote=promote, partial=partial)


def _modules(program: Program, paths: Sequence[Path]) -> list[str]:
    """The modules that are meant: those of the files and folders named, else every .py."""
    if not paths:
        return [name for name, found in program.modules.items() if found.path.suffix == ".py"]
    names: dict[str, None] = {}
    for path in paths:
        whole = path.resolve()
        inside = [
            name
            for name, found in program.modules.items()
            if found.path.resolve() == whole or found.path.resolve().is_relative_to(whole)
        ]
        if not inside:
            message = f"`{path}` is no source file of this project"
            advice = "name a file or folder below the manifest's source roots"
            raise Failure(Diagnostic("E2109", message, help=advice), status=2)
        names.update(dict.fromkeys(inside))
    return list(names)


def _current(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"cannot read {target.name}: {error.strerror}"
        raise Failure(Diagnostic("E1002", message)) from error


def _diff(file: ConvertedFile) -> str:
    with tokenize.open(file.source) as source:
        before = source.read().splitlines(keepends=True)
    after = file.text.splitlines(keepends=True)
    names = shown(file.source), shown(file.target)
    return "".join(difflib.unified_diff(before, after, *names))


def _refuse_overwriting(changed: Sequence[ConvertedFile], *, force: bool) -> None:
    standing = [file for file in changed if file.target.exists() and file.target != file.source]
    if standing and not force:
        raise Failure(
            *(
                Diagnostic(
                    "E2104",
                    f"{shown(file.target)} exists and differs",
                    help="`--diff` shows the new text against the .py; `--force` overwrites it",
                )
                for file in standing
            ),
            status=2,
        )


def _write(changed: Sequence[ConvertedFile], remove: Sequence[Path]) -> None:
    """All of it or, where the disk refuses, nothing."""
    beside = [(file.target.with_name(f".{file.target.name}.new"), file) for file in changed]
    sources = [source for source in remove if source.suffix == ".py"]
    before = {file.target: _current(file.target) for file in changed}
    before.update((source, source.read_bytes()) for source in sources)
    try:
        for place, file in beside:
            place.write_bytes(file.data)
        for place, file in beside:
            place.replace(file.target)
        for source in sources:
            source.unlink()
    except OSError as error:
        _restore(before)
        message = f"cannot write {error.filename}: {error.strerror}"
        raise Failure(Diagnostic("E2108", message), status=2) from error
    finally:
        for place, _ in beside:
            with contextlib.suppress(OSError):
                place.unlink(missing_ok=True)


def _restore(before: Mapping[Path, bytes | None]) -> None:
    """Put back what a write that failed half way has changed; what cannot be, stays."""
    for path, data in before.items():
        with contextlib.suppress(OSError):
            if data is None:
                path.unlink(missing_ok=True)
            elif not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)


def _tell(
    changed: Sequence[ConvertedFile], files: Sequence[ConvertedFile], *, in_place: bool
) -> None:
    for file in changed:
        click.echo(f"wrote {shown(file.target)}", err=True)
    same = len(files) - len(changed)
    if same:
        click.echo(f"{counted(same, 'file')} unchanged", err=True)
    if any(file.source.suffix == ".py" for file in files) and not in_place:
        click.echo(
            "a module may not stand twice: build after removing the .py (--in-place)", err=True
        )
