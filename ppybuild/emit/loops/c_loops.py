"""The C of a counted loop: its bounds, its heads, and how its variable is bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.polling import block_turns, turn_weight
from ppybuild.emit.loops.tree import assigned, own_expressions, statements, variables


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """Pieces of C; a loop runs plainly, or in blocks with an inner loop."""

    bounds: tuple[str, ...]
    plain: str
    blocks: str
    block_bounds: tuple[str, ...]
    inner: str
    block_step: str
    bind: tuple[str, ...]
    """At the start of a turn: gives the Python variable its value."""


@dataclass(frozen=True, slots=True)
class LoopVariable:
    name: str
    """In C."""
    private: bool
    """Whether it exists inside the loop only."""


def plan_counted_loop(
    loop: ir.For, variable: LoopVariable, number: int, expr: Callable[[ir.Expr], str]
) -> CountedLoop:
    """`number` tells the names of this loop from those of others in the kernel."""
    step = loop.step.value if isinstance(loop.step, ir.Const) else None
    if step in (1, -1):
        return _by_one(loop, variable, number, expr, up=step == 1)
    return _by_turns(loop, variable, number, expr)


def _by_one(
    loop: ir.For,
    variable: LoopVariable,
    number: int,
    expr: Callable[[ir.Expr], str],
    up: bool,
) -> CountedLoop:
    name = variable.name
    counter = name if variable.private else f"{name}_turn_{number}"
    start, stop = expr(loop.start), expr(loop.stop)
    bounds: tuple[str, ...] = ()
    if not _is_settled(loop.stop, loop.target, loop.body):
        bounds = (f"const int64_t {name}_stop_{number} = {stop};",)
        stop = f"{name}_stop_{number}"
    at, end = f"{name}_next_{number}", f"{name}_end_{number}"
    sign, by, block = ("<", "++", "ppy_block_up") if up else (">", "--", "ppy_block_down")
    turns = f"{end} - {at}" if up else f"{at} - {end}"
    return CountedLoop(
        bounds=bounds,
        plain=f"for (int64_t {counter} = {start}; {counter} {sign} {stop}; {counter}{by})",
        blocks=f"for (int64_t {at} = {start}; {at} {sign} {stop};)",
        block_bounds=(
            f"const int64_t {end} = {block}({at}, {stop}, {block_turns(loop)});",
            _charge(turns, turn_weight(loop.body)),
        ),
        inner=f"for (int64_t {counter} = {at}; {counter} {sign} {end}; {counter}{by})",
        block_step=f"{at} = {end};",
        bind=() if variable.private else (f"{name} = {counter};",),
    )


def _by_turns(
    loop: ir.For, variable: LoopVariable, number: int, expr: Callable[[ir.Expr], str]
) -> CountedLoop:
    name = variable.name
    start, step, turns, turn, at, end = (
        f"{name}_{part}_{number}" for part in ("start", "step", "turns", "turn", "next", "end")
    )
    value = f"ppy_range_at({start}, {step}, {turn})"
    bind = f"const int64_t {name} = {value};" if variable.private else f"{name} = {value};"
    return CountedLoop(
        bounds=(
            f"const int64_t {start} = {expr(loop.start)};",
            f"const int64_t {step} = {expr(loop.step)};",
            f"const uint64_t {turns} = ppy_range_length({start}, {expr(loop.stop)}, {step});",
        ),
        plain=f"for (uint64_t {turn} = 0; {turn} < {turns}; {turn}++)",
        blocks=f"for (uint64_t {at} = 0; {at} < {turns};)",
        block_bounds=(
            f"const uint64_t {end} = ppy_block_turns({at}, {turns}, {block_turns(loop)});",
            _charge(f"(int64_t)({end} - {at})", turn_weight(loop.body)),
        ),
        inner=f"for (uint64_t {turn} = {at}; {turn} < {end}; {turn}++)",
        block_step=f"{at} = {end};",
        bind=() if variable.private and not _reads(loop) else (bind,),
    )


def _charge(turns: str, weight: int) -> str:
    if weight == 1:
        return f"PPY_TICK(run, {turns});"
    return f"PPY_TICK(run, ({turns}) * {weight});"


def _reads(loop: ir.For) -> bool:
    """Whether a turn reads the loop's variable."""
    return any(
        loop.target in variables(whole)
        for each in statements(loop.body)
        for whole in own_expressions(each)
    )


def _is_settled(stop: ir.Expr, target: str, body: ir.Block) -> bool:
    """Whether evaluating `stop` at each turn gives what it gave before the loop."""
    match stop:
        case ir.Const() | ir.Length():
            return True
        case ir.Var(name, _):
            return name not in assigned(body) and name != target
        case _:
            return False
