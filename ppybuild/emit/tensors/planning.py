"""Which form each training step of the program gets."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, final

from ppybuild.diagnostics import Diagnostic
from ppybuild.emit.emission import Splice
from ppybuild.emit.tensors.exact_step import ExactStep, plan_exact
from ppybuild.emit.tensors.fused import NotFusible
from ppybuild.emit.tensors.staged import plan_staged
from ppybuild.emit.tensors.step import FusedStep, plan_step
from ppybuild.graph.locations import function_span, locate
from ppybuild.graph.program import Facts
from ppybuild.graph.regions import StepRegion, discover_steps
from ppybuild.graph.regions.cutting import Fragment
from ppybuild.graph.regions.seeds import Seeds
from ppybuild.graph.regions.sources import Scope
from ppybuild.graph.schemas import Schemas, installed_schemas

Numerics = Literal["fused", "exact"]


@final
@dataclass(frozen=True, slots=True)
class Planned:
    steps: tuple[FusedStep | ExactStep, ...]
    """Fused where that form is asked for and holds them, else staged, else exact."""
    remarks: tuple[Diagnostic, ...]
    """Why others stay in Python."""
    unfused: Mapping[str, str]
    """By function, why a step could not be fused."""
    fragments: Mapping[str, Fragment] = field(default_factory=dict)
    """Those of the steps that are inside other code, by name."""
    missed: tuple[Diagnostic, ...] = ()
    """Why others stay in Python that are no function."""


def plan_steps(
    facts: Facts,
    seeds: Seeds,
    modules: frozenset[str],
    numerics: Numerics,
    *,
    cuda: bool = False,
) -> Planned:
    """The training steps of these modules. With `cuda` none is staged: what has no kernel for
    a GPU as a whole is ATen's there."""
    found = discover_steps(facts, seeds)
    schemas = installed_schemas()
    if schemas is None:
        return Planned((), (), {})
    planner = _Planner(facts, numerics, schemas, staged=numerics == "fused" and not cuda)
    for region in found.steps:
        if facts.program.functions[region.function].module in modules:
            step = planner.plan(region)
            if isinstance(step, str):
                planner.stays(region.function, step, None)
    for scope, groups in found.fragments.items():
        if scope.module in modules:
            for group in groups:
                planner.plan_fragment(scope.function, group)
    for name, (reason, node) in found.refused.items():
        planner.stays(name, reason, node)
    missed = [
        _missed(facts, scope, reason, node)
        for scope, refusals in found.missed.items()
        if scope.module in modules
        for reason, node in refusals
    ]
    return Planned(
        tuple(planner.steps),
        tuple(planner.remarks),
        planner.unfused,
        planner.fragments,
        (*missed, *planner.missed),
    )


def _missed(facts: Facts, scope: Scope, reason: str, node: ast.AST) -> Diagnostic:
    place = locate(facts.program.modules[scope.module], node)
    return Diagnostic("R3004", f"Statements of `{scope.name}` stay in Python: {reason}", place)


@final
class _Planner:
    def __init__(
        self, facts: Facts, numerics: Numerics, schemas: Schemas, *, staged: bool
    ) -> None:
        self._facts = facts
        self._numerics = numerics
        self._schemas = schemas
        self._staged = staged
        self.steps: list[FusedStep | ExactStep] = []
        self.remarks: list[Diagnostic] = []
        self.unfused: dict[str, str] = {}
        self.fragments: dict[str, Fragment] = {}
        self.missed: list[Diagnostic] = []

    def plan(self, region: StepRegion) -> FusedStep | ExactStep | str:
        """The step, which is noted; or why there is no form of it."""
        step = self._form(region)
        if not isinstance(step, str):
            self.steps.append(step)
        return step

    def plan_fragment(self, function: str | None, ways: tuple[Fragment, ...]) -> None:
        """The first of these ways to cut a fragment that can be fused, else the first."""
        tried = [(way, self._form(way.region)) for way in ways]
        fused = [(way, form) for way, form in tried if isinstance(form, FusedStep)]
        exact = [(way, form) for way, form in tried if isinstance(form, ExactStep)]
        for way, form in (fused + exact)[:1]:
            for each in (way, *way.sides):
                made = form if each is way else self._form(each.region)
                if not isinstance(made, str):
                    self.steps.append(made)
                    self.fragments[each.function.name] = each
            return
        reason, first = tried[0][1], ways[0]
        if function is not None and isinstance(reason, str):
            self.stays(function, reason, first.function.node.body[0])
        elif isinstance(reason, str):
            node = first.function.node.body[0]
            self.missed.append(_missed(self._facts, first.scope, reason, node))

    def _form(self, region: StepRegion) -> FusedStep | ExactStep | str:
        if self._numerics == "fused":
            try:
                return plan_step(region)
            except NotFusible as missing:
                self.unfused[region.function] = str(missing)
        try:
            step = plan_exact(region, self._schemas)
        except NotFusible as missing:
            return f"its native form does not hold {missing}"
        if not self._staged or region.evaluates:
            return step
        return plan_staged(step, self._schemas) or step

    def stays(self, name: str, reason: str, node: ast.AST | None) -> None:
        function = self._facts.program.functions[name]
        module = self._facts.program.modules[function.module]
        inside = node is not None and any(part is node for part in ast.walk(function.node))
        place = (
            locate(module, node)
            if inside and node is not None
            else function_span(module, function.node)
        )
        simple = name.removeprefix(function.module + ".")
        text = f"`{simple}` stays in Python: {reason}"
        self.remarks.append(Diagnostic("R3004", text, place))


def with_fragments(facts: Facts, planned: Planned) -> Facts:
    """The facts, with each fragment as a function of its own."""
    functions = {name: fragment.function for name, fragment in planned.fragments.items()}
    program = replace(facts.program, functions={**facts.program.functions, **functions})
    return replace(facts, program=program)


def splice(
    bindings: Mapping[str, tuple[str, str]], fragments: Mapping[str, Fragment]
) -> dict[str, Splice]:
    """Where in the code those fragments belong that native code was made for."""
    return {
        name: Splice(
            fragment.scope.module,
            fragment.scope.name,
            fragment.line,
            fragment.column,
            fragment.count,
            fragment.takes,
            fragment.gives,
            fragment.renews,
            _span(fragment.value),
            *bindings[name],
        )
        for name, fragment in fragments.items()
        if name in bindings
    }


def _span(node: ast.expr | None) -> tuple[int, int, int, int] | None:
    if node is None or node.end_lineno is None or node.end_col_offset is None:
        return None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
