from .longest import path as kept

__all__ = ["length", "path"]


def path(values: list[int], start: int) -> int:
    return values[0] + start + kept(1)


def length(a: int, b: int, c: int) -> int:
    return a + b + c
