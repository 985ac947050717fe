"""What the commands share: options, and how a `Failure` is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from ppybuild.diagnostics import UNREADABLE, Diagnostic, Failure
from ppybuild.places import shown_path

if TYPE_CHECKING:
    from ppybuild.graph.program import Function, Program
    from ppybuild.manifest import Manifest
    from ppybuild.render import Format

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


NOTHING: Mapping[str, str] = MappingProxyType({})


class Command(click.Command):
    """A command whose `Failure` is shown as diagnostics, in the format that was asked for."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Failure as failure:
            show(failure.diagnostics, ctx.params.get("style", "text"), Path.cwd())
            ctx.exit(failure.status)


def show(
    found: Sequence[Diagnostic],
    style: Format,
    base: Path,
    texts: Mapping[str, str] = NOTHING,
) -> None:
    """Findings, and texts by the name of the file that they are meant for.

    For people, findings go to standard error and texts to standard output; what a machine
    reads is one document on standard output.
    """
    from ppybuild.render import render, wants_colour

    stream = sys.stderr if style == "text" else sys.stdout
    _write(stream, render(found, style, base=base, colour=wants_colour(stream), texts=texts))
    if style == "text":
        _write(sys.stdout, "".join(texts.values()))


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def keep(ctx: click.Context, found: object) -> None:
    """Hold what a command has found until the process ends, which then frees nothing."""
    if isinstance(ctx.obj, list):
        ctx.obj.append(found)


def manifest_option(function: Decorated) -> Decorated:
    return click.option(
        "--manifest",
        "manifest_path",
        type=click.Path(path_type=Path),
        help="The ppy.toml to use.  [default: the nearest, from here upward]",
    )(function)


def format_option(function: Decorated) -> Decorated:
    return click.option(
        "--format",
        "style",
        type=click.Choice(["text", "json", "sarif"]),
        default="text",
        show_default=True,
        help="How findings are written: for people, or for other tools.",
    )(function)


def device_option(function: Decorated) -> Decorated:
    return click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        help="What to build for.  [default: `device` of `[build]`]",
    )(function)


def jobs_option(function: Decorated) -> Decorated:
    return click.option(
        "--jobs",
        "-j",
        type=click.IntRange(min=0),
        metavar="N",
        help="Compilers at a time; 0: one per core.  [default: `jobs` of `[build]`]",
    )(function)


def numerics_option(function: Decorated) -> Decorated:
    return click.option(
        "--numerics",
        type=click.Choice(["fused", "exact"]),
        help="How tensor regions compute.  [default: as each entry says]",
    )(function)


def verbose_option(function: Decorated) -> Decorated:
    return click.option(
        "--verbose", "-v", is_flag=True, help="Show the commands of compilers and SCons."
    )(function)


def load_manifest(path: Path | None) -> Manifest:
    """The manifest that was named, else the nearest."""
    from ppybuild.manifest import find, load

    return load(path if path is not None else find(Path.cwd()))


def read_program(manifest: Manifest) -> Program:
    """The whole program; a `Failure` where a file of it cannot be read."""
    from ppybuild.graph.load import load

    program = load(manifest)
    if unreadable := [found for found in program.diagnostics if found.code in UNREADABLE]:
        raise Failure(*unreadable)
    return program


def shown(path: Path) -> str:
    """Relative to the working folder where it lies below it."""
    return shown_path(path, Path.cwd())


def counted(count: int, noun: str) -> str:
    """`1 remark`, `3 remarks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def lies_in(remark: Diagnostic, function: Function, program: Program) -> bool:
    """Whether a remark is about a function of the program, its decorators included."""
    from ppybuild.graph.locations import covers, function_span

    span = function_span(program.modules[function.module], function.node)
    return covers(span, remark.location)
