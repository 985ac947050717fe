"""Building a tensor graph node by node, with types inferred on the way.

Every method appends the nodes it needs and gives the value of the last one. Numbers stand
for literal arguments; lists and tuples for list arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

from ppybuild.emit.tensors.infer import infer_types
from ppybuild.emit.tensors.ir import (
    Argument,
    Constant,
    Items,
    Location,
    Node,
    Symbolic,
    TensorType,
    Value,
)
from ppybuild.emit.tensors.meta import (
    FLOATING,
    UNKNOWN,
    normalized_dims,
    product,
)

Operand = Argument | int | float | bool | str | None | Sequence["Operand"]
Number = int | float | Value
"""A literal number, or one that a node computes."""

DEFAULTS = (None, None, None, None)
"""dtype, layout, device, pin_memory of factory functions: as the tensor given."""


class NotDifferentiable(Exception):
    """A gradient was asked for that no rule gives; the message says of what."""


class NotKnown(NotDifferentiable):
    """What is missing is the type of a tensor."""


def argument(operand: Operand) -> Argument:
    if isinstance(operand, Value | Constant | Symbolic | Items):
        return operand
    if operand is None or isinstance(operand, int | float | bool | str):
        return Constant(operand)
    return Items(tuple(argument(item) for item in operand))


@final
class Builder:
    """A graph under construction. `location` is given to every node that is added.

    With `by_strides`, where autograd looks at strides before it chooses operators, so will
    the graph when it runs (`ppy::` nodes); otherwise the choice is made by the graph."""

    def __init__(
        self,
        nodes: Iterable[Node],
        types: Iterable[tuple[Value, TensorType]],
        used: Iterable[Value],
        location: Location,
        *,
        by_strides: bool = False,
    ) -> None:
        self.nodes: list[Node] = list(nodes)
        self.types: dict[Value, TensorType] = dict(types)
        self.location = location
        self.by_strides = by_strides
        self.producers = {value: node for node in self.nodes for value in node.results}
        self._sizes: dict[tuple[Value, int], Value] = {}
        self._symbols: dict[str, str] = {}
        """The symbol of a size that a node computes, by the name inference gives it."""
        taken = [value.id for value in (*used, *self.types, *self.producers)]
        self._next = max(taken, default=-1) + 1

    def append(self, node: Node) -> None:
        self.nodes.append(node)
        self.producers.update((value, node) for value in node.results)

    def results(self, op: str, *operands: Operand) -> tuple[Value, ...]:
        """Append a node; `op` is named without the namespace."""
        args = tuple(argument(operand) for operand in operands)
        kinds = infer_types(f"aten::{op}", args, self.types)
        values = tuple(Value(self._next + i) for i in range(len(kinds)))
        self._next += len(kinds)
        for value, kind in zip(values, kinds, strict=True):
            if kind is not None:
                self.types[value] = self._named(kind)
        self.append(Node(f"aten::{op}", args, values, self.location))
        return values

    def helper(self, op: str, like: Value, *operands: Operand) -> Value:
        """Append a node that is no operator, with one result of the type of `like`."""
        value = Value(self._next)
        self._next += 1
        self.types[value] = self.type(like)
        args = tuple(argument(operand) for operand in operands)
        self.append(Node(op, args, (value,), self.location))
        return value

    def _named(self, kind: TensorType) -> TensorType:
        if kind.shape is None:
            return kind
        shape = tuple(self._symbols.get(s, s) if isinstance(s, str) else s for s in kind.shape)
        return TensorType(kind.dtype, shape)

    def call(self, op: str, *operands: Operand) -> Value:
        return self.results(op, *operands)[0]

    # What is known of a value

    def type(self, value: Argument) -> TensorType:
        return self.types.get(value, UNKNOWN) if isinstance(value, Value) else UNKNOWN

    def is_tensor(self, arg: Argument) -> bool:
        return isinstance(arg, Value) and arg in self.types

    def is_floating(self, value: Value) -> bool:
        dtype = self.type(value).dtype
        return dtype is None or dtype in FLOATING

    def rank(self, value: Argument) -> int:
        shape = self.type(value).shape
        if shape is None:
            raise NotKnown("a tensor whose number of dimensions is not known")
        return len(shape)

    def dtype(self, value: Argument) -> Argument:
        dtype = self.type(value).dtype
        if dtype is None:
            raise NotKnown("a tensor whose dtype is not known")
        return Symbolic("dtype", dtype)

    def size(self, value: Value, dim: int) -> Number:
        shape = self.type(value).shape
        known = shape[dim] if shape is not None else None
        if isinstance(known, int):
            return known
        size = self._sizes.get((value, dim))
        if size is None:
            size = self._sizes[value, dim] = self.call("sym_size.int", value, dim)
            if known is not None:
                self._symbols[f"%{size.id}"] = known
        return size

    def sizes(self, value: Value) -> tuple[Number, ...]:
        return tuple(self.size(value, dim) for dim in range(self.rank(value)))

    def count(self, value: Value, dims: tuple[int, ...]) -> Number | None:
        """How many elements stand along `dims`; None where only a product of symbols says."""
        shape = self.type(value).shape
        rank = self.rank(value)
        assert shape is not None
        total = product(tuple(shape[d] for d in dims))
        if isinstance(total, int):
            return total
        if len(dims) == rank:
            return self.call("sym_numel", value)
        symbols = [d for d in dims if shape[d] != 1]
        return self.size(value, symbols[0]) if len(symbols) == 1 else None

    # Arithmetic that takes numbers too

    def add(self, a: Value, b: Value | float) -> Value:
        return self.call("add.Tensor" if self._tensor(b) else "add.Scalar", a, b, 1)

    def sub(self, a: Value, b: Value | float) -> Value:
        return self.call("sub.Tensor" if self._tensor(b) else "sub.Scalar", a, b, 1)

    def rsub(self, a: Value, b: float) -> Value:
        """b - a"""
        return self.call("rsub.Scalar", a, b, 1)

    def mul(self, a: Value, b: Argument | float) -> Value:
        return self.call("mul.Tensor" if self._tensor(b) else "mul.Scalar", a, b)

    def div(self, a: Value, b: Argument | float) -> Value:
        return self.call("div.Tensor" if self._tensor(b) else "div.Scalar", a, b)

    def neg(self, a: Value) -> Value:
        return self.call("neg", a)

    def square(self, a: Value) -> Value:
        return self.mul(a, a)

    def scaled(self, a: Value, factor: Argument) -> Value:
        """a * factor, or a itself where the factor is one."""
        one = isinstance(factor, Constant) and factor.value == 1
        return a if one else self.mul(a, factor)

    def where(self, mask: Value, a: Value, b: Value) -> Value:
        return self.call("where.self", mask, a, b)

    def masked(self, a: Value, mask: Value) -> Value:
        """a with zero where the mask holds."""
        return self.call("masked_fill.Scalar", a, mask, 0)

    def keep(self, a: Value, mask: Value) -> Value:
        """a where the mask holds, zero elsewhere."""
        return self.where(mask, a, self.zero(a))

    def compare(self, op: str, a: Value, b: Argument | float) -> Value:
        return self.call(f"{op}.{'Tensor' if self._tensor(b) else 'Scalar'}", a, b)

    def power(self, a: Value, exponent: Argument | float) -> Value:
        return self.call("pow.Tensor_Scalar", a, exponent)

    def zero(self, like: Value) -> Value:
        """Zero, without dimensions."""
        return self.call("scalar_tensor", 0.0, self.dtype(like), None, None, None)

    def zeros_like(self, a: Value) -> Value:
        return self.call("zeros_like", a, *DEFAULTS, None)

    def new_zeros(self, like: Value, sizes: Operand) -> Value:
        return self.call("new_zeros", like, sizes, *DEFAULTS)

    def ones_like(self, a: Value) -> Value:
        return self.call("ones_like", a, *DEFAULTS, None)

    def _tensor(self, operand: Operand) -> bool:
        return isinstance(operand, Value) and operand in self.types

    # Shapes

    def expand(self, a: Value, sizes: Operand) -> Value:
        return self.call("expand", a, sizes, False)

    def reshape(self, a: Value, sizes: Operand) -> Value:
        return self.call("reshape", a, sizes)

    def transpose(self, a: Value, dim0: int, dim1: int) -> Value:
        return self.call("transpose.int", a, dim0, dim1)

    def sum(self, a: Value, dims: Operand, keepdim: bool = False) -> Value:
        return self.call("sum.dim_IntList", a, dims, keepdim, None)

    def restore(self, a: Value, dims: Iterable[int], keepdim: bool) -> Value:
        """Put back, with size one, the dimensions that a reduction took away."""
        if not keepdim:
            for dim in sorted(dims):
                a = self.call("unsqueeze", a, dim)
        return a

    def fit(self, gradient: Value, source: Value) -> Value:
        """`gradient` with the shape and dtype of `source`, as autograd's engine makes it."""
        wanted, found = self.type(source), self.type(gradient)
        # A size that is a symbol may turn out to be one, and then broadcasts; only where
        # both shapes are spelled alike is there surely nothing to sum.
        if wanted.shape is None or wanted.shape != found.shape:
            gradient = self.call("sum_to_size", gradient, self.sizes(source))
            self.types[gradient] = TensorType(found.dtype, wanted.shape)
        if wanted.dtype is not None and wanted.dtype != found.dtype:
            gradient = self.call("to.dtype", gradient, self.dtype(source), False, False, None)
        return gradient


def dims_of(builder: Builder, value: Value, dims: Argument) -> tuple[int, ...]:
    """A reduction's dimensions, counted from the front; absent or empty means all."""
    items = dims.items if isinstance(dims, Items) else (dims,)
    known = tuple(
        i.value for i in items if isinstance(i, Constant) and isinstance(i.value, int)
    )
    if len(known) != len([i for i in items if i != Constant(None)]):
        raise NotDifferentiable("a reduction over dimensions that are not known")
    return normalized_dims(known, builder.rank(value))
