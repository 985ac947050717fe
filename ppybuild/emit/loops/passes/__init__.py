"""The passes over the loop IR, in order: one pass per file, named like it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.loops.ir import Function
from ppybuild.emit.loops.passes import (
    dead,
    eliminate,
    inline,
    jam,
    reuse,
    save,
    strength,
    version,
)

FunctionPass = Callable[[Function], Function]

PIPELINE: tuple[FunctionPass, ...] = (
    reuse.run,
    dead.run,
    eliminate.run,
    version.run,
    strength.run,
    jam.run,
    reuse.run,
    dead.run,
    inline.run,
)
"""Each looks at one function alone. `save` comes last, and sees the calls between them."""


def optimise(functions: Mapping[str, Function]) -> Mapping[str, Function]:
    """The functions with every pass applied, ready to be printed; they must be all of the
    program's native functions, so that a call's callee is among them."""
    return save.run({name: optimise_one(one) for name, one in functions.items()})


def optimise_one(function: Function) -> Function:
    for apply in PIPELINE:
        function = apply(function)
    return function
