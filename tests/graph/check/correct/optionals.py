"""Optional values, narrowed in every way that Python programs do it."""

from __future__ import annotations

import os
import re


def early(x: int | None) -> int:
    if x is None:
        return 0
    return x + 1


def default(x: int | None = None) -> int:
    x = 3 if x is None else x
    return x + 1


def either(x: str | None) -> str:
    return (x or "").upper()


def both(x: str | None) -> bool:
    return x is not None and x.startswith("a")


def raises(x: list[int] | None) -> int:
    if not x:
        raise ValueError("empty")
    return x[0]


def loops(xs: list[int | None]) -> int:
    total = 0
    for x in xs:
        if x is None:
            continue
        total += x
    return total


def isinstance_test(x: int | str | None) -> int:
    if isinstance(x, str):
        return len(x)
    if isinstance(x, int):
        return x + 1
    return 0


def library() -> str:
    found = re.match("a", "abc")
    home = os.environ.get("HOME", "")
    return home + (found.group() if found else "")


def while_loop(node: list[int] | None) -> int:
    count = 0
    while node is not None:
        count += len(node)
        node = None
    return count


class Cache:
    def __init__(self) -> None:
        self.value = None

    def fill(self) -> None:
        self.value = [1, 2]

    def first(self) -> int:
        return self.value[0]


if __name__ == "__main__":
    print(early(None), default(), either(None), both("a"), loops([1, None]), library())

Sizes = tuple[int, ...] | None
Names = None | list[str]
print(Sizes, Names)


def turned(*values) -> tuple[int]:
    return tuple(value + 1 for value in values)


def unpacked():
    low, high = turned(1, 2)
    head = (1, *turned(2))
    first, second = head
    third, fourth = 1, *turned(2)
    return low + high + first + second + third + fourth


print(unpacked())
