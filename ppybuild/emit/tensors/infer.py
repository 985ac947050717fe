"""What is known of the types of a node's results: the tables of `meta*.py` together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.emit.tensors import meta
from ppybuild.emit.tensors.ir import Argument, TensorType, Value
from ppybuild.emit.tensors.meta import UNKNOWN, Call, Results
from ppybuild.emit.tensors.meta_layers import LAYERS
from ppybuild.emit.tensors.meta_views import VIEWS

RULES: Mapping[str, Callable[[Call], Results]] = {**meta.RULES, **VIEWS, **LAYERS}

if len(RULES) != len(meta.RULES) + len(VIEWS) + len(LAYERS):
    raise AssertionError("an operator has two types")


def infer_types(
    op: str, args: tuple[Argument, ...], types: Mapping[Value, TensorType]
) -> Results:
    """The types of the results of `op`, as far as they are known."""
    rule = RULES.get(op)
    return rule(Call(args, types)) if rule is not None else (UNKNOWN,)
