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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.cutting import Block, Cutter, Fragment, start_of
from ppybuild.graph.regions.evaluations import (
    Evaluations,
    Refusal,
    computed_attributes,
    is_quiet,
    may_catch,
    refusal_at,
)
from ppybuild.graph.regions.following import Stopped
from ppybuild.graph.regions.liveness import Liveness
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sources import Scope, own_nodes
from ppybuild.graph.schemas.names import Torch
from ppybuild.graph.scopes import blocks_of

Code = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_COMPILES = re.compile(r"torch\.(compile|jit|fx|_dynamo)\b")
"""In a program with these words torch reads the code of functions."""
_APART = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
TRIES = 48
"""How often the ends of one fragment are moved."""
STARTS = 4
"""How many statements may be left out at the start where the rest can then be fused."""
ENDS = 3
"""The same at the end."""


@final
@dataclass(frozen=True, slots=True)
class Fragments:
    """`found`: by scope, for each backward pass, or call of a module without gradients, the
    ways to cut a fragment, largest first. `refused`: by scope, why there is none for others."""

    found: Mapping[Scope, tuple[tuple[Fragment, ...], ...]]
    refused: Mapping[Scope, tuple[Refusal, ...]]


def discover_fragments(
    facts: Facts, torch: Torch, seeds: Seeds, steps: frozenset[str]
) -> Fragments:
    """The fragments of all code that is in none of the `steps`."""
    found: dict[Scope, tuple[tuple[Fragment, ...], ...]] = {}
    refused: dict[Scope, tuple[Refusal, ...]] = {}
    if any(_COMPILES.search(module.text) for module in facts.program.modules.values()):
        return Fragments({}, {})
    computed = computed_attributes(facts)
    for scope, node in _scopes(facts):
        if scope.function in steps:
            continue
        groups, refusals = _of_scope(facts, torch, seeds, scope, node, computed)
        if groups:
            found[scope] = groups
        if refusals:
            refused[scope] = refusals
    return Fragments(found, refused)


def _of_scope(
    facts: Facts,
    torch: Torch,
    seeds: Seeds,
    scope: Scope,
    node: Code,
    computed: frozenset[str],
) -> tuple[tuple[tuple[Fragment, ...], ...], tuple[Refusal, ...]]:
    """The fragments of one function or module, and why what is in none is in none."""
    decorators = [] if isinstance(node, ast.Module) else node.decorator_list
    nodes = (*decorators, *own_nodes(node.body))
    if not any(is_backward(each) or is_quiet(facts, each) for each in nodes):
        return (), ()
    if isinstance(node, ast.AsyncFunctionDef):
        return (), (("a coroutine", node),)
    liveness = Liveness(facts, scope, node)
    if liveness.watched is not None:
        return (), (("all variables may be read by name here", liveness.watched),)
    cutter = Cutter(facts, torch, seeds, scope, liveness)
    finder = _Finder(facts, cutter, node)
    evaluations = Evaluations(facts, cutter, computed)
    steps = tuple(finder.groups())
    quiet = tuple(evaluations.groups(node, [way for ways in steps for way in ways]))
    return (*steps, *quiet), (*finder.refusals, *evaluations.refusals)


def _scopes(
    facts: Facts,
) -> Iterator[tuple[Scope, Code]]:
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
        cutter: Cutter,
        node: Code,
    ) -> None:
        self._facts = facts
        self._cutter = cutter
        self._node = node
        self.refusals: list[Refusal] = []
        """Why backward passes that are in no fragment are in none."""
        self._reason: Refusal | None = None

    def groups(self) -> Iterator[tuple[Fragment, ...]]:
        done: dict[int, int] = {}
        for chain in self._chains(self._node.body):
            if any(index < done.get(id(block), 0) for block, index in chain):
                continue
            for block, index in chain:
                found = self._cuts(block, index, done.get(id(block), 0))
                if found:
                    done[id(block)] = start_of(found[0], block) + found[0].count
                    yield tuple(found)
                    break
            else:
                block, index = chain[-1]
                self.refusals += [refusal_at(self._node, self._reason, block[index])]

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
            elif not isinstance(statement, _APART) and not may_catch(self._facts, statement):
                for inner in blocks_of(statement):
                    yield from self._chains(inner, here)

    def _cuts(self, block: Block, index: int, start: int) -> list[Fragment]:
        """The fragments around the statement at `index` of a block, largest first."""
        found: list[Fragment] = []
        stop = len(block)
        self._reason = None
        for _ in range(TRIES):
            try:
                found.append(self._cutter.cut(block, start, stop, index))
            except Stopped as stopped:
                if stopped.at < index or (stopped.at == index and self._reason is None):
                    self._reason = (stopped.reason, stopped.node)
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
        start = start_of(found[0], block)
        stop = start + found[0].count
        for earlier in range(stop - 1, max(index, stop - 1 - ENDS), -1):
            with contextlib.suppress(Stopped):
                yield self._cutter.cut(block, start, earlier, index)
