"""Training steps inside other code: a run of statements around a backward pass.

    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()          ⎫
            loss = F.mse_loss(model(x), y) ⎬ a fragment: takes `optimizer`, `model`, `x`, `y`
            loss.backward()                ⎪ and gives `loss`, whose number is asked for
            optimizer.step()               ⎭
            total += loss.item()
        print(total)

The statements become a region as those of a function do. What stands before and after stays
Python; so does the fragment whenever a guard does not hold.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from ppybuild.graph.program import Facts, Function
from ppybuild.graph.regions.assemble import (
    Learned,
    assemble,
    learned,
    method_of,
    returned_value,
)
from ppybuild.graph.regions.following import FragmentBody, Stopped
from ppybuild.graph.regions.inline import ProgramNames
from ppybuild.graph.regions.liveness import Liveness
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sources import Scope, own_nodes
from ppybuild.graph.regions.step_records import Owner, Returned, StepRegion
from ppybuild.graph.regions.stepping import StepTrace
from ppybuild.graph.regions.surroundings import Surroundings
from ppybuild.graph.regions.values import Symbol, Thing, Unsupported
from ppybuild.graph.schemas import Given
from ppybuild.graph.schemas.names import Torch
from ppybuild.graph.scopes import blocks_of
from ppybuild.graph.types import Instance

Block = Sequence[ast.stmt]
_COMPILES = re.compile(r"torch\.(compile|jit|fx|_dynamo)\b")
"""In a program with these words torch reads the code of functions."""
_APART = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_PASSES_ON = ("torch.", "tqdm.", "builtins.open", "warnings.catch_warnings")
"""Context managers, by the starts of their names, that let every exception through."""
TRIES = 48
"""How often the ends of one fragment are moved."""
STARTS = 4
"""How many statements may be left out at the start where the rest can then be fused."""
ENDS = 3
"""The same at the end."""


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
    """Of the first statement; bytes of UTF-8 from 0, as in syntax trees."""
    count: int
    """How many statements of the block belong to it."""
    takes: tuple[str, ...]
    """Variables and dotted paths: first those that the region takes, then what else only the
    statements themselves need."""
    gives: tuple[str, ...]
    """The variables that it binds, as far as anything reads them afterwards."""
    renews: tuple[str, ...]
    """The variables that it binds before it reads them. What they hold may be let go before:
    a graph of the last turn would keep a step from being native."""


@final
@dataclass(frozen=True, slots=True)
class Fragments:
    """`found`: by scope, for each backward pass the ways to cut a fragment, largest first.
    `refused`: by scope, why there is none."""

    found: Mapping[Scope, tuple[tuple[Fragment, ...], ...]]
    refused: Mapping[Scope, tuple[str, ast.AST]]


def discover_fragments(
    facts: Facts, torch: Torch, seeds: Seeds, steps: frozenset[str]
) -> Fragments:
    """The fragments of all code that is in none of the `steps`."""
    found: dict[Scope, tuple[tuple[Fragment, ...], ...]] = {}
    refused: dict[Scope, tuple[str, ast.AST]] = {}
    if any(_COMPILES.search(module.text) for module in facts.program.modules.values()):
        return Fragments({}, {})
    for scope, node in _scopes(facts):
        if scope.function in steps or not any(map(is_backward, own_nodes(node.body))):
            continue
        finder = _Finder(facts, torch, seeds, scope, node)
        groups = tuple(finder.groups())
        if groups:
            found[scope] = groups
        elif finder.reason is not None:
            refused[scope] = finder.reason
    return Fragments(found, refused)


def _scopes(
    facts: Facts,
) -> Iterator[tuple[Scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]]:
    for name, module in facts.program.modules.items():
        yield Scope(None, name), module.tree
    for name in sorted(facts.program.functions):
        function = facts.program.functions[name]
        yield Scope(name, function.module), function.node


def is_backward(node: ast.AST) -> bool:
    """Whether a statement is `loss.backward()`."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "backward"
    )


@final
class _Finder:
    def __init__(
        self,
        facts: Facts,
        torch: Torch,
        seeds: Seeds,
        scope: Scope,
        node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef,
    ) -> None:
        self._facts = facts
        self._torch = torch
        self._seeds = seeds
        self._scope = scope
        self._node = node
        self._liveness = Liveness(facts, scope, node)
        self.reason: tuple[str, ast.AST] | None = None
        """Why the last backward pass that is in no fragment is in none."""

    def groups(self) -> Iterator[tuple[Fragment, ...]]:
        if isinstance(self._node, ast.AsyncFunctionDef):
            self.reason = ("a coroutine", self._node)
            return
        if self._liveness.watched is not None:
            self.reason = ("all variables may be read by name here", self._liveness.watched)
            return
        done: dict[int, int] = {}
        for chain in self._chains(self._node.body):
            if any(index < done.get(id(block), 0) for block, index in chain):
                continue
            for block, index in chain:
                found = self._cuts(block, index, done.get(id(block), 0))
                if found:
                    first = found[0]
                    start = next(i for i, s in enumerate(block) if s.lineno == first.line)
                    done[id(block)] = start + first.count
                    yield tuple(found)
                    break

    def _chains(
        self, block: Block, above: tuple[tuple[Block, int], ...] = ()
    ) -> Iterator[tuple[tuple[Block, int], ...]]:
        """To each backward pass the blocks around it, outermost first, and the place in each.
        What may catch an exception ends the way: what a fragment has bound when it fails
        would be seen there."""
        for index, statement in enumerate(block):
            here = (*above, (block, index))
            if is_backward(statement):
                yield here
            elif not isinstance(statement, _APART) and not self._may_catch(statement):
                for inner in blocks_of(statement):
                    yield from self._chains(inner, here)

    def _may_catch(self, statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.With):
            return isinstance(statement, ast.Try | ast.TryStar)
        managers = (item.context_expr for item in statement.items)
        made = (self._facts.callees.get(m) for m in managers if isinstance(m, ast.Call))
        known = [callee for callee in made if callee and callee.name.startswith(_PASSES_ON)]
        return len(known) < len(statement.items)

    def _cuts(self, block: Block, index: int, start: int) -> list[Fragment]:
        """The fragments around the statement at `index` of a block, largest first."""
        found: list[Fragment] = []
        stop = len(block)
        self.reason = None
        for _ in range(TRIES):
            try:
                found.append(self._fragment(block, start, stop, index))
            except Stopped as stopped:
                if stopped.at < index or (stopped.at == index and self.reason is None):
                    self.reason = (stopped.reason, stopped.node)
                if stopped.at < index:
                    # what was bound before may be in its way
                    start = max(stopped.at, start + 1)
                elif stopped.at > index and not found:
                    stop = stopped.at
                else:
                    break
                continue
            start += 1
            if start > index or len(found) > STARTS:
                break
        return [*found, *self._ended_earlier(found, block, index)] if found else []

    def _ended_earlier(
        self, found: list[Fragment], block: Block, index: int
    ) -> Iterator[Fragment]:
        """The largest fragment without its last statements."""
        start = next(i for i, s in enumerate(block) if s is found[0].function.node.body[0])
        stop = start + found[0].count
        for earlier in range(stop - 1, max(index, stop - 1 - ENDS), -1):
            with contextlib.suppress(Stopped):
                yield self._fragment(block, start, earlier, index)

    def _fragment(self, block: Block, start: int, stop: int, index: int) -> Fragment:
        trace = StepTrace(self._torch)
        around = Surroundings(self._facts, self._seeds, trace, self._scope)
        inside = () if self._scope.function is None else (self._scope.function,)
        body = FragmentBody(trace, ProgramNames(self._facts), {}, inside=inside)
        body.around = around
        statements = block[start:stop]
        self._enter_objects(body, statements)
        body.follow(statements, start)
        known = learned(trace, around.passed)
        reached = {leaf for done in trace.backwards for leaf, _ in done.gradients}
        if not reached & known.trained:
            raise Stopped(index, "nothing in it is seen to be trained", block[index])
        try:
            given = self._given_back(body, around, known, statements)
        except Unsupported as stopped:
            raise Stopped(index, stopped.reason, stopped.node) from None
        return self._made(body, around, known, statements, given)

    def _enter_objects(self, body: FragmentBody, statements: Block) -> None:
        """Models come first: an optimizer may be used before the model that it is over."""
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(
                    self._facts.types.get(node), Instance
                ):
                    body.object(node)

    def _given_back(
        self, body: FragmentBody, around: Surroundings, known: Learned, statements: Block
    ) -> dict[str, Returned]:
        """What becomes of the variables that something reads afterwards."""
        trace = body.step
        losses = {trace.now(done.loss) for done in trace.backwards}
        given: dict[str, Returned] = {}
        for name, symbol in body.variables.items():
            if around.taken.get(name) == symbol:
                continue  # written in place: the same object as before
            reads = self._liveness.reads(name, statements)
            if name in around.taken or reads is None:
                numbers_only = False
            elif not reads:
                continue
            else:
                is_loss = isinstance(symbol, Given) and symbol.payload in losses
                numbers_only = all(self._liveness.asks_number(read, is_loss) for read in reads)
            given[name] = self._returned(trace, symbol, known, statements[0], numbers_only)
        values = [returned.value for returned in given.values()]
        if len(set(values)) < len(values):
            raise Unsupported("two names for one result", statements[0])
        return given

    @staticmethod
    def _returned(
        trace: StepTrace, symbol: Symbol, known: Learned, node: ast.stmt, numbers_only: bool
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
        statements: Block,
        given: Mapping[str, Returned],
    ) -> Fragment:
        first, last = statements[0], statements[-1]
        end = last.end_lineno or last.lineno
        name = f"{self._scope.name}.lines_{first.lineno}_{end}"
        takes = (*around.taken, *self._else_needed(body, around, statements))
        node = ast.copy_location(
            ast.FunctionDef(name.rpartition(".")[2], _NONE, list(statements), []), first
        )
        node.end_lineno, node.end_col_offset = last.end_lineno, last.end_col_offset
        function = Function(name, self._scope.module, node, None)
        returned = Returned("tuple", items=tuple(given.values()))
        region = assemble(self._facts, body.step, known, returned, name, len(takes), node)
        return Fragment(
            function,
            replace(region, fragment=True, owners=tuple(self._owners(around))),
            self._scope,
            first.lineno,
            first.col_offset,
            len(statements),
            takes,
            tuple(given),
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
            only = all(isinstance(node.ctx, ast.Store) for node in found)
            return only and isinstance(statement, ast.Assign | ast.AnnAssign)
    return False


_NONE = ast.arguments([], [], None, [], [], None, [])
