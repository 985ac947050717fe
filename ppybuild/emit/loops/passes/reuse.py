"""Compute once what is computed again, read a copy's original, and decide what is known.

    check t0 = add.i64(base, i)            check t0 = add.i64(base, i)
    check t1 = index(t0, len(a))           check t1 = index(t0, len(a))
    check t2 = add.i64(base, i)       →    value = mul.f64(a[t1], a[t1])
    check t3 = index(t2, len(a))
    value = mul.f64(a[t1], a[t3])

A check that has succeeded with the same operands succeeds again, with the same result.
Total expressions are left to the C compiler. `dead` removes the copies left behind.

Keeps: values, order of evaluation, every failure that can happen. Needs: nothing.
Guards: repeated ones removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ppybuild.emit.loops import ir, tree
from ppybuild.emit.loops.verify import scalars

Key = tuple[str, tuple[ir.Expr, ...]]
"""A checked operator and its operands; a guard is its condition under the name `guard`."""


def run(function: ir.Function) -> ir.Function:
    types = {each.name: each.type for each in scalars(function.parameters)}
    types |= function.locals
    return replace(function, body=_block(function.body, _Known(types)))


@dataclass(slots=True)
class _Known:
    """What holds at one point."""

    types: Mapping[str, ir.Type]
    copies: dict[str, ir.Expr] = field(default_factory=dict)
    """Variables that hold what another variable, or a constant, holds."""
    results: dict[Key, str] = field(default_factory=dict)
    """Variables that hold the result of a check; empty for a guard."""
    users: dict[str, tuple[Key, ...]] = field(default_factory=dict)
    """By variable: the checks that it is an operand or the result of."""
    copied: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By variable: those that hold a copy of it."""
    loading: tuple[Key, ...] = ()
    """The checks of what is in memory."""

    def copy(self) -> _Known:
        return _Known(
            self.types,
            dict(self.copies),
            dict(self.results),
            dict(self.users),
            dict(self.copied),
            self.loading,
        )

    def canonical(self, expression: ir.Expr) -> ir.Expr:
        def change(part: ir.Expr) -> ir.Expr:
            if isinstance(part, ir.Var):
                return self.copies.get(part.name, part)
            return _decided(part)

        return tree.rewrite(expression, change)

    def note_copy(self, name: str, source: ir.Var | ir.Const) -> None:
        self.copies[name] = source
        if isinstance(source, ir.Var):
            self.copied[source.name] = (*self.copied.get(source.name, ()), name)

    def note_result(self, key: Key, name: str) -> None:
        self.results[key] = name
        operands = frozenset().union(*map(tree.variables, key[1]))
        for each in sorted(operands | ({name} if name else set())):
            self.users[each] = (*self.users.get(each, ()), key)
        if any(map(tree.loaded, key[1])):
            self.loading = (*self.loading, key)

    def forget(self, names: frozenset[str], memory: bool) -> None:
        """Drop what depends on these variables, and on memory where that changes."""
        for name in names:
            self.copies.pop(name, None)
            for copy in self.copied.pop(name, ()):
                if self.copies.get(copy) == ir.Var(name, self.types[name]):
                    del self.copies[copy]
            for key in self.users.pop(name, ()):
                self.results.pop(key, None)
        if memory:
            for key in self.loading:
                self.results.pop(key, None)
            self.loading = ()


_OF_EQUALS = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}


def _decided(expression: ir.Expr) -> ir.Expr:
    """A comparison of a value with itself, and a choice by a constant, as what they give."""
    match expression:
        case ir.Op(name=name, args=(one, two)) if one == two and one.type is not ir.Type.F64:
            outcome = _OF_EQUALS.get(name.partition(".")[0])
            return expression if outcome is None else ir.Const(outcome, ir.Type.BOOL)
        case ir.Op(name="not", args=(ir.Const(value=value),)):
            return ir.Const(not value, ir.Type.BOOL)
        case ir.Select(condition=ir.Const(value=value), then=then, orelse=orelse):
            return then if value else orelse
    return expression


def _writes(block: ir.Block) -> bool:
    return any(map(tree.writes_memory, tree.statements(block)))


def _block(block: ir.Block, known: _Known) -> ir.Block:
    return tuple(new for statement in block for new in _statement(statement, known))


def _statement(statement: ir.Statement, known: _Known) -> ir.Block:
    if isinstance(statement, ir.While):
        return (_while(statement, known),)
    statement = tree.map_own(statement, known.canonical)
    match statement:
        case ir.Checked(target=target, op=op, args=args, location=location):
            return (_checked(statement, target, (op, args), location, known),)
        case ir.Assign(target=target, value=value):
            known.forget(frozenset((target,)), memory=False)
            if isinstance(value, ir.Var | ir.Const) and target not in tree.variables(value):
                known.note_copy(target, value)
            return (statement,)
        case ir.Guard(condition=condition):
            key = ("guard", (condition,))
            if key in known.results:
                return ()
            known.note_result(key, "")
            return (statement,)
        case ir.For():
            changed, writes = tree.assigned((statement,)), _writes((statement,))
            known.forget(changed, writes)
            body = _block(statement.body, known.copy())
            return (
                replace(statement, body=body, orelse=_block(statement.orelse, known.copy())),
            )
        case ir.If() | ir.Versioned():
            before = known.copy()
            changed, writes = tree.assigned((statement,)), _writes((statement,))
            result = tree.map_blocks(statement, lambda inner: _block(inner, before.copy()))
            known.forget(changed, writes)
            return (result,)
        case _:
            known.forget(frozenset(tree.own_targets(statement)), _writes((statement,)))
            return (statement,)


def _while(statement: ir.While, known: _Known) -> ir.While:
    known.forget(tree.assigned((statement,)), _writes((statement,)))
    inside = known.copy()
    test = _block(statement.test, inside)
    condition = inside.canonical(statement.condition)
    body = _block(statement.body, inside.copy())
    orelse = _block(statement.orelse, known.copy())
    return replace(statement, test=test, condition=condition, body=body, orelse=orelse)


def _checked(
    statement: ir.Checked, target: str, key: Key, location: ir.Location, known: _Known
) -> ir.Statement:
    earlier = known.results.get(key)
    known.forget(frozenset((target,)), memory=False)
    if earlier is not None and earlier != target:
        source = ir.Var(earlier, known.types[earlier])
        known.note_copy(target, source)
        return ir.Assign(target, source, location)
    if not any(target in tree.variables(arg) for arg in key[1]):
        known.note_result(key, target)
    return statement
