"""A tensor region in words, as `explain` and `graph` show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppybuild.emit.emission import DescribedRegion


def region_lines(found: DescribedRegion) -> Iterator[str]:
    """One line for each thing that is said."""
    yield f"{heading(found)}, {found.numerics}"
    if found.unfused:
        yield f"  the fused form does not hold {found.unfused}"
    for name, file, line in found.through:
        yield f"  through {name} ({file}:{line})"
    yield f"  operators: {operators(found)}"
    for given in found.inputs:
        yield f"  {given.name}: {given.what}, {given.role}"
    yield "  Python runs it where"
    for guard in found.guards:
        yield f"    {guard}"


def heading(found: DescribedRegion) -> str:
    """The kind, and what it is for: "training step for where `verbose` is False"."""
    return f"{found.kind} for where {found.side}" if found.side else found.kind


def operators(found: DescribedRegion) -> str:
    """`matmul (2), relu`."""
    named = (f"{name} ({n})" if n > 1 else name for name, n in found.operators)
    return ", ".join(named) or "none"
