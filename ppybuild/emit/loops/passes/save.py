"""Keep copies of what a run writes, where an abandoned run could not be started again.

    for i in range(n):                 save out
        out[i] = out[i] + x[i]    →    for i in range(n):
        check ...                          out[i] = out[i] + x[i]
                                           check ...

An abandoned run is started again in Python. That needs no copies where

* nothing can fail once something is written: every failure lies before the first write,
  because the ranges proved the rest or a condition before the loop stands for it; or
* the function reads no memory that it writes. Two buffers may be the same memory, so a
  buffer that is only written is copied unless it is found, when the function runs, to share
  no byte with any buffer that is read.

Otherwise each buffer is copied before the statement of the function that first writes it,
outside every loop. The copies belong to the outermost run: a call counts as reading and
writing what its callee reads and writes, and always as able to fail (recursion has a
limit). `ppy_save` copies a buffer once a run, so that a second `Save` costs a look-up.

Keeps: everything. Needs: nothing. Guards: none added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

from ppybuild.emit.loops import tree
from ppybuild.emit.loops.ir import (
    Block,
    BufferParameter,
    Call,
    Checked,
    Disjoint,
    Elements,
    Expr,
    Function,
    Guard,
    If,
    Location,
    Make,
    Op,
    Resize,
    Save,
    Statement,
    Store,
    Type,
    Versioned,
)
from ppybuild.emit.loops.verify import flat_parameters


@dataclass(frozen=True, slots=True)
class Accesses:
    """The buffers, by parameter name, that a function and its callees touch."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: Accesses) -> Accesses:
        return Accesses(self.reads | other.reads, self.writes | other.writes)

    def __sub__(self, names: frozenset[str]) -> Accesses:
        return Accesses(self.reads - names, self.writes - names)


Summaries = Mapping[str, Accesses]


def run(functions: Mapping[str, Function]) -> Mapping[str, Function]:
    """Every function with the copies that it needs; sees calls between the functions."""
    summaries = summarise(functions)
    return {name: insert(one, functions, summaries) for name, one in functions.items()}


def summarise(functions: Mapping[str, Function]) -> Summaries:
    """What each function touches, to a fixpoint over calls (recursive ones too)."""
    summaries: dict[str, Accesses] = dict.fromkeys(functions, Accesses())
    changed = True
    while changed:
        changed = False
        for name, function in functions.items():
            found = block_accesses(function.body, functions, summaries) - own(function)
            if found != summaries[name]:
                summaries[name], changed = found, True
    return summaries


def own(function: Function) -> frozenset[str]:
    """The buffers that the function makes, which are gone when it starts again."""
    return frozenset(buffer.name for buffer in function.buffers)


def insert(
    function: Function, functions: Mapping[str, Function], summaries: Summaries
) -> Function:
    reads = summaries[function.name].reads
    plan = _Plan(functions, summaries, reads, own(function), function.location)
    body, _, _ = plan.block(function.body, fails_after=False, saved=frozenset())
    return function if body == function.body else replace(function, body=body)


def block_accesses(
    block: Block, functions: Mapping[str, Function], summaries: Summaries
) -> Accesses:
    """The buffers that a block touches, itself or through calls."""
    found = [_own_accesses(one, functions, summaries) for one in tree.statements(block)]
    return reduce(Accesses.__or__, found, Accesses())


def _own_accesses(
    statement: Statement, functions: Mapping[str, Function], summaries: Summaries
) -> Accesses:
    reads = frozenset().union(*map(tree.loaded, tree.own_expressions(statement)))
    match statement:
        case Store(buffer=buffer):
            return Accesses(reads, frozenset((buffer,)))
        case Call(function=callee):
            return Accesses(reads) | _translate(statement, functions[callee], summaries[callee])
        case _:
            return Accesses(reads)


def _translate(call: Call, callee: Function, accesses: Accesses) -> Accesses:
    """What a callee touches, in the caller's names."""
    names = {
        parameter.name: arg.buffer if isinstance(arg, Elements) else arg
        for parameter, arg in zip(flat_parameters(callee.parameters), call.args, strict=True)
        if isinstance(parameter, BufferParameter) and isinstance(arg, Elements | str)
    }
    return Accesses(
        frozenset(names[name] for name in accesses.reads),
        frozenset(names[name] for name in accesses.writes),
    )


def can_fail(block: Block) -> bool:
    """Whether running a block can abandon the run."""
    failing = Checked | Guard | Call | Make | Resize
    return any(isinstance(one, failing) for one in tree.statements(block))


@dataclass(frozen=True, slots=True)
class _Plan:
    functions: Mapping[str, Function]
    summaries: Summaries
    reads: frozenset[str]
    """What the function reads anywhere."""
    own: frozenset[str]
    location: Location

    def block(
        self, block: Block, fails_after: bool, saved: frozenset[str]
    ) -> tuple[Block, bool, frozenset[str]]:
        """The block with its copies, whether it can fail, and what it leaves copied.

        Only blocks outside loops come here. `saved` is copied on every way to the block.
        """
        later = [fails_after]
        for statement in reversed(block):
            later.append(later[-1] or can_fail((statement,)))
        later.reverse()
        result: list[Statement] = []
        for statement, fails in zip(block, later[1:], strict=True):
            if isinstance(statement, If | Versioned):
                statement, saved = self._branches(statement, fails, saved)
            else:
                wanted = self._wanted(statement, fails) - saved
                result += [self._save(name) for name in sorted(wanted)]
                saved |= wanted
            result.append(statement)
        return tuple(result), later[0], saved

    def _branches(
        self, statement: If | Versioned, fails: bool, saved: frozenset[str]
    ) -> tuple[Statement, frozenset[str]]:
        left: list[frozenset[str]] = []

        def change(block: Block) -> Block:
            changed, _, after = self.block(block, fails, saved)
            left.append(after)
            return changed

        statement_ = tree.map_blocks(statement, change)
        return statement_, left[0] & left[1]

    def _wanted(self, statement: Statement, fails_after: bool) -> frozenset[str]:
        """The buffers to copy before a statement, unless they turn out to be apart."""
        if not self.reads or not (fails_after or can_fail((statement,))):
            return frozenset()
        accesses = block_accesses((statement,), self.functions, self.summaries)
        return accesses.writes - self.own

    def _save(self, buffer: str) -> Statement:
        save = Save((buffer,))
        if buffer in self.reads:
            return save
        apart: list[Expr] = [Disjoint(buffer, other) for other in sorted(self.reads)]
        condition = reduce(lambda one, two: Op("and", (one, two), Type.BOOL), apart)
        return If(Op("not", (condition,), Type.BOOL), (save,), (), self.location)
