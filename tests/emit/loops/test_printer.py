"""Hand-made IR, printed, compiled and called."""

from __future__ import annotations

import array

import pytest

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.verify import verify
from tests.emit.loops.native import OK, RAISED, Abandoned, Kernels, Poll, Raised

I64, F64, BOOL = ir.Type.I64, ir.Type.F64, ir.Type.BOOL
AT = ir.Location(1, 1)


def integer(value: int) -> ir.Const:
    return ir.Const(value, I64)


def op(name: str, *args: ir.Expr, type: ir.Type = I64) -> ir.Op:
    return ir.Op(name, args, type)


def function(
    name: str,
    parameters: tuple[ir.Parameter, ...],
    result: ir.Result,
    locals: tuple[tuple[str, ir.Type], ...],
    *body: ir.Statement,
) -> ir.Function:
    return ir.Function(name, parameters, result, locals, body, AT)


X, N, INDEX = ir.Var("x", I64), ir.Var("n", I64), ir.Var("i", I64)
INT_N = ir.ScalarParameter("n", I64)


def counting(start: int, stop: ir.Expr, step: int, *body: ir.Statement) -> ir.Function:
    """Sums and counts what a loop does, and gives the variable's last value."""
    loop = ir.For(
        "i",
        integer(start),
        stop,
        integer(step),
        (ir.Assign("x", op("add.i64", X, INDEX), AT), *body),
        (ir.Assign("x", op("add.i64", X, integer(1000)), AT),),
        AT,
    )
    result = ir.TupleResult((I64, I64))
    names = (("i", I64), ("x", I64))
    first = (ir.Assign("x", integer(0), AT), ir.Assign("i", integer(-7), AT))
    return function("m.f", (INT_N,), result, names, *first, loop, ir.Return((X, INDEX), AT))


@pytest.mark.parametrize("step", [1, -1, 3, -2, 2**62])
@pytest.mark.parametrize("n", [0, 1, 10, -10, 2**63 - 1, -(2**63)])
def test_for_visits_what_range_does(step: int, n: int) -> None:
    if abs(n // step) > 10**6 and n // step > 0:
        pytest.skip("too long a range")
    made = counting(0, N, step)
    verify(made, {})
    values = list(range(0, n, step))
    expected = (sum(values) + 1000, values[-1] if values else -7)
    assert Kernels({"m.f": made}).call("m.f", n) == expected


def test_break_skips_else_and_leaves_both_loops_of_a_block() -> None:
    leave = ir.If(op("eq.i64", INDEX, integer(5), type=BOOL), (ir.Break(AT),), (), AT)
    made = counting(0, N, 1, leave)
    kernels = Kernels({"m.f": made})
    assert kernels.call("m.f", 3) == (3 + 1000, 2)
    assert kernels.call("m.f", 100) == (15, 5)


def test_signals_end_a_long_loop() -> None:
    turns = []

    def poll(run: object) -> int:
        turns.append(1)
        return RAISED if len(turns) == 3 else OK

    kernels = Kernels({"m.f": counting(0, N, 1, ir.Assign("x", op("xor.i64", X, INDEX), AT))})
    with pytest.raises(Raised):
        kernels.call("m.f", 2**62, poll=Poll(poll))
    assert len(turns) == 3


def test_an_endless_while_polls() -> None:
    body = (ir.Assign("x", op("xor.i64", X, N), AT),)
    loop = ir.While((), ir.Const(True, BOOL), body, (), AT)
    made = function("m.f", (INT_N,), I64, (("x", I64),), loop)
    verify(made, {})
    poll = Poll(lambda run: RAISED)
    with pytest.raises(Raised):
        Kernels({"m.f": made}).call("m.f", 1, poll=poll)


OUT = ir.BufferParameter("out", ir.Element.F64, True)
OTHER = ir.BufferParameter("other", ir.Element.F64, True)


def test_saved_buffers_are_put_back_where_they_overlap() -> None:
    def store(buffer: str, value: float) -> ir.Store:
        return ir.Store(buffer, integer(1), ir.Const(value, F64), AT)

    made = function(
        "m.f",
        (OUT, OTHER, INT_N),
        None,
        (),
        ir.Save(("out",)),
        store("out", 8.0),
        ir.Save(("other", "out")),
        store("other", 9.0),
        ir.Guard(op("ne.i64", N, integer(0), type=BOOL), "raise", AT),
    )
    kernels = Kernels({"m.f": made})
    data = array.array("d", [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(Abandoned):
        kernels.call("m.f", data, data, 0)
    assert list(data) == [1.0, 2.0, 3.0, 4.0]
    kernels.call("m.f", data, data, 1)
    assert list(data) == [1.0, 9.0, 3.0, 4.0]


def test_recursion_stops_where_python_would() -> None:
    less = ir.Checked("x", "sub.i64", (N, integer(1)), AT)
    again = ir.Call(("x",), "m.f", (X,), AT)
    done = ir.If(op("eq.i64", N, integer(0), type=BOOL), (ir.Return((N,), AT),), (), AT)
    made = function("m.f", (INT_N,), I64, (("x", I64),), done, less, again, ir.Return((X,), AT))
    verify(made, {"m.f": made})
    kernels = Kernels({"m.f": made})
    assert kernels.call("m.f", 50, depth=50) == 0
    with pytest.raises(Abandoned):
        kernels.call("m.f", 51, depth=50)


def test_expressions_keep_their_grouping() -> None:
    a, b, c = (ir.Var(name, F64) for name in ("double", "isnan", "MAX"))
    parameters = tuple(ir.ScalarParameter(each.name, F64) for each in (a, b, c))
    right = op("add.f64", a, op("add.f64", b, c, type=F64), type=F64)
    value = op("sub.f64", right, op("neg.f64", op("neg.f64", c, type=F64), type=F64), type=F64)
    made = function("m.f", parameters, F64, (), ir.Return((value,), AT))
    assert Kernels({"m.f": made}).call("m.f", 1e16, 1.0, 1.0) == 1e16 + (1.0 + 1.0) - 1.0


def test_names_of_constants_do_not_narrow() -> None:
    product = op("mul.i64", integer(100000), op("mul.i64", integer(100000), integer(3)))
    test = op("and.i64", op("or.i64", N, integer(1)), op("xor.i64", N, integer(2)))
    made = function("m.f", (INT_N,), I64, (), ir.Return((op("add.i64", product, test),), AT))
    assert Kernels({"m.f": made}).call("m.f", 6) == 30000000000 + ((6 | 1) & (6 ^ 2))


def test_a_variable_that_one_branch_alone_reads() -> None:
    bind = ir.Assign("x", op("add.i64", N, integer(1)), AT)
    branch = ir.If(
        op("lt.i64", N, integer(0), type=BOOL),
        (bind, ir.Return((X,), AT)),
        (bind, ir.Return((integer(0),), AT)),
        AT,
    )
    kernels = Kernels({"m.f": function("m.f", (INT_N,), I64, (("x", I64),), branch)})
    assert kernels.call("m.f", -5) == -4
    assert kernels.call("m.f", 5) == 0
