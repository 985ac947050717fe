"""What works element by element: the C of each, over vectors named {0}, {1}, ..."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

ELEMENTS: Mapping[str, str] = {
    "copy": "{0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "abs": "ppy_abs({0})",
    "sgn": "ppy_sign({0})",
    "exp": "ppy_exp({0})",
    "expm1": "ppy_expm1({0})",
    "log": "ppy_log({0})",
    "log1p": "ppy_log1p({0})",
    "sqrt": "ppy_sqrt({0})",
    "tanh": "ppy_tanh({0})",
    "sigmoid": "ppy_sigmoid({0})",
    "erf": "ppy_erf({0}, {1})",
    "pow": "ppy_pow({0}, {1})",
    "floor": "ppy_floor({0})",
    "max": "ppy_max({0}, {1})",
    "min": "ppy_min({0}, {1})",
    "at_least": "ppy_select({1} >= {0}, {1}, {0})",
    "at_most": "ppy_select({1} <= {0}, {1}, {0})",
    "eq": "ppy_truth({0} == {1})",
    "ne": "ppy_truth({0} != {1})",
    "lt": "ppy_truth({0} < {1})",
    "le": "ppy_truth({0} <= {1})",
    "gt": "ppy_truth({0} > {1})",
    "ge": "ppy_truth({0} >= {1})",
    "where": "ppy_select({0} != ppy_set(0), {1}, {2})",
    "where_le": "ppy_select({0} <= {1}, {2}, {3})",
    "where_gt": "ppy_select({0} > {1}, {2}, {3})",
    "where_eq": "ppy_select({0} == {1}, {2}, {3})",
}

_FOLD: Mapping[str, Callable[..., float]] = {
    "copy": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
    "div": lambda a, b: (
        a / b if b else math.nan if not a or a != a else math.copysign(math.inf, a)
    ),
}


def fold(name: str, values: tuple[float, ...]) -> float | None:
    """The result where every operand is a literal and the operation is simple."""
    rule = _FOLD.get(name)
    return rule(*values) if rule is not None else None


def simplify(name: str, values: tuple[int | float, ...]) -> int | float | None:
    """The operand that the result equals, if it does for every value."""
    if name == "copy" and isinstance(values[0], int):
        return values[0]
    if name in ("mul", "div") and isinstance(values[1], float) and values[1] == 1.0:
        return values[0]
    if name == "mul" and isinstance(values[0], float) and values[0] == 1.0:
        return values[1]
    if name == "add" and isinstance(values[1], float) and values[1] == 0.0:
        return values[0]
    return None
