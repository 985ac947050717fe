"""How loops keep looking at signals: every 2**20 turns at the latest, and cheaply.

A run has a budget of turns (`ppy_run.ticks`); a kernel looks at signals when it is spent.

* A counted loop without loops or calls inside runs in blocks that are charged at once, so
  that the compiler sees a plain innermost loop.
* A small one of constant length is charged to the loop around it.
* Any other loop is charged turn by turn, a `while` without loops inside every 64 turns.
"""

from __future__ import annotations

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.tree import blocks

WHILE_TURNS = 64  # turns of a simple `while` between two charges; a power of two
_SMALL_TURNS = 1024


def is_small(loop: ir.For) -> bool:
    """Whether the loop is charged to the loop around it."""
    bounds = (loop.start, loop.stop, loop.step)
    if not all(isinstance(bound, ir.Const) for bound in bounds) or polls(loop.body):
        return False
    return loop_turns(loop) * turn_weight(loop.body) <= _SMALL_TURNS


def loop_turns(loop: ir.For) -> int:
    """The number of turns of a loop with constant bounds."""
    bounds = [
        int(bound.value)
        for bound in (loop.start, loop.stop, loop.step)
        if isinstance(bound, ir.Const)
    ]
    return len(range(*bounds))


def polls(block: ir.Block) -> bool:
    """Whether the block has a loop that is not small, or calls another kernel."""
    for statement in block:
        match statement:
            case ir.For() if is_small(statement):
                pass
            case ir.For() | ir.While() | ir.Call():
                return True
            case _:
                if any(polls(inner) for inner in blocks(statement)):
                    return True
    return False


def turn_weight(block: ir.Block) -> int:
    """Ticks that a turn of a loop with this body costs: its own, and uncharged ones inside."""
    return 1 + sum(_uncharged(statement) for statement in block)


def _uncharged(statement: ir.Statement) -> int:
    match statement:
        case ir.For() if is_small(statement):
            return loop_turns(statement) * turn_weight(statement.body)
        case ir.For():
            return 0
        case ir.While():
            return WHILE_TURNS * turn_weight(statement.test + statement.body)
        case _:
            return sum(_uncharged(each) for inner in blocks(statement) for each in inner)


def block_turns(loop: ir.For) -> str:
    """C for the turns of a block; small where the loop may be left with most not run."""
    weight = turn_weight(loop.body)
    turns = "PPY_SMALL_BLOCK" if _leaves_early(loop.body) else "PPY_TICKS"
    return turns if weight == 1 else f"{turns} / {weight}"


def _leaves_early(block: ir.Block) -> bool:
    return any(
        isinstance(statement, ir.Break | ir.Return)
        or any(_leaves_early(inner) for inner in blocks(statement))
        for statement in block
    )
