"""Writes an `SConstruct` that a person can read, and runs SCons on it.

SCons decides by content what has to be compiled. The folder that it works in is trusted
only where the run before it ended well: `dirty` lies there while SCons runs, and a folder
in which it is found is made anew, because SCons believes in an object file that a killed
compiler left half written.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.emit.emission import Emission, Extension
from ppybuild.targets import flags
from ppybuild.targets.cpu import Instructions
from ppybuild.targets.cuda import Cuda
from ppybuild.targets.report import Report
from ppybuild.targets.scons_process import Scons
from ppybuild.targets.toolchain import Compiler, Torch, compiler_version, extension_suffix

SOURCES = "gen"
"""The folder of generated sources, in the working folder."""

COMPILED = (".c", ".cpp", ".cu")

_STEP = "ppybuild:"
"""What the lines begin with that say what SCons does next."""
_LOG = "build.log"
_DIRTY = "dirty"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Everything that decides how the sources of an entry are compiled."""

    c: Compiler
    cxx: Compiler | None
    """None where no source is C++."""
    python_include: Path
    torch: Torch | None
    """None where no extension uses it."""
    instructions: Instructions
    cuda: Cuda | None
    """None where there are no kernels for a GPU."""
    cache: Path

    @property
    def identity(self) -> str:
        """Differs where the same commands would give other objects. Runs the C++ compiler."""
        cxx = compiler_version(self.cxx) if self.cxx else "none"
        torch = self.torch.version if self.torch else "none"
        cuda = self.cuda.version if self.cuda else "none"
        return (
            f"{self.instructions.identity}; {cxx}; Python {sys.version}; torch {torch}; "
            f"CUDA {cuda}"
        )


def prepare(work: Path, emission: Emission, toolchain: Toolchain) -> None:
    """Lay out the working folder: generated sources and the `SConstruct`, nothing else."""
    if (work / _DIRTY).exists():
        shutil.rmtree(work)
    _write_sources(work, emission)
    _write_if_changed(work / "SConstruct", sconstruct(emission, toolchain))


def compile_extensions(
    work: Path,
    emission: Emission,
    *,
    entry: str,
    jobs: int,
    verbose: bool,
    report: Report,
    scons: Scons,
) -> dict[str, Path]:
    """Run SCons in a prepared folder: the shared library of each extension by name."""
    dirty, log = work / _DIRTY, work / _LOG
    dirty.touch()
    process = scons.run(work, ["-Q", f"-j{jobs}", f"verbose={int(verbose)}"], log)
    total = sum(len(_compiled(extension)) + 1 for extension in emission.extensions)
    try:
        _follow(process, log, entry, total, verbose, report)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if process.returncode:
        raise _failure(log, process.returncode)
    dirty.unlink()
    suffix = extension_suffix()
    return {
        extension.name: work / "lib" / f"{extension.name}{suffix}"
        for extension in emission.extensions
    }


def sconstruct(emission: Emission, toolchain: Toolchain) -> str:
    """The text of the `SConstruct`."""
    lines = [
        "# Written by ppybuild. To run it by hand: scons -Q verbose=1",
        "import os",
        "",
        "DefaultEnvironment(tools=[])  # looks for no tool that is not used",
        "",
        "# Objects of another toolchain or machine are not these, whatever the commands say.",
        f"TOOLCHAIN = Value({_quoted(toolchain.identity)})",
        "",
        f"CacheDir({str(toolchain.cache)!r})",
        "",
        "env = Environment(",
        "    ENV=os.environ,",
        '    tools=["gcc", "g++", "gnulink", "compilation_db"],',
        f"    CC={_quoted(shlex.join(toolchain.c.command))},",
    ]
    if toolchain.cxx is not None:
        lines.append(f"    CXX={_quoted(shlex.join(toolchain.cxx.command))},")
    lines += [
        f"    CCFLAGS={_list([*flags.COMMON, *toolchain.instructions.flags])},",
        '    SHOBJSUFFIX=".o",',
        '    SHLIBPREFIX="",',
        f'    SHLIBSUFFIX="{extension_suffix()}",',
        ")",
        f'said = None if ARGUMENTS.get("verbose") == "1" else "{_STEP} compiling $SOURCE"',
        'if ARGUMENTS.get("verbose") != "1":',
        "    env.Replace(",
        f'        SHCCCOMSTR="{_STEP} compiling $SOURCE",',
        f'        SHCXXCOMSTR="{_STEP} compiling $SOURCE",',
        f'        SHLINKCOMSTR="{_STEP} linking $TARGET",',
        "    )",
        "",
    ]
    for extension in emission.extensions:
        lines += _extension(extension, toolchain)
    lines += ['Default("lib", env.CompilationDatabase("compile_commands.json"))', ""]
    return "\n".join(lines)


def _extension(extension: Extension, toolchain: Toolchain) -> list[str]:
    name = extension.name
    sources = _compiled(extension)
    is_cxx = any(path.suffix == ".cpp" for path in sources)
    own = [*flags.FP[extension.fp], *flags.python_flags(toolchain.python_include)]
    if any(path.suffix == ".cu" for path in sources):
        own.append(f"-Wa,-Iobj/{name}")
    libraries = ["-lm"]
    if extension.uses_torch and toolchain.torch is not None:
        own += flags.torch_flags(toolchain.torch)
        libraries = [*flags.torch_link_flags(toolchain.torch), *libraries]
    return [
        f"# The extension `{name}`.",
        "own = env.Clone()",
        f"own.Append(CCFLAGS={_list(own)})",
        "own.Replace(",
        f'    CPPPATH=["{SOURCES}/{name}"],',
        f"    CFLAGS={_list(flags.C)},",
        f"    CXXFLAGS={_list(flags.CXX)},",
        f'    LINK="{"$CXX" if is_cxx else "$CC"}",',
        f"    SHLINKFLAGS={_list(flags.LINK)},",
        f"    _LIBFLAGS={_list(libraries)},",
        ")",
        "objects = [",
        *(
            f'    own.SharedObject("obj/{name}/{path}.o", "{SOURCES}/{name}/{path}"),'
            for path in sources
            if path.suffix != ".cu"
        ),
        "]",
        *_images(name, [path for path in sources if path.suffix == ".cu"], toolchain),
        f'library = own.SharedLibrary("lib/{name}", objects)',
        "Depends([*objects, library], TOOLCHAIN)",
        "",
    ]


def _images(name: str, kernels: Sequence[PurePosixPath], toolchain: Toolchain) -> list[str]:
    """Kernels for a GPU, compiled by nvcc into what the assembler then includes."""
    if not kernels:
        return []
    assert toolchain.cuda is not None
    words = (str(toolchain.cuda.nvcc), *toolchain.cuda.flags, f"-I{SOURCES}/{name}", "-fatbin")
    command = f"{shlex.join(words)} -o $TARGET $SOURCE"
    return [
        f"kernel = Action({command!r}, said)",
        "images = [",
        *(
            f'    own.Command("obj/{name}/{path.stem}.fatbin", "{SOURCES}/{name}/{path}", '
            "kernel),"
            for path in kernels
        ),
        "]",
        "# The assembler includes them, which nobody reads in the sources.",
        "Depends([*objects, *images], TOOLCHAIN)",
        "Depends(objects, images)",
    ]


def _compiled(extension: Extension) -> list[PurePosixPath]:
    return [source.path for source in extension.sources if source.path.suffix in COMPILED]


def _quoted(text: str) -> str:
    """A Python literal of text in which SCons sees nothing to replace."""
    return repr(text.replace("$", "$$"))


def _list(words: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _write_sources(work: Path, emission: Emission) -> None:
    """Exactly the emission's files, a folder for each extension; one that did not change
    keeps its time."""
    texts: dict[Path, str] = {}
    for extension in emission.extensions:
        for source in extension.sources:
            path = work / SOURCES / extension.name / source.path
            if path in texts:
                raise ValueError(f"{extension.name} has two files {source.path}")
            texts[path] = source.text
    for path in list((work / SOURCES).rglob("*")):
        if path.is_file() and path not in texts:
            path.unlink()
    for path, text in texts.items():
        _write_if_changed(path, text)


def _write_if_changed(path: Path, text: str) -> None:
    data = text.encode("utf-8")
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _follow(
    process: subprocess.Popen[bytes],
    log: Path,
    entry: str,
    total: int,
    verbose: bool,
    report: Report,
) -> None:
    """Tell what the log says until the process ends.

    A file and not a pipe: SCons has to outlive this process where it is killed, and a
    broken pipe would end it with its compilers running.
    """
    done = 0
    with log.open(encoding="utf-8", errors="replace") as written:
        ended = False
        while not ended:
            try:
                process.wait(timeout=0.03)
                ended = True
            except subprocess.TimeoutExpired:
                pass
            for line in _lines(written):
                if verbose:
                    report.command(line)
                elif line.startswith((_STEP, "Retrieved ")):
                    done += 1
                    what = line.removeprefix(_STEP).strip().replace(f" {SOURCES}/", " ")
                    report.step(entry, done, max(total, done), what)


def _lines(written: IO[str]) -> Iterator[str]:
    """Whole lines that are new; the start of one is left for later."""
    while True:
        start = written.tell()
        line = written.readline()
        if not line.endswith("\n"):
            written.seek(start)
            return
        yield line.rstrip("\n")


_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|ENOSPC")
_STOPPED = re.compile(
    r"Killed signal|Killed\b|out of memory|[Cc]annot allocate memory|Error 137|Error -9"
)


def _failure(log: Path, status: int) -> Failure:
    text = log.read_text(encoding="utf-8", errors="replace")
    if _NO_SPACE.search(text):
        full = Diagnostic(
            "E4008", "no space is left for compiled code", help=CODES["E4008"].fix
        )
        return Failure(full, status=2)
    if _STOPPED.search(text) or status < 0:
        stopped = Diagnostic("E4009", "the compiler was stopped", help=CODES["E4009"].fix)
        return Failure(stopped, status=2)
    first = re.search(r"^.*(?:error:|Error |undefined reference).*$", text, re.MULTILINE)
    said = f": {first[0].strip()}" if first else ""
    return Failure(
        Diagnostic(
            "E4007",
            f"generated code does not compile{said}",
            help=f"this is a fault of ppybuild, please report it with `{log}`",
        )
    )
