"""Forward passes through modules where gradients are off: a run of statements, and what comes
first in the statement after them.

    with torch.no_grad():
        for x, y in loader:
            logits = model(x)                       a fragment: takes `model` and `x`,
            guess = logits.argmax(1)                gives `logits` and `guess`
            correct += (guess == y).sum().item()    or, of this statement too, the tensor whose
                                                    number is asked for

Modules are taken to be in evaluation, which is looked at when it runs.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.cutting import Block, Cutter, Fragment, start_of
from ppybuild.graph.regions.following import Stopped
from ppybuild.graph.regions.inline import ProgramNames
from ppybuild.graph.regions.leading import leading
from ppybuild.graph.scopes import blocks_of
from ppybuild.graph.types import Instance, Union

_QUIET = ("torch.no_grad", "torch.inference_mode")
"""Context managers, and decorators, under which no gradients are recorded."""
_APART = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_PASSES_ON = ("torch.", "tqdm.", "builtins.open", "warnings.catch_warnings")
"""Context managers, by the starts of their names, that let every exception through."""
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return
Refusal = tuple[str, ast.AST]
"""A reason, and the node in the way."""
TRIES = 24
"""How often the ends of one fragment are moved."""
WAYS = 4
"""How many fragments are made of which one is chosen, for each call of a module."""


def refusal_at(root: ast.AST, found: Refusal | None, statement: ast.stmt) -> Refusal:
    """The reason with a place in the code itself, the statement that it is about at least."""
    reason, node = found or ("what it would give cannot be given back", statement)
    return reason, node if any(part is node for part in ast.walk(root)) else statement


def is_quiet(facts: Facts, node: ast.AST) -> bool:
    """Whether it is `torch.no_grad()`, in a `with` statement or as a decorator."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return ProgramNames(facts).named(node.func) in _QUIET


def computed_attributes(facts: Facts) -> frozenset[str]:
    """Names of attributes that may run code when they are read."""
    return frozenset(
        function.name.rpartition(".")[2]
        for function in facts.program.functions.values()
        if function.owner is not None and function.node.decorator_list
    )


def may_catch(facts: Facts, statement: ast.stmt) -> bool:
    """Whether an exception may end at a statement, where what a fragment had bound before it
    failed would be seen."""
    if not isinstance(statement, ast.With):
        return isinstance(statement, ast.Try | ast.TryStar)
    managers = (item.context_expr for item in statement.items)
    made = (facts.callees.get(m) for m in managers if isinstance(m, ast.Call))
    known = [callee for callee in made if callee and callee.name.startswith(_PASSES_ON)]
    return len(known) < len(statement.items)


@final
@dataclass(slots=True)
class Evaluations:
    """Finds them in one function or module."""

    facts: Facts
    cutter: Cutter
    computed: frozenset[str]
    """Names of attributes that may run code when they are read."""
    refusals: list[Refusal] = field(default_factory=list, init=False)
    """Why calls of modules that are in no fragment are in none."""
    _reason: Refusal | None = field(default=None, init=False)

    def groups(
        self, root: ast.Module | ast.FunctionDef, steps: Sequence[Fragment]
    ) -> Iterator[tuple[Fragment, ...]]:
        """For each call of a module the ways to cut a fragment, largest first; none where one
        of the `steps` may be."""
        taken = {id(node) for step in steps for node in ast.walk(step.function.node)}
        decorators = [] if isinstance(root, ast.Module) else root.decorator_list
        for block in self._blocks(
            root.body, any(is_quiet(self.facts, each) for each in decorators)
        ):
            done = 0
            for index, statement in enumerate(block):
                if index < done or id(statement) in taken or not isinstance(statement, _SIMPLE):
                    continue
                if not any(map(self._calls_module, ast.walk(statement))):
                    continue
                found = self._cuts(block, index, done)
                if found:
                    first, ahead = found[0], found[0].value is not None
                    done = start_of(first, block) + first.count + ahead
                    yield tuple(found)
                else:
                    self.refusals.append(refusal_at(root, self._reason, statement))

    def _blocks(self, block: Block, quiet: bool) -> Iterator[Block]:
        """The blocks in which gradients are off."""
        if quiet:
            yield block
        for statement in block:
            if isinstance(statement, _APART) or may_catch(self.facts, statement):
                continue
            managers = statement.items if isinstance(statement, ast.With) else []
            inside = quiet or any(is_quiet(self.facts, item.context_expr) for item in managers)
            for inner in blocks_of(statement):
                yield from self._blocks(inner, inside)

    def _calls_module(self, node: ast.AST) -> bool:
        """Whether it is a call of a module, or of a function of the program with one."""
        if not isinstance(node, ast.Call):
            return False
        callee = self.facts.callees.get(node)
        passed = node.args if callee is not None and callee.kind == "project" else []
        return any(map(self._is_module, (node.func, *passed)))

    def _is_module(self, node: ast.expr) -> bool:
        found = self.facts.types.get(node)
        several = found.members if isinstance(found, Union) else (found,)
        return any(isinstance(one, Instance) and self._derives(one.name) for one in several)

    def _derives(self, name: str) -> bool:
        owner = self.facts.program.classes.get(name)
        if owner is None:
            return name.startswith("torch.nn.")
        return any(map(self._derives, owner.bases))

    def _cuts(self, block: Block, index: int, start: int) -> list[Fragment]:
        """The fragments around the statement at `index`, and then those that leave out what
        comes before it, where only the rest can be fused."""
        self._reason = None
        found = self._from(block, index, start)
        place = start_of(found[0], block) if found else index
        for later in range(place + 1, index + 1)[-WAYS:] if found else ():
            found += self._from(block, index, later)
        return found

    def _from(self, block: Block, index: int, start: int) -> list[Fragment]:
        stop = len(block)
        for _ in range(TRIES):
            try:
                whole = self.cutter.cut(block, start, stop, index, evaluates=True)
            except Stopped as stopped:
                if stopped.at <= index and self._reason is None:
                    self._reason = (stopped.reason, stopped.node)
                if stopped.at < index:
                    start = max(stopped.at, start + 1)
                elif stopped.at > index:
                    stop = stopped.at
                else:
                    return self._with_more(block, start, index, index)
                continue
            more = self._with_more(block, start, stop, index)
            return [*more, whole, *self._ended_earlier(block, start, stop, index)]
        return []

    def _ended_earlier(
        self, block: Block, start: int, stop: int, index: int
    ) -> Iterator[Fragment]:
        """The fragment without its last statements, where what is left can then be fused."""
        for earlier in range(stop - 1, max(index, stop - 1 - WAYS), -1):
            with contextlib.suppress(Stopped):
                yield self.cutter.cut(block, start, earlier, index, evaluates=True)

    def _with_more(self, block: Block, start: int, stop: int, index: int) -> list[Fragment]:
        """Those that take in the beginning of the statement at `stop` too."""
        found: list[Fragment] = []
        if stop == len(block):
            return found
        for value in leading(block[stop], self.computed):
            if stop == index and not any(map(self._calls_module, ast.walk(value))):
                continue
            try:
                found.append(self.cutter.cut(block, start, stop, index, value, evaluates=True))
            except Stopped:
                continue
            if len(found) == WAYS:
                break
        return found
