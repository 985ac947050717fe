"""The front of a row: the part of a loop's body that depends on no other row.

It stores nothing, cannot fail, reads no variable of the row before, and its inner loops run
over the same range in every row, so that it may run for several rows, and ahead of them.
"""

from __future__ import annotations

from ppybuild.emit.loops import ir, tree

Live = frozenset[str]
I64 = ir.Type.I64


def front_of(loop: ir.For) -> ir.Block | None:
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
    if not any(sums(statement) for statement in front):
        return None
    needed = exposed(loop.body[length:], frozenset())[0] & tree.assigned(front)
    return front if needed <= bound else None


def _stays(statement: ir.Statement) -> bool:
    """Whether control goes on to the next statement, and nothing can fail."""
    return isinstance(statement, ir.Assign | ir.Store | ir.For | ir.If)


def _independent(statement: ir.Statement) -> bool:
    return all(
        isinstance(one, ir.Assign | ir.For | ir.If) for one in tree.statements((statement,))
    )


def sums(statement: ir.Statement) -> bool:
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


def cheap(loop: ir.For, front: ir.Block) -> list[ir.Statement]:
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


def loaded(block: ir.Block) -> frozenset[str]:
    """The buffers that a block reads."""
    return frozenset().union(
        *(
            tree.loaded(whole)
            for statement in tree.statements(block)
            for whole in tree.own_expressions(statement)
        )
    )


def exposed(block: ir.Block, bound: Live, loops_run: bool = False) -> tuple[Live, Live]:
    """The variables that a block reads before it has surely bound them, and those that it
    has surely bound; `loops_run` supposes that every loop has a turn."""
    found: Live = frozenset()
    for statement in block:
        for whole in tree.own_expressions(statement):
            found |= tree.variables(whole) - bound
        match statement:
            case ir.If(then=then, orelse=orelse):
                one, two = (exposed(side, bound, loops_run) for side in (then, orelse))
                found |= one[0] | two[0]
                bound |= one[1] & two[1]
            case ir.For(target=target, body=body):
                reads, inside = exposed(body, bound | {target}, loops_run)
                found |= reads
                bound = inside if loops_run else bound
            case _:
                bound |= frozenset(tree.own_targets(statement))
    return found, bound


def reads(block: ir.Block, left_out: ir.Statement | None = None) -> Live:
    """The variables that a block reads, but for one statement in it."""
    found: set[str] = set()
    for statement in block:
        if statement is not left_out:
            for whole in tree.own_expressions(statement):
                found |= tree.variables(whole)
            for inner in tree.blocks(statement):
                found |= reads(inner, left_out)
    return frozenset(found)
