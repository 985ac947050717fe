"""C names for a kernel's parameters and locals: Python's own wherever C allows."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while bool true false asm typeof
"""
_LIBRARY = """
    fabs sqrt copysign nextafter fmod remainder isnan isinf isfinite errno linux unix i386
    signgam signbit fpclassify isnormal isless isgreater islessequal isgreaterequal
    islessgreater isunordered int8_t int32_t int64_t uint8_t uint64_t size_t
"""
_RESERVED = frozenset((_KEYWORDS + _LIBRARY).split())
_OWN = re.compile(
    r"run|made_before|swapped|result(_\d+)?|done_\d+|.*_(start|step|stop|next|end|turn|turns)_\d+"
)
# Macros of system headers, and what belongs to the compiler, the runtime, kernels, wrappers.
_FOREIGN = re.compile(r"[A-Z][A-Z0-9_]{2,}|_[A-Z_].*|ppy_.*|[kw]_.*")


def c_names(names: Iterable[str]) -> dict[str, str]:
    """A different C identifier for each name, in order; deterministic."""
    chosen: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        plain = "".join(
            each
            if each.isascii() and each.isalnum()
            else "_"
            if each in "_."
            else f"u{ord(each):x}"
            for each in name
        )
        if plain in _RESERVED or _OWN.fullmatch(plain):
            plain += "_"
        elif _FOREIGN.fullmatch(plain):
            plain = f"v{plain}" if plain.startswith("_") else f"v_{plain}"
        while plain in used:
            plain += "_"
        used.add(plain)
        chosen[name] = plain
    return chosen
