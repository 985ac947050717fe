"""The program at a glance: modules, functions, calls, and what is native of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ppybuild.cli.common import lies_in, read_program
from ppybuild.places import shown_path

if TYPE_CHECKING:
    from ppybuild.diagnostics import Diagnostic
    from ppybuild.emit.emission import DescribedRegion, Emission
    from ppybuild.graph.program import Facts
    from ppybuild.manifest import Manifest

Kind = Literal["loop", "region", "python"]


@dataclass(frozen=True, slots=True)
class MappedFunction:
    """A function of the program; `why` says why it stays in Python, or is empty."""

    name: str
    module: str
    path: str
    line: int
    end_line: int
    kind: Kind
    calls: tuple[str, ...]
    """Functions of the project that it calls, each once, in order."""
    why: str
    region: DescribedRegion | None
    """What a tensor region or a training step is made of."""


@dataclass(frozen=True, slots=True)
class MappedModule:
    name: str
    path: str
    lines: int
    imports: tuple[str, ...]
    """Modules of the project that it imports."""


@dataclass(frozen=True, slots=True)
class ProgramMap:
    name: str
    modules: tuple[MappedModule, ...]
    functions: tuple[MappedFunction, ...]


def map_program(manifest: Manifest) -> ProgramMap:
    """Read, analyse and emit the whole program, and say what became of it."""
    from ppybuild.emit.driver import emit
    from ppybuild.graph.analyse import analyse

    program = read_program(manifest)
    facts = analyse(program)
    emission = emit(facts, tuple(program.modules))
    return ProgramMap(
        manifest.project.name or manifest.root.name,
        _modules(manifest, facts),
        _functions(manifest, facts, emission),
    )


def _modules(manifest: Manifest, facts: Facts) -> tuple[MappedModule, ...]:
    from ppybuild.graph.imports import imported_modules

    modules = facts.program.modules
    return tuple(
        MappedModule(
            name,
            _relative(manifest, facts, name),
            found.text.count("\n") + 1,
            tuple(sorted({*imported_modules(modules, found)} - {name})),
        )
        for name, found in modules.items()
    )


def _functions(
    manifest: Manifest, facts: Facts, emission: Emission
) -> tuple[MappedFunction, ...]:
    reasons = _reasons(facts, emission.remarks)
    calls = _calls(facts)
    return tuple(
        MappedFunction(
            name,
            found.module,
            _relative(manifest, facts, found.module),
            found.node.lineno,
            found.node.end_lineno or found.node.lineno,
            _kind(emission, name),
            calls.get(name, ()),
            "" if name in emission.bindings else reasons.get(name, ""),
            emission.regions.get(name),
        )
        for name, found in facts.program.functions.items()
    )


def _kind(emission: Emission, name: str) -> Kind:
    extension = emission.bindings.get(name, ("", ""))[0]
    return {"": "python", "loops": "loop"}.get(extension, "region")  # type: ignore[return-value]


def _relative(manifest: Manifest, facts: Facts, module: str) -> str:
    return shown_path(facts.program.modules[module].path, manifest.root)


def _reasons(facts: Facts, remarks: Sequence[Diagnostic]) -> dict[str, str]:
    """The remark of each function that stays, by function."""
    found: dict[str, str] = {}
    for name, function in facts.program.functions.items():
        for remark in remarks:
            if lies_in(remark, function, facts.program):
                found[name] = remark.message
    return found


def _calls(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, function in facts.program.functions.items():
        reached: dict[str, None] = {}
        for node in ast.walk(function.node):
            callee = facts.callees.get(node) if isinstance(node, ast.Call) else None
            if callee is not None and callee.kind == "project":
                reached[callee.name] = None
        found[name] = tuple(reached)
    return found
