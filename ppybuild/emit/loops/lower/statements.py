"""Python statements to loop IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.builder import (
    BOOL,
    Builder,
    Loop,
    NeedsMemory,
    at,
    mixed_types,
    require_number,
    resized,
)
from ppybuild.emit.loops.lower.expressions import (
    lower_call,
    lower_element,
    lower_expr,
    lower_test,
)
from ppybuild.emit.loops.lower.iteration import Iteration, plan_iteration
from ppybuild.emit.loops.lower.operators import lower_binary
from ppybuild.emit.loops.lower.stay import Dead, Stay
from ppybuild.emit.loops.lower.storing import stored_value
from ppybuild.emit.loops.lower.values import (
    BufferRef,
    Char,
    Environment,
    GridRef,
    Items,
    Letters,
    Mixed,
    Number,
    Value,
    View,
    aged,
    describe,
    held_buffers,
    join,
    leaves,
)

_UNSUPPORTED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("`try`", "move the loop into a function of its own"),
    ast.TryStar: ("`try`", "move the loop into a function of its own"),
    ast.With: ("`with`", "move the loop into a function of its own"),
    ast.Match: ("`match`", "compare with `if`"),
    ast.Delete: ("`del`", ""),
    ast.Import: ("an import", "import at the top of the module"),
    ast.ImportFrom: ("an import", "import at the top of the module"),
    ast.FunctionDef: ("a function inside the function", "make it a function of the module"),
    ast.ClassDef: ("a class inside the function", ""),
}


def lower_block(builder: Builder, statements: Sequence[ast.stmt]) -> None:
    """Statements in order, as far as control comes."""
    for statement in statements:
        if builder.env is None:
            return
        try:
            _lower_statement(builder, statement)
        except Dead as dead:
            builder.fail(dead.kind, at(statement))


def _lower_statement(builder: Builder, node: ast.stmt) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            _assign(builder, node, targets, value)
        case ast.AnnAssign(target=ast.Name() as target, value=value):
            if value is not None:
                _assign(builder, node, [target], value)
        case ast.AugAssign():
            _augmented(builder, node)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.Expr(value=ast.Call() as call):
            lower_call(builder, call)
        case ast.Expr(value=value):
            lower_expr(builder, value)
        case ast.If():
            _if(builder, node)
        case ast.For():
            _for(builder, node)
        case ast.While():
            _while(builder, node)
        case ast.Return():
            _return(builder, node)
        case ast.Break():
            builder.loops[-1].breaks.append(builder.env)
            builder.emit(ir.Break(at(node)))
            builder.env = None
        case ast.Continue():
            builder.loops[-1].continues.append(builder.env)
            builder.emit(ir.Continue(at(node)))
            builder.env = None
        case ast.Assert(test=test):
            _assert(builder, node, lower_test(builder, test))
        case ast.Raise():
            builder.fail("raise", at(node))
        case _:
            construct, help = _UNSUPPORTED.get(
                type(node), (f"a `{type(node).__name__}` statement", "")
            )
            raise Stay(node, construct, help)


def _assert(builder: Builder, node: ast.Assert, condition: ir.Expr) -> None:
    if condition == ir.Const(False, BOOL):
        builder.fail("assert", at(node))
    else:
        builder.emit(ir.Guard(condition, "assert", at(node)))


# Assignment


def _assign(
    builder: Builder, node: ast.stmt, targets: list[ast.expr], value_node: ast.expr
) -> None:
    value = lower_expr(builder, value_node)
    single = len(targets) == 1
    if not single or isinstance(targets[0], ast.Tuple | ast.List):
        value = builder.pin(value, len(builder.block), at(node), _bound_names(targets))
    if not single or isinstance(value, tuple):
        names = [n for n in _bound_names(targets) if n in builder.holding]
        if names and any(isinstance(leaf, BufferRef) and leaf.own for leaf in leaves(value)):
            _exchange(builder, node, targets, value)
            return
    mark = len(builder.block)
    for target in targets:
        value = aged(value, builder.written(builder.block[mark:]))
        _bind(builder, target, value, last_use=single)


def _exchange(builder: Builder, node: ast.stmt, targets: list[ast.expr], value: Value) -> None:
    """`a, b = b, a` of arrays that are moved."""
    match targets, value:
        case [ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=two)])], (
            BufferRef() as first,
            BufferRef() as second,
        ):
            for name in (one, two):
                if name not in builder.holding:
                    raise NeedsMemory(name)
            if builder.memory.get(one) == second and builder.memory.get(two) == first:
                builder.swap(first, second, at(node))
                builder.mark_bound(one, second, at(node))
                builder.mark_bound(two, first, at(node))
                return
    raise Stay(node, "several arrays bound at once", "bind them one by one")


def _bound_names(targets: Sequence[ast.expr]) -> frozenset[str]:
    return frozenset(
        each.id
        for target in targets
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


def _bind(builder: Builder, target: ast.expr, value: Value, last_use: bool = False) -> None:
    match target:
        case ast.Name(id=name):
            builder.bind(name, value, at(target), last_use)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            if not isinstance(value, tuple) or len(items) != len(value):
                raise Stay(target, f"unpacking {describe(value)} into {len(items)} names")
            mark = len(builder.block)
            for item, each in zip(items, value, strict=True):
                _bind(builder, item, aged(each, builder.written(builder.block[mark:])))
        case ast.Subscript():
            mark = len(builder.block)
            buffer, index = lower_element(builder, target)
            if builder.has_effects(mark):
                value = builder.pin(value, mark, at(target))
            _store(builder, target, buffer, index, require_number(target, value))
        case _:
            raise Stay(target, "assignment to anything but a name or an item of a buffer")


def _store(
    builder: Builder, node: ast.AST, buffer: Items, index: ir.Expr, given: Number
) -> None:
    """`buffer[index] = value`."""
    value = stored_value(builder, node, buffer, given)
    builder.emit(ir.Store(buffer.memory, buffer.place(index), value, at(node)))


def _augmented(builder: Builder, node: ast.AugAssign) -> None:
    """`target op= value`: the target's parts are evaluated once, and before the value."""
    match node.target:
        case ast.Name() as target:
            old = builder.read(_loaded(builder, target), at(node))
            new = _updated(builder, node, old)
            builder.bind(target.id, new, at(node), last_use=True)
        case ast.Subscript() as target:
            buffer, index = lower_element(builder, target)
            mark = len(builder.block)
            new = _updated(builder, node, buffer.item(index))
            if buffer.memory in resized(builder.block[mark:]):
                raise Stay(
                    node, "an item that changes by what makes its list longer or shorter"
                )
            _store(builder, node, buffer, index, new)
        case _:
            raise Stay(node, "assignment to anything but a name or an item of a buffer")


def _updated(builder: Builder, node: ast.AugAssign, old: Value) -> ir.Expr:
    mark = len(builder.block)
    value = require_number(node, lower_expr(builder, node.value))
    if builder.has_effects(mark):
        old = builder.pin(old, mark, at(node))
    return lower_binary(builder, node, node.op, require_number(node, old), value, at(node))


def _loaded(builder: Builder, target: ast.Name) -> ast.Name:
    if target.id not in builder.local_names:
        raise Stay(target, f"assignment to the module variable `{target.id}`")
    return target


# Control


def _branch(builder: Builder, env: Environment, statements: Sequence[ast.stmt]) -> ir.Block:
    """A block lowered from `env`; `builder.env` is what holds after it."""
    builder.env = dict(env)
    with builder.sub_block() as block:
        lower_block(builder, statements)
    return tuple(block)


def _set_env(builder: Builder, *ways: Environment | None) -> None:
    joined = join(*ways)
    builder.env = None if joined is None else dict(joined)


def _if(builder: Builder, node: ast.If) -> None:
    condition = lower_test(builder, node.test)
    assert builder.env is not None
    before = builder.env
    then = _branch(builder, before, node.body)
    after = builder.env
    orelse = _branch(builder, before, node.orelse)
    builder.emit(ir.If(condition, then, orelse, at(node)))
    _set_env(builder, after, builder.env)


def _stable(
    builder: Builder, entry: Environment, turn: Callable[[Environment], None]
) -> tuple[Environment, Loop]:
    """Lower a turn again until what it starts from is what it leads to."""
    head = entry
    while True:
        loop = Loop()
        builder.loops.append(loop)
        try:
            turn(head)
        finally:
            builder.loops.pop()
        joined = join(entry, builder.env, *loop.continues)
        assert joined is not None
        if joined == head:
            return head, loop
        head = joined


def _for(builder: Builder, node: ast.For) -> None:
    mark = len(builder.block)
    iteration = plan_iteration(builder, node.iter)
    if iteration is None:
        return
    assert builder.env is not None
    blocks: list[ir.Block] = []
    used: list[str] = []

    def turn(head: Environment) -> None:
        builder.env = dict(head)
        with builder.sub_block() as block:
            used[:] = [bind_turn(builder, node.target, iteration)]
            lower_block(builder, node.body)
        blocks[:] = [tuple(block)]

    head, loop = _stable(builder, builder.env, turn)
    stores = builder.written((*builder.block[mark:], *blocks[0]))
    builder.keep(node.iter, iteration.over, stores)
    if not iteration.direct:
        _keep_length(node, iteration, blocks[0])
    orelse = _branch(builder, head, node.orelse)
    start, stop, step = iteration.start, iteration.stop, iteration.step
    builder.emit(ir.For(used[0], start, stop, step, blocks[0], orelse, at(node)))
    _set_env(builder, builder.env, *loop.breaks)


def _keep_length(node: ast.For, iteration: Iteration, body: ir.Block) -> None:
    """Python looks at a list's length at every turn of a loop over it."""
    if held_buffers(iteration.over) & resized(body):
        what = ast.unparse(node.iter)
        raise Stay(node, f"a loop over `{what}`, which it makes longer or shorter")


def bind_turn(builder: Builder, target: ast.expr, iteration: Iteration) -> str:
    """Bind the loop's target at the start of a turn; the IR loop's own variable."""
    if iteration.direct and isinstance(target, ast.Name):
        local = builder.inner.get(target.id, target.id)
        name = builder.variable(local, ir.Type.I64)
        builder.mark_bound(local, ir.Var(name, ir.Type.I64), at(target))
        return name
    value = iteration.value
    if any(isinstance(each, ast.Subscript) for each in ast.walk(target)):
        # A store into one of the buffers must not show in what this turn has taken.
        value = builder.pin(value, len(builder.block), at(target))
    _bind(builder, target, value)
    return iteration.index.name


def _while(builder: Builder, node: ast.While) -> None:
    assert builder.env is not None
    parts: list[tuple[ir.Block, ir.Expr, ir.Block]] = []
    tested: list[Environment | None] = []

    def turn(head: Environment) -> None:
        builder.env = dict(head)
        with builder.sub_block() as test:
            condition = lower_test(builder, node.test)
        tested[:] = [builder.env]
        assert builder.env is not None
        body = _branch(builder, builder.env, node.body)
        parts[:] = [(tuple(test), condition, body)]

    _, loop = _stable(builder, builder.env, turn)
    test, condition, body = parts[0]
    after: Environment | None = None
    orelse: ir.Block = ()
    if condition != ir.Const(True, BOOL):
        assert tested[0] is not None
        orelse = _branch(builder, tested[0], node.orelse)
        after = builder.env
    builder.emit(ir.While(test, condition, body, orelse, at(node)))
    _set_env(builder, after, *loop.breaks)


def _return(builder: Builder, node: ast.Return) -> None:
    if node.value is None or (
        isinstance(node.value, ast.Constant) and node.value.value is None
    ):
        note_result(builder, node, None)
        builder.emit(ir.Return((), at(node)))
    elif isinstance(node.value, ast.Call):
        value = lower_call(builder, node.value)
        _return_value(builder, node, value)
    else:
        _return_value(builder, node, lower_expr(builder, node.value))
    builder.env = None


def _return_value(builder: Builder, node: ast.Return, value: Value | None) -> None:
    note_result(builder, node, None if value is None else _result(node, value))
    given = () if value is None else tuple(leaves(value))
    arrays = [each for each in given if isinstance(each, BufferRef)]
    if len(set(arrays)) < len(arrays):
        raise Stay(node, "one array twice in a result", "return it once")
    exprs = tuple(
        each.elements() if isinstance(each, BufferRef) else each
        for each in given
        if not isinstance(each, GridRef)
    )
    builder.emit(ir.Return(exprs, at(node)))


def _result(node: ast.Return, value: Value) -> ir.Type | ir.TupleResult | ir.ArrayResult:
    match value:
        case tuple():
            if not value:
                raise Stay(node, "an empty tuple as result")
            return ir.TupleResult(tuple(_result(node, item) for item in value))
        case BufferRef(element=element, holder=holder, own=True) if holder is not None:
            return ir.ArrayResult(element, holder)
        case BufferRef() | View():
            raise Stay(node, "a buffer as result that is not the function's own")
        case GridRef():
            raise Stay(node, "a grid as result", "fill one that is passed in")
        case Mixed():
            raise mixed_types(node)
        case Char() | Letters():
            raise Stay(node, "a str as result", "return an int, such as `ord` gives")
        case _:
            return value.type


def note_result(builder: Builder, node: ast.AST, result: ir.Result) -> None:
    """Every way out of a function gives the same type."""
    if builder.result and builder.result[0] != result:
        raise Stay(
            node,
            "a result whose type depends on the way taken",
            "return one type, such as 0.0 for 0 where it is a float",
        )
    builder.result = [result]
