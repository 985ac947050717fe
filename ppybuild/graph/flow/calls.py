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
    "ppy.grid": "array",
    "bisect.bisect": READS,
    "bisect.bisect_left": READS,
    "bisect.bisect_right": READS,
    "math.fsum": READS,
    "random.Random.choice": READS,
    "random.Random.choices": READS,
    "random.Random.sample": READS,
    "random.Random.shuffle": "permute",
    "math.prod": READS,
    "statistics.mean": READS,
    "statistics.fmean": READS,
    "torch.tensor": "tensor",
}
"""External function → what it does with a positional list argument."""

PRODUCERS = frozenset({"builtins.list", "builtins.sorted"})
"""External functions whose result is a new list of the argument's elements."""

MAKERS = frozenset({"torch.Tensor.tolist"})
"""Library methods whose result is a new list."""

INSPECTORS = frozenset(
    {"ppy.native.compiled", "builtins.callable", "builtins.id", "builtins.isinstance"}
)
"""Functions that look at a function they are given, and do not call it."""

PASS_THROUGH = frozenset({"builtins.enumerate", "builtins.zip"})
"""Calls that yield tuples of their arguments' elements."""

KEEPS_ITEMS = frozenset(
    {*PASS_THROUGH, *PRODUCERS, "builtins.len", "builtins.reversed", "builtins.id",
     "builtins.bool", "builtins.any", "builtins.all"}
)  # fmt: skip
"""Calls after which what the argument holds is still followed, or was not looked at."""

OPENING = frozenset(
    {"builtins.globals", "builtins.locals", "builtins.vars", "builtins.eval", "builtins.exec",
     "builtins.dir", "inspect.currentframe", "sys._getframe"}
)  # fmt: skip
"""Calls that can reach any variable."""

NAMING = frozenset(
    {"builtins.getattr", "builtins.setattr", "builtins.hasattr", "builtins.delattr",
     "operator.attrgetter", "operator.methodcaller"}
)  # fmt: skip
"""Calls that name an attribute by a string."""

METHODS: dict[str, str] = {
    "append": "append",
    "extend": "extend",
    "insert": "append",
    "pop": "remove",
    "remove": "search and remove",
    "reverse": "permute",
    "index": "search",
    "count": "search",
}
"""Methods of list that array.array has as well, with the same meaning; any other is the
use "method"."""

MAPPING_READS = frozenset({"get", "items", "keys", "values"})
"""Methods of dict that change nothing."""

FOLLOWED = frozenset(
    {"index", "store", "iterate", "append", "extend", "len", "truth", "slice", "concatenate",
     "concatenate in place", "repeat", "repeat in place", "permute", "delete", "tuple",
     "identity", "remove", "tensor", "array", "made",
     "made elsewhere", "buffer", "mapping read"}
)  # fmt: skip
"""Uses of a holder that leave what it holds to other uses; any other one reaches it."""

READ_ONLY = frozenset(
    {"index", "iterate", "len", "truth", "slice", "search", "identity", "text", "type test",
     "compare", "tensor", "array", "tuple", "mapping read", "made", "made elsewhere"}
)  # fmt: skip
"""Uses that a `Sequence` or `Mapping` allows, and after which it is what it was."""

TRANSPARENT = frozenset(
    {"pure", "export", "staticmethod", "classmethod", "property", "setter", "getter", "deleter",
     "abstractmethod", "override", "final", "no_grad", "inference_mode", "cached_property"}
)  # fmt: skip
"""Decorators that call the function as its callers do, or only mark it."""
