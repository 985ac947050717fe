"""`ppybuild init`: a manifest from what a folder holds."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ppybuild.cli.common import Command, shown
from ppybuild.diagnostics import Diagnostic, Failure
from ppybuild.manifest import FILE_NAME, RESERVED_ENTRY_NAMES
from ppybuild.places import is_environment

_HELP = """Write a ppy.toml for the programs in a folder.

An entry is made for every script that runs when it is started (it tests `__name__`, or
calls something, and no other module imports it), and for every package with a `__main__`.
A manifest that is there already is left alone.
"""

_NOT_PROGRAMS = re.compile(r"(?:test_.*|.*_test|conftest|setup|noxfile|fabfile|tasks)")
_NOT_SOURCES = frozenset(
    {"test", "tests", "doc", "docs", "build", "dist", "node_modules", "site-packages"}
)

_HEADER = """\
# How ppybuild builds this project; every key is in docs/manifest.md.
#   ppybuild check          what is wrong with the program
#   ppybuild run {entry}
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A source file, as far as a manifest needs to know it."""

    module: str
    path: Path
    tree: ast.Module | None
    """None where it is not valid Python."""


@click.command("init", cls=Command, help=_HELP, short_help="Write a ppy.toml.")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """As `_HELP` says."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise Failure(Diagnostic("E2105", f"`{shown(folder)}` is not a folder"), status=2)
    text = manifest_text(folder)
    path = folder / FILE_NAME
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Failure(
            Diagnostic("E2104", f"`{shown(path)}` exists already", help="remove it first"),
            status=2,
        ) from None
    except OSError as error:
        raise Failure(
            Diagnostic("E2108", f"`{shown(path)}` cannot be written: {error.strerror}"),
            status=2,
        ) from error
    click.echo(f"wrote {shown(path)}")


def manifest_text(folder: Path) -> str:
    """The manifest that builds what the folder holds."""
    import tomli_w

    path = folder / FILE_NAME
    if os.path.lexists(path):
        what = "a folder" if path.is_dir() else "" if path.is_file() else "no file"
        said = f"is there already, and is {what}" if what else "exists already"
        raise Failure(
            Diagnostic("E2104", f"`{shown(path)}` {said}", help="remove it first"), status=2
        )
    root = folder / "src" if (folder / "src").is_dir() else folder
    sources = list(_sources(root))
    entries = _entries(sources)
    if not entries:
        raise Failure(
            Diagnostic(
                "E2105",
                f"no script and no package with a `__main__` was found in `{shown(root)}`",
                help="name the program's folder, or write `[entry.NAME]` by hand",
            ),
            status=2,
        )
    document: dict[str, Any] = {"entry": {name: {"module": of} for name, of in entries.items()}}
    if excluded := _excluded(root, sources):
        document = {"sources": {"exclude": excluded}, **document}
    return _HEADER.format(entry=next(iter(entries))) + "\n" + tomli_w.dumps(document)


def _sources(root: Path) -> Iterator[Source]:
    for here, folders, files in os.walk(root):
        folders[:] = sorted(
            inner
            for inner in folders
            if not inner.startswith(".")
            and inner != "__pycache__"
            and not is_environment(Path(here, inner))
        )
        for file in sorted(files):
            path = Path(here, file)
            if path.suffix in (".ppy", ".py") and not file.startswith("."):
                parts = path.relative_to(root).with_suffix("").parts
                is_package = parts[-1] == "__init__" and len(parts) > 1
                module = ".".join(parts[:-1] if is_package else parts)
                yield Source(module, path, _parse(path))


def _parse(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError, OSError, RecursionError):
        return None


def _entries(sources: Sequence[Source]) -> dict[str, str]:
    """Entry → module: what tests `__name__` or is a package's `__main__`, and the scripts
    that nothing imports."""
    imported = {name for source in sources for name in _imports(source)}
    found: dict[str, str] = {}
    for source in sources:
        module = source.module
        if source.tree is None or module in found.values() or not _can_be_program(module):
            continue
        package, _, last = module.rpartition(".")
        if last == "__main__" and package:
            found[_free(package.rpartition(".")[2], package, found)] = package
        elif _tests_name(source.tree) or (
            _calls(source.tree) and module not in imported and not package
        ):
            found[_free(last, module, found)] = module
    return found


def _can_be_program(module: str) -> bool:
    *folders, last = module.split(".")
    if any(re.search(r"[\s\\]", part) for part in (*folders, last)):
        return False
    return not _NOT_PROGRAMS.fullmatch(last) and not _NOT_SOURCES & set(folders)


def _free(name: str, module: str, taken: dict[str, str]) -> str:
    """A name for the entry that is no other's: a file's name."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    if name in RESERVED_ENTRY_NAMES:
        name += "-main"
    if name in taken:
        name = re.sub(r"[^A-Za-z0-9._-]", "_", module)
    while name in taken:
        name += "_"
    return name


def _imports(source: Source) -> Iterator[str]:
    """Names of modules that it may import; relative ones by their last parts."""
    if source.tree is None:
        return
    package = source.module.split(".")
    if source.path.stem != "__init__":
        package.pop()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = [*above, *(node.module or "").split(".")] if node.module else above
            yield ".".join(base)
            yield from (".".join([*base, alias.name]) for alias in node.names)


def _tests_name(tree: ast.Module) -> bool:
    """`if __name__ == "__main__":`"""
    return any(
        isinstance(statement, ast.If)
        and any(
            isinstance(node, ast.Name) and node.id == "__name__"
            for node in ast.walk(statement.test)
        )
        for statement in tree.body
    )


def _calls(tree: ast.Module) -> bool:
    """True where something is called for its effect at the module's top level."""
    return any(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        for statement in _top_level(tree.body)
    )


def _top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.With | ast.For | ast.While | ast.Try):
            yield from _top_level(statement.body)


def _excluded(root: Path, sources: Sequence[Source]) -> list[str]:
    """Files without which the rest builds: not valid Python, or a `.py` beside its `.ppy`."""
    typed = {source.module for source in sources if source.path.suffix == ".ppy"}
    return [
        source.path.relative_to(root).as_posix()
        for source in sources
        if source.tree is None or (source.module in typed and source.path.suffix == ".py")
    ]
