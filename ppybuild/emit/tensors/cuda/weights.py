"""Print the work on weights between the passes over rows, and what adds up the chunks.

Small work is done by one block, with barriers between what depends on each other. A loop
over a large weight is a launch of its own over many blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from ppybuild.emit.tensors.cuda.layout import THREADS, Launch, Layout
from ppybuild.emit.tensors.cuda.text import WARP, fold, indented, phase, spell
from ppybuild.emit.tensors.fused.ir import (
    Column,
    Count,
    Element,
    Load,
    Spread,
    Weight,
    Whole,
    operands,
)
from ppybuild.emit.tensors.fused.weights import grouped

LARGE = 4096
"""Numbers from which a loop is worth more than one block."""

MOST_BLOCKS = 1024

SLICES = THREADS // WARP
"""How many threads of the combining kernel share one sum."""


@final
@dataclass(frozen=True, slots=True)
class _Loop:
    """`body` for each `i` below `count`; what it sums over all of them, by operation."""

    count: int
    note: str
    numbers: list[str]
    body: list[str]
    sums: dict[int, str] = field(default_factory=dict)


@final
class Section:
    """The launches of one section; their kernels are in `texts`."""

    def __init__(self, layout: Layout, index: int, name: str) -> None:
        self.layout = layout
        self.program = layout.program
        self.index = index
        self.name = name
        self.texts: list[str] = []
        self.launches: list[Launch] = []
        self._small: list[_Loop] = []
        for loop in self._loops():
            if loop.count >= LARGE and not loop.sums:
                self._flush()
                blocks = min(MOST_BLOCKS, -(-loop.count // THREADS))
                step = "PPY_BLOCKS * PPY_THREADS"
                first = "(int)PPY_BLOCK * PPY_THREADS + thread"
                self._launch(phase(loop.note, self._over(loop, first, step)), 0, blocks)
            else:
                self._small.append(loop)
        self._flush()

    def _flush(self) -> None:
        if self._small:
            lines = [line for loop in self._small for line in self._by_one_block(loop)]
            folds = max(len(loop.sums) for loop in self._small)
            self._launch(lines, folds, 1)
            self._small = []

    def _launch(self, lines: list[str], folds: int, blocks: int) -> None:
        kernel = f"{self.name}_{len(self.launches)}"
        words = self.layout.words
        head = [
            *([f"PPY_SHARED(shared, {folds * THREADS});"] if folds else []),
            *(f"ppy_real *const fold{k} = shared + {k * THREADS};" for k in range(folds)),
            f"ppy_real *const scratch = PPY_REALS({words['scratch']});",
            "(void)scratch;",
        ]
        if self.index == len(self.layout.stages):
            head += [self._demand(i) for i in self.program.checks]
        text = [f"PPY_KERNEL({kernel}) {{", *indented([*head, *lines]), "}", ""]
        self.texts.append("\n".join(text))
        shared = folds * THREADS * self.layout.size
        self.launches.append(Launch(kernel, blocks, shared))

    def _demand(self, check: int) -> str:
        said = f"{self.program.notes[check]}: an index is out of range"
        return f'PPY_DEMAND(*{self.layout.weights[check]} == 0, "{said}");'

    @staticmethod
    def _over(loop: _Loop, first: str, step: str) -> list[str]:
        return [
            *loop.numbers,
            f"for (int i = {first}; i < {loop.count}; i += (int)({step})) {{",
            *indented(loop.body),
            "}",
        ]

    def _by_one_block(self, loop: _Loop) -> list[str]:
        if loop.count == 1:
            inside = ["if (thread == 0) {", *indented(loop.numbers + loop.body), "}"]
            return phase(loop.note, inside)
        arrays = {i: f"fold{k}" for k, i in enumerate(loop.sums)}
        body = [
            *(f"ppy_real s{i} = 0;" for i in arrays),
            *self._over(loop, "thread", "PPY_THREADS"),
            *(f"{name}[thread] = s{i};" for i, name in arrays.items()),
        ]
        lines = phase(loop.note, body)
        if arrays:
            lines += fold(list(arrays.values()), THREADS, 1)
            last = [f"*{loop.sums[i]} = {name}[0];" for i, name in arrays.items()]
            lines += phase("", ["if (thread == 0) {", *indented(last), "}"])
        return lines

    # What is to be done, in order

    def _loops(self) -> list[_Loop]:
        loops: list[_Loop] = []
        for size, ids in grouped(self.program, self.layout.plan.sections[self.index]):
            if size is None:
                loops += self._alone(ids[0])
            elif size > 0:
                loops.append(self._elements(size, ids))
            else:
                loops.append(_Loop(1, "", [], self._empty(ids)))
        if self.index < len(self.layout.stages):
            for weight, at in self.layout.stages[self.index].transposed.items():
                loops.append(self._turned(weight, at))
        else:
            loops += self._outputs()
        return [loop for loop in loops if loop.body]

    def _empty(self, ids: list[int]) -> list[str]:
        weights, kinds = self.layout.weights, self.program.operations
        return [f"*{weights[i]} = 0;" for i in ids if isinstance(kinds[i], Whole)]

    def _elements(self, size: int, ids: list[int]) -> _Loop:
        weights, kinds = self.layout.weights, self.program.operations
        inside: set[int] = set()
        read: dict[int, None] = {}
        body: list[str] = []
        sums: dict[int, str] = {}
        for i in ids:
            operation = kinds[i]
            read.update((o, None) for o in operands(operation) if o not in inside)
            if isinstance(operation, Whole):
                if size == 1:
                    body.append(f"*{weights[i]} = e{operation.weight};")
                else:
                    sums[i] = weights[i]
                    body.append(f"s{i} += e{operation.weight};")
                continue
            assert isinstance(operation, Element)
            inside.add(i)
            place = f"*{weights[i]}" if size == 1 else f"{weights[i]}[i]"
            body += [f"const ppy_real e{i} = {spell(operation)};", f"{place} = e{i};"]
        numbers = [
            f"const ppy_real e{i} = *{weights[i]};" for i in read if self.layout.count(i) == 1
        ]
        loads = [
            f"const ppy_real e{i} = {weights[i]}[i];" for i in read if self.layout.count(i) != 1
        ]
        notes = dict.fromkeys(self.program.notes[i] for i in ids)
        return _Loop(size, "; ".join(notes), numbers, loads + body, sums)

    def _alone(self, i: int) -> list[_Loop]:
        out, note = self.layout.weights[i], self.program.notes[i]
        match self.program.operations[i]:
            case Load(place, "float"):
                body = [f"*{out} = (ppy_real)ppy_as_double(r.word[{place}]);"]
            case Load(place, "int"):
                body = [f"*{out} = (ppy_real)PPY_INT({place});"]
            case Load():
                return []
            case Count(factor):
                batch = self.layout.words["batch"]
                body = [f"*{out} = (ppy_real)(PPY_INT({batch}) * {factor});"]
            case Column(width):
                return [_Loop(width, note, [], [f"{out}[i] = (ppy_real)i;"])]
            case Spread(weight, strides):
                return [self._spread(i, weight, strides)]
            case operation:
                raise AssertionError(operation)
        return [_Loop(1, note, [], body)]

    def _spread(self, i: int, weight: int, strides: tuple[int, ...]) -> _Loop:
        space = self.program.spaces[i]
        assert isinstance(space, Weight)
        terms, step = [], 1
        for size, stride in zip(reversed(space.shape), reversed(strides), strict=True):
            if stride:
                terms.append(f"i / {step} % {size} * {stride}")
            step *= size
        source = " + ".join(reversed(terms)) or "0"
        weights = self.layout.weights
        out = f"{weights[i]}[i]" if space.count != 1 else f"*{weights[i]}"
        body = [f"{out} = {weights[weight]}[{source}];"] if space.count else []
        return _Loop(space.count, self.program.notes[i], [], body)

    def _turned(self, weight: int, at: int) -> _Loop:
        """A weight [N, K] as [K, N]."""
        space = self.program.spaces[weight]
        assert isinstance(space, Weight)
        rows, columns = space.shape
        source = f"{self.layout.weights[weight]}[i % {rows} * {columns} + i / {rows}]"
        body = [f"scratch[{at} + i] = {source};"]
        note = f"{self.program.notes[weight]}, turned"
        return _Loop(space.count, note, [], body)

    def _outputs(self) -> list[_Loop]:
        """Weights that the region gives, last: they may lie where its inputs do."""
        loops = []
        for place, output in enumerate(self.program.outputs):
            if not self.layout.is_row(output.value):
                word = self.layout.words["outputs"] + place
                count = self.layout.count(output.value)
                at = "i" if count != 1 else "0"
                body = [f"PPY_REALS({word})[{at}] = {self.layout.weights[output.value]}[{at}];"]
                loops.append(_Loop(count, f"output {place}", [], body if count else []))
        return loops


def emit_combine(layout: Layout, index: int, name: str) -> tuple[list[str], list[Launch]]:
    """Adds up the chunks' sums of a stage, in their order."""
    stage, words = layout.stages[index], layout.words
    count = stage.sums_count
    if not count:
        return [], []
    element = f"const int element = (int)PPY_BLOCK * {WARP} + thread % {WARP};"
    gather = [
        element,
        "ppy_real s = 0;",
        f"if (element < {count})",
        f"    for (int64_t k = thread / {WARP}; k < chunks; k += {SLICES})",
        f"        s += sums[k * {count} + element];",
        "part[thread] = s;",
    ]
    join = [
        element,
        f"if (thread < {WARP} && element < {count}) {{",
        "    ppy_real s = part[thread];",
        f"    for (int k = 1; k < {SLICES}; k++) s += part[thread + k * {WARP}];",
        f"    scratch[{stage.combined} + element] = s;",
        "}",
    ]
    lines = [
        f"PPY_KERNEL({name}) {{",
        f"    PPY_SHARED(part, {THREADS});",
        f"    ppy_real *const scratch = PPY_REALS({words['scratch']});",
        f"    const ppy_real *const sums = scratch + {layout.base};",
        f"    const int64_t chunk = PPY_INT({words['chunk']});",
        f"    const int64_t chunks = (PPY_INT({words['batch']}) + chunk - 1) / chunk;",
        *indented(phase("", gather) + phase("", join)),
        "}",
        "",
    ]
    return ["\n".join(lines)], [Launch(name, -(-count // WARP), THREADS * layout.size)]
