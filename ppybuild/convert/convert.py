"""Converts a program: facts in, the new text of each module out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppybuild.convert.plan import plan_module
from ppybuild.convert.rewrite import rewrite
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
    promotion = promote_buffers(facts, flow) if promote else None
    files: list[ConvertedFile] = []
    diagnostics: list[Diagnostic] = list(promotion.remarks) if promotion else []
    for name in modules:
        module = facts.program.modules[name]
        edit = plan_module(facts, flow, promotion, module, partial=partial)
        diagnostics.extend(edit.diagnostics)
        text = rewrite(module.text, edit)
        files.append(ConvertedFile(module.path, module.path.with_suffix(".ppy"), text))
    return Conversion(tuple(files), tuple(diagnostics))
