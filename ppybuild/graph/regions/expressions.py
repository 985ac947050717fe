"""Follow expressions: what each stands for, and the operators that it calls."""

from __future__ import annotations

import ast

from ppybuild.graph.regions.operators import Operators, is_tensor
from ppybuild.graph.regions.records import SameSize
from ppybuild.graph.regions.tables import PROPERTIES, UNARY, described
from ppybuild.graph.regions.values import (
    Bound,
    Named,
    Results,
    Sequence,
    Size,
    Symbol,
    Unsupported,
)
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.match import NONE


class Expressions(Operators):
    """Gives what an expression stands for."""

    def value(self, node: ast.expr) -> Symbol:
        found = self._value(node)
        if self.site is None and isinstance(found, Given) and isinstance(found.payload, int):
            self.trace.nodes.setdefault(found.payload, node)
        return found

    def _value(self, node: ast.expr) -> Symbol:
        match node:
            case ast.Constant():
                return self._constant(node.value, node)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                left, right = self.value(node.left), self.value(node.right)
                return self._binary(node.op, left, right, node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare(ops=[op], comparators=[right_node]):
                left, right = self.value(node.left), self.value(right_node)
                return self._compared(op, left, right, node)
            case ast.Tuple() | ast.List():
                items = tuple(self._given(self.value(item), item) for item in node.elts)
                return Given("list", "tuple" if isinstance(node, ast.Tuple) else "list", items)
            case ast.IfExp():
                return self.value(node.body if self.decided(node.test) else node.orelse)
            case ast.Subscript():
                return self._subscript(node)
            case _:
                raise Unsupported(f"{described(node)} is not a tensor operation", node)

    def _held(self, value: int | float | bool | str, node: ast.expr) -> Given:
        """A constant of a module, which the region takes for its value."""
        return self._constant(value, node)

    def _name(self, node: ast.Name) -> Symbol:
        if node.id in self.variables:
            return self.variables[node.id]
        constant = self.names.constant(node)
        if constant is not None:
            return self._held(constant, node)
        named = self.names.named(node)
        if named is None:
            raise Unsupported(f"`{node.id}` is read from outside the function", node)
        return Named(named)

    def _attribute(self, node: ast.Attribute) -> Symbol:
        constant = self.names.constant(node)
        if constant is not None:
            return self._held(constant, node)
        owner = self.value(node.value)
        if isinstance(owner, Named):
            return self._of_module(f"{owner.name}.{node.attr}")
        if isinstance(owner, Results):
            raise Unsupported(f"`.{node.attr}` of several results", node)
        if is_tensor(owner) and node.attr in PROPERTIES:
            return self._reached(PROPERTIES[node.attr], owner, node)
        return Bound(owner, node.attr)

    def _unary(self, node: ast.UnaryOp) -> Symbol:
        value = self.value(node.operand)
        if is_tensor(value):
            if isinstance(node.op, ast.Invert):
                # The binding refuses other dtypes than bool and integers before it calls
                # this operator, which refuses the same.
                return self._method(value, "bitwise_not", [], {}, node)
            if type(node.op) in UNARY:
                found = self._special(value, UNARY[type(node.op)], [], node)
                if found is not None:
                    return found
        if isinstance(value, Given) and value.payload is None:
            if isinstance(node.op, ast.USub) and isinstance(value.value, int | float):
                return self._constant(-value.value, node)
            if isinstance(node.op, ast.Not):
                return self._constant(not self._truth(value, node), node)
        raise Unsupported("arithmetic on numbers that are not constants", node)

    def _call(self, node: ast.Call) -> Symbol:
        function = self.value(node.func)
        if function == Named("torch.jit.annotate") and len(node.args) == 2:
            return self.value(node.args[1])  # which is all that it does outside TorchScript
        positional, keywords = self.arguments(node)
        if isinstance(function, Named):
            return self._function(function.name, positional, keywords, node)
        if isinstance(function, Bound) and is_tensor(function.receiver):
            return self._method(function.receiver, function.name, positional, keywords, node)
        raise Unsupported("a call of something that is not a function of torch", node)

    def arguments(self, node: ast.Call) -> tuple[list[Symbol], dict[str, Symbol]]:
        """What a call passes, by position and by keyword."""
        positional: list[Symbol] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise Unsupported("an argument list that is unpacked", argument)
            positional.append(self.value(argument))
        keywords: dict[str, Symbol] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Unsupported("keyword arguments that are unpacked", keyword.value)
            keywords[keyword.arg] = self.value(keyword.value)
        return positional, keywords

    # Conditions

    def decided(self, test: ast.expr) -> bool:
        """The truth of a condition that the arguments at hand decide."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                return not self.decided(test.operand)
            case ast.BoolOp(op=ast.And()):
                return all(self.decided(part) for part in test.values)
            case ast.BoolOp():
                return any(self.decided(part) for part in test.values)
            case ast.Compare(
                ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]
            ):
                return self._is_none(self.value(test.left), test) == isinstance(op, ast.Is)
            case ast.Compare(ops=[op], comparators=[right_node]):
                left, right = self.value(test.left), self.value(right_node)
                if isinstance(left, Size) and isinstance(right, Size):
                    return self._sizes_equal(left, right, op, test)
                return self._truth(self._compared(op, left, right, test), test)
            case _:
                return self._truth(self.value(test), test)

    def _truth(self, value: Symbol, node: ast.expr) -> bool:
        if isinstance(value, Given) and value.payload is None:
            if value.kind in ("int", "float", "bool", "str"):
                return bool(value.value)
            if value.kind == "none":
                return False
        raise Unsupported("a branch that depends on the arguments", node)

    def _is_none(self, value: Symbol, node: ast.expr) -> bool:
        if isinstance(value, Given) and value.kind == "optional_tensor":
            raise Unsupported("a branch that depends on the arguments", node)
        return value == NONE

    def _sizes_equal(self, left: Size, right: Size, op: ast.cmpop, node: ast.expr) -> bool:
        """Go on as for equal sizes, which a guard makes sure of."""
        if not isinstance(op, ast.Eq | ast.NotEq) or self.site is None:
            raise Unsupported("a comparison of sizes", node)
        if left != right:
            where = self._where(node)
            self.trace.steps.append(SameSize(left.tensor, right.tensor, *where))
        return isinstance(op, ast.Eq)

    # Subscripts

    def _subscript(self, node: ast.Subscript) -> Symbol:
        owner = self.value(node.value)
        match owner:
            case Sequence():
                index = self.value(node.slice)
                if isinstance(index, Given) and index.kind == "int" and index.payload is None:
                    assert isinstance(index.value, int)
                    name = f"{owner.name}[{index.value}]"
                    return self.trace.new_input(name, "tensor", owner.place, index.value)
                raise Unsupported("a subscript that is not a constant", node)
            case Results() | Given(kind="list"):
                index = self.value(node.slice)
                items = owner.items
                if (
                    isinstance(index, Given)
                    and isinstance(index.value, int)
                    and -len(items) <= index.value < len(items)
                ):
                    return items[index.value]
                raise Unsupported("a subscript that is not a constant", node)
            case Given(kind="tensor"):
                return self._indexed(owner, node)
            case _:
                raise Unsupported("a subscript of something that is not a tensor", node)

    def _indexed(self, tensor: Given, node: ast.Subscript) -> Symbol:
        """Indexing by ints, slices and None, as the bindings take it apart.

        One slice is one call. Among several parts a slice that covers its dimension is
        left out when it runs, and where nothing was done the result is an `alias`.
        """
        if isinstance(node.slice, ast.Slice):
            return self._sliced(tensor, node.slice, 0, alone=True)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        result: Symbol = tensor
        dimension, moved = 0, False
        for part in parts:
            place = Given("int", dimension)
            if isinstance(part, ast.Slice):
                result = self._sliced(result, part, dimension, alone=False)
                dimension += 1
            elif isinstance(part, ast.Constant) and part.value is None:
                result = self._reached("unsqueeze", result, part, place)
                dimension, moved = dimension + 1, True
            else:
                index = self.value(part)
                if not isinstance(index, Given) or index.kind != "int":
                    raise Unsupported("an index that is not an int or a slice", part)
                result = self._reached("select.int", result, part, place, index)
                moved = True
        return result if moved else self._reached("alias", result, node)

    def _sliced(
        self, tensor: Symbol, part: ast.Slice, dimension: int, *, alone: bool
    ) -> Symbol:
        """A slice; its start is None where the call may be left out."""
        start = self._bound(part.lower, part, 0)
        stop = self._bound(part.upper, part, 2**63 - 1)
        step = self._bound(part.step, part, 1)
        if not alone:
            if start.payload is not None:
                raise Unsupported(
                    "a slice of several dimensions from a start that varies", part
                )
            start = NONE if start.value == 0 else start
        return self._reached(
            "slice.Tensor", tensor, part, Given("int", dimension), start, stop, step
        )

    def _bound(self, node: ast.expr | None, slice: ast.Slice, absent: int) -> Given:
        bound = NONE if node is None else self.value(node)
        if bound == NONE:
            return Given("int", absent)
        if isinstance(bound, Given) and bound.kind == "int":
            return bound
        raise Unsupported("a slice whose bounds are not ints", slice)
