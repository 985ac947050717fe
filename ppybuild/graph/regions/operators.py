"""Calls of operators on values that are known: which overload, on what, in which order."""

from __future__ import annotations

import ast
import math

from ppybuild.graph.regions.dtypes import CASTS, DTYPES, LAYOUTS, MEMORY_FORMATS
from ppybuild.graph.regions.records import Call
from ppybuild.graph.regions.tables import (
    BINARY,
    COMPARE,
    FALSE_HERE,
    FOLDED,
    IGNORES_CUDNN,
    REDUCTIONS,
)
from ppybuild.graph.regions.trace import Names, Trace
from ppybuild.graph.regions.values import (
    Named,
    Results,
    Sequence,
    Size,
    Symbol,
    Unsupported,
)
from ppybuild.graph.schemas import Given, Mismatch, Operator, match
from ppybuild.graph.schemas.match import literal


class Operators:
    """Notes operators in a trace; the classes below follow code."""

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

    # Operators of Python

    def _binary(self, op: ast.operator, left: Symbol, right: Symbol, node: ast.AST) -> Symbol:
        name = BINARY.get(type(op), "")
        if is_tensor(left):
            found = self._special(left, f"__{name}__", [right], node)
        elif is_tensor(right):
            found = self._special(right, f"__r{name}__", [left], node)
        else:
            return self._folded(op, left, right, node)
        if found is None:
            raise Unsupported("an operator that tensors do not have", node)
        return found

    def _compared(self, op: ast.cmpop, left: Symbol, right: Symbol, node: ast.expr) -> Symbol:
        if not (is_tensor(left) or is_tensor(right)) or type(op) not in COMPARE:
            return self._folded(op, left, right, node)
        forward, reflected = COMPARE[type(op)]
        first, name, second = (
            (left, forward, right) if is_tensor(left) else (right, reflected, left)
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

    def _constant(self, value: object, node: ast.AST) -> Given:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise Unsupported("an integer past 64 bits", node)
        if value is None or isinstance(value, int | float | str):
            return literal(value)
        raise Unsupported("a constant that no operator takes", node)

    # Functions and methods

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
        raise NotImplementedError

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


def is_tensor(value: Symbol) -> bool:
    return isinstance(value, Given) and value.kind == "tensor"
