"""E1401, E1402: shapes and dtypes that do not go together."""

from __future__ import annotations

import ast

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.library import CallProblem

CODES = {"shape": "E1401", "dtype": "E1402"}
HELP = {
    "shape": "make the sizes agree: `x.shape` shows them, `x.t()` turns a matrix",
    "dtype": "convert it first: `x.float()`, `x.long()` or `x.to(y.dtype)`",
}
CHANGING = (
    "autocast",
    "set_default_dtype",
    "set_default_tensor_type",
    "vmap",
    "functional_call",
    "register_forward",
    "parametriz",
)
"""Words by which a program may compute with other dtypes or shapes than are written."""


def trusts_tensors(context: Context, place: Place) -> bool:
    """True where shapes and dtypes are what the text says."""
    if place.conditional or is_caught(place, "RuntimeError", "IndexError", "ValueError"):
        return False
    return not any(
        word in module.text
        for module in context.facts.program.modules.values()
        for word in CHANGING
    )


def report_problem(
    context: Context, place: Place, node: ast.AST, problem: CallProblem
) -> Diagnostic:
    return context.report(
        CODES[problem.kind],
        problem.message,
        place,
        node,
        help=HELP[problem.kind],
    )
