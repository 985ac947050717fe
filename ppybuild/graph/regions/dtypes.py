"""Names of torch that are values: dtypes, layouts, memory formats."""

from __future__ import annotations

DTYPES = {
    "float32": "float32",
    "float": "float32",
    "float64": "float64",
    "double": "float64",
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "short": "int16",
    "int32": "int32",
    "int": "int32",
    "int64": "int64",
    "long": "int64",
    "bool": "bool",
    "complex64": "complex64",
    "cfloat": "complex64",
    "complex128": "complex128",
    "cdouble": "complex128",
}
"""Attributes of `torch` that are dtypes, and the dtype's first name."""

CASTS = {
    name: DTYPES[name]
    for name in ("float", "double", "half", "bfloat16", "int", "long", "bool")
} | {"short": "int16", "char": "int8", "byte": "uint8"}
"""Methods of `Tensor` written by hand in the bindings: `x.double()` is `x.to(float64)`."""

LAYOUTS = frozenset({"strided"})
MEMORY_FORMATS = frozenset({"contiguous_format", "preserve_format", "channels_last"})
