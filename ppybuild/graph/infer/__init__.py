"""Type inference over the whole program.

    program, library  →  the type of every expression, signatures, locals, fields, callees

Flow-sensitive inside a function, over parameters, results and fields between functions, to a
fixpoint. `engine` holds the units and the worklist, `visit` one pass over a unit,
`statements` and `expressions` the rules.
"""

from __future__ import annotations

import ast

from ppybuild.graph.infer.calls import call_method
from ppybuild.graph.infer.engine import Engine
from ppybuild.graph.infer.expressions import EXPRESSIONS
from ppybuild.graph.infer.state import Unit
from ppybuild.graph.infer.statements import run
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import join
from ppybuild.graph.library import Library
from ppybuild.graph.program import Constant, Program
from ppybuild.graph.types import NONE, UNKNOWN, Collection


def infer(
    program: Program, library: Library, constants: dict[str, dict[str, Constant]]
) -> Engine:
    """Runs inference to its end; the engine holds what was found."""
    engine = Engine(program, library, constants, visit_unit)
    engine.run()
    return engine


def visit_unit(engine: Engine, unit: Unit) -> None:
    """One pass over a unit's body with what is known now."""
    visit = Visit(engine, unit, EXPRESSIONS, {})
    visit.special = lambda owner, name, given: call_method(visit, owner, name, given)
    assert visit.env is not None
    for found in unit.inputs:
        given = engine.input_type(found, unit)
        visit.env[found.name] = given
        engine.write(unit.variable(found.name), given, unit)
    node = unit.node
    if isinstance(node, ast.Lambda):
        visit.returned = visit.infer(node.body)
    else:
        run(visit, node.body)
    if isinstance(node, ast.Module):
        return
    if isinstance(node, ast.AsyncFunctionDef):
        engine.work.write(unit.result, UNKNOWN)
    elif unit.scope.yields:
        engine.work.write(unit.result, Collection("Iterator", visit.yielded), writer=unit)
    else:
        found_result = visit.returned
        if visit.env is not None and not isinstance(node, ast.Lambda):
            found_result = join(found_result, NONE)
        engine.work.write(unit.result, engine.sites.narrowed(found_result), writer=unit)


__all__ = ["infer"]
