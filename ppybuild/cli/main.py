"""The command line: one file for each command, loaded when it is used."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from ppybuild import __version__
from ppybuild.diagnostics import Diagnostic, nearest

COMMANDS = (
    "init",
    "convert",
    "check",
    "build",
    "run",
    "package",
    "graph",
    "explain",
    "doctor",
    "clean",
)
"""In the order of use; each is `command` in the module of this package that bears its name."""


class Commands(click.Group):
    """The commands of `COMMANDS`; an unknown name gets the nearest known one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"ppybuild.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        close = nearest(name, COMMANDS) if name not in COMMANDS else None
        if close and not name.startswith("-"):
            ctx.fail(f"no such command `{name}`; did you mean `{close}`?")
        return super().resolve_command(ctx, args)


_HELP = """Builds Python + PyTorch programs: loops become C, runs of tensor operations become
native regions, and the program gives the answers that plain Python gives.

\b
First steps, in the folder of a program:
  ppybuild init              write a ppy.toml from what is there
  ppybuild convert           give it types, if it has none
  ppybuild check             what is wrong with it
  ppybuild run ENTRY         build what changed, then run it

\b
Exit status: 0 done; 1 the program or its build is at fault; 2 the command line,
the manifest or the machine is; `run` passes on the program's own.
"""


@click.command(
    cls=Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="ppybuild")
def cli() -> None:
    """Only holds the commands."""


def main() -> NoReturn:
    """Run the command line and exit."""
    # What is read and found stays until the end: looking for garbage in it takes a tenth.
    gc.disable()
    kept: list[object] = []
    try:
        status = cli.main(prog_name="ppybuild", standalone_mode=False, obj=kept)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("ppybuild: interrupted", err=True)
        status = 130
    except BrokenPipeError:
        # The reader of our output has gone; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except Exception as error:
        status = _own_fault(error)
    status = status if isinstance(status, int) else 0
    if kept:
        # A large program takes Python seconds to free, and the system no time.
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _own_fault(error: Exception) -> int:
    """One message instead of a traceback, which goes to a file for the report."""
    import tempfile
    import traceback

    from ppybuild.cli.common import show

    said = f"{type(error).__name__}: {error}".partition("\n")[0]
    text = f"ppybuild {__version__}, Python {sys.version}\n{' '.join(sys.argv)}\n\n"
    text += "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="ppybuild-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        advice = f"this is a fault of ppybuild, please report it with `{file.name}`"
    except OSError:
        advice = f"this is a fault of ppybuild, please report it:\n{text}"
    show([Diagnostic("E9001", said, help=advice)], "text", Path.cwd())
    return 1
