"""What lowering to the fused form must tell apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

from graphs import tensor_type, trace  # noqa: E402

from ppybuild.emit.tensors.fused.ir import Element  # noqa: E402
from ppybuild.emit.tensors.fused.lower import lower  # noqa: E402


def test_a_literal_is_no_operation_of_that_number() -> None:
    def products(ops: Any, x: Any, y: Any) -> Any:
        error = ops("sub.Tensor", x, y)  # operation 2
        return ops("mul.Tensor", error, error), ops("mul.Scalar", error, 2.0)

    kind = tensor_type("float32", "n", 3)
    program = lower(trace(products, x=kind, y=kind), "n")
    found = [o.operands for o in program.operations if isinstance(o, Element)]
    assert [tuple(map(type, operands)) for operands in found[-2:]] == [(int, int), (int, float)]
