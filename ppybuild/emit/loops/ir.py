"""The loop IR: structured, typed, immutable.

An expression is pure and cannot fail: it may be moved, repeated or dropped as far as the
variables and buffers it reads allow. Whatever may fail is a statement: `Checked` computes
a value and `Guard` tests a condition, and where either fails the run is abandoned and
Python starts the function again. Passes turn `Checked` into `Assign` where they can prove
that it cannot fail.

Integers are 64-bit: `I64` arithmetic in an expression does not overflow, because
lowering uses `Checked` for it and a pass that drops the check has proved the range.
Floats are IEEE doubles in source order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, final

from ppybuild.emit.relied import Relied


class Type(Enum):
    """The type of a value in a register."""

    I64 = "i64"
    F64 = "f64"
    BOOL = "bool"


class Element(Enum):
    """What a buffer holds. Loads widen to I64 or F64; stores are checked to fit."""

    F64 = "f64"
    I64 = "i64"
    F32 = "f32"
    I32 = "i32"
    U8 = "u8"
    I8 = "i8"
    STR = "str"
    """The code points of a str, whichever width Python stores them in; read only."""

    @property
    def type(self) -> Type:
        return Type.F64 if self in (Element.F64, Element.F32) else Type.I64


@dataclass(frozen=True, slots=True)
class Location:
    """Where in the Python source; counts from 1."""

    line: int
    column: int


# Expressions


@final
@dataclass(frozen=True, slots=True)
class Const:
    value: int | float | bool
    type: Type


@final
@dataclass(frozen=True, slots=True)
class Var:
    """A parameter or local, by its name in `Function.parameters` or `Function.locals`."""

    name: str
    type: Type


@final
@dataclass(frozen=True, slots=True)
class Op:
    """A row of `ops.OPS` applied to arguments: `add.f64`, `lt.i64`, `not`, `sin`."""

    name: str
    args: tuple[Expr, ...]
    type: Type


@final
@dataclass(frozen=True, slots=True)
class Select:
    """`then if condition else orelse`; evaluating both sides would be harmless."""

    condition: Expr
    then: Expr
    orelse: Expr
    type: Type


@final
@dataclass(frozen=True, slots=True)
class Load:
    """`buffer[index]` with `index` in `[0, length)`, widened."""

    buffer: str
    index: Expr
    type: Type


@final
@dataclass(frozen=True, slots=True)
class Length:
    """The number of elements of a buffer parameter; it does not change during a run."""

    buffer: str
    type: Type = Type.I64


@final
@dataclass(frozen=True, slots=True)
class Disjoint:
    """Whether two buffers share no byte of memory; it does not change during a run."""

    first: str
    second: str
    type: Type = Type.BOOL


@final
@dataclass(frozen=True, slots=True)
class Elements:
    """All elements of a buffer, or `length` of them from `start`: an operand of checked
    operators that take them as floats, an argument of a call that reads them, or a result.

    `start` and `length` lie inside the buffer.
    """

    buffer: str
    start: Expr | None = None
    length: Expr | None = None
    type: Type = Type.F64


Expr = Const | Var | Op | Select | Load | Length | Disjoint | Elements


# Statements


@final
@dataclass(frozen=True, slots=True)
class Assign:
    target: str
    value: Expr
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Checked:
    """`target = op(args)`, a row of `ops.CHECKED`; the run is abandoned if it fails.

    `add.i64` fails on overflow, `div.f64` on a zero divisor, `sqrt` on its domain,
    `index` (index, length) normalises a negative index and fails out of range.
    """

    target: str
    op: str
    args: tuple[Expr, ...]
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Guard:
    """Abandon the run unless `condition`; `kind` names why, for remarks and comments."""

    condition: Expr
    kind: str
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Store:
    """`buffer[index] = value`, `index` in `[0, length)` and `value` known to fit."""

    buffer: str
    index: Expr
    value: Expr
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Make:
    """New memory of `length` zeros, at least none, for a buffer of the function's own; what it
    held before is gone. The run is abandoned where there is no memory."""

    buffer: str
    length: Expr
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Resize:
    """Another length, at least 0, for a buffer of the function's own; elements past the old
    one hold anything. The run is abandoned where there is no memory."""

    buffer: str
    length: Expr
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Swap:
    """Two buffers of the function's own change their memory; not their lengths' variables."""

    first: str
    second: str
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Save:
    """Keep a copy of these buffers, once a run, to put back should the run be abandoned."""

    buffers: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Call:
    """Call another native function; if it abandons, so does this run.

    `args` are expressions; where the callee's parameter is a buffer, the name of one, or
    `Elements` of one, which the callee does not store into.
    """

    targets: tuple[str, ...]
    function: str
    args: tuple[Expr | str, ...]
    location: Location


@final
@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    orelse: Block
    location: Location


@final
@dataclass(frozen=True, slots=True)
class For:
    """`for target in range(start, stop, step)`; the three are evaluated once, before.

    `step` is not zero. The counter is the loop's own: a body that assigns to `target`
    does not change the course of the loop, and after a loop that ran `target` holds the
    last value, as in Python.
    """

    target: str
    start: Expr
    stop: Expr
    step: Expr
    body: Block
    orelse: Block
    location: Location
    independent: bool = False
    """No turn reads or writes an element that another turn writes, so that the turns'
    loads and stores may be interleaved (C: `#pragma GCC ivdep`)."""
    unrolled: bool = False
    """Each turn waits for the last, so that fewer branches between them help (C:
    `#pragma GCC unroll`)."""


@final
@dataclass(frozen=True, slots=True)
class While:
    """`test` runs before each turn and leaves its outcome in `condition`."""

    test: Block
    condition: Expr
    body: Block
    orelse: Block
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Break:
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Continue:
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Return:
    values: tuple[Expr, ...]
    location: Location


@final
@dataclass(frozen=True, slots=True)
class Versioned:
    """Two bodies with one meaning: `fast` where `condition` holds, else `checked`.

    What `condition` shows cannot fail is not checked in `fast`.
    """

    condition: Expr
    fast: Block
    checked: Block
    location: Location


Statement = (
    Assign
    | Checked
    | Guard
    | Store
    | Make
    | Resize
    | Swap
    | Save
    | Call
    | If
    | For
    | While
    | Break
    | Continue
    | Return
    | Versioned
)
Block = tuple[Statement, ...]


# Functions


Holder = Literal["array", "list", "list of bools", "str", "bytes"]
"""What numbers in memory are in Python."""
LISTS: tuple[Holder, ...] = ("list", "list of bools")
CONSTANT: tuple[Holder, ...] = ("str", "bytes")
"""What nothing can be stored into, so that its memory stays what it is."""


@final
@dataclass(frozen=True, slots=True)
class ScalarParameter:
    name: str
    type: Type


@final
@dataclass(frozen=True, slots=True)
class BufferParameter:
    name: str
    element: Element
    writable: bool
    """Whether this function or one that it calls stores into it."""
    holder: Holder | None = None
    """What is passed, where that is no buffer, and which is only read: a list, whose numbers
    are copied; a str, or bytes."""


@final
@dataclass(frozen=True, slots=True)
class GridParameter:
    """Rows of equally many elements in one buffer: in the kernel the buffer, which holds
    them one after another, and two scalars, `rows` and `cols`."""

    name: str
    element: Element
    writable: bool

    @property
    def flat(self) -> tuple[BufferParameter | ScalarParameter, ...]:
        sizes = (ScalarParameter(f"{self.name}.{size}", Type.I64) for size in ("rows", "cols"))
        return BufferParameter(self.name, self.element, self.writable), *sizes


@final
@dataclass(frozen=True, slots=True)
class TupleParameter:
    """A tuple of scalars (or of such tuples), flattened into scalars in the kernel."""

    name: str
    items: tuple[ScalarParameter | TupleParameter, ...]


Parameter = ScalarParameter | BufferParameter | GridParameter | TupleParameter


@final
@dataclass(frozen=True, slots=True)
class OwnBuffer:
    """A buffer that the function makes. Its length is a variable of the function, beside it:
    `Length` is of parameters, whose length does not change."""

    name: str
    element: Element


@final
@dataclass(frozen=True, slots=True)
class ArrayResult:
    """Numbers that the function has made: `Elements` of a buffer of its own."""

    element: Element
    holder: Holder


@final
@dataclass(frozen=True, slots=True)
class TupleResult:
    items: tuple[Type | TupleResult | ArrayResult, ...]


Result = Type | TupleResult | ArrayResult | None
"""What the function returns: a scalar, an array, a tuple of such, or Python's None."""


@final
@dataclass(frozen=True, slots=True)
class Function:
    name: str
    """As in `graph.program.Function.name`."""
    parameters: tuple[Parameter, ...]
    result: Result
    locals: tuple[tuple[str, Type], ...]
    """In order of first binding; temporaries of lowering and passes included."""
    body: Block
    location: Location
    relies: tuple[Relied, ...] = ()
    """What the body was lowered from beside the function's own source."""
    buffers: tuple[OwnBuffer, ...] = ()
