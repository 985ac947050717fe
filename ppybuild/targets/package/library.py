"""`--library`: exported functions as a shared library, for C and for Python through cffi.

<stem>-library/
  include/<name>.h                what it offers
  lib/lib<name>.so
  lib/pkgconfig/<name>.pc         finds the others from where it lies
  python/<name>_cffi.py           `ffi` and `lib`
  LICENCES
  SHA256SUMS                      of all these: `sha256sum --check SHA256SUMS`
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.emit.emission import Emission
from ppybuild.emit.library import Library, emit_library, exported, prefix
from ppybuild.graph.products import MARK
from ppybuild.manifest import Manifest
from ppybuild.targets import folder as build_folder
from ppybuild.targets.build import Options, analyse_entries, need_toolchain
from ppybuild.targets.modules import entry_modules, main_module
from ppybuild.targets.report import Report
from ppybuild.targets.requirements import licences
from ppybuild.targets.scons import compile_extensions, prepare
from ppybuild.targets.scons_process import Scons


def write_library(
    manifest: Manifest,
    entry: str,
    device: str,
    target: Path,
    *,
    options: Options,
    report: Report,
    lock: int,
) -> None:
    """Compile the library of an entry and lay it out in the folder `target`.

    `lock` holds the build folder. Raises `Failure`, with every function that cannot be in it.
    """
    library = _emit(manifest, entry)
    emission = Emission((library.extension,), {}, ())
    work = build_folder.work_place(manifest.build.dir, f"{device}-library", entry)
    work.mkdir(parents=True, exist_ok=True)
    toolchain = need_toolchain(manifest, device, emission)
    prepare(work, emission, toolchain)
    compiled = compile_extensions(
        work,
        emission,
        entry=entry,
        jobs=options.jobs or manifest.build.jobs or len(os.sched_getaffinity(0)),
        verbose=options.verbose,
        report=report,
        scons=Scons(hold=(lock,)),
    )
    (shared,) = compiled.values()
    digest = hashlib.sha256(shared.read_bytes()).hexdigest()
    texts = {
        f"include/{entry}.h": library.header,
        f"lib/pkgconfig/{entry}.pc": _pkg_config(entry, manifest.project.version),
        f"python/{prefix(entry)}_cffi.py": _cffi(entry, library, digest),
        "LICENCES": "".join(f"{a}: {b}\n" for a, b in licences(["ppybuild"]).items()),
        MARK: "Made by ppybuild; no source of a program.\n",
    }
    for path, text in texts.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")
    shutil.copyfile(shared, target / "lib" / f"lib{entry}.so")
    (target / "lib" / f"lib{entry}.so").chmod(0o755)
    (target / "SHA256SUMS").write_text("".join(_sums(target)), encoding="utf-8")


def _sums(folder: Path) -> Iterator[str]:
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield f"{digest}  {path.relative_to(folder).as_posix()}\n"


def _emit(manifest: Manifest, entry: str) -> Library:
    said = manifest.entry[entry]
    program, facts = analyse_entries(manifest, (entry,))
    main = main_module(program, said.module)
    assert main is not None, "checked before"
    modules = tuple(entry_modules(program, main))
    exports = exported(facts, modules, said.export)
    if not exports:
        message = f"the entry `{entry}` exports no function"
        advice = "mark one with `@ppy.export`, or name it in `export` of the entry"
        raise Failure(Diagnostic("E2111", message, help=advice), status=1)
    _stop({name: why for name, why in exports.items() if why})
    library = emit_library(facts, modules, tuple(exports), entry, said.fp)
    if isinstance(library, Library):
        return library
    _stop(library)
    raise AssertionError("a library without problems")


def _stop(problems: Mapping[str, str]) -> None:
    if problems:
        raise Failure(
            *(
                Diagnostic(
                    "E2111", f"`{name}` cannot be exported: {why}", help=CODES["E2111"].fix
                )
                for name, why in problems.items()
            ),
            status=1,
        )


def _pkg_config(name: str, version: str) -> str:
    return f"""\
prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {name}
Description: Functions of a Python program, written by ppybuild
Version: {version}
Libs: -L${{libdir}} -l{name}
Libs.private: -lm
Cflags: -I${{includedir}}
"""


def _cffi(name: str, library: Library, digest: str) -> str:
    functions = ", ".join(library.functions)
    return f'''\
"""lib{name} for Python, through cffi: {functions}.

    from {prefix(name)}_cffi import ffi, lib
"""

import hashlib
from pathlib import Path

from cffi import FFI

_PATH = Path(__file__).resolve().parents[1] / "lib" / "lib{name}.so"
if hashlib.sha256(_PATH.read_bytes()).hexdigest() != "{digest}":
    raise ImportError(f"{{_PATH}} is not as it was built; copy the whole folder again")

ffi = FFI()
ffi.cdef("""
{library.declarations}""")
lib = ffi.dlopen(str(_PATH))
'''
