"""Print loops over the rows of a tile: elementwise work with reductions folded in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.fused.elements import ELEMENTS
from ppybuild.emit.tensors.fused.ir import Along, Element, Operand, Over, Program, Row
from ppybuild.emit.tensors.fused.plan import Loop
from ppybuild.emit.tensors.fused.target import Vectors


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a row value lies in a tile: its first row, and numbers from row to row."""

    pointer: str
    stride: int
    ends: bool
    """Whether no more numbers may be touched than there are."""


WIDE = 512
"""Numbers in a row from which on a loop goes row by row: columns of such rows lie far apart."""


@final
@dataclass(frozen=True, slots=True)
class RowContext:
    program: Program
    vectors: Vectors
    places: Mapping[int, Place]
    """Row values that lie in memory."""
    weights: Mapping[int, str]
    """Pointer to each weight, padded to whole vectors where it is one."""
    sums: Mapping[int, str]
    """Pointer to the chunk's own sum for each Over."""
    stored: frozenset[int]
    """Values that a later step reads."""


def emit_loop(context: RowContext, loop: Loop) -> list[str]:
    printer = _Printer(context, loop)
    return printer.narrow() if loop.width == 1 else printer.wide()


class _Printer:
    def __init__(self, context: RowContext, loop: Loop) -> None:
        self.c = context
        self.loop = loop
        self.inside = {
            i for i in loop.operations if isinstance(context.program.operations[i], Element)
        }
        self.lanes = context.vectors.lanes
        self.columns = context.vectors.padded(loop.width) // self.lanes
        self.ragged = loop.width % self.lanes != 0

    # Operands

    def _operands(self) -> list[int]:
        """Values that come from outside of the loop, each once."""
        seen: dict[int, None] = {}
        for i in self.loop.operations:
            operation = self.c.program.operations[i]
            values: tuple[Operand, ...]
            match operation:
                case Element(_, values):
                    pass
                case Along(_, row) | Over(row, _):
                    values = (row,)
                case _:
                    raise AssertionError(operation)
            for value in values:
                if isinstance(value, int) and value not in self.inside:
                    seen[value] = None
        return list(seen)

    def _kind(self, value: int) -> str:
        space = self.c.program.spaces[value]
        if isinstance(space, Row):
            return "wide" if space.width > 1 else "narrow"
        return "vector" if space.count > 1 else "number"

    def _spell(self, value: Operand) -> str:
        if isinstance(value, float):
            return f"ppy_set({self.c.vectors.literal(value)})"
        return f"e{value}"

    def _compute(self, i: int) -> str:
        operation = self.c.program.operations[i]
        assert isinstance(operation, Element)
        text = ELEMENTS[operation.name].format(*map(self._spell, operation.operands))
        return f"const ppy_vec e{i} = {text}; /* {self.c.program.notes[i]} */"

    def _of(self, kind: str) -> list[int]:
        return [value for value in self._operands() if self._kind(value) == kind]

    def _numbers(self) -> list[str]:
        return [
            f"const ppy_vec e{i} = ppy_set(*{self.c.weights[i]});" for i in self._of("number")
        ]

    def _reductions(self) -> tuple[list[int], list[int]]:
        along, over = [], []
        for i in self.loop.operations:
            operation = self.c.program.operations[i]
            if isinstance(operation, Along):
                along.append(i)
            elif isinstance(operation, Over):
                over.append(i)
        return along, over

    # Width one: a vector holds several rows

    def narrow(self) -> list[str]:
        over = self._reductions()[1]
        lines = ["{", *_indent(self._numbers())]
        lines += [f"    ppy_vec s{i} = {{0}};" for i in over]
        kept = [i for i in self.loop.operations if i in self.c.stored]
        touched = [self.c.places[i] for i in (*self._of("narrow"), *kept)]
        if any(place.ends for place in touched):
            lines.append("    int64_t t = 0;")
            lines.append("    for (; t + PPY_LANES <= rows; t += PPY_LANES) {")
            lines += [*_indent(self._narrow_body(whole=True), 2), "    }"]
            lines.append("    if (t < rows) {")
        else:
            lines.append("    for (int64_t t = 0; t < rows; t += PPY_LANES) {")
        lines += _indent(self._narrow_body(whole=False), 2)
        lines.append("    }")
        for i in over:
            lines.append(f"    ppy_store({self.c.sums[i]}, ppy_load({self.c.sums[i]}) + s{i});")
        return [*lines, "}"]

    def _narrow_body(self, *, whole: bool) -> list[str]:
        """For one vector of rows; unless it is `whole`, they may end in it."""
        body = []
        for i in self._of("narrow"):
            place = self.c.places[i]
            upto = place.ends and not whole
            load = "ppy_load_upto({} + t, rows - t)" if upto else "ppy_load({} + t)"
            body.append(f"const ppy_vec e{i} = {load.format(place.pointer)};")
        for i in self.loop.operations:
            operation = self.c.program.operations[i]
            if isinstance(operation, Over):
                value = self._spell(operation.row)
                rest = value if whole else f"ppy_first({value}, rows - t, 0)"
                body.append(f"s{i} += {rest};")
                continue
            body.append(self._compute(i))
            if i in self.c.stored:
                place = self.c.places[i]
                upto = place.ends and not whole
                store = "ppy_store_upto({} + t, e{}, rows - t);"
                store = store if upto else "ppy_store({} + t, e{});"
                body.append(store.format(place.pointer, i))
        return body

    # Wider: a vector holds part of a row

    def wide(self) -> list[str]:
        along, _ = self._reductions()
        return self._by_rows() if along or self.loop.width > WIDE else self._by_columns()

    def _column_loads(self) -> list[str]:
        return [
            f"const ppy_vec e{i} = ppy_load({self.c.weights[i]} + j);"
            for i in self._of("vector")
        ]

    def _row_loads(self) -> list[str]:
        return [
            f"const ppy_vec e{i} = ppy_load({p.pointer} + t * {p.stride} + j);"
            for i in self._of("wide")
            for p in [self.c.places[i]]
        ]

    def _narrow_loads(self) -> list[str]:
        return [
            f"const ppy_vec e{i} = ppy_set({self.c.places[i].pointer}[t]);"
            for i in self._of("narrow")
        ]

    def _body(self, sum_of: str) -> list[str]:
        """Compute, store and reduce one vector; `sum_of` spells a column sum of a number."""
        body = self._row_loads()
        for i in self.loop.operations:
            operation = self.c.program.operations[i]
            match operation:
                case Over(row, total):
                    value = self._spell(row)
                    if total and self.ragged:
                        value = f"ppy_first({value}, {self.loop.width} - j, 0)"
                    body.append(f"{sum_of.format(i)} += {value};")
                case Along(kind, row):
                    value = self._spell(row)
                    if self.ragged:
                        rest = "0" if kind == "sum" else "-PPY_INFINITY"
                        value = f"ppy_first({value}, {self.loop.width} - j, {rest})"
                    body.append(
                        f"r{i} += {value};"
                        if kind == "sum"
                        else f"r{i} = ppy_max(r{i}, {value});"
                    )
                case _:
                    body.append(self._compute(i))
                    if i in self.c.stored:
                        p = self.c.places[i]
                        body.append(f"ppy_store({p.pointer} + t * {p.stride} + j, e{i});")
        return body

    def _flush(self, i: int, value: str) -> str:
        operation = self.c.program.operations[i]
        assert isinstance(operation, Over)
        place = self.c.sums[i] + ("" if operation.total else " + j")
        return f"ppy_store({place}, ppy_load({place}) + {value});"

    def _columns_loop(self) -> str:
        return f"for (int64_t j = 0; j < {self.columns * self.lanes}; j += PPY_LANES) {{"

    def _by_columns(self) -> list[str]:
        """Column by column: column sums and biases stay in registers."""
        over = self._reductions()[1]
        lines = ["{", *_indent(self._numbers())]
        lines.append(f"    {self._columns_loop()}")
        head = self._column_loads() + [f"ppy_vec s{i} = {{0}};" for i in over]
        lines += _indent([*head, "for (int64_t t = 0; t < rows; t++) {"], 2)
        lines += _indent(self._narrow_loads() + self._body("s{}"), 3)
        lines.append("        }")
        lines += _indent([self._flush(i, f"s{i}") for i in over], 2)
        return [*lines, "    }", "}"]

    def _by_rows(self) -> list[str]:
        """Row by row: a row's own sums stay in registers."""
        along, over = self._reductions()
        lines = ["{", *_indent(self._numbers())]
        lines += [f"    ppy_vec s{i}[{self.columns}] = {{{{0}}}};" for i in over]
        lines.append("    for (int64_t t = 0; t < rows; t++) {")
        head = self._narrow_loads()
        for i in along:
            kind = self.c.program.operations[i]
            assert isinstance(kind, Along)
            start = "0" if kind.kind == "sum" else "-PPY_INFINITY"
            head.append(f"ppy_vec r{i} = ppy_set({start});")
        if self.columns <= 8:
            head.append(f"#pragma GCC unroll {self.columns}")
        lines += _indent(head, 2)
        lines.append(f"        {self._columns_loop()}")
        lines += _indent(self._column_loads() + self._body("s{}[j / PPY_LANES]"), 3)
        lines.append("        }")
        for i in along:
            kind = self.c.program.operations[i]
            assert isinstance(kind, Along)
            lines.append(
                f"        {self.c.places[i].pointer}[t] = ppy_lanes_{kind.kind}(r{i});"
            )
        lines.append("    }")
        if over:
            lines.append(f"    {self._columns_loop()}")
            lines += _indent([self._flush(i, f"s{i}[j / PPY_LANES]") for i in over], 2)
            lines.append("    }")
        return [*lines, "}"]


def _indent(lines: list[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]
