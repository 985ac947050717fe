"""Following a training step: gradients, writes in place, what tensors hold now.

A tensor is followed by the number under which it was made. Writing in place does not change
that number: `current` gives what the tensor now holds.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from ppybuild.graph.regions.found import Seed
from ppybuild.graph.regions.inline import ProgramBody
from ppybuild.graph.regions.records import Call, Input, Step, Unpack
from ppybuild.graph.regions.step_records import Backward, Optimized
from ppybuild.graph.regions.trace import Trace
from ppybuild.graph.regions.values import Named, Number, Object, Symbol, Unsupported
from ppybuild.graph.schemas import Given, Operator
from ppybuild.graph.schemas.match import NONE


@dataclass(slots=True)
class StepTrace(Trace):
    recording: bool = True
    """Whether gradients are on."""
    evaluates: bool = False
    """Whether they are off from the start, and modules are not in training."""
    current: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)
    landed: set[int] = field(default_factory=set)
    """What tensors have come to hold by writing in place: no gradient goes further back."""
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

    models: dict[int, Object] = field(default_factory=dict)
    methods: set[tuple[str, str]] = field(default_factory=set)
    """Of the program's modules, by class and name."""
    optimized: dict[int, tuple[Optimized, ...]] = field(default_factory=dict)
    """The groups of optimizers that step, by their places."""
    zeroed: dict[int, tuple[Optimized, ...]] = field(default_factory=dict)
    """The same of optimizers that clear gradients."""
    seeds: dict[int, Seed] = field(default_factory=dict)
    """Of what is reached through an object, by input."""

    def new_leaf(self, name: str, place: int, path: tuple[str, ...]) -> Given:
        """A parameter of a module."""
        for known in self.inputs:
            if (known.place, known.path) == (place, path):
                return Given("tensor", payload=known.value)
        value = self.new_value()
        self.inputs.append(Input(name, "tensor", value, place, None, path))
        return Given("tensor", payload=value)

    def now(self, value: int) -> int:
        return self.current.get(value, value)

    def write(self, tensor: int, value: int, times: int) -> None:
        """The tensor holds that value from now on, for which it was written so often. The
        statistics of layers, which are `seeds` that do not grow, have no gradient anyway."""
        self.current[tensor] = value
        if tensor not in self.seeds or self.seeds[tensor].grows:
            self.landed.add(value)
        self.writes[tensor] = self.writes.get(tensor, 0) + times


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
        self.trace.constants["@torch:Tensor.backward"] = "torch.Tensor.backward"
        step = self.step
        assert isinstance(loss.payload, int)
        behind = self._behind(loss.payload)
        inputs = [given for given in self.trace.inputs if step.now(given.value) in behind]
        made = behind - {step.now(given.value) for given in inputs}
        if made & step.spent:
            raise Unsupported("a second backward pass through the same graph", node)
        if made & (step.landed | step.current.keys()):
            raise Unsupported("a backward pass through what was written over since", node)
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
        now = [(leaf, step.now(leaf)) for leaf, _ in gradients]
        written = tuple(pair for pair in now if pair[0] != pair[1])
        backward = Backward(loss.payload, tuple(gradients), line, column, written)
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
            if behind & set(results_of(done)) - self.step.landed:
                behind |= sources_of(done)
        return behind

    # Operators

    def _noted(self, found: Operator, arguments: tuple[Given, ...], node: ast.AST) -> Symbol:
        step = self.step
        if found.mutates:
            return self._in_place(found, arguments, node)
        result = self._called(found, arguments, node)
        results = {number for given in _givens(result) for number in numbers_of(given)}
        if any(returned.alias is not None for returned in found.returns):
            step.aliased |= results
            step.aliased |= {number for given in arguments for number in numbers_of(given)}
        if not step.recording and isinstance(result, Given) and result.kind == "tensor":
            operator = self.trace.torch.schemas.operator("aten::detach")
            detached = self._called(operator, (result,), node)
            if results & step.aliased:
                step.aliased |= {n for given in _givens(detached) for n in numbers_of(given)}
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
        if found.random:
            raise Unsupported("writing random numbers into a tensor", node)
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
        step.write(target.payload, written.payload, 1)
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


def numbers_of(given: Given) -> set[int]:
    own = {given.payload} if isinstance(given.payload, int) else set()
    return own.union(*(numbers_of(item) for item in given.items))


def results_of(done: Step | Backward) -> tuple[int, ...]:
    return done.results if isinstance(done, Call | Unpack) else ()


def sources_of(done: Step | Backward) -> set[int]:
    """The values through which gradients reach the step's results."""
    match done:
        case Unpack(many=many):
            return {many}
        case Call() if done.operator.name != "detach":
            return {number for given in done.arguments for number in numbers_of(given)}
        case _:
            return set()


def _replaced(given: Given, current: dict[int, int]) -> Given:
    items = tuple(_replaced(item, current) for item in given.items)
    payload = (
        current.get(given.payload, given.payload) if isinstance(given.payload, int) else None
    )
    return replace(given, items=items, payload=payload)
