"""Converts a program: facts in, the new text of each module out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppybuild.convert.bindings import Constants
from ppybuild.convert.plan import Plans
from ppybuild.convert.promoted import Promoted
from ppybuild.convert.rewrite import rewrite
from ppybuild.convert.tolerance import Tolerance
from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.flow import trace
from ppybuild.graph.program import Facts
from ppybuild.graph.promote import promote_buffers


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """A module's new text; `target` is where it goes, `source` where it came from."""

    source: Path
    target: Path
    text: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of `convert`; with an error among the diagnostics, write nothing."""

    files: tuple[ConvertedFile, ...]
    diagnostics: tuple[Diagnostic, ...]


def convert(
    facts: Facts, modules: Sequence[str], *, promote: bool, partial: bool
) -> Conversion:
    """Convert these modules, typed from the whole program."""
    flow = trace(facts)
    promotion = promote_buffers(facts, flow) if promote and _has_array(facts) else None
    plans = Plans(facts, Promoted(flow, promotion), Tolerance(facts), Constants(facts), partial)
    files: list[ConvertedFile] = []
    diagnostics: list[Diagnostic] = list(promotion.remarks) if promotion else []
    for name in modules:
        module = facts.program.modules[name]
        edit = plans.module(module)
        diagnostics.extend(edit.diagnostics)
        text = rewrite(module.text, edit)
        files.append(ConvertedFile(module.path, module.path.with_suffix(".ppy"), text))
    return Conversion(tuple(files), tuple(diagnostics))


def _has_array(facts: Facts) -> bool:
    """False for a program with a module `array` of its own, which hides the library's."""
    return not any(name.partition(".")[0] == "array" for name in facts.program.modules)
