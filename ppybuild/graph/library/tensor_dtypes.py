"""Dtypes of results, by torch's type promotion.

Source: "Tensor Attributes: torch.dtype" of torch's documentation; held against
`torch.result_type` by the tests.
"""

from __future__ import annotations

from ppybuild.graph.lattice import base_scalar
from ppybuild.graph.types import BOOL, COMPLEX, FLOAT, INT, Tensor, Type

CATEGORY = {
    "bool": 0,
    "uint8": 1,
    "int8": 1,
    "int16": 1,
    "int32": 1,
    "int64": 1,
    "float16": 2,
    "bfloat16": 2,
    "float32": 2,
    "float64": 2,
    "complex64": 3,
    "complex128": 3,
}
"""bool, integers, floating point, complex: a higher category decides."""
ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
"""Second names of dtypes: `torch.float` is `torch.float32`."""
ORDER = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
SCALAR_CATEGORY = {BOOL: 0, INT: 1, FLOAT: 2, COMPLEX: 3}


def dtype_named(name: str | None) -> str | None:
    """The dtype that a module variable is: "float32" for `torch.float`."""
    if name is None or not name.startswith("torch."):
        return None
    short = name.removeprefix("torch.")
    short = ALIASES.get(short, short)
    return short if short in CATEGORY else None


def scalar_category(kind: Type) -> int | None:
    base = base_scalar(kind)
    return None if base is None else SCALAR_CATEGORY.get(base)


def promote_pair(left: str, right: str) -> str | None:
    """The dtype that two tensors of equal standing are computed in."""
    if left == right:
        return left
    low, high = sorted((left, right), key=ORDER.index)
    if CATEGORY[low] != CATEGORY[high]:
        if CATEGORY[high] == 3 and CATEGORY[low] == 2:
            return "complex128" if "float64" in (low, high) else high
        return high
    if {low, high} == {"float16", "bfloat16"}:
        return "float32"
    if low == "uint8":
        return "int16" if high == "int8" else high
    return high


def promote(operands: list[Type], default: str | None) -> str | None:
    """The dtype of an elementwise result; None where an operand does not tell.

    A tensor without dimensions, and a number, only count where their category is higher.
    """
    tensors = [kind for kind in operands if isinstance(kind, Tensor)]
    dtypes = [tensor.dtype for tensor in tensors]
    known = [dtype for dtype in dtypes if dtype in CATEGORY]
    if len(known) < len(tensors) or not known:
        return None
    numbers = [scalar_category(kind) for kind in operands if not isinstance(kind, Tensor)]
    if None in numbers:
        return None
    if len(set(known)) > 1 and any(tensor.shape is None for tensor in tensors):
        return None
    shaped = [t.dtype for t in tensors if t.shape != () and t.dtype is not None]
    result = join_dtypes(shaped)
    unshaped = [t.dtype for t in tensors if t.shape == () and t.dtype is not None]
    loose = join_dtypes(unshaped)
    if loose is not None and (result is None or CATEGORY[loose] > CATEGORY[result]):
        result = loose if result is None or CATEGORY[result] < 2 else None
    highest = max((number for number in numbers if number is not None), default=0)
    if result is None or highest <= CATEGORY[result]:
        return result
    if highest == 1:
        return "int64"
    if highest == 2:
        return default
    return {"float64": "complex128"}.get(result)


def join_dtypes(dtypes: list[str]) -> str | None:
    result: str | None = None
    for dtype in dtypes:
        result = dtype if result is None else promote_pair(result, dtype)
        if result is None:
            return None
    return result


def floating(dtype: str | None, default: str | None) -> str | None:
    """The dtype of a function whose results are not whole numbers."""
    if dtype is None or dtype not in CATEGORY:
        return None
    return dtype if CATEGORY[dtype] >= 2 else default


def summed(dtype: str | None) -> str | None:
    """The dtype of a sum, product or cumulative sum."""
    if dtype is None or dtype not in CATEGORY:
        return None
    return dtype if CATEGORY[dtype] >= 2 else "int64"
