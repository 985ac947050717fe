"""Which values of type float are certainly floats: an annotation `float` takes ints too."""

from __future__ import annotations

import ast

from ppybuild.graph.flow.records import Flow, Slot
from ppybuild.graph.lattice import members_of
from ppybuild.graph.program import Facts
from ppybuild.graph.types import FLOAT, INT, NONE

ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod


def doubtful_float(facts: Facts, flow: Flow) -> Slot | None:
    """A variable or field declared `float` that something else may enter, if there is one.

    Where there is none, what inference calls a float is one: nothing but an annotation
    makes it call an int a float.
    """
    for slot, uses in flow.uses.items():
        declared = [use for use in uses if use.what == "annotated" and "float" in use.detail]
        if not declared:
            continue
        outside = any(use.what in ("escape", "source") for use in uses)
        entered = flow.entered.get(slot, ())
        if outside or not all(facts.types.get(node) in (FLOAT, NONE) for node in entered):
            return slot
    return None


def certainly_float(facts: Facts, node: ast.expr) -> bool:
    """Whether the value is a float whatever the annotations promise."""
    match node:
        case ast.Constant():
            return isinstance(node.value, float)
        case ast.UnaryOp():
            return certainly_float(facts, node.operand)
        case ast.IfExp():
            return certainly_float(facts, node.body) and certainly_float(facts, node.orelse)
        case ast.BinOp(op=ast.Div()):
            return all(_number(facts, side) for side in (node.left, node.right))
        case ast.BinOp() if isinstance(node.op, ARITHMETIC):
            sides = (node.left, node.right)
            return all(_number(facts, side) for side in sides) and any(
                certainly_float(facts, side) for side in sides
            )
        case ast.Call():
            callee = facts.callees.get(node)
            name = callee.name if callee is not None else ""
            return name == "builtins.float" or (
                name.startswith(("math.", "time.", "random."))
                and facts.types.get(node) == FLOAT
            )
    return False


def _number(facts: Facts, node: ast.expr) -> bool:
    found = facts.types.get(node)
    return found is not None and all(each in (INT, FLOAT) for each in members_of(found))
