"""Run the part of a row that depends on no other row for four rows at once.

    for row in range(0, rows, 1):      →    whole = rows - 1 - (rows - 1) % 4
        s = 0.0                             for block in range(0, whole, 4):
        for i in range(0, cols, 1):             s_1 = 0.0 ... s_4 = 0.0
            s = s + a[row*cols + i]             for i in range(0, cols, 1):
        total = total + s                           s_1 = s_1 + a[block*cols + i]
                                                    ... s_4 = s_4 + a[(block + 3)*cols + i]
                                                for row in range(block, block + 4, 1):
                                                    s = s_1 if row == block else ...
                                                    total = total + s
                                            for row in range(whole, rows, 1):
                                                (the row as it was)

A sum in source order waits for each addition; four of them, of four rows, wait together,
and the C compiler may keep them in the lanes of a vector. Each keeps its own order, so the
bits are the same. What follows in the row, and carries something from row to row, runs row
by row as before; where that sums in loops over the same range, the front of the next four
rows is woven into those of the first (`weaving`), so that neither sum waits alone.

The front (`fronts`) reads only memory that the rest of the row does not write; a condition
before the loop finds out.

Keeps: values, order of evaluation within a row, every failure. Needs: a loop without
checks. Guards: none added; buffers that share memory take the body without it. The last row
is always one of those that run as they were, so that it leaves the variables as it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.passes import fronts, weaving
from ppybuild.emit.loops.verify import scalars

ROWS = 4
I64, BOOL = ir.Type.I64, ir.Type.BOOL

Lane = dict[str, str]
"""What the variables of a front are called for one row of a block."""


def run(function: ir.Function) -> ir.Function:
    rewriting = _Rewriting(function)
    body = rewriting.block(function.body)
    return replace(rewriting.function, body=body)


@dataclass(slots=True)
class _Rewriting:
    function: ir.Function

    def block(self, block: ir.Block) -> ir.Block:
        return tuple(new for statement in block for new in self.statement(statement))

    def statement(self, statement: ir.Statement) -> ir.Block:
        match statement:
            case ir.Versioned(fast=(ir.For() as loop,), condition=condition):
                found = self.jam(loop, statement)
                if found is not None:
                    apart, jammed = found
                    both = reduce(_and, apart, condition)
                    return (replace(statement, condition=both, fast=jammed),)
            case ir.For():
                found = self.jam(statement, statement)
                if found is not None:
                    apart, jammed = found
                    if not apart:
                        return jammed
                    condition = reduce(_and, apart)
                    return (ir.Versioned(condition, jammed, (statement,), statement.location),)
            case _:
                pass
        return (tree.map_blocks(statement, self.block),)

    def jam(self, loop: ir.For, around: ir.Statement) -> tuple[list[ir.Expr], ir.Block] | None:
        """The condition that buffers are apart, in parts, and what to run under it.

        `around` is the statement of the function that will be replaced.
        """
        front = fronts.front_of(loop)
        if front is None:
            return None
        rest = loop.body[len(front) :]
        reads = fronts.loaded(front)
        writes = {one.buffer for one in tree.statements(rest) if isinstance(one, ir.Store)}
        if reads & writes:
            return None
        apart: list[ir.Expr] = [
            ir.Disjoint(read, write) for read in sorted(reads) for write in sorted(writes)
        ]
        lasting = fronts.reads(self.function.body, around) & tree.assigned(front)
        if not lasting <= fronts.exposed(front, frozenset(), loops_run=True)[1]:
            return None
        return apart, self.rewrite(loop, front, rest)

    def local(self, stem: str, type: ir.Type) -> str:
        self.function, name = tree.fresh(self.function, stem, type)
        return name

    def types(self) -> dict[str, ir.Type]:
        found = {each.name: each.type for each in scalars(self.function.parameters)}
        return found | dict(self.function.locals)

    def rewrite(self, loop: ir.For, front: ir.Block, rest: ir.Block) -> ir.Block:
        at = loop.location
        stop, settled = self.settle(loop)
        whole, block = self.local("whole", I64), self.local("block", I64)
        most, one = ir.Var(whole, I64), ir.Const(1, I64)
        over = ir.Op("rem.i64", (most, ir.Const(ROWS, I64)), I64)
        counted = (
            *settled,
            ir.Assign(whole, ir.Op("max.i64", (stop, one), I64), at),
            ir.Assign(whole, ir.Op("sub.i64", (most, one), I64), at),
            ir.Assign(whole, ir.Op("sub.i64", (most, over), I64), at),
        )
        rows = self.plan(loop, front, rest, block)
        body = self.woven(rows, loop, front, stop) or self.plain(rows, loop, front)
        step = ir.Const(ROWS, I64)
        blocks: ir.Block = (
            ir.For(block, loop.start, ir.Var(whole, I64), step, body.turn, (), at),
        )
        if body.before:
            some = ir.Op("gt.i64", (most, ir.Const(0, I64)), BOOL)
            blocks = (ir.If(some, (*body.before, *blocks), (), at),)
        return (*counted, *blocks, replace(loop, start=most, stop=stop))

    def settle(self, loop: ir.For) -> tuple[ir.Expr, ir.Block]:
        """The end of the loop as an expression that the loop does not change, and what has
        to run before for that."""
        changed = tree.assigned((loop,))
        if not tree.variables(loop.stop) & changed and not tree.loaded(loop.stop):
            return loop.stop, ()
        stop = self.local(f"{loop.target}_stop", I64)
        return ir.Var(stop, I64), (ir.Assign(stop, loop.stop, loop.location),)

    def plan(self, loop: ir.For, front: ir.Block, rest: ir.Block, block: str) -> _Rows:
        types = self.types()
        kept = fronts.cheap(loop, front)
        counters = {one.target for one in tree.statements(front) if isinstance(one, ir.For)}
        shared = {name: self.local(name, types[name]) for name in sorted(counters)}
        own = sorted(tree.assigned(front) - counters)
        lanes = tuple(
            shared | {name: self.local(name, types[name]) for name in own} for _ in range(ROWS)
        )
        again = {name for statement in kept for name in tree.own_targets(statement)}
        read = fronts.exposed(rest, frozenset())[0]
        picked = tuple(name for name in own if name in read - again)
        return _Rows(ir.Var(block, I64), lanes, tuple(kept), rest, picked)

    def plain(self, rows: _Rows, loop: ir.For, front: ir.Block) -> _Blocks:
        """The front of the block, then the rest row by row."""
        jammed = _jam(front, rows.lanes, loop.target, _following(rows.block))
        body = (*rows.kept, *self.picks(rows, loop, rows.lanes, 0), *rows.rest)
        return _Blocks((), (*jammed, _row_loop(loop, rows.block, 0, body)))

    def woven(
        self, rows: _Rows, loop: ir.For, front: ir.Block, stop: ir.Expr
    ) -> _Blocks | None:
        """The first row with the front of the next block woven in, then the other rows; the
        front of the first block runs before. The last block takes the last rows for a next
        one: what is found of them is not used."""
        if not weaving.can_weave(rows.rest, front):
            return None
        at = loop.location
        ahead = self.local("ahead", I64)
        jammed = _jam(front, rows.lanes, loop.target, _following(ir.Var(ahead, I64)))
        woven = weaving.weave(rows.rest, jammed)
        types = self.types()
        last = ir.Op("sub.i64", (stop, ir.Const(ROWS, I64)), I64)
        nearer = ir.Op("min.i64", (_plus(rows.block, ROWS), last), I64)
        held = tuple(
            {name: self.local(name, types[name]) for name in rows.picked}
            for _ in range(1, ROWS)
        )
        holding = tuple(
            ir.Assign(names[name], ir.Var(lane[name], types[name]), at)
            for names, lane in zip(held, rows.lanes[1:], strict=True)
            for name in rows.picked
        )
        first = tuple(
            ir.Assign(name, ir.Var(rows.lanes[0][name], types[name]), at)
            for name in rows.picked
        )
        others = (*rows.kept, *self.picks(rows, loop, held, 1), *weaving.unrolled(rows.rest))
        turn = (
            ir.Assign(ahead, nearer, at),
            *holding,
            *tree.rename((*rows.kept, *first, *woven), {loop.target: rows.block.name}),
            _row_loop(loop, rows.block, 1, others),
        )
        start: list[ir.Expr] = [ir.Const(number, I64) for number in range(ROWS)]
        return _Blocks(_jam(front, rows.lanes, loop.target, start), turn)

    def picks(
        self, rows: _Rows, loop: ir.For, lanes: Sequence[Lane], first: int
    ) -> tuple[ir.Assign, ...]:
        types = self.types()
        numbers = _following(rows.block)[first:]
        return tuple(
            ir.Assign(
                name, _pick(name, types[name], lanes, loop.target, numbers), loop.location
            )
            for name in rows.picked
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """A block of rows."""

    block: ir.Var
    """Its first row."""
    lanes: tuple[Lane, ...]
    kept: tuple[ir.Statement, ...]
    """What is cheaper to run again in each row than to keep."""
    rest: ir.Block
    picked: tuple[str, ...]
    """Variables of the front that the rest reads."""


@dataclass(frozen=True, slots=True)
class _Blocks:
    before: ir.Block
    """Where there is a block at all."""
    turn: ir.Block


def _and(one: ir.Expr, two: ir.Expr) -> ir.Expr:
    return ir.Op("and", (one, two), BOOL)


def _plus(value: ir.Expr, number: int) -> ir.Expr:
    return ir.Op("add.i64", (value, ir.Const(number, I64)), I64) if number else value


def _following(first: ir.Expr) -> list[ir.Expr]:
    return [_plus(first, number) for number in range(ROWS)]


def _row_loop(loop: ir.For, block: ir.Expr, first: int, body: ir.Block) -> ir.For:
    return replace(loop, start=_plus(block, first), stop=_plus(block, ROWS), body=body)


def _jam(
    block: ir.Block, lanes: Sequence[Lane], target: str, rows: Sequence[ir.Expr]
) -> ir.Block:
    """The block for every lane: statement by statement, an inner loop once for all."""
    result: list[ir.Statement] = []
    for statement in block:
        if isinstance(statement, ir.For):
            body = _jam(statement.body, lanes, target, rows)
            result.append(replace(statement, target=lanes[0][statement.target], body=body))
            continue
        for names, row in zip(lanes, rows, strict=True):
            (renamed,) = tree.rename((statement,), names)
            result.append(_with_row(renamed, target, row))
    return tuple(result)


def _with_row(statement: ir.Statement, target: str, row: ir.Expr) -> ir.Statement:
    def change(part: ir.Expr) -> ir.Expr:
        return row if isinstance(part, ir.Var) and part.name == target else part

    statement = tree.map_own(statement, lambda whole: tree.rewrite(whole, change))
    return tree.map_blocks(
        statement, lambda inner: tuple(_with_row(one, target, row) for one in inner)
    )


def _pick(
    name: str, type: ir.Type, lanes: Sequence[Lane], target: str, rows: Sequence[ir.Expr]
) -> ir.Expr:
    """The lane of the row."""
    found: ir.Expr = ir.Var(lanes[-1][name], type)
    for names, row in reversed(list(zip(lanes[:-1], rows[:-1], strict=True))):
        here = ir.Op("eq.i64", (ir.Var(target, I64), row), BOOL)
        found = ir.Select(here, ir.Var(names[name], type), found, type)
    return found
