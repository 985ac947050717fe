"""Cut a fused program into stages: a pass over the rows, between sections of weight work.

    section 0, stage 0, section 1, ..., stage n-1, section n

A stage is one pass over all rows; a reduction over rows computed in stage k is known in
section k + 1. There are as few stages as the data allows, and everything is computed as late
as that permits, so that a value is not kept from one stage to the next: what a later stage
needs again, it computes again from the inputs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.fused.ir import (
    Along,
    Element,
    Load,
    NotFusible,
    Operation,
    Outer,
    Over,
    Product,
    Program,
    Row,
    Weight,
    operands,
)
from ppybuild.emit.tensors.fused.lower import lower
from ppybuild.emit.tensors.ir import Graph

CACHE_BYTES = 256 * 1024
"""A weight that a product reads for every block of rows has to stay in L2."""

CHUNKS = 32
"""Rows are cut into at most this many chunks, whatever the number of threads, so that sums
do not depend on it."""

CHUNK_WORK = 400_000
"""Floating point operations that make a chunk worth another thread."""

STACK_BYTES = 1 << 20
"""What the intermediates of a block may take of a pool thread's stack."""

TILE = 48
"""Rows in a block: a multiple of a product block's height and of every vector's lanes."""

TILES = (16, 1024)
"""Least and most rows of a block without products: multiples of every vector's lanes."""

TILE_BYTES = 32 * 1024
"""What the rows of such a block should take: a first level cache."""


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """Elementwise work and reductions on rows of one width, in one pass over a tile."""

    width: int
    operations: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Multiply:
    """A Product or an Outer, on its own."""

    operation: int


Step = Loop | Multiply


@final
@dataclass(frozen=True, slots=True)
class Plan:
    program: Program
    batch: str
    sections: tuple[tuple[int, ...], ...]
    """Weight operations to compute before each stage, and after the last."""
    stages: tuple[tuple[Step, ...], ...]
    reductions: tuple[tuple[int, ...], ...]
    """By stage: the Outer and Over operations that it computes."""
    chunk: int
    """The least number of rows in a chunk."""
    tile: int
    """Rows in a block."""


def plan_fused(graph: Graph, batch: str) -> Plan:
    """Plan `graph` with rows along `batch`; NotFusible says what stands in the way."""
    program = lower(graph, batch)
    _check_weights(program)
    needed = _Needs(program)
    stages = tuple(_steps(program, ids) for ids in needed.row_operations)
    tile = _tile(program, stages)
    return Plan(
        program,
        batch,
        needed.sections,
        stages,
        needed.reductions,
        _chunk(program, needed.live),
        tile,
    )


def _check_weights(program: Program) -> None:
    size = 8 if program.dtype == "float64" else 4
    for operation in program.operations:
        if isinstance(operation, Product):
            space = program.spaces[operation.weight]
            assert isinstance(space, Weight)
            taken = space.count * size
            if taken > CACHE_BYTES:
                raise NotFusible(f"a product with a weight of {taken >> 10} KiB")


def _tile(program: Program, stages: tuple[tuple[Step, ...], ...]) -> int:
    """The number of rows in a block, whose values fit on the stack."""
    size = 8 if program.dtype == "float64" else 4
    loads = [i for i, o in enumerate(program.operations) if isinstance(o, Load)]
    most = 1
    for index, steps in enumerate(stages):
        kept = stored_values(program, steps, index == len(stages) - 1)
        kept |= {step.operation for step in steps if isinstance(step, Multiply)}
        widths = [program.spaces[i] for i in kept | set(loads)]
        taken = sum(space.width for space in widths if isinstance(space, Row)) * size
        most = max(most, taken)
    tile = TILE
    if not any(isinstance(step, Multiply) for steps in stages for step in steps):
        least, highest = TILES
        tile = min(max(TILE_BYTES // most // least * least, least), highest)
    if most * tile > STACK_BYTES:
        raise NotFusible(f"rows too wide: {most * tile >> 10} KiB for a block of {tile}")
    return tile


def stored_values(program: Program, steps: tuple[Step, ...], last: bool) -> frozenset[int]:
    """Row values of loops that another step reads, or that the region gives."""
    stored: set[int] = set()
    home: dict[int, int] = {}
    for place, step in enumerate(steps):
        ids = step.operations if isinstance(step, Loop) else (step.operation,)
        for i in ids:
            home[i] = place
            stored |= {
                o
                for o in operands(program.operations[i])
                if isinstance(program.spaces[o], Row) and home.get(o, place) != place
            }
            if isinstance(program.operations[i], Along):
                stored.add(i)
    if last:
        stored |= {o.value for o in program.outputs if isinstance(program.spaces[o.value], Row)}
    return frozenset(stored)


def _is_reduction(operation: Operation) -> bool:
    return isinstance(operation, Outer | Over)


class _Needs:
    """Where each operation runs: how early it can, then how late it may."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.live = self._live()
        levels = self._levels()
        count = max(
            (
                levels[i] + (0 if _is_reduction(program.operations[i]) else 1)
                for i in self.live
                if isinstance(program.spaces[i], Row) or _is_reduction(program.operations[i])
            ),
            default=0,
        )
        self._assign(count)

    def _live(self) -> list[int]:
        seen: set[int] = set()
        work = [o.value for o in self.program.outputs] + list(self.program.checks)
        while work:
            value = work.pop()
            if value not in seen:
                seen.add(value)
                work += operands(self.program.operations[value])
        return sorted(seen)

    def _levels(self) -> dict[int, int]:
        """The first stage (rows) or section (weights) in which each can be computed."""
        levels: dict[int, int] = {}
        for i in self.live:
            operation = self.program.operations[i]
            level = max((levels[o] for o in operands(operation)), default=0)
            levels[i] = level + 1 if _is_reduction(operation) else level
        return levels

    def _assign(self, count: int) -> None:
        sections: dict[int, int] = defaultdict(lambda: count)
        passes: dict[int, set[int]] = defaultdict(set)
        for output in self.program.outputs:
            if isinstance(self.program.spaces[output.value], Row):
                passes[output.value].add(count - 1)
        for i in reversed(self.live):
            operation = self.program.operations[i]
            if isinstance(self.program.spaces[i], Row):
                at = passes[i]
            elif _is_reduction(operation):
                at = {sections[i] - 1}
            else:
                at = {sections[i]}
            for operand in operands(operation):
                if isinstance(self.program.spaces[operand], Row):
                    passes[operand] |= at
                else:
                    sections[operand] = min(sections[operand], *at)
        kinds = self.program.operations
        rows = [i for i in self.live if isinstance(self.program.spaces[i], Row)]
        weights = [i for i in self.live if isinstance(self.program.spaces[i], Weight)]
        self.reductions = tuple(
            tuple(i for i in weights if _is_reduction(kinds[i]) and sections[i] - 1 == stage)
            for stage in range(count)
        )
        self.sections = tuple(
            tuple(i for i in weights if not _is_reduction(kinds[i]) and sections[i] == section)
            for section in range(count + 1)
        )
        self.row_operations = tuple(
            sorted([i for i in rows if stage in passes[i]] + list(self.reductions[stage]))
            for stage in range(count)
        )


def _loop_width(program: Program, i: int) -> int:
    operation = program.operations[i]
    of = operation.row if isinstance(operation, Along | Over) else i
    space = program.spaces[of]
    assert isinstance(space, Row)
    return space.width


def _steps(program: Program, ids: list[int]) -> tuple[Step, ...]:
    """Join operations of one width into loops, each in the first that its operands allow."""
    steps: list[tuple[int | None, list[int]]] = []
    known_after: dict[int, int] = {}
    """The first step in which a value may be read."""
    for i in ids:
        operation = program.operations[i]
        earliest = max((known_after.get(o, 0) for o in operands(operation)), default=0)
        if isinstance(operation, Load):
            continue
        if isinstance(operation, Product | Outer):
            steps.append((None, [i]))
            known_after[i] = len(steps)
            continue
        width = _loop_width(program, i)
        fitting = (k for k in range(earliest, len(steps)) if steps[k][0] == width)
        place = next(fitting, len(steps))
        if place == len(steps):
            steps.append((width, []))
        steps[place][1].append(i)
        # The result of a loop over elements is at hand in that loop; of a reduction, after.
        known_after[i] = place + 1 if isinstance(operation, Along) else place
    return tuple(
        Multiply(body[0]) if width is None else Loop(width, tuple(body))
        for width, body in steps
    )


def _chunk(program: Program, live: list[int]) -> int:
    work = 1
    for i in live:
        operation = program.operations[i]
        match operation:
            case Product(row, _, _):
                work += 2 * _width(program, row) * _width(program, i)
            case Outer(left, right):
                work += 2 * _width(program, left) * _width(program, right)
            case Element() if isinstance(program.spaces[i], Row):
                work += 2 * _width(program, i)
            case _:
                pass
    return max(1, CHUNK_WORK // work)


def _width(program: Program, i: int) -> int:
    space = program.spaces[i]
    assert isinstance(space, Row)
    return space.width
