"""Follow a function's body, statement by statement, and note every operator that it calls.

The same code follows a function of the program and a function that torch itself defines
in Python (`torch.nn.functional.cross_entropy`, `Tensor.__rsub__`): what torch's source
does with these arguments is what the region does. Branches are taken where the arguments
at hand decide them. Anything else ends the attempt, with the node and the reason.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, final

from ppybuild.graph.regions.dtypes import CASTS, DTYPES, LAYOUTS, MEMORY_FORMATS
from ppybuild.graph.regions.records import Call, Input, InputKind, SameSize, Step, Unpack
from ppybuild.graph.regions.values import (
    Bound,
    Named,
    Results,
    Sequence,
    Size,
    Symbol,
    Unsupported,
)
from ppybuild.graph.schemas import Given, Mismatch, Operator, match
from ppybuild.graph.schemas.match import NONE, literal
from ppybuild.graph.schemas.names import Torch

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
COMPARE: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
    ast.Lt: ("lt", "gt"),
    ast.LtE: ("le", "ge"),
    ast.Gt: ("gt", "lt"),
    ast.GtE: ("ge", "le"),
}
"""The special method, and the one that is asked of the right operand instead."""
UNARY: Mapping[type[ast.unaryop], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__"}
FOLDED: Mapping[type[ast.AST], Callable[[int | float, int | float], int | float | bool]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""Operators between numbers that are known when building."""
PROPERTIES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}
"""Properties of `Tensor` that call one operator."""
FALSE_HERE = frozenset(
    {
        "has_torch_function",
        "has_torch_function_unary",
        "has_torch_function_variadic",
        "torch.jit.is_scripting",
        "torch.jit.is_tracing",
    }
)
"""What torch's sources ask and the region's guards have answered."""
_TORCH_MODULES = {"_VF": "torch._C._VariableFunctions", "_C": "torch._C"}
"""Names in torch's sources that stand for another module."""
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
IGNORES_CUDNN = ("torch.nn.functional.layer_norm", "torch.nn.functional.group_norm")
"""Functions that pass on whether cuDNN is enabled to operators that do not look at it."""


class Names(Protocol):
    """How names of one module's code are understood."""

    def constant(self, node: ast.expr) -> int | float | bool | str | None: ...

    def named(self, node: ast.expr) -> str | None:
        """The dotted name of the module, function or class that a name stands for."""
        ...


@final
class TorchNames:
    """Names inside torch's own Python sources."""

    def constant(self, node: ast.expr) -> int | float | bool | str | None:
        return None

    def named(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return _TORCH_MODULES.get(node.id, node.id)
        return None


@dataclass(slots=True)
class Trace:
    """What has been found so far: one for a region, shared by the functions it enters."""

    torch: Torch
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    nodes: dict[int, ast.expr] = field(default_factory=dict)
    """The expression of the program that gave a value."""
    values: int = 0
    lengths: dict[int, int] = field(default_factory=dict)
    """How many items a parameter that is a sequence has, by its place, where that is known."""
    functions: dict[str, str] = field(default_factory=dict)
    """The program's functions that were looked through, in order, by the calls that led
    there from the region's own: `f:module.g`."""
    constants: dict[str, int | float | bool | str] = field(default_factory=dict)
    """Constants of modules that were taken for their values, by such paths."""

    def new_value(self) -> int:
        self.values += 1
        return self.values - 1

    def new_input(self, name: str, kind: InputKind, place: int, index: int | None) -> Given:
        for known in self.inputs:
            if (known.name, known.kind) == (name, kind):
                return Given(kind, payload=known.value)
        value = self.new_value()
        self.inputs.append(Input(name, kind, value, place, index))
        return Given(kind, payload=value)


class Body:
    """Follows one function's body; `run` gives what it returns."""

    def __init__(
        self,
        trace: Trace,
        names: Names,
        variables: dict[str, Symbol],
        site: ast.AST | None = None,
        inside: tuple[str, ...] = (),
    ) -> None:
        self.trace = trace
        self.names = names
        self.variables = variables
        self.site = site
        """The call in the program through which torch's own code was entered."""
        self.inside = inside
        """The functions of torch that are being followed, outermost first."""

    # Statements

    def run(self, statements: list[ast.stmt]) -> Symbol:
        """What the statements return; None where they end without returning."""
        returned = self._block(statements)
        return NONE if returned is None else returned

    def _block(self, statements: list[ast.stmt]) -> Symbol | None:
        for statement in statements:
            returned = self._statement(statement)
            if returned is not None:
                return returned
        return None

    def _statement(self, statement: ast.stmt) -> Symbol | None:
        match statement:
            case ast.Return():
                return NONE if statement.value is None else self.value(statement.value)
            case ast.Assign():
                value = self.value(statement.value)
                for target in statement.targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=ast.Name()):
                if statement.value is not None:
                    self._assign(statement.target, self.value(statement.value))
            case ast.AugAssign(target=ast.Name() as target):
                self._assign(target, self._augmented(statement, target))
            case ast.Expr():
                if not isinstance(statement.value, ast.Constant):
                    self.value(statement.value)
            case ast.If():
                return self._block(
                    statement.body if self.decided(statement.test) else statement.orelse
                )
            case ast.Pass():
                pass
            case _:
                raise Unsupported(
                    f"{_described(statement)} is not a tensor operation", statement
                )
        return None

    def _assign(self, target: ast.expr, value: Symbol) -> None:
        match target:
            case ast.Name():
                self.variables[target.id] = value
                number = value.payload if isinstance(value, Given) else None
                if self.site is None and isinstance(number, int):
                    self.trace.names.setdefault(number, target.id)
            case ast.Tuple() | ast.List():
                items = self._items(value, target, len(target.elts))
                if len(items) != len(target.elts):
                    raise Unsupported("the number of values to unpack differs", target)
                for part, item in zip(target.elts, items, strict=True):
                    self._assign(part, item)
            case _:
                raise Unsupported(f"assigning to {_described(target)}", target)

    def _items(self, value: Symbol, node: ast.AST, count: int) -> tuple[Symbol, ...]:
        match value:
            case Given(kind="tensors", payload=int() as many):
                results = tuple(self.trace.new_value() for _ in range(count))
                self.trace.steps.append(Unpack(many, results, *self._where(node)))
                return tuple(Given("tensor", payload=result) for result in results)
            case Sequence():
                raise Unsupported("unpacking a sequence of unknown length", node)
            case Results():
                return value.items
            case Given(kind="list"):
                return value.items
            case _:
                raise Unsupported("unpacking something that is not a tuple here", node)

    def _augmented(self, statement: ast.AugAssign, target: ast.Name) -> Symbol:
        left, right = self.value(target), self.value(statement.value)
        name = BINARY.get(type(statement.op), "")
        if _is_tensor(left):
            found = self._special(left, f"__i{name}__", [right], statement)
            if found is not None:
                return found
        return self._binary(statement.op, left, right, statement)

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

    # Expressions

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
                raise Unsupported(f"{_described(node)} is not a tensor operation", node)

    def _constant(self, value: object, node: ast.AST) -> Given:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise Unsupported("an integer past 64 bits", node)
        if value is None or isinstance(value, int | float | str):
            return literal(value)
        raise Unsupported("a constant that no operator takes", node)

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
        if _is_tensor(owner) and node.attr in PROPERTIES:
            return self._reached(PROPERTIES[node.attr], owner, node)
        return Bound(owner, node.attr)

    def _of_module(self, name: str) -> Symbol:
        module, _, attribute = name.rpartition(".")
        if module == "torch":
            if attribute in DTYPES:
                return Given("dtype", DTYPES[attribute])
            if attribute in LAYOUTS:
                return Given("layout", attribute)
            if attribute in MEMORY_FORMATS:
                return Given("memory_format", attribute)
        if name == "torch.backends.cudnn.enabled" and self._ignores_cudnn():
            return Given("bool", True)
        if module == "math" and attribute in ("pi", "e", "tau", "inf", "nan"):
            return Given("float", getattr(math, attribute))
        return Named(name)

    def _ignores_cudnn(self) -> bool:
        return bool(self.inside) and self.inside[-1] in IGNORES_CUDNN

    def _unary(self, node: ast.UnaryOp) -> Symbol:
        value = self.value(node.operand)
        if _is_tensor(value):
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

    def _binary(self, op: ast.operator, left: Symbol, right: Symbol, node: ast.AST) -> Symbol:
        name = BINARY.get(type(op), "")
        if _is_tensor(left):
            found = self._special(left, f"__{name}__", [right], node)
        elif _is_tensor(right):
            found = self._special(right, f"__r{name}__", [left], node)
        else:
            return self._folded(op, left, right, node)
        if found is None:
            raise Unsupported("an operator that tensors do not have", node)
        return found

    def _compared(self, op: ast.cmpop, left: Symbol, right: Symbol, node: ast.expr) -> Symbol:
        if not (_is_tensor(left) or _is_tensor(right)) or type(op) not in COMPARE:
            return self._folded(op, left, right, node)
        forward, reflected = COMPARE[type(op)]
        first, name, second = (
            (left, forward, right) if _is_tensor(left) else (right, reflected, left)
        )
        found = self._special(first, f"__{name}__", [second], node)
        if found is None:
            raise Unsupported("a comparison that tensors do not have", node)
        return found

    def _folded(self, op: ast.AST, left: Symbol, right: Symbol, node: ast.AST) -> Given:
        """An operator between constants."""
        if isinstance(left, Given) and isinstance(right, Given):
            one, two = left.value, right.value
            known = left.payload is None and right.payload is None
            if (
                known
                and left.kind == right.kind == "str"
                and isinstance(op, ast.Eq | ast.NotEq)
            ):
                return literal((one == two) == isinstance(op, ast.Eq))
            fold = FOLDED.get(type(op))
            if (
                known
                and fold is not None
                and isinstance(one, int | float)
                and isinstance(two, int | float)
                and left.kind in ("int", "float", "bool")
                and right.kind in ("int", "float", "bool")
            ):
                try:
                    return self._constant(fold(one, two), node)
                except (ArithmeticError, ValueError):
                    raise Unsupported("a constant expression that fails", node) from None
        raise Unsupported("arithmetic on numbers that are not constants", node)

    # Calls

    def _call(self, node: ast.Call) -> Symbol:
        function = self.value(node.func)
        positional, keywords = self.arguments(node)
        if isinstance(function, Named):
            return self._function(function.name, positional, keywords, node)
        if isinstance(function, Bound) and _is_tensor(function.receiver):
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

    def _function(
        self, name: str, positional: list[Symbol], keywords: dict[str, Symbol], node: ast.Call
    ) -> Symbol:
        if self.site is not None:
            answered = self._answered(name, positional, node)
            if answered is not None:
                return answered
        overloads = self.trace.torch.function(name)
        if overloads:
            return self._operator(name, overloads, None, positional, keywords, node)
        return self._enter(name, positional, keywords, node)

    def _answered(self, name: str, positional: list[Symbol], node: ast.AST) -> Given | None:
        """What torch's own code asks of helpers that are not operators."""
        if name in FALSE_HERE:
            return Given("bool", False)
        if name == "_Reduction.get_enum":
            given = positional[0]
            if isinstance(given, Given) and given.value in REDUCTIONS:
                return Given("int", REDUCTIONS[str(given.value)])
            raise Unsupported("a reduction that is not a known constant", node)
        return None

    def _method(
        self,
        receiver: Symbol,
        name: str,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.AST,
    ) -> Symbol:
        given = self._given(receiver, node)
        if (
            name == "size"
            and not positional
            and not keywords
            and isinstance(given.payload, int)
        ):
            return Size(given.payload)
        by_hand = self._by_hand(given, name, positional, keywords, node)
        if by_hand is not None:
            return by_hand
        overloads = self.trace.torch.method(name)
        if overloads:
            return self._operator(
                f"Tensor.{name}", overloads, given, positional, keywords, node
            )
        return self._enter(f"torch.Tensor.{name}", [receiver, *positional], keywords, node)

    def _by_hand(
        self,
        receiver: Given,
        name: str,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.AST,
    ) -> Symbol | None:
        """Methods whose bindings are written by hand, in the forms that reach one operator."""
        dtype: Given | None = None
        if name in CASTS and not positional and not keywords:
            dtype = Given("dtype", CASTS[name])
        elif name == "to" and len(positional) == 1 and not keywords:
            given = positional[0]
            dtype = given if isinstance(given, Given) and given.kind == "dtype" else None
        if dtype is not None:
            return self._reached("to.dtype", receiver, node, dtype)
        if name == "contiguous" and not positional and not keywords:
            return self._reached("contiguous", receiver, node)
        return None

    def _special(
        self, receiver: Symbol, name: str, arguments: list[Symbol], node: ast.AST
    ) -> Symbol | None:
        """Call a special method of a tensor; None if tensors do not have it."""
        torch = self.trace.torch
        if not torch.method(name) and torch.source(f"torch.Tensor.{name}") is None:
            return None
        return self._method(receiver, name, arguments, {}, node)

    def _operator(
        self,
        spelled: str,
        overloads: tuple[Operator, ...],
        receiver: Given | None,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.AST,
    ) -> Symbol:
        found = match(
            overloads,
            [self._given(value, node) for value in positional],
            {name: self._given(value, node) for name, value in keywords.items()},
            receiver=receiver,
        )
        if isinstance(found, Mismatch):
            raise Unsupported(f"`{spelled}`: {found.reason}", node)
        return self._noted(found.operator, found.arguments, node)

    def _reached(self, name: str, receiver: Symbol, node: ast.AST, *given: Given) -> Symbol:
        """Call an operator by its name in ATen; what is not given has its default."""
        found = self.trace.torch.schemas.operator(f"aten::{name}")
        bound = match([found], given, {}, receiver=self._given(receiver, node))
        if isinstance(bound, Mismatch):
            raise Unsupported(f"`{name}`: {bound.reason}", node)
        return self._noted(found, bound.arguments, node)

    def _noted(self, found: Operator, arguments: tuple[Given, ...], node: ast.AST) -> Symbol:
        if [str(type) for type in found.returns] == ["Tensor[]"]:
            result = self.trace.new_value()
            self.trace.steps.append(Call(found, arguments, (result,), *self._where(node)))
            return Given("tensors", payload=result)
        if any(str(type) != "Tensor" for type in found.returns) or not found.returns:
            raise Unsupported(f"`{found.name}` does not return tensors", node)
        results = tuple(self.trace.new_value() for _ in found.returns)
        line, column = self._where(node)
        self.trace.steps.append(Call(found, arguments, results, line, column))
        values = tuple(Given("tensor", payload=value) for value in results)
        if len(values) == 1:
            return values[0]
        return Results(values, named=") -> (Tensor " in found.schema or "! " in found.schema)

    def _enter(
        self, name: str, positional: list[Symbol], keywords: dict[str, Symbol], node: ast.AST
    ) -> Symbol:
        """Follow a function that torch defines in Python."""
        source = self.trace.torch.source(name)
        if source is None:
            known = name.startswith("torch.")
            what = "is not an operator of torch" if known else "is called, which is not torch's"
            raise Unsupported(f"`{name}` {what}", node)
        if name in self.inside:
            raise Unsupported(f"`{name}` calls itself", node)
        site = self.site if self.site is not None else node
        try:
            variables = bind(source, positional, keywords, node)
            inner = type(self)(self.trace, TorchNames(), variables, site, (*self.inside, name))
            return inner.run(source.body)
        except Unsupported as stopped:
            if stopped.node is node:
                raise
            reason = f"`{name}` with these arguments: {stopped.reason}"
            raise Unsupported(reason, node) from None

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

    # Helpers

    def _given(self, value: Symbol, node: ast.AST) -> Given:
        match value:
            case Given():
                return value
            case Sequence():
                return self.trace.new_input(value.name, "tensors", value.place, None)
            case Results(named=False):
                return Given("list", "tuple", value.items)
            case _:
                raise Unsupported("a value that no operator takes", node)

    def _where(self, node: ast.AST) -> tuple[int, int]:
        place = self.site if self.site is not None else node
        return getattr(place, "lineno", 0), getattr(place, "col_offset", 0) + 1


def bind(
    function: ast.FunctionDef,
    positional: list[Symbol],
    keywords: dict[str, Symbol],
    node: ast.AST,
) -> dict[str, Symbol]:
    """The variables with which a call enters a function; defaults must be constants."""
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    variables: dict[str, Symbol] = {}
    if arguments.vararg is not None:
        rest = positional[len(places) :]
        if not all(isinstance(value, Given) for value in rest):
            raise Unsupported("arguments that no operator takes", node)
        items = tuple(value for value in rest if isinstance(value, Given))
        variables[arguments.vararg.arg] = Given("list", "tuple", items)
    elif len(positional) > len(places):
        raise Unsupported("too many arguments", node)
    for place, value in zip(places, positional, strict=False):
        variables[place.arg] = value
    known = {argument.arg for argument in [*places, *arguments.kwonlyargs]}
    for name, value in keywords.items():
        if name not in known or name in variables:
            raise Unsupported(f"an argument `{name}`", node)
        variables[name] = value
    defaults = dict(
        zip(
            [place.arg for place in places[-len(arguments.defaults) or len(places) :]],
            arguments.defaults,
            strict=False,
        )
    ) | {
        argument.arg: default
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    }
    for name in known - variables.keys():
        try:
            variables[name] = literal(ast.literal_eval(defaults[name]))
        except (KeyError, ValueError):
            raise Unsupported(f"no value for `{name}`", node) from None
    return variables


def _is_tensor(value: Symbol) -> bool:
    return isinstance(value, Given) and value.kind == "tensor"


_DESCRIPTIONS: Mapping[type[ast.AST], str] = {
    ast.With: "a `with` statement",
    ast.For: "a `for` loop",
    ast.While: "a `while` loop",
    ast.Raise: "a `raise` statement",
    ast.Try: "a `try` statement",
    ast.Delete: "a `del` statement",
    ast.FunctionDef: "an inner function",
    ast.Lambda: "a lambda",
    ast.Attribute: "an attribute",
    ast.Subscript: "an item",
    ast.Starred: "a starred expression",
    ast.JoinedStr: "an f-string",
    ast.ListComp: "a comprehension",
    ast.Assert: "an `assert`",
}


def _described(node: ast.AST) -> str:
    return _DESCRIPTIONS.get(type(node), f"`{type(node).__name__}`")
