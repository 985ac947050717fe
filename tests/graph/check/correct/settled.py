"""Optional values that something else than a plain test settles."""

from __future__ import annotations

import re
from typing import Literal, Match, Optional, Pattern, TypeGuard, Union, overload

NAMES = {"a": 1}
KINDS = (int, float)


def in_table(name: str | None) -> str:
    if name in NAMES:
        return name.upper()
    if name not in ("b",):
        return ""
    return name + "!"


def is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def guarded(a: str | None, b: str | None) -> str:
    if not is_text(a) or not is_text(b):
        return ""
    return a + b


def called(func: Optional[type] = None) -> object:
    if not callable(func):
        return None
    return func()


def several(a: int | None, b: int | None) -> int:
    if a is None and b is None:
        return 0
    if a is None:
        return b + 1
    return a + 1


def kept(a: int | None) -> int:
    missing = a is None
    if not missing:
        return a + 1
    return 0


def flagged(a: int | None, wanted: bool) -> int:
    if wanted:
        return a + 1
    return 0


def marked(a: int | None) -> int:
    mode = "none" if a is None else "some"
    if mode == "some":
        return a + 1
    return 0


def by_value(a: str | None, kind: Union[int, None]) -> int:
    if a == "x":
        return len(a.upper())
    if isinstance(kind, KINDS):
        return kind + 1
    return 0


def text(timeout: int | None = None) -> str:
    return "after %r" % timeout


class Cache:
    @overload
    def get(self, key: str, needed: Literal[True]) -> list[int]: ...
    @overload
    def get(self, key: str) -> list[int] | None: ...
    def get(self, key: str, needed: bool = False) -> list[int] | None:
        return [len(key)] if key or needed else None

    def first(self) -> int:
        return self.get("abc", needed=True)[0]


_pattern = None


def pattern() -> Pattern[str]:
    global _pattern
    if _pattern is None:
        _pattern = re.compile("a+")
    return _pattern


def match(word: str) -> Optional[Match[str]]:
    return pattern().match(word)


class Money:
    def __radd__(self, other: int | None) -> int:
        return other or 0


def own(other: int | None) -> int:
    return other + Money()


if __name__ == "__main__":
    print(in_table("a"), in_table("b"), guarded("a", None), called(int), called())
    print(several(None, 1), kept(1), flagged(1, wanted=True), marked(2), by_value("x", 1))
    print(text(), Cache().first(), match("aab"), own(None))
