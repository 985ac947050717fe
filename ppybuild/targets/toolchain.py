"""What native code is built with: compilers, Python's headers, torch's libraries.

Nothing here runs a compiler or imports torch unless its docstring says so: finding and
fingerprinting are on the path of a build in which nothing changed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ppybuild.diagnostics import CODES, Diagnostic, Failure

Language = Literal["C", "C++"]

_VARIABLES: dict[Language, str] = {"C": "CC", "C++": "CXX"}
_NAMES: dict[Language, tuple[str, ...]] = {
    "C": ("gcc", "clang", "cc"),
    "C++": ("g++", "clang++", "c++"),
}
_MISSING: dict[Language, str] = {"C": "E4001", "C++": "E4002"}


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler driver, by the words that start it and the file that they start."""

    command: tuple[str, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class Torch:
    """An installed torch, found without importing it."""

    version: str
    folder: Path
    cxx11_abi: bool
    """Whether its libraries use the new ABI of libstdc++."""

    @property
    def includes(self) -> tuple[Path, ...]:
        include = self.folder / "include"
        return (include, include / "torch" / "csrc" / "api" / "include")

    @property
    def libraries(self) -> Path:
        return self.folder / "lib"


def find_compiler(language: Language) -> Compiler | None:
    """What the environment names (`CC`, `CXX`), else the first that is on the path."""
    named = os.environ.get(_VARIABLES[language], "")
    commands = [_words(named)] if named.strip() else [(name,) for name in _NAMES[language]]
    for command in commands:
        found = shutil.which(command[0])
        if found:
            return Compiler(command, Path(found))
    return None


def _words(command: str) -> tuple[str, ...]:
    """A command as the shell would read it; one that the shell would not is one word."""
    try:
        return tuple(shlex.split(command))
    except ValueError:  # a quotation mark without its other half
        return (command,)


def need_compiler(language: Language) -> Compiler:
    found = find_compiler(language)
    if found is None:
        code, variable = _MISSING[language], _VARIABLES[language]
        named = os.environ.get(variable)
        message = (
            f"{variable} names `{named}`, which is not on the path"
            if named
            else f"no {language} compiler was found ({', '.join(_NAMES[language])})"
        )
        raise Failure(Diagnostic(code, message, help=CODES[code].fix), status=2)
    if not compiler_version(found):
        code = _MISSING[language]
        message = f"`{found.path}` does not work as a {language} compiler"
        raise Failure(Diagnostic(code, message, help=CODES[code].fix), status=2)
    return found


def compiler_version(compiler: Compiler) -> str:
    """The first line that it says of itself. Runs it."""
    return run_compiler(compiler, "--version").partition("\n")[0].strip()


def run_compiler(compiler: Compiler, *arguments: str) -> str:
    """Its standard output; "" where it fails."""
    done = subprocess.run(
        [*compiler.command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
        text=True,
        errors="replace",
        check=False,
    )
    return done.stdout if done.returncode == 0 else ""


def python_include() -> Path:
    return Path(sysconfig.get_path("include"))


def need_python_headers() -> Path:
    include = python_include()
    if not (include / "Python.h").is_file():
        message = f"`Python.h` is not in `{include}`"
        raise Failure(Diagnostic("E4003", message, help=CODES["E4003"].fix), status=2)
    return include


def extension_suffix() -> str:
    """`.cpython-311-x86_64-linux-gnu.so`."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def find_torch() -> Torch | None:
    folder = _package("torch")
    if folder is None:
        return None
    try:
        text = (folder / "version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(r"^__version__ = '([^']+)'", text, re.MULTILINE)
    return Torch(match[1], folder, _cxx11_abi(folder)) if match else None


def need_torch() -> Torch:
    torch = find_torch()
    if torch is None:
        message = "torch is not installed, and this needs it"
        raise Failure(Diagnostic("E4004", message, help=CODES["E4004"].fix), status=2)
    return torch


def find_scons() -> Path | None:
    return _package("SCons")


def need_scons() -> None:
    if find_scons() is None:
        message = f"SCons is not installed for `{sys.executable}`"
        raise Failure(
            Diagnostic("E4004", message, help="`python -m pip install scons`"), status=2
        )


def _package(name: str) -> Path | None:
    """The folder of an installed package."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _cxx11_abi(folder: Path) -> bool:
    """Names of the new ABI bear the tag `cxx11` (https://gcc.gnu.org/onlinedocs/libstdc++/)."""
    try:
        return b"__cxx11" in (folder / "lib" / "libc10.so").read_bytes()
    except OSError:
        return True


def fingerprint() -> dict[str, str]:
    """What the toolchain is, cheaply, by part: a changed text means a changed part."""
    torch = _package("torch")
    return {
        "Python": f"{sys.version} {extension_suffix()} {Path(sys.executable).resolve()}",
        "the C compiler": _identity(find_compiler("C")),
        "the C++ compiler": _identity(find_compiler("C++")),
        "torch": stat_of(torch / "version.py") if torch else "none",
    }


def _identity(compiler: Compiler | None) -> str:
    if compiler is None:
        return "none"
    return f"{' '.join(compiler.command)} {stat_of(compiler.path)}"


def stat_of(path: Path) -> str:
    """The file behind links, its size, and its time of change in nanoseconds."""
    try:
        real = path.resolve()
        found = real.stat()
    except OSError:
        return f"{path} missing"
    return f"{real} {found.st_size} {found.st_mtime_ns}"
