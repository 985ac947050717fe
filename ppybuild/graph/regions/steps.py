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
from dataclasses import dataclass, field, replace
from typing import Literal, final

from ppybuild.graph.program import Facts, Function, Parameter
from ppybuild.graph.regions.inline import (
    ProgramBody,
    ProgramNames,
    is_generator,
    no_grad_decorated,
)
from ppybuild.graph.regions.records import Call, Input, InputKind, Step, Unpack
from ppybuild.graph.regions.seeds import Seed, Seeds, Several, is_sequence, seed_of
from ppybuild.graph.regions.trace import Trace
from ppybuild.graph.regions.values import (
    Named,
    Number,
    Sequence,
    Symbol,
    Unsupported,
)
from ppybuild.graph.schemas import Given, Operator
from ppybuild.graph.schemas.match import NONE
from ppybuild.graph.schemas.names import Torch, installed_torch
from ppybuild.graph.types import BOOL, FLOAT, INT, Scalar, Tensor

_SCALARS: dict[Scalar, InputKind] = {INT: "int", FLOAT: "float", BOOL: "bool"}


@final
@dataclass(frozen=True, slots=True)
class Backward:
    """`loss.backward()`. `gradients` pairs an input with the value that is its gradient."""

    loss: int
    gradients: tuple[tuple[int, int], ...]
    line: int
    column: int


@final
@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor that is trained, or only written: what becomes of it and of its gradient."""

    input: int
    trained: bool
    """Whether it requires a gradient; what is only written must not."""
    last: int
    """The value it ends with; its own number where it is not written."""
    writes: int
    """How often it is written in place."""
    gradient: int | None
    """The value that its `.grad` ends with, None where that ends as None."""
    none_on_entry: bool
    """Whether the step holds only where its `.grad` is None at first."""


@final
@dataclass(frozen=True, slots=True)
class Returned:
    """What the step returns: nothing, the number in a tensor, or a tensor without a graph."""

    kind: Literal["none", "number", "tensor", "tuple"]
    value: int = -1
    items: tuple[Returned, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class StepRegion:
    function: str
    parameters: int
    inputs: tuple[Input, ...]
    lengths: tuple[tuple[int, int], ...]
    """How long a parameter that is a sequence must be, by its place."""
    steps: tuple[Step | Backward, ...]
    leaves: tuple[Leaf, ...]
    returned: Returned
    names: tuple[tuple[int, str], ...]
    seeds: tuple[tuple[int, Seed], ...]
    """What calls are seen to pass, by input; to be checked when it runs."""
    functions: tuple[tuple[str, str], ...]
    """The program's functions that are part of it, beside its own, each after the calls that
    lead there: `f:module.g`."""
    line: int
    column: int


@dataclass(slots=True)
class StepTrace(Trace):
    recording: bool = True
    """Whether gradients are on."""
    current: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)
    aliased: set[int] = field(default_factory=set)
    """Tensors that share memory with another, so that writing one would change both."""
    gradients: dict[int, Given] = field(default_factory=dict)
    """What `.grad` is now, by input."""
    touched: set[int] = field(default_factory=set)
    """Inputs whose `.grad` the program reads or sets."""
    none_on_entry: set[int] = field(default_factory=set)
    backwards: list[Backward] = field(default_factory=list)
    spent: set[int] = field(default_factory=set)
    """Values whose graph a backward pass has used up."""
    order: list[Step | Backward] = field(default_factory=list)
    taken: int = 0
    """How many of `steps` are in `order`."""

    def in_order(self) -> list[Step | Backward]:
        self.order += self.steps[self.taken :]
        self.taken = len(self.steps)
        return self.order

    def now(self, value: int) -> int:
        return self.current.get(value, value)


class StepBody(ProgramBody):
    """Follows a training step."""

    @property
    def step(self) -> StepTrace:
        assert isinstance(self.trace, StepTrace)
        return self.trace

    # Statements

    def _statement(self, statement: ast.stmt) -> Symbol | None:
        if isinstance(statement, ast.With):
            return self._with(statement)
        return super()._statement(statement)

    def _with(self, statement: ast.With) -> Symbol | None:
        for item in statement.items:
            manager = item.context_expr
            if (
                item.optional_vars is not None
                or not isinstance(manager, ast.Call)
                or manager.args
                or manager.keywords
                or self.value(manager.func) != Named("torch.no_grad")
            ):
                raise Unsupported("a `with` statement of something else than no_grad", manager)
        before, self.step.recording = self.step.recording, False
        try:
            return self._block(statement.body)
        finally:
            self.step.recording = before

    def without_grad(self, body: list[ast.stmt], node: ast.AST) -> Symbol:
        before, self.step.recording = self.step.recording, False
        try:
            return self.run(body)
        finally:
            self.step.recording = before

    def _assign(self, target: ast.expr, value: Symbol) -> None:
        if not isinstance(target, ast.Attribute):
            super()._assign(target, value)
            return
        if target.attr != "grad" or value != NONE:
            raise Unsupported(f"assigning to `.{target.attr}`", target)
        leaf = self._leaf(self.value(target.value), target)
        self.step.touched.add(leaf)
        self.step.gradients[leaf] = NONE

    # Gradients

    def _attribute(self, node: ast.Attribute) -> Symbol:
        if node.attr == "grad" and self.site is None:
            owner = self.value(node.value)
            if isinstance(owner, Given) and owner.kind == "tensor":
                return self._gradient(self._leaf(owner, node))
        return super()._attribute(node)

    def _leaf(self, value: Symbol, node: ast.AST) -> int:
        if isinstance(value, Given) and value.kind == "tensor":
            for given in self.trace.inputs:
                if given.value == value.payload:
                    return given.value
        raise Unsupported("the gradient of a tensor that is made here", node)

    def _gradient(self, leaf: int) -> Given:
        step = self.step
        step.touched.add(leaf)
        if leaf not in step.gradients:
            step.none_on_entry.add(leaf)
            step.gradients[leaf] = NONE
        return step.gradients[leaf]

    def _method(
        self,
        receiver: Symbol,
        name: str,
        positional: list[Symbol],
        keywords: dict[str, Symbol],
        node: ast.AST,
    ) -> Symbol:
        plain = not positional and not keywords and isinstance(receiver, Given)
        if name == "item" and plain:
            assert isinstance(receiver, Given)
            assert isinstance(receiver.payload, int)
            return Number(self.step.now(receiver.payload))
        if name == "backward":
            if not plain:
                raise Unsupported("`backward` with arguments", node)
            assert isinstance(receiver, Given)
            return self._backward(receiver, node)
        return super()._method(receiver, name, positional, keywords, node)

    def _backward(self, loss: Given, node: ast.AST) -> Symbol:
        step = self.step
        assert isinstance(loss.payload, int)
        behind = self._behind(loss.payload)
        inputs = [given for given in self.trace.inputs if given.value in behind]
        made = behind - {given.value for given in inputs}
        if made & step.spent:
            raise Unsupported("a second backward pass through the same graph", node)
        step.spent |= made
        gradients: list[tuple[int, int]] = []
        sums: list[tuple[int, int, int]] = []
        for given in inputs:
            if given.kind != "tensor":
                continue
            found = self.trace.new_value()
            gradients.append((given.value, found))
            before = step.gradients.get(given.value)
            if before is None:
                step.none_on_entry.add(given.value)
            if before is None or before == NONE:
                step.gradients[given.value] = Given("tensor", payload=found)
            else:
                assert isinstance(before.payload, int)
                sums.append((given.value, before.payload, found))
        line, column = self._where(node)
        backward = Backward(loss.payload, tuple(gradients), line, column)
        step.backwards.append(backward)
        step.in_order().append(backward)
        before_recording, step.recording = step.recording, False
        for _, held, found in sums:
            # The engine adds into the tensor that is there.
            operator = self.trace.torch.schemas.operator("aten::add_.Tensor")
            arguments = (
                Given("tensor", payload=held),
                Given("tensor", payload=found),
                Given("int", 1),
            )
            self._noted(operator, arguments, node)
        step.recording = before_recording
        return NONE

    def _behind(self, value: int) -> set[int]:
        """What a value was computed from while gradients were on."""
        behind = {value}
        for done in reversed(self.step.in_order()):
            if behind & set(_results(done)):
                behind |= _sources(done)
        return behind

    # Operators

    def _noted(self, found: Operator, arguments: tuple[Given, ...], node: ast.AST) -> Symbol:
        step = self.step
        if found.random:
            raise Unsupported("a random operator in a training step", node)
        if found.mutates:
            return self._in_place(found, arguments, node)
        result = self._called(found, arguments, node)
        results = {number for given in _givens(result) for number in _numbers(given)}
        if any(returned.alias is not None for returned in found.returns):
            step.aliased |= results
            step.aliased |= {number for given in arguments for number in _numbers(given)}
        if not step.recording and isinstance(result, Given) and result.kind == "tensor":
            operator = self.trace.torch.schemas.operator("aten::detach")
            detached = self._called(operator, (result,), node)
            if results & step.aliased:
                step.aliased |= {n for given in _givens(detached) for n in _numbers(given)}
            return detached
        return result

    def _called(self, found: Operator, arguments: tuple[Given, ...], node: ast.AST) -> Symbol:
        """Note a call on what its arguments hold now."""
        actual = tuple(_replaced(given, self.step.current) for given in arguments)
        return super()._noted(found, actual, node)

    def _in_place(self, found: Operator, arguments: tuple[Given, ...], node: ast.AST) -> Symbol:
        step = self.step
        target = arguments[0]
        if step.recording or not step.backwards:
            raise Unsupported("writing in place before the backward pass", node)
        if not isinstance(target.payload, int) or target.payload in step.aliased:
            raise Unsupported("writing in place to a tensor that shares its memory", node)
        if found.has_out or not found.name.endswith("_"):
            raise Unsupported(f"`{found.name}` in a training step", node)
        try:
            functional = self.trace.torch.schemas.operator(
                found.qualified.replace(found.name, found.name[:-1], 1)
            )
        except KeyError:
            raise Unsupported(f"`{found.name}` in a training step", node) from None
        written = self._called(functional, arguments[: len(functional.arguments)], node)
        assert isinstance(written, Given)
        assert isinstance(written.payload, int)
        step.current[target.payload] = written.payload
        step.writes[target.payload] = step.writes.get(target.payload, 0) + 1
        return target

    def _call(self, node: ast.Call) -> Symbol:
        callee = self._callee(node)
        if callee is not None and callee.name == "builtins.float" and len(node.args) == 1:
            value = self.value(node.args[0])
            if isinstance(value, Number):
                return value
            if isinstance(value, Given) and value.kind == "tensor":
                return self._method(value, "item", [], {}, node)
        return super()._call(node)

    def _binary(self, op: ast.operator, left: Symbol, right: Symbol, node: ast.AST) -> Symbol:
        if isinstance(left, Number) or isinstance(right, Number):
            raise Unsupported("arithmetic on a number read from a tensor", node)
        return super()._binary(op, left, right, node)


def _givens(value: Symbol) -> tuple[Given, ...]:
    if isinstance(value, Given):
        return (value,)
    return tuple(item for item in getattr(value, "items", ()) if isinstance(item, Given))


def _numbers(given: Given) -> set[int]:
    own = {given.payload} if isinstance(given.payload, int) else set()
    return own.union(*(_numbers(item) for item in given.items))


def _results(done: Step | Backward) -> tuple[int, ...]:
    return done.results if isinstance(done, Call | Unpack) else ()


def _sources(done: Step | Backward) -> set[int]:
    """The values through which gradients reach the step's results."""
    match done:
        case Unpack(many=many):
            return {many}
        case Call() if done.operator.name != "detach":
            return {number for given in done.arguments for number in _numbers(given)}
        case _:
            return set()


def _replaced(given: Given, current: dict[int, int]) -> Given:
    items = tuple(_replaced(item, current) for item in given.items)
    payload = (
        current.get(given.payload, given.payload) if isinstance(given.payload, int) else None
    )
    return replace(given, items=items, payload=payload)


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Training steps by function name, and why each other function with a backward pass is
    none: the reason and the node in the way."""

    steps: tuple[StepRegion, ...]
    refused: Mapping[str, tuple[str, ast.AST]]


def discover_steps(facts: Facts, torch: Torch | None = None) -> Steps:
    """The program's training steps, in order of function name."""
    torch = torch if torch is not None else installed_torch()
    steps: list[StepRegion] = []
    refused: dict[str, tuple[str, ast.AST]] = {}
    trainers = [name for name in sorted(facts.program.functions) if _trains(facts, name)]
    if torch is None or not trainers:
        return Steps((), {})
    seeds = Seeds(facts)
    for name in trainers:
        function = facts.program.functions[name]
        try:
            steps.append(discover_step(facts, function, torch, seeds))
        except Unsupported as stopped:
            refused[name] = (stopped.reason, stopped.node)
    return Steps(tuple(steps), refused)


def _trains(facts: Facts, name: str) -> bool:
    """Whether there is a backward pass in the function itself."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        for node in ast.walk(facts.program.functions[name].node)
    )


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
    known: dict[int, Seed | Several | None] = {}
    for place, parameter in enumerate(parameters):
        known[place] = seeds.of(function.name, place)
        symbol = _entering(trace, parameter, place, known[place], node)
        if symbol is not None:
            variables[parameter.name] = symbol
    body = StepBody(trace, ProgramNames(facts), variables, inside=(function.name,))
    returned = body.run(node.body)
    if not trace.backwards:
        raise Unsupported("no backward pass", node)
    found = {given.value: seed_of(known[given.place], given) for given in trace.inputs}
    seeded = {value: seed for value, seed in found.items() if seed is not None}
    trained = trace.touched | {
        value for value, seed in seeded.items() if seed.grows and value in trace.gradients
    }
    changed = trained | {value for value in trace.writes if value in found}
    return StepRegion(
        function.name,
        len(parameters),
        tuple(trace.inputs),
        tuple(sorted(trace.lengths.items())),
        tuple(_only(done, trained) for done in trace.in_order()),
        tuple(_leaf(trace, leaf, leaf in trained) for leaf in sorted(changed)),
        _returned(trace, returned, trained, node),
        tuple(sorted(trace.names.items())),
        tuple(sorted(seeded.items(), key=lambda item: item[0])),
        tuple(trace.functions.items()),
        node.lineno,
        node.col_offset + 1,
    )


def _entering(
    trace: StepTrace,
    parameter: Parameter,
    place: int,
    seed: Seed | Several | None,
    node: ast.AST,
) -> Symbol | None:
    """What a parameter stands for; None for one that a step must not look at."""
    if parameter.kind in ("rest", "keywords"):
        raise Unsupported(f"the parameter `{parameter.name}`, whose arguments vary", node)
    if is_sequence(parameter.type):
        if isinstance(seed, Several):
            trace.lengths[place] = len(seed.items)
        return Sequence(parameter.name, place)
    if isinstance(parameter.type, Tensor):
        return trace.new_input(parameter.name, "tensor", place, None)
    if isinstance(parameter.type, Scalar) and parameter.type in _SCALARS:
        return trace.new_input(parameter.name, _SCALARS[parameter.type], place, None)
    return None


def _only(done: Step | Backward, trained: set[int]) -> Step | Backward:
    if not isinstance(done, Backward):
        return done
    kept = tuple(pair for pair in done.gradients if pair[0] in trained)
    return replace(done, gradients=kept)


def _leaf(trace: StepTrace, leaf: int, trained: bool) -> Leaf:
    held = trace.gradients[leaf].payload if trained else None
    return Leaf(
        leaf,
        trained,
        trace.now(leaf),
        trace.writes.get(leaf, 0),
        trace.now(held) if isinstance(held, int) else None,
        trained and leaf in trace.none_on_entry,
    )


def _returned(trace: StepTrace, value: Symbol, trained: set[int], node: ast.AST) -> Returned:
    match value:
        case Given(kind="none"):
            return Returned("none")
        case Number(value=number):
            return Returned("number", number)
        case Given(kind="tensor", payload=int() as number):
            if number in trace.aliased and not _owns_memory(trace, number):
                raise Unsupported("a result that shares its memory", node)
            if _grown(trace, number, trained):
                raise Unsupported("a result that still has its graph", node)
            return Returned("tensor", trace.now(number))
        case _:
            raise Unsupported("a result that is neither a number nor a tensor", node)


def _owns_memory(trace: StepTrace, value: int) -> bool:
    """Whether it is `detach` of a tensor that an operator made, and nothing else keeps."""
    makers = {
        number: done
        for done in trace.in_order()
        if isinstance(done, Call)
        for number in done.results
    }
    maker = makers.get(value)
    if maker is None or maker.operator.name != "detach":
        return False
    source = makers.get(int(str(maker.arguments[0].payload)))
    return source is not None and all(type.alias is None for type in source.operator.returns)


def _grown(trace: StepTrace, value: int, trained: set[int]) -> bool:
    """Whether the value requires a gradient."""
    grown = set(trained)
    for done in trace.in_order():
        if grown & _sources(done):
            grown |= set(_results(done))
    return value in grown
