__all__ = ["path"]


def path(one: int) -> int:
    return one


def length() -> int:
    return 0
