"""Cut a run of statements out of a block as a region of its own.

loss = F.mse_loss(model(x), y)         takes `model`, `x` and `y`,
loss.backward()                   →    gives `loss`, of which something else reads
optimizer.step()                       the number
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.program import Facts, Function
from ppybuild.graph.regions.assemble import (
    Learned,
    assemble,
    learned,
    memory_of,
    method_of,
    returned_value,
)
from ppybuild.graph.regions.following import FragmentBody, Stopped
from ppybuild.graph.regions.inline import ProgramNames
from ppybuild.graph.regions.liveness import Liveness
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sides import MOST, Sides
from ppybuild.graph.regions.sources import Scope
from ppybuild.graph.regions.step_records import Owner, Returned, StepRegion
from ppybuild.graph.regions.stepping import StepTrace
from ppybuild.graph.regions.surroundings import Surroundings
from ppybuild.graph.regions.values import Symbol, Thing, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.names import Torch
from ppybuild.graph.types import Instance

Block = Sequence[ast.stmt]


@final
@dataclass(frozen=True, slots=True)
class Fragment:
    """A run of statements as a region of its own."""

    function: Function
    """What the region is called; its node stands where the statements do."""
    region: StepRegion
    scope: Scope
    line: int
    column: int
    """Of the first statement, the one with `value` where `count` is 0; bytes of UTF-8 from 0,
    as in syntax trees."""
    count: int
    """How many statements of the block belong to it."""
    value: ast.expr | None
    """An expression of the statement after them, which it gives too."""
    takes: tuple[str, ...]
    """Variables and dotted paths: first those that the region takes, then what else only the
    statements themselves need."""
    gives: tuple[str, ...]
    """The variables that it binds, as far as anything reads them afterwards."""
    renews: tuple[str, ...]
    """The variables that it binds before it reads them. What they hold may be let go before:
    a graph of the last turn would keep a step from being native."""
    sides: tuple[Fragment, ...] = ()
    """The same statements, where branches go other ways."""


def start_of(fragment: Fragment, block: Block) -> int:
    """The place of a fragment's first statement in the block that it is cut out of."""
    places = [(statement.lineno, statement.col_offset) for statement in block]
    return places.index((fragment.line, fragment.column))


@final
@dataclass(frozen=True, slots=True)
class Own:
    """What is cut out, as `cut` is told."""

    statements: list[ast.stmt]
    value: ast.expr | None
    block: Block
    start: int
    stop: int
    index: int

    def binds(self, name: str) -> int:
        """The place of the last statement that binds a variable."""
        places = [
            self.start + place
            for place, statement in enumerate(self.statements)
            for node in ast.walk(statement)
            if isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
        ]
        return places[-1] if places else self.index


@final
@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts in the code of one function or module."""

    _facts: Facts
    _torch: Torch
    _seeds: Seeds
    _scope: Scope
    _liveness: Liveness

    def cut(
        self,
        block: Block,
        start: int,
        stop: int,
        index: int,
        value: ast.expr | None = None,
        *,
        evaluates: bool = False,
    ) -> Fragment:
        """The statements from `start` to before `stop`, for the one at `index`. `value`: what
        of the next statement belongs to them; `evaluates`: whether gradients are off."""
        own = Own(list(block[start:stop]), value, block, start, stop, index)
        made: list[Fragment] = []
        stops: list[Stopped] = []
        waiting = [Sides()]
        while waiting and len(made) < MOST:
            sides = waiting.pop()
            try:
                made.append(self._side(own, sides, len(made), evaluates))
            except Stopped as stopped:
                stops.append(stopped)
            waiting += [Sides(told) for told in sides.others()]
        if not made:
            raise stops[0]
        return replace(made[0], sides=tuple(made[1:]))

    def _side(self, cut: Own, sides: Sides, number: int, evaluates: bool) -> Fragment:
        """One way through the statements."""
        trace = StepTrace(self._torch, recording=not evaluates, evaluates=evaluates)
        around = Surroundings(self._facts, self._seeds, trace, self._scope, sides)
        inside = () if self._scope.function is None else (self._scope.function,)
        body = FragmentBody(trace, ProgramNames(self._facts), {}, inside=inside)
        body.around = around
        statements, value, index = cut.statements, cut.value, cut.index
        own = [*statements, value] if value is not None else [*statements]
        self._enter_objects(body, own)
        body.follow(statements, cut.start)
        held = None if value is None else body.follow_value(value, cut.stop)
        known = learned(trace, around.passed)
        reached = {leaf for done in trace.backwards for leaf, _ in done.gradients}
        if not evaluates and not reached & known.trained:
            raise Stopped(index, "nothing in it is seen to be trained", cut.block[index])
        given = self._given_back(body, around, known, cut, own)
        if held is not None and value is not None:
            try:
                given[""] = self._returned(trace, held, known, value, numbers_only=False)
            except Unsupported as stopped:
                raise Stopped(index, stopped.reason, stopped.node) from None
        values = [memory_of(trace, returned.value) for returned in given.values()]
        if len(set(values)) < len(values):
            raise Stopped(index, "two names for one result", own[0])
        made = self._made(body, around, known, cut, given, number)
        place = cut.block[cut.start]
        return replace(made, line=place.lineno, column=place.col_offset)

    def _enter_objects(self, body: FragmentBody, statements: Sequence[ast.AST]) -> None:
        """Models come first: an optimizer may be used before the model that it is over."""
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(
                    self._facts.types.get(node), Instance
                ):
                    body.object(node)

    def _given_back(
        self,
        body: FragmentBody,
        around: Surroundings,
        known: Learned,
        cut: Own,
        own: Sequence[ast.AST],
    ) -> dict[str, Returned]:
        """What becomes of the variables that something reads afterwards; `own`: all that
        belongs to the fragment."""
        trace = body.step
        losses = {trace.now(done.loss) for done in trace.backwards}
        given: dict[str, Returned] = {}
        for name, symbol in body.variables.items():
            if around.taken.get(name) == symbol:
                continue  # written in place: the same object as before
            reads = self._liveness.reads(name, own)
            if name in around.taken or reads is None:
                numbers_only = False
            elif not reads:
                continue
            else:
                is_loss = isinstance(symbol, Given) and symbol.payload in losses
                numbers_only = all(self._liveness.asks_number(read, is_loss) for read in reads)
            try:
                given[name] = self._returned(
                    trace, symbol, known, cut.statements[0], numbers_only=numbers_only
                )
            except Unsupported as stopped:
                at = cut.binds(name)
                # without it, a step would take what has a graph
                at = at if trace.evaluates else max(at, cut.index)
                raise Stopped(at, stopped.reason, stopped.node) from None
        return given

    @staticmethod
    def _returned(
        trace: StepTrace, symbol: Symbol, known: Learned, node: ast.AST, *, numbers_only: bool
    ) -> Returned:
        """With `numbers_only`, nobody can tell whether it still has a graph."""
        trained = frozenset[int]() if numbers_only else known.trained
        found = returned_value(trace, symbol, trained, node)
        if found.kind != "tensor":
            raise Unsupported("a result that is no tensor", node)
        return found

    def _made(
        self,
        body: FragmentBody,
        around: Surroundings,
        known: Learned,
        cut: Own,
        given: Mapping[str, Returned],
        number: int,
    ) -> Fragment:
        statements, value, count = cut.statements, cut.value, len(cut.statements)
        if value is not None:
            statements = [*statements, ast.copy_location(ast.Return(value), value)]
        first, last = statements[0], statements[-1]
        end = last.end_lineno or last.lineno
        name = f"{self._scope.name}.lines_{first.lineno}_{end}"
        before = cut.block[cut.start - 1] if cut.start else None
        if before is not None and before.end_lineno == first.lineno:
            name += f"_at_{first.col_offset}"  # one before it may be on this line too
        name += f"_{number}" if number else ""
        takes = (*around.taken, *self._else_needed(body, around, statements))
        node = ast.copy_location(
            ast.FunctionDef(name.rpartition(".")[2], _NONE, statements, []), first
        )
        node.end_lineno, node.end_col_offset = last.end_lineno, last.end_col_offset
        function = Function(name, self._scope.module, node, None)
        returned = Returned("tuple", items=tuple(given.values()))
        region = assemble(self._facts, body.step, known, returned, name, len(takes), node)
        return Fragment(
            function,
            replace(
                region,
                fragment=True,
                owners=tuple(self._owners(around)),
                assumes=around.assumed,
            ),
            self._scope,
            first.lineno,
            first.col_offset,
            count,
            value,
            takes,
            tuple(name for name in given if name),
            tuple(name for name in body.variables if _is_renewed(name, statements)),
        )

    def _owners(self, around: Surroundings) -> Iterator[Owner]:
        for place, (path, symbol) in enumerate(around.taken.items()):
            if isinstance(symbol, Thing):
                names = sorted(around.methods[path])
                methods = (method_of(self._facts, symbol.owner, name) for name in names)
                yield Owner(place, tuple(methods))

    def _else_needed(
        self, body: FragmentBody, around: Surroundings, statements: Block
    ) -> Iterator[str]:
        """Variables of functions that the statements read and the region does not take."""
        if self._scope.function is None:
            return
        seen = {*around.taken, *body.variables}
        for statement in statements:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Name) or node.id in seen:
                    continue
                if around.is_variable(node.id) and node not in self._facts.constants:
                    seen.add(node.id)
                    yield node.id


def _is_renewed(name: str, statements: Block) -> bool:
    """Whether the first statement that has the name only binds it."""
    for statement in statements:
        found = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
        if found:
            if isinstance(statement, ast.If):
                tested = any(node in found for node in ast.walk(statement.test))
                sides = (statement.body, statement.orelse)
                return not tested and all(_is_renewed(name, side) for side in sides)
            only = all(isinstance(node.ctx, ast.Store) for node in found)
            return only and isinstance(statement, ast.Assign | ast.AnnAssign)
    return False


_NONE = ast.arguments([], [], None, [], [], None, [])
