"""What library calls do with the lists that are passed to them.

A use of a list by a call that no row describes is `escape`.
"""

from __future__ import annotations

READS = "iterate"

ARGUMENTS: dict[str, str] = {
    "builtins.len": "len",
    "builtins.sum": READS,
    "builtins.min": READS,
    "builtins.max": READS,
    "builtins.any": READS,
    "builtins.all": READS,
    "builtins.enumerate": READS,
    "builtins.reversed": READS,
    "builtins.zip": READS,
    "builtins.sorted": READS,
    "builtins.list": READS,
    "builtins.tuple": READS,
    "builtins.set": READS,
    "builtins.frozenset": READS,
    "builtins.iter": READS,
    "builtins.map": READS,
    "builtins.filter": READS,
    "builtins.bool": "truth",
    "builtins.id": "identity",
    "builtins.print": "text",
    "builtins.str": "text",
    "builtins.repr": "text",
    "builtins.format": "text",
    "builtins.isinstance": "type test",
    "builtins.type": "type test",
    "array.array": "array",
    "math.fsum": READS,
    "math.prod": READS,
    "statistics.mean": READS,
    "statistics.fmean": READS,
    "torch.tensor": "tensor",
    "torch.as_tensor": "tensor",
}
"""External function → what it does with a positional list argument."""

PRODUCERS = frozenset({"builtins.list", "builtins.sorted"})
"""External functions whose result is a new list of the argument's elements."""

MAKERS = frozenset({"torch.Tensor.tolist"})
"""Library methods whose result is a new list."""

INSPECTORS = frozenset(
    {
        "ppy.native.compiled",
        "builtins.callable",
        "builtins.getattr",
        "builtins.hasattr",
        "builtins.id",
        "builtins.isinstance",
    }
)
"""Functions that look at a function they are given, and do not call it."""

PASS_THROUGH = frozenset({"builtins.enumerate", "builtins.zip"})
"""Calls that yield tuples of their arguments' elements."""

METHODS: dict[str, str] = {
    "append": "append",
    "extend": "extend",
    "insert": "append",
    "pop": "remove",
    "remove": "remove",
    "reverse": "permute",
    "index": "search",
    "count": "search",
}
"""Methods of list that array.array has as well, with the same meaning; any other is the
use "method"."""

MUTATIONS = frozenset(
    {"append", "extend", "remove", "permute", "store", "method", "delete", "escape"}
)
"""Uses after which the list may not be what it was."""
