"""The state of lowering a graph of ATen operators to the fused form's IR.

What every rule needs: broadcasting, reductions by where the batch stands, layouts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.fused.elements import fold, simplify
from ppybuild.emit.tensors.fused.ir import (
    Along,
    Column,
    Count,
    Element,
    Load,
    NotFusible,
    Operand,
    Operation,
    Over,
    Row,
    Space,
    Spread,
    Weight,
    Whole,
)
from ppybuild.emit.tensors.ir import (
    Argument,
    Constant,
    Dim,
    Graph,
    Input,
    Value,
)
from ppybuild.emit.tensors.meta import FLOATING, broadcast

DTYPES = ("float32", "float64")

Shape = tuple[Dim, ...]

LITERAL_BOUND = {"max": "at_least", "min": "at_most"}
"""Cheaper where the second operand is a literal, so never NaN."""


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """What a tensor of the graph is here: an operation or a literal, seen with a shape.
    `transposed`: the two dimensions lie the other way round."""

    value: Operand
    shape: Shape
    transposed: bool = False


class Lowering:
    """The program under construction, and what each value of the graph is bound to."""

    def __init__(self, graph: Graph, batch: str) -> None:
        self.graph = graph
        self.batch = batch
        self.types = dict(graph.types)
        self.operations: list[Operation] = []
        self.spaces: list[Space] = []
        self.bound: dict[Value, Bound] = {}
        self.numbers: dict[Value, Operand] = {}
        self.checks: list[int] = []
        self.note = ""
        self.notes: list[str] = []
        self._known: dict[tuple[str, Space], int] = {}
        """By how an operation reads: its operand 2 is an operation, 2.0 a literal."""
        self.dtype = self._dtype()

    def _dtype(self) -> str:
        found = {kind.dtype for kind in self.types.values()} & FLOATING
        if len(found) != 1 or (dtype := found.pop()) not in DTYPES:
            raise NotFusible("tensors of other dtypes than one of float32 and float64")
        return dtype

    # Operations

    def add(self, operation: Operation, space: Space) -> int:
        key = (repr(operation), space)
        if key not in self._known:
            self._known[key] = len(self.operations)
            self.operations.append(operation)
            self.spaces.append(space)
            self.notes.append(self.note)
        return self._known[key]

    def is_row(self, value: Operand) -> bool:
        return isinstance(value, int) and isinstance(self.spaces[value], Row)

    def width(self, value: int) -> int:
        space = self.spaces[value]
        assert isinstance(space, Row)
        return space.width

    def row_width(self, shape: Shape) -> int | None:
        """Numbers in a row of a tensor of this shape; None for one without the batch."""
        if self.batch not in shape:
            return None
        if shape[0] == self.batch and len(shape) <= 2 and self.batch not in shape[1:]:
            width = shape[1] if len(shape) == 2 else 1
            if isinstance(width, int):
                return width
        raise NotFusible(f"a tensor of shape {spell(shape)}")

    def element(self, name: str, *operands: Bound | float) -> Bound:
        """Apply an elementwise operation with PyTorch's broadcasting."""
        bounds = [o if isinstance(o, Bound) else Bound(float(o), ()) for o in operands]
        if name in LITERAL_BOUND and isinstance(bounds[1].value, float):
            name = LITERAL_BOUND[name]
        shape = broadcast(*(o.shape for o in bounds))
        if shape is None:
            raise NotFusible("shapes that may not broadcast")
        literals = tuple(o.value for o in bounds if isinstance(o.value, float))
        if len(literals) == len(bounds):
            folded = fold(name, literals)
            if folded is not None:
                return Bound(folded, shape)
        width = self.row_width(shape)
        if width is None:
            return self._weight_element(name, bounds, shape)
        if width == 0:
            raise NotFusible("rows of no width")
        values = tuple(self._in_row(o, shape, width) for o in bounds)
        same = simplify(name, values)
        if same is not None:
            return Bound(same, shape)
        has_row = any(self.is_row(value) for value in values)
        wide = max(
            (self.width(v) for v in values if isinstance(v, int) and self.is_row(v)), default=0
        )
        vectors = any(
            isinstance(v, int) and not self.is_row(v) and self._count(v) > 1 for v in values
        )
        if not has_row:
            # The same in every row: a weight, seen with the batch in front.
            inner = tuple(size for size in shape[1:] if isinstance(size, int))
            flat = [Bound(v, self._shape_of(v)) for v in values]
            return Bound(
                self._weight_element(name, flat, inner if vectors else ()).value, shape
            )
        return Bound(
            self.add(Element(name, values), Row(width if vectors or wide > 1 else 1)), shape
        )

    def _shape_of(self, value: Operand) -> Shape:
        if isinstance(value, float):
            return ()
        space = self.spaces[value]
        assert isinstance(space, Weight)
        return (self._count(value),) if self._count(value) > 1 else ()

    def _count(self, value: int) -> int:
        space = self.spaces[value]
        assert isinstance(space, Weight)
        return space.count

    def _in_row(self, operand: Bound, shape: Shape, width: int) -> Operand:
        value = operand.value
        if isinstance(value, float):
            return value
        if self.is_row(value):
            if operand.transposed or len(operand.shape) != len(shape):
                raise NotFusible(f"shapes {spell(operand.shape)} and {spell(shape)} together")
            return value
        if self._count(value) in (1, width):
            inner = [size for size in operand.shape if size not in (1, self.batch)]
            if len(inner) <= 1 and (not inner or operand.shape[-1] == inner[0]):
                return value
        raise NotFusible(f"shapes {spell(operand.shape)} and {spell(shape)} together")

    def _weight_element(self, name: str, bounds: list[Bound], shape: Shape) -> Bound:
        known = tuple(size for size in shape if isinstance(size, int))
        if len(known) != len(shape):
            raise NotFusible(f"a tensor of shape {spell(shape)}")
        values = tuple(self.laid_out(o, known) for o in bounds)
        same = simplify(name, values)
        if same is not None and (isinstance(same, float) or self.spaces[same] == Weight(known)):
            return Bound(same, shape)
        return Bound(self.add(Element(name, values), Weight(known)), shape)

    def laid_out(self, operand: Bound, shape: tuple[int, ...]) -> Operand:
        """A weight in row-major order of `shape`, or a single number as it is."""
        value = operand.value
        if isinstance(value, float) or self._count(value) == 1:
            return value
        sizes = list(operand.shape)
        strides = [1] * len(sizes)
        for i in range(len(sizes) - 2, -1, -1):
            size = sizes[i + 1]
            assert isinstance(size, int)
            strides[i] = strides[i + 1] * size
        if operand.transposed:
            strides = [1, int(sizes[0])]
        missing = len(shape) - len(sizes)
        padded = [0] * missing + [
            0 if s == 1 else st for s, st in zip(sizes, strides, strict=True)
        ]
        plain: list[int] = []
        step = 1
        for size in reversed(shape):
            plain.insert(0, 0 if size == 1 else step)
            step *= size
        if padded == plain:
            return value
        return self.add(Spread(value, tuple(padded)), Weight(shape))

    # Reductions

    def along(self, kind: str, row: Bound, keep: bool) -> Bound:
        """Reduce each row."""
        shape = (*row.shape[:-1], 1) if keep else row.shape[:-1]
        value = self.widened(row)
        if self.width(value) == 1:
            return Bound(value, shape)
        return Bound(self.add(Along(kind, value), Row(1)), shape)

    def widened(self, bound: Bound) -> int:
        """A row value with a number in every column of the tensor's shape.

        A tensor may be bound to less: to a number or a row that is the same in every row,
        or to one number for all of a row's columns.
        """
        width = self.row_width(bound.shape)
        assert width is not None
        value = bound.value
        if not isinstance(value, int) or not self.is_row(value):
            return self.add(Element("copy", (value,)), Row(width))
        if self.width(value) == width:
            return value
        zeros = self.add(Element("copy", (0.0,)), Weight((width,)))
        return self.add(Element("add", (value, zeros)), Row(width))

    def over(self, row: Bound, total: bool, shape: Shape) -> Bound:
        value = self.widened(row)
        width = self.width(value)
        space = Weight(() if total or width == 1 else (width,))
        return Bound(self.add(Over(value, total or width == 1), space), shape)

    def sum(self, source: Bound, dims: tuple[int, ...], keep: bool) -> Bound:
        rank = len(source.shape)
        shape = tuple(
            1 if i in dims else s for i, s in enumerate(source.shape) if keep or i not in dims
        )
        if not dims or not rank:
            return source
        if self.row_width(source.shape) is not None:
            if dims == (0,) and rank == 2:
                return self.over(source, False, shape)
            if dims == (1,):
                return self.along("sum", source, keep)
            return self.over(source, True, shape)
        if len(dims) == rank:
            return Bound(self.add(Whole(self._whole(source)), Weight(())), shape)
        if all(source.shape[d] == 1 for d in dims):
            return Bound(source.value, shape)
        raise NotFusible("a reduction over some dimensions of a weight")

    def _whole(self, source: Bound) -> int:
        shape = tuple(int(size) for size in source.shape)
        value = self.laid_out(source, shape)
        if isinstance(value, int) and self.spaces[value] == Weight(shape):
            return value
        return self.add(Element("copy", (value,)), Weight(shape))

    def count(self, shape: Shape, dims: tuple[int, ...]) -> Bound:
        factor, batch = 1, False
        for dim in dims:
            size = shape[dim]
            if size == self.batch:
                batch = True
            elif isinstance(size, int):
                factor *= size
            else:
                raise NotFusible(f"the unknown size {size}")
        if batch:
            return Bound(self.add(Count(factor), Weight(())), ())
        return Bound(float(factor), ())

    # Arguments of a node

    def tensor(self, arg: Argument) -> Bound:
        if isinstance(arg, Value) and arg in self.bound:
            return self.bound[arg]
        return Bound(self.number(arg), ())

    def number(self, arg: Argument) -> Operand:
        if isinstance(arg, Value) and arg in self.numbers:
            return self.numbers[arg]
        if isinstance(arg, Constant) and isinstance(arg.value, int | float):
            return float(arg.value)
        raise NotFusible("an argument that is not a number")

    def shape(self, value: Value) -> Shape:
        shape = self.types[value].shape if value in self.types else None
        if shape is None:
            raise NotFusible("a tensor of unknown shape")
        return shape

    def input(self, place: int, given: Input) -> None:
        if given.kind in ("float", "int"):
            self.numbers[given.value] = self.add(Load(place, given.kind), Weight(()))
            return
        kind = self.types.get(given.value)
        if given.kind not in ("tensor", "optional_tensor") or kind is None:
            raise NotFusible(f"`{given.name}`, an input that is neither a tensor nor a number")
        if kind.shape is None:
            raise NotFusible(f"`{given.name}`, a tensor of unknown shape")
        what = {self.dtype: "real", "int64": "index", "bool": "bool"}.get(kind.dtype or "")
        if what is None:
            raise NotFusible(f"`{given.name}`, a tensor of dtype {kind.dtype}")
        width = self.row_width(kind.shape)
        if width == 0:
            raise NotFusible(f"`{given.name}`, rows of no width")
        if width is None:
            known = tuple(size for size in kind.shape if isinstance(size, int))
            if len(known) != len(kind.shape):
                raise NotFusible(f"`{given.name}`, a tensor of shape {spell(kind.shape)}")
            if what != "real":
                raise NotFusible(f"`{given.name}`, a weight of dtype {kind.dtype}")
            space: Space = Weight(known)
        else:
            space = Row(width)
        self.bound[given.value] = Bound(self.add(Load(place, what), space), kind.shape)

    def column(self, width: int) -> Bound:
        return Bound(self.add(Column(width), Weight((width,))), (width,))


def spell(shape: Shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
