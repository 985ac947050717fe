"""Converts a program: facts in, the new text of each module out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ppybuild.convert.bindings import Constants
from ppybuild.convert.names import star_imported
from ppybuild.convert.plan import ModuleEdit, Plans
from ppybuild.convert.promoted import Promoted
from ppybuild.convert.rewrite import rewrite
from ppybuild.convert.tolerance import Tolerance
from ppybuild.diagnostics import CODES, Diagnostic
from ppybuild.graph.analyse import analyse
from ppybuild.graph.flow import trace
from ppybuild.graph.index import index_module
from ppybuild.graph.load import encoded
from ppybuild.graph.program import Class, Facts, Function, Module, Program
from ppybuild.graph.promote import promote_buffers
from ppybuild.graph.recursion import deep_recursion

ROUNDS = 5
"""How often what was written may let more be known."""


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """A module's new text; `target` is where it goes, `source` where it came from."""

    source: Path
    target: Path
    text: str

    @property
    def data(self) -> bytes:
        """The text in the encoding that its first lines declare."""
        return encoded(self.text)


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of `convert`; with an error among the diagnostics, write nothing."""

    files: tuple[ConvertedFile, ...]
    diagnostics: tuple[Diagnostic, ...]


@deep_recursion()
def convert(
    facts: Facts, modules: Sequence[str], *, promote: bool, partial: bool
) -> Conversion:
    """Convert these modules, typed from the whole program.

    Where a type was not known, what is written now may tell it: it is converted again
    until nothing changes, so that converting the result changes nothing either.
    """
    texts, diagnostics, settled = _convert_once(facts, modules, promote, partial)
    failed = any(CODES[found.code].severity == "error" for found in diagnostics)
    rounds = 1
    while not settled and not failed and rounds < ROUNDS:
        rounds += 1
        again = analyse(_with_texts(facts.program, texts))
        newer, later, settled = _convert_once(again, modules, promote, partial)
        diagnostics = _still_true(diagnostics, later)
        if newer == texts:
            break
        texts = newer
    files = []
    for name in modules:
        path = facts.program.modules[name].path
        files.append(ConvertedFile(path, path.with_suffix(".ppy"), texts[name]))
    return Conversion(tuple(files), tuple(diagnostics))


def _convert_once(
    facts: Facts, modules: Sequence[str], promote: bool, partial: bool
) -> tuple[dict[str, str], list[Diagnostic], bool]:
    """The new texts, the findings, and whether every type was known."""
    flow = trace(facts)
    promotion = promote_buffers(facts, flow) if promote and _has_array(facts) else None
    plans = Plans(
        facts,
        Promoted(flow, promotion),
        Tolerance(facts),
        Constants(facts),
        star_imported(facts),
        partial,
    )
    texts: dict[str, str] = {}
    diagnostics: list[Diagnostic] = list(promotion.remarks) if promotion else []
    edits: list[ModuleEdit] = []
    for name in modules:
        module = facts.program.modules[name]
        edit = plans.module(module)
        edits.append(edit)
        diagnostics.extend(edit.diagnostics)
        texts[name] = rewrite(module.text, edit)
    return texts, diagnostics, all(edit.settled for edit in edits)


def _with_texts(program: Program, texts: Mapping[str, str]) -> Program:
    """The program as it is after conversion."""
    modules: dict[str, Module] = {}
    functions: dict[str, Function] = {}
    classes: dict[str, Class] = {}
    for name, module in program.modules.items():
        if texts.get(name, module.text) != module.text:
            module = replace(module, text=texts[name], tree=ast.parse(texts[name]))
        modules[name] = module
        index_module(module, functions, classes)
    return Program(modules, functions, classes, program.diagnostics)


def _still_true(first: Sequence[Diagnostic], later: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Findings at their places in the text as it was; what a later round typed is typed."""
    untyped = {found.message for found in later if found.code == "W1304"}
    return [found for found in first if found.code != "W1304" or found.message in untyped]


def _has_array(facts: Facts) -> bool:
    """False for a program with a module `array` of its own, which hides the library's."""
    return not any(name.partition(".")[0] == "array" for name in facts.program.modules)
