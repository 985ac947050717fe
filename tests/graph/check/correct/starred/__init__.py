"""Names that star imports bring: what `__all__` says, and the last one that has it."""

from .longest import *
from .paths import *


def use() -> int:
    return path([1], 2) + length(1, 2, 3)
