"""Which libraries of this environment a program needs; the rest stays out of `full`.

Libraries look for others that they can do without, and PyInstaller takes along what they would
find here. Needed is what the program imports, what that says it requires, what the program
names in another way (`tensor.numpy()`), and what `MISSED` says.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata

MISSED = {"torch": ("numpy",)}
"""Libraries that another does not require, but warns at its import where it finds none."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""\bextra\s*==""")
_PATH = re.compile(r"\w+(\.\w+)*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def unneeded_modules(trees: Iterable[ast.Module]) -> list[str]:
    """Top-level modules of installed libraries that programs of these sources do without."""
    named = {word for tree in trees for word in _words(tree)}
    given = metadata.packages_distributions()
    first = {
        distribution
        for module, distributions in given.items()
        if module.lower() in named - {"ppy"}  # the bundle has its own, and needs nothing
        for distribution in distributions
    }
    needed = _closure(first)
    return sorted(
        module
        for module, distributions in given.items()
        if module not in sys.stdlib_module_names
        and not any(_canonical(one) in needed for one in distributions)
    )


def _words(tree: ast.Module) -> Iterator[str]:
    """Every word of a name, in lower case, and of a text that could be a module's name."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=said) | ast.Attribute(attr=said) | ast.alias(name=said):
                yield from _split(said)
            case ast.ImportFrom(module=str(said)):
                yield from _split(said)
            case ast.Constant(value=str(said)) if _PATH.fullmatch(said):
                yield from _split(said)


def _split(said: str) -> Iterator[str]:
    """`from_numpy` is two words, and all of it a name."""
    yield from (part.lower() for part in said.split("."))
    yield from (word.lower() for word in _WORD.findall(said.replace("_", " ")))


def _closure(distributions: Iterable[str]) -> set[str]:
    """These distributions and what they require, where it is installed, by canonical name."""
    waiting = [_canonical(name) for name in distributions]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting += map(_canonical, _required(name))
    return found


def _required(distribution: str) -> Iterator[str]:
    """Whatever the platform: what is not installed cannot be collected either."""
    yield from MISSED.get(distribution, ())
    try:
        said = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return
    for line in said:
        name = _NAME.match(line)
        if name and not _EXTRA.search(line):
            yield name[0]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
