"""One kernel in several forms, of which the compiler takes the one for its target."""

from __future__ import annotations

from ppybuild.emit.tensors.fused.plan import Plan
from ppybuild.emit.tensors.fused.printer import emit_fused
from ppybuild.emit.tensors.fused.target import WIDTHS


def emit_variants(plan: Plan, name: str, file: str) -> dict[str, str]:
    """The texts of what `FILE.c`, which has the function `name`, includes, and of that."""
    chosen: list[str] = []
    files: dict[str, str] = {}
    for place, (width, macro) in enumerate(WIDTHS):
        header = f"{file}{width * 8}.h"
        files[header] = emit_fused(plan, name, width)
        test = "#else" if macro is None else f"#{'el' if place else ''}if defined({macro})"
        chosen += [test, f'#include "{header}"']
    return {**files, f"{file}.c": "\n".join([*chosen, "#endif", ""])}
