"""What each operator of the loop IR gives and needs, for `ranges`: one row an operator.

A row of `TOTAL` takes what the arguments are worth and gives what the result is worth; an
operator without a row can give anything. A row of `CHECKED` also says when the operator
cannot fail; an operator without a row stays checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.passes import linear, signs
from ppybuild.emit.loops.passes.known import GREATEST, LEAST, ONE, State, Value
from ppybuild.emit.loops.passes.linear import Interval, Polynomial
from ppybuild.emit.loops.passes.signs import Sign

if TYPE_CHECKING:
    from ppybuild.emit.loops.passes.evaluator import Evaluator

Values = tuple[Value, ...]
Exprs = tuple[ir.Expr, ...]

BYTES = {
    ir.Element.F64: 8,
    ir.Element.I64: 8,
    ir.Element.F32: 4,
    ir.Element.I32: 4,
    ir.Element.U8: 1,
    ir.Element.I8: 1,
    ir.Element.STR: 1,
}
STORED: Mapping[ir.Element, Interval] = {
    ir.Element.I32: (-(2**31), 2**31 - 1),
    ir.Element.U8: (0, 255),
    ir.Element.I8: (-128, 127),
    ir.Element.STR: (0, 0x10FFFF),
}


def constant(value: int | float) -> Value:
    if isinstance(value, bool):
        return Value()
    if isinstance(value, int):
        return Value(number=linear.constant(value))
    return Value(sign=signs.of(value))


# Total operators


def _number(value: Value) -> Polynomial:
    assert value.number is not None
    return value.number


def _between(run: Evaluator, state: State, values: Values, least: bool) -> Value:
    """Of min and max: one of the two.

    The same expression is the same atom only where the same ends hold: an atom's interval
    is true everywhere, and what is known of the two here may not be.
    """
    (a, b), (c, d) = (run.prover.interval(state, _number(value)) for value in values)
    ends = (min(a, c), min(b, d)) if least else (max(a, c), max(b, d))
    one, two = (_number(value) for value in values)
    key = ("min" if least else "max", one, two, ends)
    if key not in run.atoms.shared:
        made = run.atoms.new(ends, None if least else one, one if least else None)
        run.atoms.shared[key] = made.terms[0][0][0]
    return Value(number=linear.single(run.atoms.shared[key]))


def _mod(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    divisor = _number(values[1])
    if run.prover.proves(state, divisor - ONE):
        high = run.prover.interval(state, divisor)[1] - 1
        return Value(number=run.atoms.new((0, high), linear.constant(0), divisor - ONE))
    return Value()


def _floordiv(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    dividend, divisor = _number(values[0]), _number(values[1])
    low, high = run.prover.interval(state, dividend)
    least, most = run.prover.interval(state, divisor)
    if not 1 <= least <= most:  # what is known of a way that is never taken may contradict
        return Value()
    ends = [bound // by for bound in (low, high) for by in (least, most)]
    return Value(number=run.atoms.new((min(ends), max(ends))))


def _and_bits(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    """A mask that is not negative bounds the result."""
    tops = [
        high
        for low, high in (run.prover.interval(state, _number(value)) for value in values)
        if low >= 0
    ]
    return Value(number=run.atoms.new((0, min(tops)))) if tops else Value()


def _slice_bound(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    """A bound inside is itself. That may be taken for granted: slices seldom reach beyond."""
    bound, length = (_number(value) for value in values)
    if run.holds(state, (bound, length - bound)):
        return Value(number=bound)
    high = run.prover.interval(state, length)[1]
    return Value(number=run.atoms.new((0, high), linear.constant(0), length))


def _slice_length(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    start, stop = (_number(value) for value in values)
    if run.holds(state, (stop - start,)):
        return Value(number=stop - start)
    high = max(0, run.prover.interval(state, stop)[1])
    return Value(number=run.atoms.new((0, high)))


def _stride_bound(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    high = run.prover.interval(state, _number(values[1]))[1]
    return Value(number=run.atoms.new((-1, high)))


def _stride_length(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    """Upwards at most as many as `stop` is, downwards one more than `start` is."""
    start, stop = (run.prover.interval(state, _number(value))[1] for value in values[:2])
    return Value(number=run.atoms.new((0, max(0, start + 1, stop))))


def _float(
    rule: Callable[..., Sign],
) -> Callable[[Evaluator, State, Values, Exprs], Value]:
    def apply(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
        return Value(sign=rule(*(run.sign(value, state) for value in values)))

    return apply


def _multiply(run: Evaluator, state: State, values: Values, args: Exprs) -> Value:
    """Two operands that are the same expression are the same number: a square."""
    one, two = (run.sign(value, state) for value in values)
    return Value(sign=signs.square(one) if args[0] == args[1] else signs.multiply(one, two))


TotalRule = Callable[["Evaluator", State, Values, Exprs], Value]

TOTAL: Mapping[str, TotalRule] = {
    "add.i64": lambda run, state, v, args: Value(number=_number(v[0]) + _number(v[1])),
    "sub.i64": lambda run, state, v, args: Value(number=_number(v[0]) - _number(v[1])),
    "mul.i64": lambda run, state, v, args: Value(number=_number(v[0]) * _number(v[1])),
    "neg.i64": lambda run, state, v, args: Value(number=_number(v[0]).scaled(-1)),
    "min.i64": lambda run, state, v, args: _between(run, state, v, least=True),
    "max.i64": lambda run, state, v, args: _between(run, state, v, least=False),
    "mod.i64": _mod,
    "rem.i64": _mod,
    "floordiv.i64": _floordiv,
    "quot.i64": _floordiv,
    "and.i64": _and_bits,
    "slice_bound": _slice_bound,
    "slice_length": _slice_length,
    "stride_bound": _stride_bound,
    "stride_length": _stride_length,
    "to_i64.bool": lambda run, state, v, args: Value(number=run.atoms.new((0, 1))),
    "to_f64": lambda run, state, v, args: v[0],
    "to_f64.bool": lambda run, state, v, args: Value(sign=Sign.ZERO | Sign.POSITIVE),
    "add.f64": _float(signs.add),
    "sub.f64": _float(signs.subtract),
    "mul.f64": _multiply,
    "div.f64": _float(signs.divide),
    "neg.f64": _float(signs.negate),
    "abs.f64": _float(signs.absolute),
    "sqrt": _float(signs.square_root),
}


# Checked operators


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a checked operator gives, and when it cannot fail."""

    instead: ir.Expr
    """The total expression for it."""
    value: Value
    otherwise: Value | None = None
    """The result where it stays checked; None: the same."""
    needs: tuple[Polynomial, ...] = ()
    """It cannot fail where each of these is at least zero,"""
    nonzero: tuple[Polynomial, ...] = ()
    """none of these is zero,"""
    floats: tuple[tuple[ir.Expr, Sign], ...] = ()
    """and none of these floats is of these signs."""
    learns: tuple[Polynomial, ...] = ()
    """Of `needs`: worth knowing afterwards."""


def _exact(name: str) -> CheckedRule:
    """Arithmetic that fails only beyond 64 bits."""

    def rule(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
        value = TOTAL[name](run, state, values, args)
        number = _number(value)
        needs = (number - linear.constant(LEAST), linear.constant(GREATEST) - number)
        return Outcome(ir.Op(name, args, ir.Type.I64), value, needs=needs)

    return rule


def _index(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
    index, length = _number(values[0]), _number(values[1])
    high = run.prover.interval(state, length)[1] - 1
    wrapped = Value(number=run.atoms.new((0, high), linear.constant(0), length - ONE))
    if run.settling:
        return Outcome(args[0], wrapped)
    if run.prover.proves(state, index.scaled(-1) - ONE):
        needs = (index + length,)
        moved = ir.Op("add.i64", args, ir.Type.I64)
        return Outcome(moved, Value(number=index + length), needs=needs, learns=needs)
    inside = length - ONE - index
    if run.prover.proves(state, index):
        return Outcome(args[0], values[0], needs=(inside,), learns=(inside,))
    return Outcome(args[0], values[0], otherwise=wrapped, needs=(index, inside))


def _checked_mod(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
    divisor = _number(values[1])
    value = _mod(run, state, values, args)
    return Outcome(ir.Op("mod.i64", args, ir.Type.I64), value, nonzero=(divisor,))


def _checked_floordiv(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
    """The least integer by -1 is beyond 64 bits: asks for a divisor that is positive."""
    dividend, divisor = _number(values[0]), _number(values[1])
    needs: tuple[Polynomial, ...] = (divisor - ONE,)
    known = divisor.constant()
    if known is not None and known < 0:
        needs = (dividend - linear.constant(LEAST + 1),)
    value = _floordiv(run, state, values, args)
    return Outcome(ir.Op("floordiv.i64", args, ir.Type.I64), value, needs=needs)


def _truediv(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
    return Outcome(
        ir.Op("truediv.i64", args, ir.Type.F64), Value(), nonzero=(_number(values[1]),)
    )


def _divide(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
    value = TOTAL["div.f64"](run, state, values, args)
    instead = ir.Op("div.f64", args, ir.Type.F64)
    if values[1].number is not None:
        return Outcome(instead, value, nonzero=(values[1].number,))
    return Outcome(instead, value, floats=((args[1], Sign.ZERO),))


def _domain(name: str, outside: Sign) -> CheckedRule:
    """A function of one float that fails only for operands of these signs."""

    def rule(run: Evaluator, state: State, values: Values, args: Exprs) -> Outcome:
        total = TOTAL.get(name)
        value = Value() if total is None else total(run, state, values, args)
        return Outcome(ir.Op(name, args, ir.Type.F64), value, floats=((args[0], outside),))

    return rule


CheckedRule = Callable[["Evaluator", State, Values, Exprs], Outcome]

CHECKED: Mapping[str, CheckedRule] = {
    "add.i64": _exact("add.i64"),
    "sub.i64": _exact("sub.i64"),
    "mul.i64": _exact("mul.i64"),
    "neg.i64": _exact("neg.i64"),
    "index": _index,
    "mod.i64": _checked_mod,
    "floordiv.i64": _checked_floordiv,
    "truediv.i64": _truediv,
    "div.f64": _divide,
    "sqrt": _domain("sqrt", Sign.NEGATIVE),
    "log": _domain("log", Sign.NEGATIVE | Sign.ZERO),
    "log2": _domain("log2", Sign.NEGATIVE | Sign.ZERO),
    "log10": _domain("log10", Sign.NEGATIVE | Sign.ZERO),
}


# Conditions

Facts = tuple[Polynomial, ...]

# Each holds where every polynomial that its row gives is at least zero.
COMPARISONS: Mapping[str, Callable[[Polynomial, Polynomial], Facts]] = {
    "lt.i64": lambda a, b: (b - a - ONE,),
    "le.i64": lambda a, b: (b - a,),
    "gt.i64": lambda a, b: (a - b - ONE,),
    "ge.i64": lambda a, b: (a - b,),
    "eq.i64": lambda a, b: (a - b, b - a),
}

# Of integers only: a float comparison with nan is false, and so is its opposite.
_PAIRS = (("lt", "ge"), ("le", "gt"), ("eq", "ne"))
OPPOSITE: Mapping[str, str] = {
    f"{one}.i64": f"{two}.i64" for pair in _PAIRS for one, two in (pair, pair[::-1])
} | {"eq.f64": "ne.f64", "ne.f64": "eq.f64"}
TURNED = {"lt.f64": "gt.f64", "gt.f64": "lt.f64", "le.f64": "ge.f64", "ge.f64": "le.f64"}

# What is left of a float that compared so with zero. Not equal: nan is left too.
_WITH_ZERO = {
    "lt.f64": Sign.NEGATIVE,
    "gt.f64": Sign.POSITIVE,
    "le.f64": Sign.NEGATIVE | Sign.ZERO,
    "ge.f64": Sign.POSITIVE | Sign.ZERO,
    "eq.f64": Sign.ZERO,
    "ne.f64": ~Sign.ZERO,
}


def possible(name: str, against: Sign) -> Sign | None:
    """What a float can be that compared so with a float of this sign; None: anything."""
    if against is Sign.ZERO:
        return _WITH_ZERO.get(name)
    if against is Sign.POSITIVE and name in ("gt.f64", "ge.f64", "eq.f64"):
        return Sign.POSITIVE
    if against is Sign.NEGATIVE and name in ("lt.f64", "le.f64", "eq.f64"):
        return Sign.NEGATIVE
    return None


# Induction


def increments(body: ir.Block, types: Mapping[str, ir.Type]) -> Iterator[tuple[str, int, int]]:
    """Variables that a loop's body changes only by adding constants, and the least and the
    most that one turn adds. Not those that an inner loop changes."""
    inner = tree.assigned(
        tuple(one for one in tree.statements(body) if isinstance(one, ir.For | ir.While))
    )
    added: dict[str, list[int]] = {}
    spoiled: set[str] = set(inner)
    for before, statement in _with_previous(body):
        for target in tree.own_targets(statement):
            if types[target] is not ir.Type.I64:
                continue
            step = _increment(statement, target)
            if step is None and before is not None:
                step = _increment_of_copy(before, statement, target)
            if step is None:
                spoiled.add(target)
            else:
                added.setdefault(target, []).append(step)
    for name, steps in sorted(added.items()):
        if name not in spoiled:
            yield name, sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)


def _with_previous(block: ir.Block) -> Iterator[tuple[ir.Statement | None, ir.Statement]]:
    """Every statement in a block, with the one right before it in the same block."""
    before = None
    for statement in block:
        yield before, statement
        before = statement
        for inner in tree.blocks(statement):
            yield from _with_previous(inner)


def _increment_of_copy(
    before: ir.Statement, statement: ir.Statement, target: str
) -> int | None:
    """`t = count + 1`, and right after it `count = t`."""
    match statement:
        case ir.Assign(value=ir.Var(name=copied)) if tree.own_targets(before) == (copied,):
            return _increment(before, target)
        case _:
            return None


def _increment(statement: ir.Statement, target: str) -> int | None:
    match statement:
        case ir.Checked(op=name, args=args):
            pass
        case ir.Assign(value=ir.Op(name=name, args=args)):
            pass
        case _:
            return None
    match name, args:
        case "add.i64", (ir.Var(name=base), ir.Const(value=int(step))) if base == target:
            return step
        case "add.i64", (ir.Const(value=int(step)), ir.Var(name=base)) if base == target:
            return step
        case "sub.i64", (ir.Var(name=base), ir.Const(value=int(step))) if base == target:
            return -step
        case _:
            return None
