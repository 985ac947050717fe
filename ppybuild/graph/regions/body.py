"""Follow a function's body, statement by statement, and note every operator that it calls.

The same code follows a function of the program and a function that torch itself defines
in Python (`torch.nn.functional.cross_entropy`, `Tensor.__rsub__`): what torch's source
does with these arguments is what the region does. Branches are taken where the arguments
at hand decide them. Anything else ends the attempt, with the node and the reason.
"""

from __future__ import annotations

import ast

from ppybuild.graph.regions.binding import bind
from ppybuild.graph.regions.expressions import Expressions
from ppybuild.graph.regions.operators import is_tensor
from ppybuild.graph.regions.records import Unpack
from ppybuild.graph.regions.tables import BINARY, described
from ppybuild.graph.regions.trace import TorchNames
from ppybuild.graph.regions.values import Results, Sequence, Symbol, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.match import NONE


class Body(Expressions):
    """Follows one function's body; `run` gives what it returns."""

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
                    f"{described(statement)} is not a tensor operation", statement
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
                raise Unsupported(f"assigning to {described(target)}", target)

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
        if is_tensor(left):
            found = self._special(left, f"__i{name}__", [right], statement)
            if found is not None:
                return found
        return self._binary(statement.op, left, right, statement)

    def _enter(
        self, name: str, positional: list[Symbol], keywords: dict[str, Symbol], node: ast.AST
    ) -> Symbol:
        """Follow a function that torch defines in Python."""
        source = self.trace.torch.source(name)
        dispatched = self.trace.torch.dispatched(name) if source is None else None
        if dispatched is not None:
            given = (*positional, *(None for _ in range(dispatched.place)))[dispatched.place]
            flag = keywords.get(dispatched.flag, given)
            if flag is not None and flag != Given("bool", False):
                raise Unsupported(f"`{name}` with `{dispatched.flag}`", node)
            return self._enter(dispatched.otherwise, positional, keywords, node)
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
