"""Print a stage: a kernel in which each block takes a chunk of the rows, tile by tile.

A loop gives each thread a column and every G-th row of the tile, so that neighbours read
neighbouring numbers. What it sums over rows is folded across the threads in a fixed order.
"""

from __future__ import annotations

from typing import final

from ppybuild.emit.tensors.cuda.layout import THREADS, Layout, Stage
from ppybuild.emit.tensors.cuda.products import multiply
from ppybuild.emit.tensors.cuda.text import WARP, fold, indented, phase, spell
from ppybuild.emit.tensors.fused.ir import (
    Along,
    Element,
    Load,
    Operand,
    Over,
)
from ppybuild.emit.tensors.fused.plan import Loop, Multiply

READS = {"real": "PPY_REALS", "index": "PPY_INDICES", "bool": "PPY_BOOLS"}


def emit_stage(layout: Layout, index: int, name: str) -> str:
    return _Printer(layout, index).text(name)


@final
class _Printer:
    def __init__(self, layout: Layout, index: int) -> None:
        self.layout = layout
        self.program = layout.program
        self.index = index
        self.stage: Stage = layout.stages[index]

    def text(self, name: str) -> str:
        words = self.layout.words
        tile = self.layout.tile
        lines = [
            f"PPY_KERNEL({name}) {{",
            *self._shared(),
            f"    ppy_real *const scratch = PPY_REALS({words['scratch']});",
            f"    const int64_t batch = PPY_INT({words['batch']}), "
            f"chunk = PPY_INT({words['chunk']});",
            "    const int64_t first = PPY_BLOCK * chunk;",
            "    const int64_t last = first + chunk < batch ? first + chunk : batch;",
            f"    ppy_real *const sums = scratch + {self.layout.base} + "
            f"PPY_BLOCK * {self.stage.sums_count};",
            "    (void)scratch, (void)sums;",
            f"    for (int64_t row = first; row < last; row += {tile}) {{",
            f"        const int rows = last - row < {tile} ? (int)(last - row) : {tile};",
            *(["        const bool fresh = row == first;"] if self.stage.sums else []),
            *indented(self._steps(), 2),
            "    }",
            "}",
            "",
        ]
        return "\n".join(lines)

    def _shared(self) -> list[str]:
        stage, tile = self.stage, self.layout.tile
        count = stage.width * tile + stage.folds * THREADS
        if not count:
            return []
        folds = stage.width * tile
        return [
            f"    PPY_SHARED(shared, {count});",
            *(
                f"    ppy_real *const v{i} = shared + {at * tile};"
                for i, at in stage.kept.items()
            ),
            *(
                f"    ppy_real *const fold{k} = shared + {folds + k * THREADS};"
                for k in range(stage.folds)
            ),
        ]

    def _steps(self) -> list[str]:
        lines: list[str] = []
        for i in self.stage.copied:
            width = self.layout.width(i)
            body = [
                f"for (int k = thread; k < rows * {width}; k += PPY_THREADS)",
                f"    v{i}[k] = (ppy_real){self._input(i)}[row * {width} + k];",
            ]
            lines += phase(self.program.notes[i], body)
        for step in self.layout.plan.stages[self.index]:
            if isinstance(step, Multiply):
                lines += multiply(self.layout, self.stage, step.operation, self._rows)
            else:
                lines += _LoopPrinter(self, step).text()
        if self.layout.is_last(self.index):
            for place, output in enumerate(self.program.outputs):
                if self.layout.is_row(output.value):
                    lines += self._copy_out(place, output.value)
        return lines

    # Row values

    def _input(self, i: int) -> str:
        operation = self.program.operations[i]
        assert isinstance(operation, Load)
        return f"{READS[operation.kind]}({operation.input})"

    def read(self, i: int, row: str, column: str) -> str:
        """A number of a row value."""
        width = self.layout.width(i)
        step = f" * {width} + {column}" if width > 1 else ""
        if i in self.stage.kept:
            return f"v{i}[{row}{step}]"
        place = f"(row + {row}){step}" if width > 1 else f"row + {row}"
        return f"(ppy_real){self._input(i)}[{place}]"

    def _rows(self, i: int) -> str:
        """A pointer to the first row of the tile."""
        if i in self.stage.kept:
            return f"v{i}"
        return f"({self._input(i)} + row * {self.layout.width(i)})"

    def _copy_out(self, place: int, i: int) -> list[str]:
        width = self.layout.width(i)
        word = self.layout.words["outputs"] + place
        body = [
            f"for (int k = thread; k < rows * {width}; k += PPY_THREADS)",
            f"    PPY_REALS({word})[row * {width} + k] = {self._rows(i)}[k];",
        ]
        return phase(f"output {place}", body)


@final
class _LoopPrinter:
    """Elementwise work and reductions on rows of one width."""

    def __init__(self, printer: _Printer, loop: Loop) -> None:
        self.p = printer
        self.loop = loop
        kinds = printer.program.operations
        self.elements = [i for i in loop.operations if isinstance(kinds[i], Element)]
        self.along = [i for i in loop.operations if isinstance(kinds[i], Along)]
        self.over = [i for i in loop.operations if isinstance(kinds[i], Over)]

    def text(self) -> list[str]:
        lines: list[str] = []
        if self.elements or self.over:
            notes = dict.fromkeys(self.p.program.notes[i] for i in self.elements + self.over)
            lines += phase("; ".join(notes), self._by_columns())
            lines += self._folded()
        for i in self.along:
            lines += self._along(i)
        return lines

    # Element by element, and sums over rows

    @property
    def _groups(self) -> int:
        """How many threads share a column: a power of two."""
        return 1 << max(1, THREADS // self.loop.width).bit_length() - 1

    def _folds(self) -> dict[int, str]:
        """The array in which the threads' sums of an Over meet."""
        wide = self.loop.width >= THREADS
        shared = [i for i in self.over if self._over(i).total or not wide]
        return {i: f"fold{k}" for k, i in enumerate(shared)}

    def _over(self, i: int) -> Over:
        operation = self.p.program.operations[i]
        assert isinstance(operation, Over)
        return operation

    def _by_columns(self) -> list[str]:
        width, groups, folds = self.loop.width, self._groups, self._folds()
        totals = [i for i in self.over if self._over(i).total]
        columns = [i for i in self.over if not self._over(i).total]
        inner = [
            *self._column_loads(),
            *(f"ppy_real s{i} = 0;" for i in columns if i not in folds),
            f"for (int t = {'thread / ' + str(width) if groups > 1 else '0'}; t < rows; "
            f"t += {groups}) {{",
            *indented(self._body()),
            "}",
            *(self._add_up(i, "j", f"s{i}") for i in columns if i not in folds),
        ]
        head = [f"ppy_real s{i} = 0;" for i in totals + [i for i in columns if i in folds]]
        tail = [f"{name}[thread] = s{i};" for i, name in folds.items()]
        if groups > 1:
            if width > 1:
                inner = [f"const int j = thread % {width};", *inner]
            if groups * width < THREADS:
                inner = [f"if (thread < {groups * width}) {{", *indented(inner), "}"]
        else:
            head_of_loop = f"for (int j = thread; j < {width}; j += PPY_THREADS) {{"
            if width < THREADS:
                head_of_loop = f"if (const int j = thread; j < {width}) {{"
            inner = [head_of_loop, *indented(inner), "}"]
        return [*self._numbers(), *head, *inner, *tail]

    def _add_up(self, i: int, column: str, value: str) -> str:
        place = f"sums[{self.p.stage.sums[i]} + {column}]"
        return f"{place} = fresh ? {value} : {place} + {value};"

    def _folded(self) -> list[str]:
        """Bring the threads' sums together and add them to the chunk's."""
        folds = self._folds()
        totals = {i: name for i, name in folds.items() if self._over(i).total}
        columns = {i: name for i, name in folds.items() if i not in totals}
        width = self.loop.width
        lines = fold(list(totals.values()), THREADS, 1) if totals else []
        lines += fold(list(columns.values()), self._groups, width) if columns else []
        body = [self._add_up(i, "thread", f"{name}[thread]") for i, name in columns.items()]
        if body:
            body = [f"if (thread < {width}) {{", *indented(body), "}"]
        last = [self._add_up(i, "0", f"{name}[0]") for i, name in totals.items()]
        if last:
            body += ["if (thread == 0) {", *indented(last), "}"]
        return lines + (phase("", body) if body else [])

    # Reductions of each row

    def _along(self, i: int) -> list[str]:
        """`lanes` threads for each row, a power of two."""
        operation = self.p.program.operations[i]
        assert isinstance(operation, Along)
        width = self.loop.width
        lanes = min(WARP, 1 << (width.bit_length() - 1))
        rows = THREADS // lanes
        start, join = (
            ("0", "s + {0}")
            if operation.kind == "sum"
            else ("-PPY_INFINITY", "ppy_max(s, {0})")
        )
        value = self.p.read(operation.row, "t", "j")
        gather = [
            f"const int t = top + thread / {lanes};",
            f"ppy_real s = {start};",
            "if (t < rows)",
            f"    for (int j = thread % {lanes}; j < {width}; j += {lanes})",
            f"        s = {join.format(value)};",
            "fold0[thread] = s;",
        ]
        other = "fold0[thread + half]"
        meet = [
            f"if (thread % {lanes} < half) {{",
            "    const ppy_real s = fold0[thread];",
            f"    fold0[thread] = {join.format(other)};",
            "}",
        ]
        keep = [
            f"const int t = top + thread / {lanes};",
            f"if (thread % {lanes} == 0 && t < rows) v{i}[t] = fold0[thread];",
        ]
        halving = [
            f"for (int half = {lanes // 2}; half; half /= 2) {{",
            *indented(phase("", meet)),
            "}",
        ]
        return [
            f"for (int top = 0; top < rows; top += {rows}) {{",
            *indented(phase(self.p.program.notes[i], gather)),
            *(indented(halving) if lanes > 1 else []),
            *indented(phase("", keep)),
            "}",
        ]

    # Operands

    def _outside(self) -> list[int]:
        """Values that come from outside of the loop, each once."""
        seen: dict[int, None] = {}
        for i in self.elements + self.over:
            operation = self.p.program.operations[i]
            values: tuple[Operand, ...]
            match operation:
                case Element(_, values):
                    pass
                case Over(row, _):
                    values = (row,)
                case _:
                    raise AssertionError(operation)
            for value in values:
                if isinstance(value, int) and value not in self.elements:
                    seen[value] = None
        return list(seen)

    def _weights(self, several: bool) -> list[int]:
        return [
            i
            for i in self._outside()
            if not self.p.layout.is_row(i) and (self.p.layout.count(i) > 1) == several
        ]

    def _numbers(self) -> list[str]:
        weights = self.p.layout.weights
        return [f"const ppy_real e{i} = *{weights[i]};" for i in self._weights(False)]

    def _column_loads(self) -> list[str]:
        weights = self.p.layout.weights
        return [f"const ppy_real e{i} = {weights[i]}[j];" for i in self._weights(True)]

    def _body(self) -> list[str]:
        lines = [
            f"const ppy_real e{i} = {self.p.read(i, 't', 'j')};"
            for i in self._outside()
            if self.p.layout.is_row(i)
        ]
        for i in self.loop.operations:
            operation = self.p.program.operations[i]
            if isinstance(operation, Over):
                lines.append(f"s{i} += e{operation.row};")
            elif isinstance(operation, Element):
                lines.append(f"const ppy_real e{i} = {spell(operation)};")
                if i in self.p.stage.kept:
                    lines.append(f"{self.p.read(i, 't', 'j')} = e{i};")
        return lines
