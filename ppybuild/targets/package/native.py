"""`native`: one executable file without Python, of a program that lowers as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.emit.standalone.program import Standalone, emit_standalone
from ppybuild.manifest import Manifest
from ppybuild.targets import flags
from ppybuild.targets import folder as build_folder
from ppybuild.targets.build import Options, analyse_entries
from ppybuild.targets.cpu import choose_instructions
from ppybuild.targets.modules import main_module
from ppybuild.targets.report import Report
from ppybuild.targets.requirements import licences
from ppybuild.targets.toolchain import Compiler, need_compiler

_SMALL = ("-ffunction-sections", "-fdata-sections", "-g0")
_LINK = ("-s", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-O1")


def write_native(
    manifest: Manifest,
    entry: str,
    target: Path,
    *,
    options: Options,
    report: Report,
) -> None:
    """Compile the program of an entry into the executable `target`.

    The build folder is locked. Raises `Failure`, with everything that needs Python.
    """
    said = manifest.entry[entry]
    program, facts = analyse_entries(manifest, (entry,))
    main = main_module(program, said.module)
    assert main is not None, "checked before"
    _refuse_options(manifest, entry)
    compiler = need_compiler("C")
    instructions = choose_instructions(manifest.device.cpu.cpu, compiler)
    information = {
        "entry": entry,
        "module": main,
        "version": manifest.project.version,
        "format": "native",
        "platform": sysconfig.get_platform(),
        "cpu": sorted(instructions.features),
        "licences": licences(["ppybuild"]),
    }
    found = emit_standalone(
        facts, main, json.dumps(information, indent=2) + "\n", instructions.features
    )
    if not isinstance(found, Standalone):
        raise Failure(*found, status=1)
    work = build_folder.work_place(manifest.build.dir, "native", entry)
    work.mkdir(parents=True, exist_ok=True)
    for old in work.iterdir():
        old.unlink()
    for source in found.sources:
        (work / source.path).write_text(source.text, encoding="utf-8")
    names = sorted(str(each.path) for each in found.sources if each.path.suffix == ".c")
    common = (*flags.COMMON, *flags.C, *flags.FP[said.fp], *_SMALL)
    jobs = options.jobs or manifest.build.jobs or len(os.sched_getaffinity(0))
    done = 0

    def compiled(name: str) -> None:
        own = ("-DPPY_SEALED",) if name == "start.c" else instructions.flags
        _run(compiler, work, (*common, *own, "-c", name, "-o", f"{name}.o"))

    with ThreadPoolExecutor(jobs) as pool:
        for name, _ in zip(names, pool.map(compiled, names), strict=True):
            done += 1
            report.step(entry, done, len(names) + 1, f"compiled {name}")
    objects = [f"{name}.o" for name in names]
    _run(compiler, work, (*_LINK, *objects, "-o", str(target.absolute()), "-lm"))
    report.step(entry, len(names) + 1, len(names) + 1, f"linking {target.name}")
    _seal(target)
    target.chmod(0o755)


def _seal(program: Path) -> None:
    """Append the hash that `ppy_intact.h` compares."""
    data, found = program.read_bytes(), 0xCBF29CE484222325
    for byte in data:
        found = ((found ^ byte) * 0x100000001B3) % 2**64
    program.write_bytes(data + found.to_bytes(8, sys.byteorder))


def _refuse_options(manifest: Manifest, entry: str) -> None:
    said = manifest.entry[entry]
    if said.args:
        message = (
            f"the entry `{entry}` has arguments of its own, which a program without Python "
        )
        raise Failure(
            Diagnostic("E2113", message + "does not take", help="leave `args` out"), status=1
        )
    if said.data:
        message = f"the entry `{entry}` has data files, which one executable does not hold"
        raise Failure(Diagnostic("E2113", message, help="package it as `onefile`"), status=1)


def _run(compiler: Compiler, work: Path, arguments: Sequence[str]) -> None:
    done = subprocess.run(
        [*compiler.command, *arguments],
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"},
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "")
        raise Failure(
            Diagnostic(
                "E4007",
                f"generated code does not compile: {first}",
                help=f"{CODES['E4007'].fix} The code is in `{work}`.",
            )
        )
