"""The analyses, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ppybuild.graph.constants import find_constants
from ppybuild.graph.effects import find_effects
from ppybuild.graph.facts import gather
from ppybuild.graph.infer import infer
from ppybuild.graph.library import Library
from ppybuild.graph.program import Facts, Program
from ppybuild.graph.recursion import deep_recursion


def infer_types(program: Program, facts: Facts | None, library: Library) -> Facts:
    """Types of expressions, variables, fields and signatures, and what calls reach."""
    engine = infer(program, library, find_constants(program))
    return gather(engine)


def infer_effects(program: Program, facts: Facts | None, library: Library) -> Facts:
    """What running each function does beside computing its result."""
    assert facts is not None
    return replace(facts, effects=find_effects(facts))


Stage = Callable[[Program, Facts | None, Library], Facts]

PIPELINE: tuple[Stage, ...] = (infer_types, infer_effects)


TYPES_ALONE: tuple[Stage, ...] = (infer_types,)
"""What `check` looks at."""


def analyse(
    program: Program,
    library: Library | None = None,
    stages: tuple[Stage, ...] = PIPELINE,
) -> Facts:
    """Everything that is known about a program; `effects` is empty without their stage."""
    library = library or Library()
    facts: Facts | None = None
    with deep_recursion():
        for stage in stages:
            facts = stage(program, facts, library)
    assert facts is not None
    return replace(facts, diagnostics=(*program.diagnostics, *facts.diagnostics))
