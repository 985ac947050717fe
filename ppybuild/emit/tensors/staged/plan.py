"""Cut a training step into stages: kernels where operators can be fused, ATen elsewhere.

addmm                              addmm
gelu, mul                    →     kernel0
addmm                              addmm
...                                ...
lerp_, mul_, addcmul_, sqrt        kernel3, into the memory of what it updates
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ppybuild.emit.tensors.exact_body import NUMBERS
from ppybuild.emit.tensors.exact_step import (
    KERNEL,
    ExactStep,
    Kernel,
    draws,
    plan_landing,
    read_by,
    sharing,
)
from ppybuild.emit.tensors.fused import NotFusible
from ppybuild.emit.tensors.ir import Graph, Node, Value
from ppybuild.emit.tensors.staged.groups import Groups
from ppybuild.emit.tensors.staged.kernels import (
    Run,
    Surroundings,
    is_worth,
    may_fuse,
    plan_run,
)
from ppybuild.graph.schemas import Schemas

NORMS = ("aten::native_batch_norm", "aten::native_batch_norm_backward")


def plan_staged(step: ExactStep, schemas: Schemas) -> ExactStep | None:
    """The step with its runs of operators as kernels; None where it has none."""
    runs = _Runs(step)
    groups = Groups(_before(step.graph, schemas), runs.holds)
    kernels: list[Kernel] = []
    nodes: list[Node] = []
    for group in groups.in_order():
        members = [step.graph.nodes[place] for place in sorted(group)]
        run = runs.found.get(group)
        if run is None or not is_worth(members):
            nodes += members
            continue
        number = _number(kernels, run.kernel)
        op = f"{KERNEL}{number}"
        nodes.append(Node(op, run.inputs, run.outputs, members[-1].location))
    if not kernels:
        return None
    graph = replace(step.graph, nodes=tuple(nodes))
    found = replace(
        step,
        graph=graph,
        landing=plan_landing(graph, step.outputs, schemas),
        kernels=tuple(kernels),
        landed=_landed(step, graph, schemas),
        on_cpu=True,
    )
    return None if _may_abandon_late(found) else found


def _number(kernels: list[Kernel], kernel: Kernel) -> int:
    """Kernels that differ in their notes only are one."""
    for number, known in enumerate(kernels):
        if _bare(known) == _bare(kernel):
            return number
    kernels.append(kernel)
    return len(kernels) - 1


def _bare(kernel: Kernel) -> str:
    program = replace(kernel.plan.program, inputs=(), notes=())
    return repr(replace(kernel, plan=replace(kernel.plan, program=program)))


class _Runs:
    """Which sets of nodes make a kernel."""

    def __init__(self, step: ExactStep) -> None:
        graph = step.graph
        readers: dict[Value, set[int]] = {}
        for place, node in enumerate(graph.nodes):
            for value in read_by(node):
                readers.setdefault(value, set()).add(place)
        for output in step.outputs:
            readers.setdefault(output.value, set()).add(-1)
        kinds = {i.value: i.kind for i in graph.inputs if i.kind in ("int", "float")}
        kinds |= {v: "int" for n in graph.nodes if n.op in NUMBERS for v in n.results}
        self.around = Surroundings(
            graph, step.types, kinds, {v: frozenset(r) for v, r in readers.items()}
        )
        before_norms = _before_norms(graph)
        self._may = frozenset(
            i for i, node in enumerate(graph.nodes) if may_fuse(node) and i not in before_norms
        )
        self.found: dict[frozenset[int], Run] = {}

    def holds(self, places: frozenset[int]) -> bool:
        if not places <= self._may:
            return False
        try:
            self.found[places] = plan_run(self.around, places)
        except NotFusible:
            return False
        return True


def _before_norms(graph: Graph) -> set[int]:
    """What batch normalisation waits for, forward or backward. Behind it some gradients are
    zero but for rounding, which Adam's update makes large: there every bit counts."""
    wanted: set[Value] = set()
    found: set[int] = set()
    for place, node in reversed(list(enumerate(graph.nodes))):
        if node.op in NORMS or wanted & set(node.results):
            found.add(place)
            wanted |= read_by(node)
    return found


def _before(graph: Graph, schemas: Schemas) -> list[frozenset[int]]:
    """By node, those that must have run: what it reads, and earlier draws of random numbers."""
    makers: dict[Value, int] = {}
    before: list[frozenset[int]] = []
    drawn: set[int] = set()
    for place, node in enumerate(graph.nodes):
        needed = {makers[value] for value in read_by(node) if value in makers}
        if draws(node, schemas):
            needed |= drawn
            drawn = {place}
        before.append(frozenset(needed))
        makers.update((value, place) for value in node.results)
    return before


def _landed(step: ExactStep, graph: Graph, schemas: Schemas) -> dict[Value, Value]:
    """Which results of kernels may go where the program writes them: nothing may read later
    what they write over."""
    made = {
        value: place
        for place, node in enumerate(graph.nodes)
        if node.op.startswith(KERNEL)
        for value in node.results
    }
    given = [output.value for output in step.outputs]
    landed: dict[Value, Value] = {}
    for output in step.outputs:
        if output.kind != "write" or output.leaf is None or output.value not in made:
            continue
        leaf = Value(output.leaf)
        shared = set(sharing(graph, leaf, schemas))
        later = graph.nodes[made[output.value] + 1 :]
        if given.count(output.value) == 1 and not shared & {*given, *_read(later)}:
            landed[output.value] = leaf
    return landed


def _read(nodes: Iterable[Node]) -> set[Value]:
    return set().union(*(read_by(node) for node in nodes))


def _may_abandon_late(step: ExactStep) -> bool:
    """Whether something may ask for Python after something else has written."""
    written = False
    for place, node in enumerate(step.graph.nodes):
        kernel = step.kernel(node)
        asks = not node.results or (kernel is not None and kernel.plan.program.checks)
        if written and asks:
            return True
        written |= place in step.landing or any(v in step.landed for v in node.results)
    return False
