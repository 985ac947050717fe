"""Print a planned region as one C file over `ppy_fused.h`.

    int NAME(void *const *inputs, void *const *outputs, const int64_t *sizes, void *scratch)

* `inputs`: by position in the graph; a contiguous tensor's data, or the address of a double
  ("float") or an int64_t ("int"). An output may be the same memory as a weight input.
* `outputs`: contiguous memory for each output; one with rows may be the memory of an input
  of its own shape.
* `sizes[0]`: the batch size, at least zero.
* `scratch`: NAME_scratch bytes, aligned to 64, for the duration of the call; its contents
  need not be kept.
* Returns 0, or 1 where an index is out of range: then no weight output has been written,
  and the Python body has to run.

Results depend on the inputs alone, not on the number of threads: rows are cut into chunks
by their number, and the chunks' sums are added in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from ppybuild.emit.tensors.fused.ir import (
    Load,
    Outer,
    Over,
    Product,
    Program,
    Row,
    Weight,
    operands,
)
from ppybuild.emit.tensors.fused.kernels import Products, emit_kernel
from ppybuild.emit.tensors.fused.plan import (
    CHUNKS,
    Loop,
    Multiply,
    Plan,
    stored_values,
)
from ppybuild.emit.tensors.fused.rows import Place, RowContext, emit_loop
from ppybuild.emit.tensors.fused.target import Vectors
from ppybuild.emit.tensors.fused.weights import WeightContext, count_of, emit_section

ALIGNMENT = 16
"""Numbers to which every piece of scratch is rounded: one cache line of float32."""


def emit_fused(plan: Plan, name: str, vector_bytes: int) -> str:
    """The C text of `plan` as the function `name`, for SIMD registers of `vector_bytes`."""
    return _File(plan, name, Vectors(vector_bytes, plan.program.dtype == "float64")).text()


@final
@dataclass(slots=True)
class _Arena:
    """Hands out pieces of the scratch memory, in numbers."""

    used: int = 0

    def take(self, count: int) -> int:
        at = self.used
        self.used += -(-count // ALIGNMENT) * ALIGNMENT
        return at


@final
@dataclass(slots=True)
class _Stage:
    """What one pass over the rows reads and sums up."""

    loads: tuple[int, ...]
    packed: dict[int, int] = field(default_factory=dict)
    """Offset in scratch of each weight that is laid out in whole vectors."""
    products: dict[tuple[int, bool], int] = field(default_factory=dict)
    """The same for the weight of a product."""
    sums: dict[int, int] = field(default_factory=dict)
    """Offset of each reduction in a chunk's own sums."""
    chunk_size: int = 0


class _File:
    def __init__(self, plan: Plan, name: str, vectors: Vectors) -> None:
        self.plan = plan
        self.program: Program = plan.program
        self.name = name
        self.vectors = vectors
        self.products = Products(vectors)
        self.arena = _Arena()
        self.pointers = self._place_weights()
        self.stages = [self._lay_out(stage) for stage in range(len(plan.stages))]
        most = max((stage.chunk_size for stage in self.stages), default=0)
        self.sums_at = self.arena.take(most * CHUNKS)

    # Layout of memory

    def _place_weights(self) -> dict[int, str]:
        pointers: dict[int, str] = {}
        known = [i for section in self.plan.sections for i in section]
        known += [i for stage in self.plan.reductions for i in stage]
        for i in known:
            operation = self.program.operations[i]
            if isinstance(operation, Load) and operation.kind == "real":
                pointers[i] = f"((const ppy_real *)inputs[{operation.input}])"
            else:
                at = self.arena.take(max(count_of(self.program, i), 1))
                pointers[i] = f"(scratch + {at})"
        return pointers

    def _lay_out(self, index: int) -> _Stage:
        loads: dict[int, None] = {}
        stage = _Stage(())
        for step in self.plan.stages[index]:
            ids = step.operations if isinstance(step, Loop) else (step.operation,)
            for i in ids:
                operation = self.program.operations[i]
                for operand in operands(operation):
                    kind = self.program.operations[operand]
                    if isinstance(kind, Load) and self._is_row(operand):
                        loads[operand] = None
                    elif not self._is_row(operand):
                        self._pack(stage, operation, operand)
        outputs = [o.value for o in self.program.outputs] if self._last(index) else []
        for value in outputs:
            if isinstance(self.program.operations[value], Load) and self._is_row(value):
                loads[value] = None
        stage.loads = tuple(loads)
        sums = _Arena()
        for i in self.plan.reductions[index]:
            stage.sums[i] = sums.take(self._sum_size(i))
        stage.chunk_size = sums.used
        return stage

    def _pack(self, stage: _Stage, operation: object, weight: int) -> None:
        count = count_of(self.program, weight)
        if isinstance(operation, Product):
            outer = self._width_of_product(operation)
            key = (weight, operation.transposed)
            if key not in stage.products and (
                operation.transposed or outer % self.vectors.lanes
            ):
                inner = count // outer
                stage.products[key] = self.arena.take(inner * self.vectors.padded(outer))
        elif count > 1 and count % self.vectors.lanes and weight not in stage.packed:
            stage.packed[weight] = self.arena.take(self.vectors.padded(count))

    def _width_of_product(self, product: Product) -> int:
        space = self.program.spaces[product.weight]
        assert isinstance(space, Weight)
        return space.shape[0] if product.transposed else space.shape[1]

    def _sum_size(self, i: int) -> int:
        operation = self.program.operations[i]
        if isinstance(operation, Outer):
            return self._width(operation.left) * self.vectors.padded(
                self._width(operation.right)
            )
        assert isinstance(operation, Over)
        if operation.total:
            return self.vectors.lanes
        return self.vectors.padded(self._width(operation.row))

    def _is_row(self, i: int) -> bool:
        return isinstance(self.program.spaces[i], Row)

    def _width(self, i: int) -> int:
        space = self.program.spaces[i]
        assert isinstance(space, Row)
        return space.width

    def _last(self, index: int) -> bool:
        return index == len(self.plan.stages) - 1

    def _direct(self, i: int) -> bool:
        """Whether an input's rows can be read where they are, in whole vectors."""
        operation = self.program.operations[i]
        return isinstance(operation, Load) and operation.kind == "real" and self._is_whole(i)

    def _is_whole(self, i: int) -> bool:
        """Whether whole vectors hold it: parts of one row, or, up to the last, several rows."""
        return self._width(i) == 1 or self._width(i) % self.vectors.lanes == 0

    def _written_at_once(self, index: int) -> dict[int, int]:
        """Values that loops of the last stage store where outputs go, and the outputs. That
        may be an input's memory, so nothing reads an input in a later loop."""
        if not self._last(index):
            return {}
        steps = self.plan.stages[index]
        home: dict[int, int] = {}
        last_read = 0
        for place, step in enumerate(steps):
            if isinstance(step, Multiply):
                last_read = place
                continue
            home.update((i, place) for i in step.operations)
            read = {o for i in step.operations for o in operands(self.program.operations[i])}
            if any(isinstance(self.program.operations[o], Load) for o in read):
                last_read = place
        found: dict[int, int] = {}
        for output, given in enumerate(self.program.outputs):
            i = given.value
            if home.get(i, -1) >= last_read and self._is_row(i) and self._is_whole(i):
                found.setdefault(i, output)
        return found

    # The file

    def text(self) -> str:
        stages = [self._stage(i) for i in range(len(self.stages))]
        kernels = [emit_kernel(kernel) for kernel in sorted(self.products.kernels)]
        size = 8 if self.vectors.double else 4
        head = [
            f"#define PPY_DOUBLE {int(self.vectors.double)}",
            f"#define PPY_VECTOR_BYTES {self.vectors.width}",
            '#include "ppy_fused.h"',
            "",
            f"enum {{ TILE = {self.plan.tile}, CHUNKS = {CHUNKS}, "
            f"LEAST_CHUNK = {self.plan.chunk} }};",
            "",
            f"const int64_t {self.name}_scratch = {self.arena.used * size};",
            "",
            "typedef struct {",
            "    void *const *inputs;",
            "    void *const *outputs;",
            "    ppy_real *scratch;",
            "    int64_t batch, chunk; /* rows of all, and of a chunk */",
            "} ppy_region;",
            "",
        ]
        return "\n".join([*head, *kernels, *stages, self._main()])

    def _stage(self, index: int) -> str:
        stage = self.stages[index]
        weights = self._padded_pointers(stage)
        body = self._steps(index, stage, weights)
        lines = [
            f"/* Pass {index} over the rows of some chunks. */",
            f"static void stage_{index}(int64_t begin, int64_t end, void *context) {{",
            "    const ppy_region *const r = context;",
            "    void *const *const inputs = r->inputs;",
            "    void *const *const outputs = r->outputs;",
            "    ppy_real *const scratch = r->scratch;",
            "    (void)inputs, (void)outputs, (void)scratch;",
            *("    " + line for line in self._buffers(index)),
            "    for (int64_t chunk = begin; chunk < end; chunk++) {",
            "        const int64_t first = chunk * r->chunk;",
            "        const int64_t end_of_chunk = first + r->chunk;",
            "        const int64_t last = end_of_chunk < r->batch ? end_of_chunk : r->batch;",
        ]
        if stage.sums:
            lines += [
                f"        ppy_real *const sums = scratch + {self.sums_at} "
                f"+ chunk * {stage.chunk_size};",
                f"        memset(sums, 0, {stage.chunk_size} * sizeof *sums);",
            ]
        lines += [
            "        for (int64_t row = first; row < last; row += TILE) {",
            "            const int64_t rows = last - row < TILE ? last - row : TILE;",
            *("            " + line if not line.startswith("#") else line for line in body),
            "        }",
            "    }",
            "}",
            "",
        ]
        return "\n".join(lines)

    def _padded_pointers(self, stage: _Stage) -> dict[int, str]:
        pointers = dict(self.pointers)
        pointers.update((i, f"(scratch + {at})") for i, at in stage.packed.items())
        return pointers

    def _buffered(self, index: int) -> list[int]:
        """Row values of a stage that are kept for a tile."""
        stage = self.stages[index]
        found = [i for i in stage.loads if not self._direct(i) and self._needs_copy(index, i)]
        stored = self._stored(index)
        for step in self.plan.stages[index]:
            if isinstance(step, Multiply):
                if self._is_row(step.operation):
                    found.append(step.operation)
            else:
                found += [i for i in step.operations if i in stored]
        at_once = self._written_at_once(index)
        return [i for i in found if i not in at_once]

    def _needs_copy(self, index: int, load: int) -> bool:
        """Whether something other than the left side of a product reads the input."""
        operation = self.program.operations[load]
        assert isinstance(operation, Load)
        if operation.kind != "real":
            return True
        for step in self.plan.stages[index]:
            ids = step.operations if isinstance(step, Loop) else (step.operation,)
            for i in ids:
                match self.program.operations[i]:
                    case Product():
                        continue
                    case Outer(_, right) if right != load:
                        continue
                    case other if load in operands(other):
                        return True
        return False

    def _stored(self, index: int) -> frozenset[int]:
        return stored_values(self.program, self.plan.stages[index], self._last(index))

    def _buffers(self, index: int) -> list[str]:
        lines = []
        for i in self._buffered(index):
            width = self._width(i)
            # A narrow buffer is read by whole vectors past the last row of a tile.
            size, start = (
                ("TILE", " = {0}")
                if width == 1
                else (f"TILE * {self.vectors.padded(width)}", "")
            )
            lines.append(f"_Alignas(64) ppy_real v{i}[{size}]{start};")
        return lines

    def _places(self, index: int) -> dict[int, Place]:
        places = {}
        for i in self.stages[index].loads:
            operation = self.program.operations[i]
            assert isinstance(operation, Load)
            if self._direct(i) or not self._needs_copy(index, i):
                width = self._width(i)
                places[i] = Place(self._input_rows(operation, width), width, ends=True)
        for i in self._buffered(index):
            width = self._width(i)
            stride = 1 if width == 1 else self.vectors.padded(width)
            places[i] = Place(f"v{i}", stride, ends=False)
        for i, output in self._written_at_once(index).items():
            width = self._width(i)
            step = f" * {width}" if width > 1 else ""
            pointer = f"((ppy_real *)outputs[{output}] + row{step})"
            places[i] = Place(pointer, width, ends=True)
        return places

    def _input_rows(self, load: Load, width: int) -> str:
        step = f" * {width}" if width > 1 else ""
        return f"((const ppy_real *)inputs[{load.input}] + row{step})"

    def _steps(self, index: int, stage: _Stage, weights: dict[int, str]) -> list[str]:
        places = self._places(index)
        stored = self._stored(index)
        sums = {i: f"(sums + {at})" for i, at in stage.sums.items()}
        context = RowContext(self.program, self.vectors, places, weights, sums, stored)
        lines: list[str] = []
        for i in stage.loads:
            if not self._direct(i) and self._needs_copy(index, i):
                lines += self._copy_in(i)
        for step in self.plan.stages[index]:
            if isinstance(step, Loop):
                lines += emit_loop(context, step)
            else:
                lines += self._multiply(step.operation, stage, places, sums)
        if self._last(index):
            at_once = self._written_at_once(index)
            for place, output in enumerate(self.program.outputs):
                if self._is_row(output.value) and at_once.get(output.value) != place:
                    lines += self._copy_out(place, output.value, places[output.value])
        return lines

    def _copy_in(self, i: int) -> list[str]:
        operation = self.program.operations[i]
        assert isinstance(operation, Load)
        width = self._width(i)
        kind = {"real": "ppy_real", "index": "int64_t", "bool": "uint8_t"}[operation.kind]
        source = f"((const {kind} *)inputs[{operation.input}] + row * {width})"
        stride = 1 if width == 1 else self.vectors.padded(width)
        name = self.program.inputs[operation.input]
        return [
            f"for (int64_t t = 0; t < rows; t++) /* {name} */",
            f"    for (int64_t j = 0; j < {width}; j++)",
            f"        v{i}[t * {stride} + j] = (ppy_real){source}[t * {width} + j];",
        ]

    def _copy_out(self, place: int, i: int, source: Place) -> list[str]:
        width = self._width(i)
        return [
            "for (int64_t t = 0; t < rows; t++)",
            f"    memcpy((ppy_real *)outputs[{place}] + (row + t) * {width}, "
            f"{source.pointer} + t * {source.stride}, {width} * sizeof(ppy_real));",
        ]

    def _multiply(
        self,
        i: int,
        stage: _Stage,
        places: dict[int, Place],
        sums: dict[int, str],
    ) -> list[str]:
        operation = self.program.operations[i]
        note = [f"/* {self.program.notes[i]} */"]
        match operation:
            case Product(row, weight, transposed):
                at = stage.products.get((weight, transposed))
                pointer = self.pointers[weight] if at is None else f"(scratch + {at})"
                source = places[row]
                return note + self.products.by_weight(
                    f"v{i}", source.pointer, source.stride, pointer,
                    self._width(row), self._width(i),
                )  # fmt: skip
            case Outer(left, right):
                a, g = places[left], places[right]
                return note + self.products.over_rows(
                    sums[i], a.pointer, a.stride, self._width(left),
                    g.pointer, g.stride, self._width(right),
                )  # fmt: skip
            case _:
                raise AssertionError(operation)

    # The function itself

    def _main(self) -> str:
        context = WeightContext(self.program, self.vectors, self.pointers, self._readers())
        lines = [
            f"int {self.name}(void *const *inputs, void *const *outputs, const int64_t *sizes, "
            "void *memory) {",
            "    ppy_real *const scratch = memory;",
            "    const int64_t batch = sizes[0];",
            "    int64_t chunk = (batch + CHUNKS - 1) / CHUNKS;",
            "    if (chunk < LEAST_CHUNK) chunk = LEAST_CHUNK;",
            "    chunk = (chunk + TILE - 1) / TILE * TILE;",
            "    const int64_t chunks = (batch + chunk - 1) / chunk;",
            "    ppy_region r = {inputs, outputs, scratch, batch, chunk};",
            "    (void)r, (void)chunks;",
        ]
        body: list[str] = []
        for index, stage in enumerate(self.stages):
            body += emit_section(context, self.plan.sections[index])
            body += self._packing(stage)
            body.append(f"if (chunks == 1) stage_{index}(0, 1, &r);")
            body.append(
                f"else if (chunks) torch_parallel_for(0, chunks, 1, stage_{index}, &r);"
            )
            body += self._combining(stage)
        body += [f"if (!(*{self.pointers[i]} == 0)) return 1;" for i in self.program.checks]
        body += emit_section(context, self.plan.sections[len(self.stages)])
        for place, output in enumerate(self.program.outputs):
            if not self._is_row(output.value):
                count = count_of(self.program, output.value)
                body.append(
                    f"memmove(outputs[{place}], {self.pointers[output.value]}, "
                    f"{count} * sizeof(ppy_real));"
                )
        lines += ["    " + line for line in body]
        return "\n".join([*lines, "    return 0;", "}", ""])

    def _readers(self) -> dict[int, frozenset[int]]:
        readers: dict[int, set[int]] = {i: set() for i in range(len(self.program.operations))}
        for i, operation in enumerate(self.program.operations):
            for operand in operands(operation):
                readers[operand].add(i)
        for value in (*(o.value for o in self.program.outputs), *self.program.checks):
            readers[value].add(value)
        return {i: frozenset(found) for i, found in readers.items()}

    def _packing(self, stage: _Stage) -> list[str]:
        lines = []
        for i, at in stage.packed.items():
            count = count_of(self.program, i)
            lines.append(
                f"memcpy(scratch + {at}, {self.pointers[i]}, {count} * sizeof *scratch);"
            )
        for (i, transposed), at in stage.products.items():
            space = self.program.spaces[i]
            assert isinstance(space, Weight)
            outer = space.shape[0] if transposed else space.shape[1]
            inner = count_of(self.program, i) // outer
            padded = self.vectors.padded(outer)
            call = "ppy_pack_transposed" if transposed else "ppy_pack"
            lines.append(
                f"{call}(scratch + {at}, {self.pointers[i]}, {inner}, {outer}, {padded});"
            )
        return lines

    def _combining(self, stage: _Stage) -> list[str]:
        lines = []
        for i, at in stage.sums.items():
            operation = self.program.operations[i]
            part = f"scratch + {self.sums_at + at}"
            if isinstance(operation, Over) and operation.total:
                total = f"ppy_combine_total({part}, chunks, {stage.chunk_size})"
                lines.append(f"*{self.pointers[i]} = {total};")
                continue
            if isinstance(operation, Outer):
                rows, width = self._width(operation.left), self._width(operation.right)
            else:
                assert isinstance(operation, Over)
                rows, width = 1, self._width(operation.row)
            lines.append(
                f"ppy_combine({self.pointers[i]}, {part}, chunks, {stage.chunk_size}, "
                f"{rows}, {width}, {self.vectors.padded(width)});"
            )
        return lines
