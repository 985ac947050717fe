"""How large an int can be, read off the expression that computes it.

Only what is certain counts, with one exception that no machine can refute: a number that
grows by at most 2**10 at a time from a small one does not pass 2**62.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping

from ppybuild.graph.lattice import base_scalar, members_of
from ppybuild.graph.program import Facts
from ppybuild.graph.types import (
    BOOL,
    BYTES,
    INT,
    STR,
    Array,
    Buffer,
    Collection,
    Dictionary,
    Literal,
    Tuple,
)

FITS = 62
"""Bits of magnitude that leave room in 64-bit arithmetic."""
COUNTED = 54
"""Bits that a counter cannot pass in any running time."""
STEP = 10
"""Bits of an increment that keeps a counter a counter."""

Known = Callable[[ast.expr], int | None]
Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def bits(facts: Facts, node: ast.expr, known: Known) -> int | None:
    """An upper bound on the bits of the value's magnitude; None where there is none.

    `known` answers for the leaves that only the caller can judge.
    """
    answer = known(node)
    if answer is not None:
        return answer
    constant = _constant(facts, node)
    if constant is not None:
        return constant.bit_length()
    match node:
        case ast.Compare():
            return 1
        case ast.UnaryOp(ast.USub() | ast.UAdd() | ast.Invert()):
            inner = bits(facts, node.operand, known)
            return None if inner is None else inner + 1
        case ast.UnaryOp():
            return 1
        case ast.IfExp():
            return _largest([bits(facts, side, known) for side in (node.body, node.orelse)])
        case ast.BinOp():
            return _operation(facts, node, known)
        case ast.Call():
            return _call(facts, node, known)
    return None


def _largest(found: list[int | None]) -> int | None:
    sizes = [size for size in found if size is not None]
    return max(sizes, default=0) if len(sizes) == len(found) else None


def _operation(facts: Facts, node: ast.BinOp, known: Known) -> int | None:
    if not (_is_int(facts, node.left) and _is_int(facts, node.right)):
        return None
    left, right = bits(facts, node.left, known), bits(facts, node.right, known)
    match node.op:
        case ast.Mod():
            return right
        case ast.BitAnd():
            return _masked(facts, node, left, right)
        case ast.FloorDiv():
            return None if left is None else left + 1
        case ast.RShift():
            return left
        case ast.LShift():
            places = _constant(facts, node.right)
            return None if left is None or places is None else left + max(places, 0)
    if left is None or right is None:
        return None
    match node.op:
        case ast.Add() | ast.Sub() | ast.BitOr() | ast.BitXor():
            return max(left, right) + 1
        case ast.Mult():
            return left + right
    return None


def _is_int(facts: Facts, node: ast.expr) -> bool:
    """A class's own operator gives whatever it likes."""
    found = facts.types.get(node)
    return found is not None and all(
        base_scalar(member) in (INT, BOOL) for member in members_of(found)
    )


def _masked(facts: Facts, node: ast.BinOp, left: int | None, right: int | None) -> int | None:
    """Bits of `left & right`: those of a mask that is not negative, whatever is masked."""
    masks = [
        size
        for side, size in ((node.left, left), (node.right, right))
        if size is not None and (_constant(facts, side) or 0) > 0
    ]
    if masks:
        return min(masks)
    return None if left is None or right is None else max(left, right) + 1


def _constant(facts: Facts, node: ast.expr) -> int | None:
    """The int that this is in every run."""
    found = node.value if isinstance(node, ast.Constant) else facts.constants.get(node)
    return int(found) if isinstance(found, int) else None


def _takes_memory(facts: Facts, node: ast.expr) -> bool:
    """Whether each item of it lies somewhere: not so of a range, nor of what a class says."""
    found = facts.types.get(node)
    if isinstance(found, Collection):
        return found.kind in ("list", "tuple", "set", "frozenset")
    if isinstance(found, Tuple | Dictionary | Array | Buffer):
        return True
    return found is not None and base_scalar(found) in (STR, BYTES)


def _call(facts: Facts, node: ast.Call, known: Known) -> int | None:
    callee = facts.callees.get(node)
    name = callee.name if callee else ""
    if name == "builtins.len":
        return COUNTED if node.args and _takes_memory(facts, node.args[0]) else None
    if name == "builtins.ord":
        return 21
    if name == "builtins.abs" and len(node.args) == 1:
        return bits(facts, node.args[0], known)
    bounded = ("builtins.min", "builtins.max", "random.randint", "random.randrange")
    if name in bounded and len(node.args) > 1 and not node.keywords:
        return _largest([bits(facts, argument, known) for argument in node.args])
    return None


def grows_slowly(facts: Facts, node: ast.AugAssign, known: Known) -> bool:
    """Whether `x op= value` keeps a small `x` below 2**62."""
    size = bits(facts, node.value, known)
    match node.op:
        case ast.FloorDiv() | ast.RShift():
            return True
        case ast.Mod() | ast.BitAnd() | ast.BitOr() | ast.BitXor():
            return size is not None and size <= FITS
        case ast.Add() | ast.Sub():
            return size is not None and size <= STEP
    return False


def counters(facts: Facts, module: str) -> dict[str, int]:
    """Bits of names that, wherever the module binds them, are bound to something small.

    That is as targets of `for x in range(...)` with a small start and step, or over
    `enumerate`; and in functions by `x = ...`, and by `x += ...` of a little. Nobody else can
    bind a function's local.
    """
    tree = facts.program.modules[module].tree
    sizes: dict[str, int] = {}
    bound: Counter[str] = Counter()
    for node in ast.walk(tree):
        bound.update(_bound_in(node))
        if isinstance(node, ast.For | ast.comprehension):
            name, size = _counted(facts, node)
            if name is not None and size is not None:
                sizes[name] = max(sizes.get(name, 0), size)
                bound[name] -= 1
    assigned = _assigned(tree)
    for name, nodes in assigned.items():
        bound[name] -= len(nodes)
    settled = {name: size for name, size in sizes.items() if bound[name] == 0}
    waiting = {name: nodes for name, nodes in assigned.items() if bound[name] == 0}
    settled = {name: size for name, size in settled.items() if name not in waiting}
    return _settle(facts, settled, waiting, sizes)


def _assigned(tree: ast.Module) -> dict[str, list[Assignment]]:
    """The assignments to each name, where they are in functions and bind nothing else."""
    found: dict[str, list[Assignment]] = {}
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, local = pending.pop()
        local = isinstance(node, functions) or (local and not isinstance(node, ast.ClassDef))
        pending.extend((child, local) for child in ast.iter_child_nodes(node))
        if not local or not isinstance(node, Assignment) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            found.setdefault(targets[0].id, []).append(node)
    return found


def _settle(
    facts: Facts,
    settled: dict[str, int],
    waiting: dict[str, list[Assignment]],
    looped: Mapping[str, int],
) -> dict[str, int]:
    """Add the names whose every assignment is of something settled: no name grows by itself,
    but for `+=`."""

    def known(node: ast.expr) -> int | None:
        return settled.get(node.id) if isinstance(node, ast.Name) else None

    fresh = True
    while fresh:
        fresh = False
        for name in [name for name in waiting if name not in settled]:
            first = [_after(facts, node, known) for node in waiting[name]
                     if not isinstance(node, ast.AugAssign)]  # fmt: skip
            grown = [_after(facts, node, known) for node in waiting[name]
                     if isinstance(node, ast.AugAssign)]  # fmt: skip
            start = _largest([*first, looped.get(name, 0)])
            size = _largest([start, *grown])
            if start is None or size is None:
                continue
            if size <= FITS and (not grown or start <= COUNTED):
                settled[name] = size
                fresh = True
    return settled


def _after(facts: Facts, node: Assignment, known: Known) -> int | None:
    """Bits of a name after an assignment to it, where it is small before."""
    if not isinstance(node, ast.AugAssign):
        value = node.value
        return bits(facts, value, known) if value and _is_int(facts, value) else None
    if not (_is_int(facts, node.target) and _is_int(facts, node.value)):
        return None
    size = bits(facts, node.value, known)
    match node.op:
        case ast.Add() | ast.Sub() if size is not None and size <= STEP:
            return min(COUNTED + max(size - 1, 0), FITS)
        case ast.Mod():
            return size
    return None


def _bound_in(node: ast.AST) -> list[str]:
    """Names that a node binds, by itself."""
    match node:
        case ast.Name(ctx=ast.Store()):
            return [node.id]
        case ast.arg():
            return [node.arg]
        case ast.alias():
            return [(node.asname or node.name).partition(".")[0]]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler():
            return [node.name] if node.name else []
        case ast.MatchMapping():
            return [node.rest] if node.rest else []
        case ast.Global() | ast.Nonlocal():
            return node.names
    return []


def _counted(facts: Facts, node: ast.For | ast.comprehension) -> tuple[str | None, int | None]:
    """The counter of a loop, and its bits."""
    source, target = node.iter, node.target
    callee = facts.callees.get(source) if isinstance(source, ast.Call) else None
    if (
        callee is not None
        and callee.name == "builtins.enumerate"
        and isinstance(source, ast.Call)
        and len(source.args) == 1
        and not source.keywords
        and isinstance(target, ast.Tuple)
        and isinstance(target.elts[0], ast.Name)
    ):
        return target.elts[0].id, COUNTED
    return (
        (target.id, range_bits(facts, source)) if isinstance(target, ast.Name) else (None, None)
    )


def range_bits(facts: Facts, source: ast.AST) -> int | None:
    """Bits of what `range(...)` gives: those of its ends, or what can be counted to from a
    small start by small steps. None where that is not known, or it is no range."""
    callee = facts.callees.get(source) if isinstance(source, ast.Call) else None
    if callee is None or callee.name != "builtins.range" or not isinstance(source, ast.Call):
        return None
    if source.keywords or not source.args:
        return None
    ends = [_constant_bits(facts, found) for found in source.args[:2]]
    if all(size is not None for size in ends):
        return _largest(ends)
    start = ends[0] if len(source.args) > 1 else 0
    step = _constant_bits(facts, source.args[2]) if len(source.args) > 2 else 0
    if start is None or step is None or start >= COUNTED or step > STEP:
        return None
    return COUNTED


def _constant_bits(facts: Facts, node: ast.expr) -> int | None:
    """Bits of a number that is known, by itself or as the same for every call."""
    found = facts.types.get(node)
    if isinstance(found, Literal) and found.values:
        values = [value for value in found.values if isinstance(value, int)]
        return max(value.bit_length() for value in values) if values else None
    return bits(facts, node, lambda _: None)
