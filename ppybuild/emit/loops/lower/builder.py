"""The function being lowered: statements so far, variables, temporaries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.signatures import NativeSignature
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.lower.values import (
    Binding,
    BufferRef,
    Char,
    Environment,
    GridRef,
    Letters,
    Mixed,
    Number,
    Value,
    View,
    Whole,
    aged,
    describe,
    held_buffers,
    leaves,
    rebuild,
    views,
)
from ppybuild.emit.loops.ops import CHECKED, OPS
from ppybuild.emit.loops.tree import statements
from ppybuild.emit.loops.verify import flat_parameters
from ppybuild.emit.relied import Path, Relied
from ppybuild.graph.program import Facts

I64, F64, BOOL = ir.Type.I64, ir.Type.F64, ir.Type.BOOL
_ENDS = ("start", "length", "step")
"""The leaves of a slice; the last where it is not constant."""


class NeedsMemory(Exception):
    """A variable is one of several arrays that the function makes: lower again, giving it
    memory of its own that they are moved into."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class NeedsFlag(Exception):
    """A variable that may be unbound is read: lower again, keeping track of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(slots=True)
class Loop:
    """The ways out of a turn of the loop being lowered."""

    breaks: list[Environment | None] = field(default_factory=list)
    continues: list[Environment | None] = field(default_factory=list)


class Builder:
    """Mutable state of one function's lowering. `env` is None where control never comes."""

    def __init__(
        self,
        facts: Facts,
        known: Mapping[str, NativeSignature],
        local_names: frozenset[str],
        flagged: frozenset[str],
        holding: frozenset[str] = frozenset(),
    ) -> None:
        self.facts = facts
        self.known = known
        self.local_names = local_names
        self.flagged = flagged
        self.holding = holding
        """Variables with memory of their own, which arrays are moved into."""
        self.memory: dict[str, BufferRef] = {}
        self.holders: set[str] = set()
        """Variables that are bound to arrays that the function makes."""
        self.env: dict[str, Binding] | None = {}
        self.block: list[ir.Statement] = []
        self.locals: dict[str, ir.Type] = {}
        self.temporaries: set[str] = set()
        self.loops: list[Loop] = []
        self.called: set[str] = set()
        self.result: list[ir.Result] = []
        self.apart: set[tuple[str, str]] = set()
        """Buffers that must not share memory, which is tested where the function starts."""
        self.relies: dict[Path, Relied] = {}
        self.made: dict[ast.AST, BufferRef] = {}
        """The buffers that the function makes, by where."""
        self.targets: dict[ast.AST, str] = {}
        """Variables, by the expressions that are assigned to them alone."""
        self.make: Callable[[ast.expr], Value | None] = lambda _: None
        self.method: Callable[[ast.Call, ast.Attribute], list[Value] | None] = lambda *_: None
        """How `made` lowers what makes arrays, `folding` what goes through a generator, and
        `growing` the methods of arrays."""
        self.inner: dict[str, str] = {}
        """Variables of the comprehensions around, by their names in Python."""

    def buffers(self) -> list[BufferRef]:
        """The buffers of the function's own."""
        return [*self.made.values(), *self.memory.values()]

    def is_local(self, name: str) -> bool:
        return name in self.local_names or name in self.inner

    def rely(self, node: ast.expr, make: Callable[[Path], Relied]) -> None:
        """Note what this name or attribute stands for, as `make` tells by its path."""
        path = path_of(node)
        if path is None or self.is_local(path[0]):
            raise Stay(node, f"`{ast.unparse(node)}`, which is found in no fixed place")
        self.relies.setdefault(path, make(path))

    # Statements

    @contextmanager
    def sub_block(self) -> Iterator[list[ir.Statement]]:
        """Statements go into a block of their own inside the `with`."""
        outer = self.block
        inner: list[ir.Statement] = []
        self.block = inner
        try:
            yield inner
        finally:
            self.block = outer

    def emit(self, statement: ir.Statement) -> None:
        self.block.append(statement)
        written = stores(statement, self.known)
        if written and self.env is not None:
            for name, binding in self.env.items():
                if binding.value is not None and any(views(binding.value)):
                    self.env[name] = replace(binding, value=aged(binding.value, written))

    def fail(self, kind: str, location: ir.Location) -> None:
        """Python raises here, always."""
        self.emit(ir.Guard(ir.Const(False, BOOL), kind, location))
        self.env = None

    def checked(self, op: str, args: tuple[ir.Expr, ...], location: ir.Location) -> ir.Var:
        row = CHECKED[op]
        target = self.temporary(row.result, op.partition(".")[0])
        self.emit(ir.Checked(target.name, op, args, location))
        return target

    def assign_temporary(self, value: ir.Expr, location: ir.Location) -> ir.Var:
        target = self.temporary(value.type, "value")
        self.emit(ir.Assign(target.name, value, location))
        return target

    def temporary(self, type_: ir.Type, stem: str) -> ir.Var:
        number = 1
        while f"{stem}.t{number}" in self.locals:
            number += 1
        name = f"{stem}.t{number}"
        self.locals[name] = type_
        self.temporaries.add(name)
        return ir.Var(name, type_)

    # Slices

    def written(self, block: Sequence[ir.Statement]) -> frozenset[str]:
        """The buffers that a block may store into."""
        every = statements(tuple(block))
        return frozenset().union(*(stores(each, self.known) for each in every))

    def keep(self, node: ast.AST, value: Value, written: frozenset[str] = frozenset()) -> None:
        """Make sure that the slices in a value still are what they were when they were made,
        whatever has been stored into these buffers as well."""
        for view in views(value):
            every = view.written | written
            if view.buffer.name in every:
                source = view.buffer.name.partition(".")[0]
                raise Stay(
                    node,
                    f"a slice of `{source}` that is used after a store into it",
                    "use the slice before the store, or index the buffer with an offset",
                )
            own = {each.name for each in self.buffers()}
            if view.buffer.name not in own and not view.buffer.is_constant:
                self.apart |= {(view.buffer.name, other) for other in every - own}

    def settled(self, value: ir.Expr, location: ir.Location) -> ir.Expr:
        """The value, computed here and once."""
        simple = isinstance(value, ir.Const | ir.Length) or (
            isinstance(value, ir.Var) and value.name in self.temporaries
        )
        return value if simple else self.assign_temporary(value, location)

    # Order of evaluation

    def has_effects(self, mark: int) -> bool:
        """Whether the statements since `mark` may change what an expression reads."""
        for each in statements(tuple(self.block[mark:])):
            match each:
                case ir.Call() | ir.Store() | ir.Make() | ir.Resize() | ir.Swap():
                    return True
                case ir.Assign(target=target) | ir.Checked(target=target):
                    if target not in self.temporaries:
                        return True
                case _:
                    pass
        return False

    def pin(
        self,
        value: Value,
        mark: int,
        location: ir.Location,
        changing: frozenset[str] | None = None,
    ) -> Value:
        """The value as it is at `mark` in the block, whatever happens later, or whatever
        happens to the Python variables that are `changing`."""
        pinned: list[ir.Expr | Whole] = []
        for leaf in leaves(value):
            if isinstance(leaf, Whole) or self._keeps(leaf, changing):
                pinned.append(leaf)
                continue
            target = self.temporary(leaf.type, "value")
            self.block.insert(mark, ir.Assign(target.name, leaf, location))
            mark += 1
            pinned.append(target)
        return rebuild(value, iter(pinned))

    def _keeps(self, leaf: ir.Expr, changing: frozenset[str] | None) -> bool:
        """Whether a leaf has the same value later."""
        if isinstance(leaf, ir.Var):
            if leaf.name in self.temporaries:
                return True
            return changing is not None and leaf.name.partition(".")[0] not in changing
        return isinstance(leaf, ir.Const)

    # Variables

    def variable(self, name: str, type_: ir.Type) -> str:
        """The IR variable that a Python variable is while it has this type."""
        for candidate in (name, f"{name}.{type_.value}"):
            if self.locals.setdefault(candidate, type_) is type_:
                return candidate
        raise AssertionError(f"{candidate} has another type")

    def bind(
        self, name: str, value: Value, location: ir.Location, last_use: bool = False
    ) -> None:
        """`name = value`; `last_use` where nothing else reads the value."""
        assert self.env is not None
        name = self.inner.get(name, name)
        if isinstance(value, BufferRef) and value.own:
            self.holders.add(name)
            if name in self.holding:
                value = self.move(name, value, location)
        if isinstance(value, tuple):
            value = self.pin(value, len(self.block), location, frozenset((name,)))
        if not (last_use and self._retarget(name, value)):
            self._store(name, value, location)
        bound = self._variables(name, value)
        self.mark_bound(name, bound, location)

    def move(self, name: str, source: BufferRef, location: ir.Location) -> BufferRef:
        """The variable's own buffer, with the memory of another, which goes out of use."""
        assert self.env is not None
        own = self.memory.get(name)
        if own is None:
            own = self.memory[name] = replace(source, name=f"{name}.m")
            self.locals[own.size.name] = I64
        if source == own or not own.is_like(source):
            return source
        self.swap(own, source, location)
        return own

    def swap(self, first: BufferRef, second: BufferRef, location: ir.Location) -> None:
        """Change their memory, so that no variable is what it was that is in either."""
        assert self.env is not None
        for name, binding in self.env.items():
            held = set() if binding.value is None else held_buffers(binding.value)
            if held & {first.name, second.name}:
                self.env[name] = replace(binding, value=None)
        kept = self.assign_temporary(first.size, location)
        self.emit(ir.Assign(first.size.name, second.size, location))
        self.emit(ir.Assign(second.size.name, kept, location))
        self.emit(ir.Swap(first.name, second.name, location))

    def mark_bound(self, name: str, value: Value, location: ir.Location) -> None:
        assert self.env is not None
        self.env[name] = Binding(value, True)
        if name in self.flagged:
            self.emit(ir.Assign(self.flag(name).name, ir.Const(True, BOOL), location))

    def _variables(self, name: str, value: Value) -> Value:
        """The IR variables that hold a value of this shape."""
        match value:
            case tuple():
                items = enumerate(value)
                return tuple(self._variables(f"{name}.{at}", item) for at, item in items)
            case BufferRef() | GridRef():
                return value
            case View():
                ends = (self.variable(f"{name}.{end}", I64) for end in _ENDS)
                return rebuild(value, (ir.Var(end, I64) for end in ends))
            case Mixed(inner):
                return Mixed(ir.Var(self.variable(name, inner.type), inner.type))
            case Char():
                return Char(ir.Var(self.variable(name, I64), I64))
            case Letters():
                return value
            case _:
                return ir.Var(self.variable(name, value.type), value.type)

    def _store(self, name: str, value: Value, location: ir.Location) -> None:
        targets = leaves(self._variables(name, value))
        for target, leaf in zip(targets, leaves(value), strict=True):
            if isinstance(target, ir.Var) and not isinstance(leaf, Whole) and target != leaf:
                self.emit(ir.Assign(target.name, leaf, location))

    def _retarget(self, name: str, value: Value) -> bool:
        """Let the operation that has just computed the value store it where it belongs."""
        last = self.block[-1] if self.block else None
        if (
            not isinstance(last, ir.Checked)
            or not isinstance(value, ir.Var)
            or value.name != last.target
            or value.name not in self.temporaries
        ):
            return False
        self.block[-1] = replace(last, target=self.variable(name, value.type))
        return True

    def read(self, node: ast.Name, location: ir.Location) -> Value:
        """The value of a local or parameter."""
        assert self.env is not None
        name = self.inner.get(node.id, node.id)
        binding = self.env.get(name)
        if binding is None:
            raise Dead("unbound variable")
        if binding.value is None:
            if name in self.holders and name not in self.holding:
                raise NeedsMemory(name)
            raise Stay(
                node,
                f"`{node.id}` has another type on another way here",
                f"give `{node.id}` one type, such as by starting from 0.0 where it is a float",
            )
        if not binding.certain:
            if name not in self.flagged:
                raise NeedsFlag(name)
            self.emit(ir.Guard(self.flag(name), "unbound variable", location))
        self.keep(node, binding.value)
        return binding.value

    def flag(self, name: str) -> ir.Var:
        """Whether a variable is bound, kept at run time."""
        self.locals.setdefault(f"{name}.bound", BOOL)
        return ir.Var(f"{name}.bound", BOOL)


def path_of(node: ast.expr) -> Path | None:
    """The names of `a.b.c`; None for what is not names alone."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=owner, attr=name):
            path = path_of(owner)
            return None if path is None else (*path, name)
    return None


def stores(statement: ir.Statement, known: Mapping[str, NativeSignature]) -> frozenset[str]:
    """The buffers that a statement itself may store into."""
    match statement:
        case ir.Store(buffer=buffer) | ir.Make(buffer=buffer) | ir.Resize(buffer=buffer):
            return frozenset((buffer,))
        case ir.Swap(first=first, second=second):
            return frozenset((first, second))
        case ir.Call(function=name, args=args):
            parameters = flat_parameters(known[name].parameters)
            written = (
                arg
                for parameter, arg in zip(parameters, args, strict=True)
                if is_written(parameter)
            )
            return frozenset(
                each.buffer if isinstance(each, ir.Elements) else str(each) for each in written
            )
        case _:
            return frozenset()


def resized(block: Sequence[ir.Statement]) -> set[str]:
    """The buffers that a block may make longer or shorter."""
    found: set[str] = set()
    for each in statements(tuple(block)):
        match each:
            case ir.Make(buffer=buffer) | ir.Resize(buffer=buffer):
                found.add(buffer)
            case ir.Swap(first=first, second=second):
                found |= {first, second}
            case _:
                pass
    return found


def is_written(parameter: ir.Parameter) -> bool:
    return isinstance(parameter, ir.BufferParameter | ir.GridParameter) and parameter.writable


def at(node: ast.AST) -> ir.Location:
    """Where a node begins."""
    return ir.Location(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


def require_number(node: ast.AST, value: Value) -> Number:
    """The value, which must be a number."""
    if not isinstance(value, ir.Expr | Mixed):
        raise Stay(node, f"{describe(value)} where only a number lowers")
    return value


def require_scalar(node: ast.AST, value: Value) -> ir.Expr:
    """The value, which must be a number of one type."""
    number = require_number(node, value)
    if isinstance(number, Mixed):
        raise mixed_types(node)
    return number


def mixed_types(node: ast.AST) -> Stay:
    """That a number may be a float or an int, where it matters which it is."""
    return Stay(
        node,
        "a number that is a float or an int, whichever it came from",
        "make it one type, such as by writing 0.0 for 0",
    )


def op(name: str, *args: ir.Expr) -> ir.Op:
    """A total operator applied to arguments."""
    return ir.Op(name, args, OPS[name].result)
