"""Where a region's numbers lie on the GPU, and how its rows are cut into blocks.

    word[]    inputs, outputs, the batch, rows of a chunk, the address of scratch, and
             whether products may round to TF32
    scratch   weights and combined sums, then each chunk's own sums
    shared    a tile of each row value that a later step of the stage reads

A block has one chunk of the rows. How many there are depends on the batch alone, and not on
the card, so that sums are the same on all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from ppybuild.emit.tensors.fused.ir import (
    Along,
    Element,
    Load,
    NotFusible,
    Outer,
    Over,
    Product,
    Row,
    Weight,
    operands,
)
from ppybuild.emit.tensors.fused.plan import Loop, Multiply, Plan, stored_values

THREADS = 256
"""Threads of a block."""

SHARED_BYTES = (48 * 1024, 96 * 1024)
"""Shared memory that every card gives a block without being asked, and that cards from sm_80
on give one that asks (CUDA C++ Programming Guide, technical specifications)."""

TILES = ((64, 0), (32, 0), (32, 1), (16, 0), (16, 1), (8, 0), (8, 1))
"""Rows of a tile, with the bound on shared memory: the first that fits is taken."""

MOST_WORDS = 4096 // 8
"""Of a kernel's argument, on every driver and card (CUDA C++ Programming Guide)."""

MOST_CHUNKS = 512
LEAST_CHUNKS = 128
"""As many as `ppy_cuda.c` spreads a small batch over."""
SUMS_BYTES = 32 << 20
"""What the chunks' own sums may take: with large ones there are fewer chunks."""


@final
@dataclass(frozen=True, slots=True)
class Launch:
    """`blocks`: None for one to each chunk of rows. `shared`: bytes of shared memory."""

    kernel: str
    blocks: int | None
    shared: int


@final
@dataclass(slots=True)
class _Arena:
    used: int = 0

    def take(self, count: int) -> int:
        at = self.used
        self.used += -(-count // 32) * 32
        return at


@final
@dataclass(slots=True)
class Stage:
    """One pass over the rows."""

    kept: dict[int, int]
    """Row values kept for a tile, and where they lie: numbers from the start, in each row."""
    width: int
    """Numbers that all of them take in each row."""
    copied: tuple[int, ...]
    """Inputs among them, which are not of the region's dtype."""
    folds: int
    """Arrays of a number for each thread, in which sums are folded."""
    transposed: dict[int, int] = field(default_factory=dict)
    """Where in scratch a weight lies turned, for products that read it so."""
    sums: dict[int, int] = field(default_factory=dict)
    """Where each reduction lies in a chunk's own sums."""
    combined: int = 0
    """Where in scratch their totals lie, in the same order."""
    sums_count: int = 0


@final
class Layout:
    """NotFusible where no tile fits into shared memory."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.program = plan.program
        if self.words["tf32"] >= MOST_WORDS:
            raise NotFusible("too many tensors for the argument of a GPU's kernel")
        self.size = 8 if plan.program.dtype == "float64" else 4
        self._arena = _Arena()
        self.stages = [self._stage(k) for k in range(len(plan.stages))]
        self.weights = self._place_weights()
        self.tile = self._tile()
        self.base = self._arena.used
        """Numbers of scratch before the chunks' own sums."""
        self.sums_count = max((stage.sums_count for stage in self.stages), default=0)

    # The words of a kernel's argument

    @property
    def words(self) -> Mapping[str, int]:
        inputs, outputs = len(self.program.inputs), len(self.program.outputs)
        names = ("batch", "chunk", "scratch", "tf32")
        return {"outputs": inputs, **{n: inputs + outputs + i for i, n in enumerate(names)}}

    @property
    def most_chunks(self) -> int:
        fitting = SUMS_BYTES // max(1, self.sums_count * self.size)
        return max(LEAST_CHUNKS, min(MOST_CHUNKS, fitting))

    # What operations are

    def width(self, i: int) -> int:
        space = self.program.spaces[i]
        assert isinstance(space, Row)
        return space.width

    def count(self, i: int) -> int:
        space = self.program.spaces[i]
        assert isinstance(space, Weight)
        return space.count

    def is_row(self, i: int) -> bool:
        return isinstance(self.program.spaces[i], Row)

    def is_last(self, stage: int) -> bool:
        return stage == len(self.stages) - 1

    # Where they lie

    def _stage(self, index: int) -> Stage:
        steps = self.plan.stages[index]
        kinds = self.program.operations
        copied = self._copied(index)
        kept, width = pack(self._lives(index, copied), self.width)
        folds = max((fold_count(self.plan, step) for step in steps), default=0)
        stage = Stage(kept, width, copied, folds)
        for step in steps:
            operation = kinds[step.operation] if isinstance(step, Multiply) else None
            if isinstance(operation, Product) and operation.transposed:
                weight = operation.weight
                if weight not in stage.transposed:
                    stage.transposed[weight] = self._arena.take(self.count(weight))
        for i in self.plan.reductions[index]:
            stage.sums[i] = stage.sums_count
            stage.sums_count += self._sum_count(i)
        stage.combined = self._arena.take(stage.sums_count)
        return stage

    def _copied(self, index: int) -> tuple[int, ...]:
        """Inputs that a product reads and that are not numbers of the region's dtype."""
        found: dict[int, None] = {}
        for step in self.plan.stages[index]:
            if isinstance(step, Multiply):
                for i in operands(self.program.operations[step.operation]):
                    kind = self.program.operations[i]
                    if isinstance(kind, Load) and self.is_row(i) and kind.kind != "real":
                        found[i] = None
        return tuple(found)

    def _lives(self, index: int, copied: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """Row values to keep: the steps in which each is made and last read."""
        steps, kinds = self.plan.stages[index], self.program.operations
        last = index == len(self.plan.stages) - 1
        kept = {
            i
            for i in stored_values(self.program, steps, last)
            if not isinstance(kinds[i], Load)
        }
        lives = dict.fromkeys(copied, (-1, -1))
        for place, step in enumerate(steps):
            ids = step.operations if isinstance(step, Loop) else (step.operation,)
            for i in ids:
                operation = kinds[i]
                if isinstance(operation, Along) and isinstance(kinds[operation.row], Element):
                    kept.add(operation.row)
            for i in ids:
                if i in kept or (isinstance(step, Multiply) and self.is_row(i)):
                    lives[i] = (place, place)
                for operand in operands(kinds[i]):
                    if operand in lives:
                        lives[operand] = (lives[operand][0], place)
        if last:
            for output in self.program.outputs:
                if output.value in lives:
                    lives[output.value] = (lives[output.value][0], len(steps))
        return lives

    def _sum_count(self, i: int) -> int:
        operation = self.program.operations[i]
        match operation:
            case Outer(left, right):
                return self.width(left) * self.width(right)
            case Over(row, total):
                return 1 if total else self.width(row)
            case _:
                raise AssertionError(operation)

    def _place_weights(self) -> dict[int, str]:
        """The C of a pointer to each weight."""
        found: dict[int, str] = {}
        for stage in self.stages:
            for i, at in stage.sums.items():
                found[i] = f"(scratch + {stage.combined + at})"
        for i in (i for section in self.plan.sections for i in section):
            operation = self.program.operations[i]
            if isinstance(operation, Load) and operation.kind == "real":
                found[i] = f"PPY_REALS({operation.input})"
            else:
                found[i] = f"(scratch + {self._arena.take(max(1, self.count(i)))})"
        return found

    def _tile(self) -> int:
        for tile, bound in TILES:
            if all(self.shared(stage, tile) <= SHARED_BYTES[bound] for stage in self.stages):
                return tile
        raise NotFusible("rows too wide for a GPU's shared memory")

    def shared(self, stage: Stage, tile: int) -> int:
        """Bytes of shared memory that the stage's kernel takes."""
        return (stage.width * tile + stage.folds * THREADS) * self.size


def pack(
    lives: Mapping[int, tuple[int, int]], width: Callable[[int], int]
) -> tuple[dict[int, int], int]:
    """Where each value lies in a row, so that those alive in one step are apart, and the
    numbers that they take. The widest go first, each to the lowest place that is free."""
    places: dict[int, int] = {}
    for i in sorted(lives, key=lambda i: (-width(i), i)):
        made, read = lives[i]
        taken = sorted(
            (at, at + width(other))
            for other, at in places.items()
            if lives[other][0] <= read and made <= lives[other][1]
        )
        at = 0
        for start, end in taken:
            if at + width(i) <= start:
                break
            at = max(at, end)
        places[i] = at
    return places, max((at + width(i) for i, at in places.items()), default=0)


def fold_count(plan: Plan, step: Loop | Multiply) -> int:
    """Arrays of a number for each thread that a step folds its sums in."""
    if isinstance(step, Multiply):
        return 0
    kinds = [plan.program.operations[i] for i in step.operations]
    over = sum(
        1 for kind in kinds if isinstance(kind, Over) and (kind.total or step.width < THREADS)
    )
    return max(over, int(any(isinstance(kind, Along) for kind in kinds)))
