"""Training steps: forward, `loss.backward()` and the update, as one region.

    loss = forward_loss(x, y, *params)         operators of the forward pass
    loss.backward()                            Backward(loss, by parameter)
    with torch.no_grad():                  →
        for p in params:                       operators of the update
            p -= rate * p.grad                 p's last value, one write
            p.grad = None                      p's gradient when the step is over: None

A tensor is followed by the number under which it was made. Writing in place does not change
that number: `current` gives what the tensor now holds.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.graph.program import Facts, Function
from ppybuild.graph.regions.assemble import assemble, learned, returned_value
from ppybuild.graph.regions.cutting import Fragment
from ppybuild.graph.regions.entering import Entrance
from ppybuild.graph.regions.evaluations import Refusal
from ppybuild.graph.regions.found import Found
from ppybuild.graph.regions.fragments import discover_fragments, is_backward
from ppybuild.graph.regions.inline import ProgramNames, is_generator, no_grad_decorated
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sources import Scope, own_nodes
from ppybuild.graph.regions.step_records import StepRegion
from ppybuild.graph.regions.stepping import StepTrace
from ppybuild.graph.regions.trainers import TrainerBody
from ppybuild.graph.regions.values import Symbol, Unsupported
from ppybuild.graph.schemas.names import Torch, installed_torch

_WORDS = (".backward(", "no_grad", "inference_mode")
"""Without one of these a program has nothing that is looked for here."""


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Training steps by function name, and why each other function with a backward pass is
    none: the reason and the node in the way."""

    steps: tuple[StepRegion, ...]
    fragments: Mapping[Scope, tuple[tuple[Fragment, ...], ...]]
    """Steps inside other code, as in `Fragments`."""
    refused: Mapping[str, Refusal]
    missed: Mapping[Scope, tuple[Refusal, ...]]
    """The same of backward passes, and calls of modules, beside a fragment of their function,
    or in a module's own code."""


def discover_steps(facts: Facts, seeds: Seeds, torch: Torch | None = None) -> Steps:
    """The program's training steps, in order of function name."""
    torch = torch if torch is not None else installed_torch()
    texts = (module.text for module in facts.program.modules.values())
    if torch is None or not any(word in text for text in texts for word in _WORDS):
        return Steps((), {}, {}, {})
    steps: list[StepRegion] = []
    refused: dict[str, tuple[str, ast.AST]] = {}
    for name in sorted(facts.program.functions):
        function = facts.program.functions[name]
        if not any(map(is_backward, own_nodes(function.node.body))):
            continue
        try:
            steps.append(discover_step(facts, function, torch, seeds))
        except Unsupported as stopped:
            refused[name] = (stopped.reason, stopped.node)
    done = frozenset(step.function for step in steps)
    fragments = discover_fragments(facts, torch, seeds, done)
    for scope in fragments.found:
        refused.pop(scope.name, None)
    missed: dict[Scope, tuple[Refusal, ...]] = {}
    for scope, refusals in fragments.refused.items():
        if scope.function is None or scope in fragments.found:
            missed[scope] = refusals
        else:
            refused[scope.name] = refusals[-1]
    return Steps(tuple(steps), fragments.found, refused, missed)


def discover_step(facts: Facts, function: Function, torch: Torch, seeds: Seeds) -> StepRegion:
    """The function as a training step; Unsupported says what stands in the way."""
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef) or is_generator(node):
        raise Unsupported("not a plain function", node)
    if function.owner is not None or ".<locals>." in function.name:
        raise Unsupported("a method or an inner function", node)
    if no_grad_decorated(facts, node) is not False:
        raise Unsupported("a decorated function", node)
    trace = StepTrace(torch)
    parameters = facts.signatures[function.name].parameters
    variables: dict[str, Symbol] = {}
    passed: dict[int, Found] = {}
    entrance = Entrance(facts, seeds, trace)
    for place, parameter in enumerate(parameters):
        if parameter.kind in ("rest", "keywords"):
            raise Unsupported(f"the parameter `{parameter.name}`, whose arguments vary", node)
        passed[place] = seeds.of(function.name, place)
        made = seeds.made(function.name, place)
        symbol = entrance.enter(parameter.name, place, parameter.type, passed[place], made)
        if symbol is not None:
            variables[parameter.name] = symbol
    body = TrainerBody(trace, ProgramNames(facts), variables, inside=(function.name,))
    returned = body.run(node.body)
    if not trace.backwards:
        raise Unsupported("no backward pass", node)
    known = learned(trace, passed)
    result = returned_value(trace, returned, known.trained, node)
    return assemble(facts, trace, known, result, function.name, len(parameters), node)
