"""What a Python expression is while a function is lowered, and what a variable holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import final

from ppybuild.emit.loops import ir

ONE = ir.Const(1, ir.Type.I64)


@final
@dataclass(frozen=True, slots=True)
class Char:
    """A str of one character, by its code point."""

    code: ir.Expr


@final
@dataclass(frozen=True, slots=True)
class Letters:
    """A str that is written in the program, of any other length."""

    text: str


@final
@dataclass(frozen=True, slots=True)
class BufferRef:
    """A buffer parameter, or a buffer that the function makes, under whatever name."""

    name: str
    element: ir.Element
    holder: ir.Holder | None = None
    """What it is in Python; None for what may be any buffer."""
    own: bool = False
    """Whether the function makes it."""

    @property
    def length(self) -> ir.Expr:
        return self.size if self.own else ir.Length(self.name)

    @property
    def is_list(self) -> bool:
        return self.holder in ir.LISTS

    @property
    def is_constant(self) -> bool:
        """Whether nothing can be stored into it."""
        return self.holder in ir.CONSTANT

    def is_like(self, other: BufferRef) -> bool:
        """Whether the two hold the same kind of items, in the same way."""
        return (self.element, self.holder) == (other.element, other.holder)

    @property
    def size(self) -> ir.Var:
        """The variable that holds the length of a buffer that the function makes."""
        return ir.Var(f"{self.name}.length", ir.Type.I64)

    @property
    def type(self) -> ir.Type:
        """The type of an item."""
        return ir.Type.BOOL if self.holder == "list of bools" else self.element.type

    @property
    def memory(self) -> str:
        """The buffer that holds it."""
        return self.name

    def place(self, index: ir.Expr) -> ir.Expr:
        return index

    def item(self, index: ir.Expr) -> ir.Expr | Char:
        """The item at an index inside."""
        found = ir.Load(self.name, index, self.element.type)
        if self.element is ir.Element.STR:
            return Char(found)
        if self.type is not ir.Type.BOOL:
            return found
        return ir.Op("ne.i64", (found, ir.Const(0, ir.Type.I64)), ir.Type.BOOL)

    def elements(self) -> ir.Elements:
        if not self.own:
            return ir.Elements(self.name)
        return ir.Elements(self.name, ir.Const(0, ir.Type.I64), self.size)


@final
@dataclass(frozen=True, slots=True)
class View:
    """A part of a buffer: a slice, which Python copies and a kernel borrows, or the row of a
    grid, which both `shared` with it.

    To borrow is the same while nothing that the buffer's memory is may have been stored
    into: `written` are the buffers that have been since the slice was made.
    """

    buffer: BufferRef
    start: ir.Expr
    length: ir.Expr
    shared: bool = False
    written: frozenset[str] = frozenset()
    step: ir.Expr = ONE

    @property
    def element(self) -> ir.Element:
        return self.buffer.element

    @property
    def memory(self) -> str:
        """The buffer that it is a part of."""
        return self.buffer.name

    @property
    def type(self) -> ir.Type:
        """The type of an item."""
        return self.buffer.type

    @property
    def holder(self) -> ir.Holder | None:
        return self.buffer.holder

    def item(self, index: ir.Expr) -> ir.Expr | Char:
        """The item at an index inside."""
        return self.buffer.item(self.place(index))

    def elements(self) -> ir.Elements:
        """Of a slice without a step."""
        return ir.Elements(self.buffer.name, self.start, self.length)

    def place(self, index: ir.Expr) -> ir.Expr:
        """Where in the buffer an item lies, or where one after the last would."""
        zero = ir.Const(0, ir.Type.I64)
        if self.step != ONE and index != zero:
            index = ir.Op("mul.i64", (index, self.step), ir.Type.I64)
        if zero in (self.start, index):
            return index if self.start == zero else self.start
        return ir.Op("add.i64", (self.start, index), ir.Type.I64)


Items = BufferRef | View
"""Numbers in memory."""


@final
@dataclass(frozen=True, slots=True)
class GridRef:
    """A parameter whose rows lie in one buffer, or such rows that the function makes, under
    whatever name."""

    name: str
    element: ir.Element
    holder: ir.Holder | None = None
    """What each row is in Python, where it is a list."""

    @property
    def length(self) -> ir.Var:
        """How many rows it has."""
        return ir.Var(f"{self.name}.rows", ir.Type.I64)

    @property
    def width(self) -> ir.Var:
        return ir.Var(f"{self.name}.cols", ir.Type.I64)

    def item(self, index: ir.Expr) -> View:
        """The row at an index inside."""
        start = ir.Op("mul.i64", (index, self.width), ir.Type.I64)
        rows = BufferRef(self.name, self.element, self.holder, own=self.holder is not None)
        return View(rows, start, self.width, shared=True)


Whole = BufferRef | GridRef
"""What a kernel has under a name of its own."""


@final
@dataclass(frozen=True, slots=True)
class Mixed:
    """A float, or an int that is equal to it: what `max(x, 0)` gives.

    Which of the two shows in few places: where it is the function's result, beside another
    int, or where its sign is changed. Elsewhere the float does what the int would do.
    """

    value: ir.Expr


Number = ir.Expr | Mixed
Value = Number | Char | Letters | Items | GridRef | tuple["Value", ...]
"""A scalar, a str, a buffer, a part of one, a grid, or a tuple of such."""


def unmixed(value: Number) -> ir.Expr:
    """The float that stands for both, for where it does not matter which it is."""
    return value.value if isinstance(value, Mixed) else value


@final
@dataclass(frozen=True, slots=True)
class Binding:
    """A variable at a point of the program."""

    value: Value | None
    """Made of `ir.Var`s; None where its type depends on the way control came."""
    certain: bool
    """Whether it is bound on every way here."""


Environment = Mapping[str, Binding]
"""By Python name; what is not in it is bound on no way here."""


def join(*environments: Environment | None) -> Environment | None:
    """What is known where ways of control meet; None is a way that is never taken."""
    reached = [each for each in environments if each is not None]
    if not reached:
        return None
    names = dict.fromkeys(name for each in reached for name in each)
    return {name: _join_bindings([each.get(name) for each in reached]) for name in names}


def _join_bindings(bindings: list[Binding | None]) -> Binding:
    present = [each for each in bindings if each is not None]
    certain = len(present) == len(bindings) and all(each.certain for each in present)
    return Binding(_join_values([each.value for each in present]), certain)


def _join_values(values: list[Value | None]) -> Value | None:
    first = values[0]
    if all(each == first for each in values):
        return first
    if isinstance(first, View):
        return _join_views(first, values)
    floats = {each.value if isinstance(each, Mixed) else each for each in values}
    if len(floats) == 1 and any(isinstance(each, Mixed) for each in values):
        (value,) = floats
        return Mixed(value) if isinstance(value, ir.Expr) else None
    return None


def _join_views(first: View, values: list[Value | None]) -> View | None:
    """One slice, which on some ways has seen more stores."""
    views = [each for each in values if isinstance(each, View)]
    written = frozenset().union(*(each.written for each in views))
    joined = {replace(each, written=written) for each in views}
    return joined.pop() if len(views) == len(values) and len(joined) == 1 else None


def views(value: Value) -> Iterator[View]:
    """The slices in a value, which have to stay what they were."""
    if isinstance(value, tuple):
        for item in value:
            yield from views(item)
    elif isinstance(value, View) and not value.shared:
        yield value


def held_buffers(value: Value) -> set[str]:
    """The buffers that a value is or lies in."""
    match value:
        case tuple():
            return {name for item in value for name in held_buffers(item)}
        case BufferRef() | GridRef():
            return {value.name}
        case View(buffer):
            return {buffer.name}
        case _:
            return set()


def aged(value: Value, written: frozenset[str]) -> Value:
    """The value after stores into these buffers."""
    match value:
        case tuple():
            return tuple(aged(item, written) for item in value)
        case View() if not value.shared:
            return replace(value, written=value.written | written)
        case _:
            return value


def leaves(value: Value) -> Iterator[ir.Expr | Whole]:
    """The scalars, buffers and grids of a value, in order; of a part, its bounds."""
    match value:
        case tuple():
            for item in value:
                yield from leaves(item)
        case View(_, start, length, step=step):
            yield start
            yield length
            if not isinstance(step, ir.Const):
                yield step
        case Mixed(inner) | Char(inner):
            yield inner
        case Letters():
            pass
        case _:
            yield value


def rebuild(value: Value, new: Iterator[ir.Expr | Whole]) -> Value:
    """A value of the same shape from new leaves."""
    if isinstance(value, tuple):
        return tuple(rebuild(item, new) for item in value)
    if isinstance(value, Letters):
        return value
    leaf = next(new)
    if isinstance(value, View):
        length = next(new)
        step = value.step if isinstance(value.step, ir.Const) else next(new)
        assert not isinstance(leaf, Whole)
        assert not isinstance(length, Whole)
        assert not isinstance(step, Whole)
        return replace(value, start=leaf, length=length, step=step)
    if isinstance(value, Mixed | Char) and isinstance(leaf, ir.Expr):
        return type(value)(leaf)
    return leaf


def describe(value: Value) -> str:
    """The value's Python type with an article, for messages."""
    name = describe_type(value)
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def describe_type(value: Value) -> str:
    """The value's Python type."""
    names = {ir.Type.I64: "int", ir.Type.F64: "float", ir.Type.BOOL: "bool"}
    match value:
        case tuple():
            return f"tuple[{', '.join(map(describe_type, value))}]"
        case Char() | Letters() | BufferRef(element=ir.Element.STR):
            return "str"
        case BufferRef(holder="bytes"):
            return "bytes object"
        case BufferRef(holder=None):
            return f"Buffer of {value.element.value}"
        case BufferRef():
            return f"{value.holder} of {names[value.type]}s".replace(" of bools of", " of")
        case View(shared=True):
            return f"row of {value.element.value}"
        case View():
            return f"slice of a {describe_type(value.buffer)}"
        case GridRef(_, _, str(holder)):
            return f"list of {holder}s"
        case GridRef(_, element):
            return f"Sequence of Buffers of {element.value}"
        case Mixed():
            return "float or int"
        case _:
            return names[value.type]
