"""`ppybuild explain`: a code, or a function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppybuild.cli.common import (
    Command,
    lies_in,
    load_manifest,
    manifest_option,
    read_program,
    shown,
)
from ppybuild.diagnostics import CODES, Diagnostic, Failure, nearest

if TYPE_CHECKING:
    from ppybuild.graph.program import Effects, Facts, Function, Program, Signature
    from ppybuild.manifest import Manifest

_HELP = """Explain a diagnostic's code, or what a function of the program becomes.

\b
  ppybuild explain E1206
  ppybuild explain train.standardize
"""


@click.command("explain", cls=Command, help=_HELP, short_help="Explain a code or a function.")
@click.argument("name", metavar="CODE|NAME")
@manifest_option
def command(name: str, manifest_path: Path | None) -> None:
    """As `_HELP` says."""
    if re.fullmatch(r"[EWR]\d+", name, re.IGNORECASE):
        lines = _code(name.upper())
    else:
        lines = _function(load_manifest(manifest_path), name)
    click.echo("\n".join(lines))


def _code(name: str) -> Iterator[str]:
    row = CODES.get(name)
    if row is None:
        close = nearest(name, CODES)
        advice = f"did you mean `{close}`?" if close else "docs/diagnostics.md lists them"
        raise Failure(
            Diagnostic("E2106", f"there is no diagnostic `{name}`", help=advice), status=2
        )
    yield f"{row.severity}[{name}]: {row.title}"
    yield ""
    yield row.meaning
    if row.example:
        yield ""
        yield from (f"    {line}" for line in row.example.split("\n"))
    yield ""
    yield row.fix


def _function(manifest: Manifest, name: str) -> Iterator[str]:
    from ppybuild.graph.analyse import analyse

    program = read_program(manifest)
    function = _find(program, name)
    facts = analyse(program)
    where = f"{shown(program.modules[function.module].path)}:{function.node.lineno}"
    yield f"{function.name}, {where}"
    yield f"  signature: {_signature(facts.signatures.get(function.name))}"
    yield f"  effects:   {_effects(facts.effects.get(function.name))}"
    yield from _guards(facts, function.name)
    yield from _entries(manifest, facts, function)


def _guards(facts: Facts, name: str) -> Iterator[str]:
    """The checks that remain in a native loop function, and when they are not made."""
    from ppybuild.emit.loops.guards import remaining_guards
    from ppybuild.emit.loops.lower import lower
    from ppybuild.emit.loops.passes import optimise

    lowered, _ = lower(facts, list(facts.program.functions))
    if name not in lowered:
        return
    guards = remaining_guards(optimise(lowered)[name])
    always = [guard for guard in guards if not guard.unless]
    yield f"  guards:    {len(always) or 'none'} on every run"
    for guard in always:
        yield f"    line {guard.line}: {guard.what}"
    for condition in dict.fromkeys(guard.unless for guard in guards if guard.unless):
        yield f"    and, unless {condition}:"
        for guard in guards:
            if guard.unless == condition:
                yield f"      line {guard.line}: {guard.what}"


def _find(program: Program, name: str) -> Function:
    """By its dotted name, or by the end of one where that is enough."""
    functions = program.functions
    if name in functions:
        return functions[name]
    ending = [full for full in functions if full.endswith(f".{name}")]
    if len(ending) == 1:
        return functions[ending[0]]
    if ending:
        message = f"`{name}` may be any of {', '.join(sorted(ending))}"
        raise Failure(Diagnostic("E2106", message, help="give more of its name"), status=2)
    for what, known in (("class", program.classes), ("module", program.modules)):
        for full in known:
            if full == name or full.endswith(f".{name}"):
                raise Failure(_is_no_function(functions, full, what), status=2)
    close = nearest(name, functions) or nearest(
        name.rpartition(".")[2], [full.rpartition(".")[2] for full in functions]
    )
    advice = f"did you mean `{close}`?" if close else "give a dotted name: `train.main`"
    raise Failure(
        Diagnostic("E2106", f"the program has no function `{name}`", help=advice), status=2
    )


def _is_no_function(functions: Mapping[str, Function], name: str, what: str) -> Diagnostic:
    inside = [full for full in functions if full.rpartition(".")[0] == name]
    advice = f"name one of its functions: {', '.join(inside)}" if inside else ""
    return Diagnostic("E2106", f"`{name}` is a {what}, and no function", help=advice)


def _signature(signature: Signature | None) -> str:
    from ppybuild.graph.lattice import show

    if signature is None:
        return "not known"
    parameters = ", ".join(f"{one.name}: {show(one.type)}" for one in signature.parameters)
    return f"({parameters}) -> {show(signature.result)}"


def _effects(effects: Effects | None) -> str:
    if effects is None:
        return "not known"
    said = [f"writes `{name}`" for name in sorted(effects.writes)]
    said += [f"writes the global `{name}`" for name in sorted(effects.writes_globals)]
    said += ["performs input or output"] * effects.performs_io
    said += ["calls what is not known"] * effects.calls_unknown
    return ", ".join(said) or "none: it is pure"


def _entries(manifest: Manifest, facts: Facts, function: Function) -> Iterator[str]:
    """What the function is in each entry that holds it."""
    from ppybuild.cli.region_text import region_lines
    from ppybuild.targets.emitting import emit_entry
    from ppybuild.targets.modules import entry_modules, main_module

    for name, entry in manifest.entry.items():
        main = main_module(facts.program, entry.module)
        if main is None or function.module not in entry_modules(facts.program, main):
            continue
        emission = emit_entry(facts, entry, main, manifest.build.device)
        binding = emission.bindings.get(function.name)
        inside = [n for n, found in emission.splices.items() if found.function == function.name]
        state = "Python, with native statements" if inside else "stays in Python"
        state = f"native, in `{binding[0]}`" if binding else state
        yield f"  in entry `{name}`: {state}"
        for each in (function.name, *inside):
            region = emission.regions.get(each)
            if region is not None:
                yield from (f"    {line}" for line in region_lines(region))
        for remark in emission.remarks:
            if lies_in(remark, function, facts.program):
                yield f"    {remark.code}: {remark.message}"
                if remark.help:
                    yield f"           {remark.help}"
