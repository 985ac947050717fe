"""Leave out the checks that cannot fail.

    for i in range(0, len(a), 1):          for i in range(0, len(a), 1):
        check at = index(i, len(a))   →        at = i
        total = a[at]                          total = a[at]

Keeps: values, order of evaluation, every failure that can happen. Needs: ranges.
Guards: those are removed that always hold.
"""

from __future__ import annotations

from dataclasses import replace

from ppybuild.emit.loops.ir import Function
from ppybuild.emit.loops.passes.known import Atoms, Prover
from ppybuild.emit.loops.passes.ranges import Interpreter, Loop


def run(function: Function) -> Function:
    interpreter = Interpreter(function, Prover(Atoms()))
    body, _ = interpreter.block(function.body, interpreter.entry(), Loop())
    return replace(function, body=body)
