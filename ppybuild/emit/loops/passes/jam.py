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
by row as before.

The front part of a row stores nothing, cannot fail, reads no variable of the row before,
and its inner loops run over the same range in every row. It reads only memory that the
rest of the row does not write; a condition before the loop finds out.

Keeps: values, order of evaluation within a row, every failure. Needs: a loop without
checks. Guards: none added; buffers that share memory take the body without it. The last row
is always one of those that run as they were, so that it leaves the variables as it should.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.verify import scalars

ROWS = 4
Live = frozenset[str]
I64, BOOL = ir.Type.I64, ir.Type.BOOL


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
        front = _front(loop)
        if front is None:
            return None
        rest = loop.body[len(front) :]
        reads = _loaded(front)
        writes = {one.buffer for one in tree.statements(rest) if isinstance(one, ir.Store)}
        if reads & writes:
            return None
        apart: list[ir.Expr] = [
            ir.Disjoint(read, write) for read in sorted(reads) for write in sorted(writes)
        ]
        lasting = _reads(self.function.body, around) & tree.assigned(front)
        if not lasting <= _exposed(front, frozenset(), loops_run=True)[1]:
            return None
        return apart, self.rewrite(loop, front, rest)

    def local(self, stem: str, type: ir.Type) -> str:
        self.function, name = tree.fresh(self.function, stem, type)
        return name

    def rewrite(self, loop: ir.For, front: ir.Block, rest: ir.Block) -> ir.Block:
        at = loop.location
        whole, block = self.local("whole", I64), self.local("block", I64)
        most, one = ir.Var(whole, I64), ir.Const(1, I64)
        over = ir.Op("rem.i64", (most, ir.Const(ROWS, I64)), I64)
        counted = (
            ir.Assign(whole, ir.Op("max.i64", (loop.stop, one), I64), at),
            ir.Assign(whole, ir.Op("sub.i64", (most, one), I64), at),
            ir.Assign(whole, ir.Op("sub.i64", (most, over), I64), at),
        )
        cheap = _cheap(loop, front)
        kept = tuple(statement for statement in front if statement in cheap)
        types = {each.name: each.type for each in scalars(self.function.parameters)}
        types |= self.function.locals
        counters = {one.target for one in tree.statements(front) if isinstance(one, ir.For)}
        shared = {name: self.local(name, types[name]) for name in sorted(counters)}
        own = sorted(tree.assigned(front) - counters)
        lanes = [
            shared | {name: self.local(name, types[name]) for name in own} for _ in range(ROWS)
        ]
        read = _exposed(rest, frozenset())[0]
        rows = [_plus(ir.Var(block, I64), number) for number in range(ROWS)]
        jammed = _jam(front, lanes, loop.target, rows)
        again = {name for statement in kept for name in tree.own_targets(statement)}
        picks = tuple(
            ir.Assign(name, _pick(name, types[name], lanes, loop.target, rows), at)
            for name in own
            if name in read - again
        )
        row_loop = replace(
            loop,
            start=rows[0],
            stop=_plus(ir.Var(block, I64), ROWS),
            body=(*kept, *picks, *rest),
        )
        step = ir.Const(ROWS, I64)
        blocks = ir.For(
            block, loop.start, ir.Var(whole, I64), step, (*jammed, row_loop), (), at
        )
        remainder = replace(loop, start=ir.Var(whole, I64))
        return (*counted, blocks, remainder)


def _and(one: ir.Expr, two: ir.Expr) -> ir.Expr:
    return ir.Op("and", (one, two), BOOL)


def _plus(value: ir.Expr, number: int) -> ir.Expr:
    return ir.Op("add.i64", (value, ir.Const(number, I64)), I64) if number else value


# What may be jammed


def _front(loop: ir.For) -> ir.Block | None:
    """The longest front of a loop's body that can run for several rows first, if it sums."""
    counts_up = loop.step == ir.Const(1, I64) and loop.start == ir.Const(0, I64)
    if not counts_up or loop.orelse or loop.target in tree.assigned(loop.body):
        return None
    if not all(_stays(statement) for statement in tree.statements(loop.body)):
        return None
    changed = tree.assigned(loop.body) | {loop.target}
    length = 0
    bound: Live = frozenset((loop.target,))
    for statement in loop.body:
        after = _bound_after(statement, bound, changed) if _independent(statement) else None
        if after is None:
            break
        bound = after
        length += 1
    front = loop.body[:length]
    if not any(_sums(statement) for statement in front):
        return None
    needed = _exposed(loop.body[length:], frozenset())[0] & tree.assigned(front)
    return front if needed <= bound else None


def _stays(statement: ir.Statement) -> bool:
    """Whether control goes on to the next statement, and nothing can fail."""
    return isinstance(statement, ir.Assign | ir.Store | ir.For | ir.If)


def _independent(statement: ir.Statement) -> bool:
    return all(
        isinstance(one, ir.Assign | ir.For | ir.If) for one in tree.statements((statement,))
    )


def _sums(statement: ir.Statement) -> bool:
    """Whether this is a loop in which a float waits for its own last value, and no loops."""
    return isinstance(statement, ir.For) and any(
        isinstance(one, ir.Assign)
        and one.value.type is ir.Type.F64
        and one.target in tree.variables(one.value)
        for one in tree.statements(statement.body)
    )


def _bound_after(statement: ir.Statement, bound: Live, changed: Live) -> Live | None:
    """The variables surely bound in this row after a statement; None where it may read one
    that is bound elsewhere in the loop, so that the value may be another row's."""
    for expression in tree.own_expressions(statement):
        if (tree.variables(expression) & changed) - bound:
            return None
    match statement:
        case ir.Assign(target=target):
            return bound | {target}
        case ir.For(target=target, start=start, stop=stop, step=step, body=body, orelse=orelse):
            ranged = tree.variables(start) | tree.variables(stop) | tree.variables(step)
            loads = any(map(tree.loaded, (start, stop, step)))
            inside = _block_bound(body, bound | {target}, changed)
            # The same range in every row: nothing that the row computes is in it.
            if ranged & changed or loads or orelse or inside is None:
                return None
            return None if target in tree.assigned(body) else bound
        case ir.If(then=then, orelse=orelse):
            one, two = _block_bound(then, bound, changed), _block_bound(orelse, bound, changed)
            return None if one is None or two is None else one & two
        case _:
            return None


def _block_bound(block: ir.Block, bound: Live, changed: Live) -> Live | None:
    for statement in block:
        after = _bound_after(statement, bound, changed)
        if after is None:
            return None
        bound = after
    return bound


def _cheap(loop: ir.For, front: ir.Block) -> list[ir.Statement]:
    """Assignments better done again for each row: of the row's number and invariants."""
    known = {loop.target}
    inner = tree.assigned(front)
    again: list[ir.Statement] = []
    counts: dict[str, int] = {}
    for one in tree.statements(front):
        for name in tree.own_targets(one):
            counts[name] = counts.get(name, 0) + 1
    for statement in front:
        if not isinstance(statement, ir.Assign) or statement.value.type is not I64:
            continue
        reads = tree.variables(statement.value)
        if tree.loaded(statement.value):
            continue
        if not (reads & inner) - known and counts[statement.target] == 1:
            known.add(statement.target)
            again.append(statement)
    return again


# Jamming


def _jam(
    block: ir.Block, lanes: list[dict[str, str]], target: str, rows: list[ir.Expr]
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
    name: str, type: ir.Type, lanes: list[dict[str, str]], target: str, rows: list[ir.Expr]
) -> ir.Expr:
    """The lane of the row."""
    found: ir.Expr = ir.Var(lanes[-1][name], type)
    for names, row in reversed(list(zip(lanes[:-1], rows[:-1], strict=True))):
        here = ir.Op("eq.i64", (ir.Var(target, I64), row), BOOL)
        found = ir.Select(here, ir.Var(names[name], type), found, type)
    return found


def _loaded(block: ir.Block) -> frozenset[str]:
    """The buffers that a block reads."""
    return frozenset().union(
        *(
            tree.loaded(whole)
            for statement in tree.statements(block)
            for whole in tree.own_expressions(statement)
        )
    )


def _exposed(block: ir.Block, bound: Live, loops_run: bool = False) -> tuple[Live, Live]:
    """The variables that a block reads before it has surely bound them, and those that it
    has surely bound; `loops_run` supposes that every loop has a turn."""
    found: Live = frozenset()
    for statement in block:
        for whole in tree.own_expressions(statement):
            found |= tree.variables(whole) - bound
        match statement:
            case ir.If(then=then, orelse=orelse):
                one, two = (_exposed(side, bound, loops_run) for side in (then, orelse))
                found |= one[0] | two[0]
                bound |= one[1] & two[1]
            case ir.For(target=target, body=body):
                reads, inside = _exposed(body, bound | {target}, loops_run)
                found |= reads
                bound = inside if loops_run else bound
            case _:
                bound |= frozenset(tree.own_targets(statement))
    return found, bound


def _reads(block: ir.Block, left_out: ir.Statement | None = None) -> Live:
    """The variables that a block reads, but for one statement in it."""
    found: set[str] = set()
    for statement in block:
        if statement is not left_out:
            for whole in tree.own_expressions(statement):
                found |= tree.variables(whole)
            for inner in tree.blocks(statement):
                found |= _reads(inner, left_out)
    return frozenset(found)
