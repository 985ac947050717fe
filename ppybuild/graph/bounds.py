"""How large an int can be, read off the expression that computes it.

Only what is certain counts, with one exception that no machine can refute: a number that
grows by at most 2**10 at a time from a small one does not pass 2**62.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

from ppybuild.graph.lattice import base_scalar
from ppybuild.graph.program import Facts
from ppybuild.graph.types import (
    BYTES,
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


def bits(facts: Facts, node: ast.expr, known: Known) -> int | None:
    """An upper bound on the bits of the value's magnitude; None where there is none.

    `known` answers for the leaves that only the caller can judge.
    """
    answer = known(node)
    if answer is not None:
        return answer
    constant = facts.constants.get(node)
    if isinstance(node, ast.Constant):
        constant = node.value if isinstance(node.value, int) else None
    if isinstance(constant, int):
        return int(constant).bit_length()
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
    left, right = bits(facts, node.left, known), bits(facts, node.right, known)
    match node.op:
        case ast.Mod():
            return right
        case ast.BitAnd() if isinstance(node.right, ast.Constant) and right is not None:
            return right if int(node.right.value) >= 0 else left  # type: ignore[arg-type]
        case ast.FloorDiv():
            return None if left is None else left + 1
        case ast.RShift():
            return left
    if left is None or right is None:
        return None
    match node.op:
        case ast.Add() | ast.Sub():
            return max(left, right) + 1
        case ast.Mult():
            return left + right
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            return max(left, right) + 1
        case ast.LShift() if isinstance(node.right, ast.Constant):
            return left + int(node.right.value)  # type: ignore[arg-type]
    return None


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
    """Bits of the names that, in the whole module, only count: bound as the targets of
    `for x in range(...)` with a small start and step, or over `enumerate`, and never else."""
    sizes: dict[str, int] = {}
    bound: Counter[str] = Counter()
    for node in ast.walk(facts.program.modules[module].tree):
        bound.update(_bound_in(node))
        if isinstance(node, ast.For | ast.comprehension):
            name, size = _counted(facts, node)
            if name is not None and size is not None:
                sizes[name] = max(sizes.get(name, 0), size)
                bound[name] -= 1
    return {name: size for name, size in sizes.items() if bound[name] == 0}


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
