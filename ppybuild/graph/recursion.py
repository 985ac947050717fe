"""Room for recursion over expressions: CPython compiles some that are thousands deep."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

MAX_RECURSION = 12_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raises the interpreter's limit; frames of Python functions do not use the C stack."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, MAX_RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
