"""Leave out assignments whose value nothing reads any more.

    t1 = t0                        value = a[t0]
    value = a[t0]          →

Keeps: values, order of evaluation, every failure (checks stay). Needs: nothing.
Guards: none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ppybuild.emit.loops import ir, tree

# In loops nested deeper, what is read anywhere counts as read everywhere: bounds the work.
DEEPEST = 4

Live = frozenset[str]
NOTHING: Live = frozenset()


@dataclass(frozen=True, slots=True)
class _Exits:
    """What is read after a `break` and after a `continue`."""

    broken: Live = NOTHING
    continued: Live = NOTHING
    depth: int = 0
    """Loops around."""


def run(function: ir.Function) -> ir.Function:
    body, _ = _block(function.body, NOTHING, _Exits())
    used = tree.assigned(body) | _reads(body)
    kept = tuple(local for local in function.locals if local[0] in used)
    return replace(function, body=body, locals=kept)


def _reads(block: ir.Block) -> Live:
    return frozenset(part.name for part in tree.expressions(block) if isinstance(part, ir.Var))


def _block(block: ir.Block, live: Live, exits: _Exits) -> tuple[ir.Block, Live]:
    """The block without dead assignments, and what is read at its start."""
    kept: list[ir.Statement] = []
    for statement in reversed(block):
        if isinstance(statement, ir.Assign) and statement.target not in live:
            continue
        changed, live = _statement(statement, live, exits)
        kept.append(changed)
    return tuple(reversed(kept)), live


def _statement(statement: ir.Statement, live: Live, exits: _Exits) -> tuple[ir.Statement, Live]:
    own = frozenset(
        name for whole in tree.own_expressions(statement) for name in tree.variables(whole)
    )
    match statement:
        case ir.Return():
            return statement, own
        case ir.Break():
            return statement, exits.broken
        case ir.Continue():
            return statement, exits.continued
        case ir.If() | ir.Versioned():
            found: list[Live] = []

            def change(inner: ir.Block) -> ir.Block:
                swept, at_start = _block(inner, live, exits)
                found.append(at_start)
                return swept

            changed = tree.map_blocks(statement, change)
            return changed, own | found[0] | found[1]
        case ir.For():
            orelse, after = _block(statement.orelse, live, exits)
            changed, turn = _turn(statement, after | live, live, exits.depth + 1)
            return replace(changed, orelse=orelse), turn | own
        case ir.While():
            orelse, after = _block(statement.orelse, live, exits)
            changed, turn = _turn(statement, after | live | own, live, exits.depth + 1)
            return replace(changed, orelse=orelse), turn
        case _:
            return statement, (live - frozenset(tree.own_targets(statement))) | own


def _turn(
    loop: ir.For | ir.While, turn: Live, left: Live, depth: int
) -> tuple[ir.For | ir.While, Live]:
    """The loop swept, and what is read at the start of a turn: `turn`, grown to a fixpoint."""
    if depth > DEEPEST:
        turn |= _reads((loop,))
    while True:
        exits = _Exits(left, turn, depth)
        body, start = _block(loop.body, turn, exits)
        changed: ir.For | ir.While = replace(loop, body=body)
        if isinstance(loop, ir.While):
            test, start = _block(loop.test, turn | start, exits)
            changed = replace(loop, test=test, body=body)
        if start <= turn:
            return changed, turn
        turn |= start
