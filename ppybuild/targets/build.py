"""Builds entries: what is stale is analysed, emitted, compiled and bundled.

Nothing that was there before is touched until the new bundle is whole. A build that is
killed leaves no stamp, so that the next one does its work again.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ppybuild.diagnostics import CODES, UNREADABLE, Diagnostic, Failure, nearest
from ppybuild.manifest import Manifest
from ppybuild.targets import folder
from ppybuild.targets.digest import (
    Inputs,
    entry_fingerprint,
    fingerprint,
    why_stale,
    write_stamp,
)
from ppybuild.targets.faults import machine_faults
from ppybuild.targets.lock import locked
from ppybuild.targets.report import Report

if TYPE_CHECKING:
    from ppybuild.emit.emission import Emission
    from ppybuild.graph.program import Facts, Program
    from ppybuild.targets.scons import Toolchain
    from ppybuild.targets.scons_process import Scons

_ATTEMPTS = 3
"""How often a build starts again because a source was saved while it ran."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says beside the manifest; None: as the manifest has it."""

    jobs: int | None = None
    numerics: Literal["fused", "exact"] | None = None
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """An entry that is built now."""

    entry: str
    bundle: Path
    reason: str
    """Why it had to be built; "" where nothing had changed."""
    remarks: tuple[Diagnostic, ...] = ()
    """Of this build; none where nothing was built."""
    errors: int = 0
    """Findings of this build's analysis, over the whole program, that do not stop it."""

    @property
    def launcher(self) -> Path:
        return self.bundle / self.entry

    @property
    def start(self) -> Path:
        """What this Python runs to start it."""
        return self.bundle / "ppy" / "launch.py"


def build(
    manifest: Manifest,
    entries: Sequence[str],
    device: str,
    options: Options,
    report: Report,
) -> tuple[Result, ...]:
    """Every entry's bundle, up to date; all entries where none is named.

    Raises `Failure`: 1 where the program is at fault, 2 for the manifest or the machine.
    """
    manifest = _with_options(manifest, options)
    names = choose_entries(manifest, entries)
    with machine_faults(manifest.build.dir):
        inputs = _inputs(manifest, names, device)
        reasons = _reasons(manifest, names, device, inputs)
        if not any(reasons.values()):
            return tuple(_unchanged(manifest, name, device) for name in names)
        folder.create(manifest.build.dir)
        with locked(folder.marker(manifest.build.dir), report.waiting) as lock:
            return _build_locked(manifest, names, device, options, report, lock)


def choose_entries(manifest: Manifest, entries: Sequence[str]) -> tuple[str, ...]:
    """The entries that are meant, in order, each once."""
    known = list(manifest.entry)
    if not known:
        raise Failure(
            Diagnostic(
                "E2102", f"`{manifest.path.name}` has no entry", help=CODES["E2102"].fix
            ),
            status=2,
        )
    unknown = []
    for name in entries:
        if name not in manifest.entry:
            close = nearest(name, known)
            advice = f"did you mean `{close}`?" if close else f"entries: {', '.join(known)}"
            unknown.append(Diagnostic("E2101", f"there is no entry `{name}`", help=advice))
    if unknown:
        raise Failure(*unknown, status=2)
    return tuple(dict.fromkeys(entries)) or tuple(known)


def _with_options(manifest: Manifest, options: Options) -> Manifest:
    if options.numerics is None:
        return manifest
    entries = {
        name: entry.model_copy(update={"numerics": options.numerics})
        for name, entry in manifest.entry.items()
    }
    return manifest.model_copy(update={"entry": entries})


def _inputs(manifest: Manifest, names: Sequence[str], device: str) -> dict[str, Inputs]:
    common = fingerprint(manifest, device)
    return {name: {**common, **entry_fingerprint(manifest, name, device)} for name in names}


def _reasons(
    manifest: Manifest, names: Sequence[str], device: str, inputs: Mapping[str, Inputs]
) -> dict[str, str]:
    build_folder = manifest.build.dir
    return {
        name: why_stale(
            folder.stamp_place(build_folder, device, name),
            inputs[name],
            folder.bundle_place(build_folder, device, name),
        )
        for name in names
    }


def _unchanged(manifest: Manifest, name: str, device: str) -> Result:
    return Result(name, folder.bundle_place(manifest.build.dir, device, name), "")


def _build_locked(
    manifest: Manifest,
    names: Sequence[str],
    device: str,
    options: Options,
    report: Report,
    lock: int,
) -> tuple[Result, ...]:
    """As `build`, once no other build runs; what that one did is not done again."""
    from ppybuild.targets.scons_process import Scons

    results = {name: _unchanged(manifest, name, device) for name in names}
    for _ in range(_ATTEMPTS):
        inputs = _inputs(manifest, names, device)
        reasons = _reasons(manifest, names, device, inputs)
        stale = [name for name in names if reasons[name]]
        if not stale:
            break
        for name in stale:
            report.stale(name, reasons[name])
        with Scons(hold=(lock,)).started() as scons:
            program, facts = analyse_entries(manifest, stale)
            diagnostics = {*program.diagnostics, *facts.diagnostics}
            for name in stale:
                job = _Job(manifest, name, device, options, report, scons)
                remarks = job.run(program, facts)
                stamp = folder.stamp_place(manifest.build.dir, device, name)
                write_stamp(stamp, inputs[name], results[name].bundle)
                results[name] = replace(
                    results[name],
                    reason=results[name].reason or reasons[name],
                    remarks=remarks,
                    errors=sum(CODES[found.code].severity == "error" for found in diagnostics),
                )
    return tuple(results.values())


def analyse_entries(manifest: Manifest, names: Sequence[str]) -> tuple[Program, Facts]:
    """Read and analyse the whole program, once for all entries."""
    from ppybuild.graph.analyse import analyse
    from ppybuild.graph.load import load

    program = load(manifest)
    _check_entries(manifest, program, names)
    return program, analyse(program)


_NO_PART = "correct it; or, if it is no part of the program, `exclude` it in `[sources]`"


def _check_entries(manifest: Manifest, program: Program, names: Sequence[str]) -> None:
    """Stop where a module cannot be read, or the one that an entry names is not there."""
    from ppybuild.targets.modules import main_module

    blocked = [
        found if found.help else replace(found, help=_NO_PART)
        for found in program.diagnostics
        if found.code in UNREADABLE
    ]
    if blocked:
        raise Failure(*blocked, status=1)
    missing = []
    for name in names:
        module = manifest.entry[name].module
        if main_module(program, module) is None:
            missing.append(_module_missing(manifest, program, name, module))
    if missing:
        raise Failure(*missing, status=2)


def _module_missing(manifest: Manifest, program: Program, name: str, module: str) -> Diagnostic:
    close = nearest(module, program.modules)
    roots = ", ".join(f"`{root}`" for root in manifest.sources.roots)
    if module in program.modules:
        message = f"the entry `{name}` names the package `{module}`, which has no `__main__`"
        advice = f'name a module of it: `module = "{module}.…"`'
    else:
        message = f"the entry `{name}` names the module `{module}`, which no source gives"
        advice = f"did you mean `{close}`?" if close else f"looked in {roots}"
    return Diagnostic("E2103", message, help=advice)


@dataclass(frozen=True, slots=True)
class _Job:
    """One entry on its way to a bundle."""

    manifest: Manifest
    entry: str
    device: str
    options: Options
    report: Report
    scons: Scons

    @property
    def work(self) -> Path:
        return folder.work_place(self.manifest.build.dir, self.device, self.entry)

    def run(self, program: Program, facts: Facts) -> tuple[Diagnostic, ...]:
        from ppybuild.targets.emitting import emit_entry
        from ppybuild.targets.modules import main_module

        said = self.manifest.entry[self.entry]
        module = main_module(program, said.module)
        assert module is not None, "checked before"
        emission = emit_entry(facts, said, module, self.device)
        self.bundle(program, module, emission)
        return emission.remarks

    def bundle(self, program: Program, module: str, emission: Emission) -> None:
        """Compile the emission and put the bundle in its place."""
        from ppybuild.graph.load import encoded
        from ppybuild.targets.bundle import Contents, write_bundle
        from ppybuild.targets.data import data_files
        from ppybuild.targets.modules import (
            app_path,
            bindings_by_module,
            entry_modules,
            splices_by_module,
        )
        from ppybuild.targets.requirements import licences, requirements

        self.work.mkdir(parents=True, exist_ok=True)
        modules = entry_modules(program, module)
        extensions: dict[str, Path] = {}
        toolchain = None
        if emission.extensions:
            toolchain = need_toolchain(self.manifest, self.device, emission)
            extensions = self.compile(emission, toolchain)
        contents = Contents(
            entry=self.entry,
            version=self.manifest.project.version,
            module=module,
            args=self.manifest.entry[self.entry].args,
            device=self.device,
            without_gpu=self.manifest.device.cuda.without_gpu,
            platform=sysconfig.get_platform(),
            python=str(sysconfig.get_config_var("SOABI")),
            torch=toolchain.torch.version if toolchain and toolchain.torch else None,
            cpu=toolchain.instructions.features if toolchain else (),
            requires=requirements(program, module),
            licences=licences(["ppybuild"]),
            data=data_files(self.manifest, self.entry),
            sources={app_path(one): encoded(one.text) for one in modules.values()},
            extensions=extensions,
            bindings=bindings_by_module(emission.bindings, modules),
            splices=splices_by_module(emission.splices),
        )
        write_bundle(
            folder.bundle_place(self.manifest.build.dir, self.device, self.entry), contents
        )

    def compile(self, emission: Emission, toolchain: Toolchain) -> dict[str, Path]:
        from ppybuild.targets.scons import compile_extensions, prepare

        prepare(self.work, emission, toolchain)
        jobs = self.manifest.build.jobs if self.options.jobs is None else self.options.jobs
        return compile_extensions(
            self.work,
            emission,
            entry=self.entry,
            jobs=jobs or len(os.sched_getaffinity(0)),
            verbose=self.options.verbose,
            report=self.report,
            scons=self.scons,
        )


def need_toolchain(manifest: Manifest, device: str, emission: Emission) -> Toolchain:
    """Everything that compiling it needs, or a `Failure` that says what is missing."""
    from ppybuild.targets.cpu import choose_instructions
    from ppybuild.targets.cuda import need_cuda
    from ppybuild.targets.scons import Toolchain
    from ppybuild.targets.toolchain import (
        need_compiler,
        need_python_headers,
        need_scons,
        need_torch,
    )

    need_scons()
    paths = [source.path for one in emission.extensions for source in one.sources]
    uses_cxx = any(path.suffix == ".cpp" for path in paths)
    uses_cuda = any(path.suffix == ".cu" for path in paths)
    uses_torch = any(one.uses_torch for one in emission.extensions)
    compiler = need_compiler("C")
    cache = manifest.build.cache or folder.own_cache(manifest.build.dir)
    cache.mkdir(parents=True, exist_ok=True)
    return Toolchain(
        c=compiler,
        cxx=need_compiler("C++") if uses_cxx else None,
        python_include=need_python_headers(),
        torch=need_torch() if uses_torch else None,
        instructions=choose_instructions(manifest.device.cpu.cpu, compiler),
        cuda=need_cuda(manifest.device.cuda.arch) if uses_cuda else None,
        cache=cache,
    )
