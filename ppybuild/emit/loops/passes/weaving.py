"""Put the loops of one block into those of another that go over the same range.

    for i in range(0, cols, 1):             for i in range(0, cols, 1):
        total = total + b[i]           →        s_1 = s_1 + a[i]
    for i_1 in range(0, cols, 1):               total = total + b[i]
        s_1 = s_1 + a[i_1]

A float sum in source order keeps the processor waiting; what does not depend on it fills the
time. The two blocks must not depend on each other.

Keeps: values, order within each of the blocks. Needs: independent blocks. Guards: none.
"""

from __future__ import annotations

from dataclasses import replace

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.passes.fronts import sums

MOST_STATEMENTS = 40
"""In two blocks that are written once more for this."""


def can_weave(block: ir.Block, other: ir.Block) -> bool:
    """Whether a loop of `block` that sums goes over the range of the first of `other`."""
    size = sum(1 for _ in tree.statements((*block, *other)))
    return size <= MOST_STATEMENTS and any(_fit(each, _first_loop(other)) for each in block)


def weave(block: ir.Block, other: ir.Block) -> ir.Block:
    """`block` with the statements of `other` in it, each in their order."""
    result: list[ir.Statement] = []
    for statement in unrolled(block):
        inner = _first_loop(other)
        if isinstance(statement, ir.For) and inner is not None and _fit(statement, inner):
            at = other.index(inner)
            result += other[:at]
            other = other[at + 1 :]
            statement = _joined(statement, inner)
        result.append(statement)
    return (*result, *other)


def _first_loop(block: ir.Block) -> ir.For | None:
    return next((each for each in block if isinstance(each, ir.For)), None)


def _fit(loop: ir.Statement, other: ir.For | None) -> bool:
    if not isinstance(loop, ir.For) or other is None:
        return False
    same = (loop.start, loop.stop, loop.step) == (other.start, other.stop, other.step)
    counted = loop.target not in tree.assigned(loop.body)
    return same and counted and sums(loop) and not loop.orelse and not other.orelse


def _joined(loop: ir.For, other: ir.For) -> ir.For:
    added = tree.rename(other.body, {other.target: loop.target})
    return replace(loop, body=(*added, *loop.body))


def unrolled(block: ir.Block) -> ir.Block:
    """The block with its innermost loops that sum marked to be unrolled in C."""
    return tuple(_unrolled(statement) for statement in block)


def _unrolled(statement: ir.Statement) -> ir.Statement:
    if isinstance(statement, ir.For) and sums(statement):
        inside = tree.statements(statement.body)
        if not any(isinstance(each, ir.For | ir.While) for each in inside):
            return replace(statement, unrolled=True)
    return tree.map_blocks(statement, unrolled)
