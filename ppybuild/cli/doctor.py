"""`ppybuild doctor`."""

from __future__ import annotations

import json
import platform
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import click

from ppybuild import __version__
from ppybuild.cli.common import Command

if TYPE_CHECKING:
    from ppybuild.targets.toolchain import Compiler

_HELP = """Say which tools were found, what is missing, and how to get it.

The exit status is 2 where something is missing without which nothing native can be built.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One tool or library."""

    name: str
    needed: Literal["always", "for tensor regions", "for cuda"]
    found: str
    """Version and place; "" where it is missing."""
    advice: str
    """How to get it."""


@click.command("doctor", cls=Command, help=_HELP, short_help="Say what is missing.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How it is written: for people, or for other tools.",
)
@click.pass_context
def command(ctx: click.Context, style: str) -> None:
    """As `_HELP` says."""
    findings = list(examine())
    if style == "json":
        click.echo(json.dumps([asdict(one) for one in findings], indent=2))
    else:
        click.echo(f"ppybuild {__version__} on {platform.platform()}")
        width = max(len(one.name) for one in findings)
        for one in findings:
            mark = "ok" if one.found else "missing" if one.needed == "always" else "absent"
            click.echo(f"  {mark:<8}{one.name:<{width}}  {one.found or f'needed {one.needed}'}")
        for one in findings:
            if not one.found:
                click.echo(f"\n{one.name}: {one.advice}")
    ctx.exit(2 if any(not one.found and one.needed == "always" for one in findings) else 0)


def examine() -> Iterator[Finding]:
    """Everything that a build may use, in the order in which it is needed."""
    from ppybuild.targets import toolchain

    yield Finding("Python", "always", f"{platform.python_version()}, {sys.executable}", "")
    headers = toolchain.python_include()
    yield Finding(
        "Python headers",
        "always",
        str(headers) if (headers / "Python.h").is_file() else "",
        "install them (`apt install python3-dev`), or use a Python that has them",
    )
    yield Finding("ABI", "always", str(sysconfig.get_config_var("SOABI")), "")
    yield Finding(
        "C compiler",
        "always",
        _compiler(toolchain.find_compiler("C")),
        "install one (`apt install gcc`), or name one in CC",
    )
    yield Finding(
        "C++ compiler",
        "for tensor regions",
        _compiler(toolchain.find_compiler("C++")),
        "install one (`apt install g++`), or name one in CXX",
    )
    scons = toolchain.find_scons()
    yield Finding(
        "SCons", "always", _version("scons") if scons else "", "`python -m pip install scons`"
    )
    torch = toolchain.find_torch()
    abi = "new" if torch and torch.cxx11_abi else "old"
    yield Finding(
        "torch",
        "for tensor regions",
        f"{torch.version} ({abi} C++ ABI), {torch.folder}" if torch else "",
        "`python -m pip install torch`",
    )
    yield Finding("nvcc", "for cuda", _nvcc(), "`python -m pip install ppybuild[cuda]`")


def _compiler(found: Compiler | None) -> str:
    from ppybuild.targets.toolchain import compiler_version

    return f"{compiler_version(found)}, {found.path}" if found else ""


def _version(distribution: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _nvcc() -> str:
    from ppybuild.targets.cuda import find_nvcc, nvcc_version

    path = find_nvcc()
    return f"{nvcc_version(path) or 'does not run'}, {path}" if path else ""
