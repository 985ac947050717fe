"""What is native of an entry."""

from __future__ import annotations

from ppybuild.emit.driver import emit
from ppybuild.emit.emission import Emission
from ppybuild.graph.program import Facts
from ppybuild.manifest import Entry
from ppybuild.targets.modules import entry_modules


def emit_entry(facts: Facts, entry: Entry, main: str, device: str) -> Emission:
    """The emission of everything that running `main` may import, with the entry's options."""
    modules = tuple(entry_modules(facts.program, main))
    return emit(facts, modules, fp=entry.fp, numerics=entry.numerics, cuda=device == "cuda")
