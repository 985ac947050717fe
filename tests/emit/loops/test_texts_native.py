"""Text and bytes as parameters, natively and under CPython."""

from __future__ import annotations

import itertools
from array import array
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential import FLAGS, Built, build, differences
from tests.emit.loops.native import SANITIZED, SANITIZERS

SOURCE = """
VOWELS = "aeiou"
QUOTED = "\\"\\\\?\\n'"


def at(text: str, i: int) -> int:
    return ord(text[i])


def folded(text: str) -> int:
    total = len(text)
    for ch in text:
        total = (total * 31 + ord(ch)) % 1000003
    return total


def whiled(text: str) -> int:
    total, i = 0, 0
    while i < len(text):
        if text[i] == "\\u0101" or text[i] == "x":
            total += i
        i += 1
    return total if text else -1


def compared(a: str, b: str) -> tuple[bool, bool, bool, bool, bool, bool]:
    return a == b, a != b, a < b, a <= b, a > b, a >= b


def parts(a: str, b: str, i: int, j: int) -> tuple[bool, bool, bool, bool]:
    return a[i:j] == b[i:j], a[i:] < b[:j], a[i:j] == "ab", a[j:] != "x"


def characters(a: str, b: str, i: int) -> tuple[bool, bool, bool, bool]:
    between = "a" <= b[i] <= "z" < "\\U0001f600"
    return a[i] == b[i], a[i] < b[i], a[i] >= "m" or a[i] != "é", between


def whole(a: str) -> tuple[bool, bool, bool, bool]:
    return a == "", a == "x", "abc" == a, a != "a\\U0001f600"


def within(text: str, other: str, i: int) -> tuple[bool, bool, bool, bool, bool]:
    ch = text[i]
    among = ch in ("x", "ab", "\\u0101")
    return ch in other, ch not in "abcxyz\\u0101", "x" in text, among, ch in ""


def constants(text: str) -> tuple[int, int]:
    vowels = quoted = 0
    for ch in text:
        if ch in VOWELS:
            vowels += 1
        if ch not in QUOTED:
            quoted += 1
    return vowels, quoted


def kinds(text: str, i: int) -> tuple[bool, bool, bool, bool, bool, bool, bool, bool]:
    ch = text[i]
    return (
        ch.isalpha(), ch.isdigit(), ch.isdecimal(), ch.isnumeric(), ch.isalnum(), ch.isspace(),
        ch.isupper(), ch.islower(),
    )


def cases(text: str, i: int) -> tuple[int, int]:
    return ord(text[i].lower()), ord(text[i].upper())


def digits(text: str) -> int:
    value = 0
    for ch in text:
        value = value * 10 + int(ch)
    return value


def made_of(n: int) -> bool:
    return chr(n).isalpha() and chr(n) != "x"


def ends(text: str) -> tuple[bool, bool, bool, bool]:
    rest = text[1:]
    return text.startswith("ab"), text.endswith("x"), rest.endswith(""), text.startswith("é")


def chosen(text: str, flag: bool) -> int:
    ch = "a" if flag else "b"
    last = "?"
    n = 0
    for each in text:
        if each == ch and last != each:
            n += 1
        last = each
    return n + (2 if last in "?!" else 0) + len(last) + len("abc")


def shrinking(text: str) -> int:
    n = 0
    rest = text[:]
    while rest:
        n = n * 3 + ord(rest[-1]) + len(rest)
        rest = rest[2:]
    return n


def reverse(text: str) -> list[int]:
    return [ord(ch) for ch in reversed(text)]


def paired(a: str, b: str) -> int:
    return sum([i for i, (x, y) in enumerate(zip(a, b)) if x != y])


def called(a: str, i: int) -> int:
    return at(a[i:], 0) + at(a, i) + folded(a[:i])


def stored(text: str, out: Buffer[int]) -> int:
    rest = text[1:]
    for i in range(len(out)):
        out[i] = ord(rest[i])
    return len(rest)


def crc(data: bytes, i: int, j: int) -> int:
    value = 0
    for byte in data[i:j]:
        value = (value >> 1) ^ byte if byte in (1, 7, 255) else value * 3 % 65521 + byte
    return value


def ended(data: bytes, i: int) -> tuple[int, int, int]:
    return data[i], len(data), sum(data[i:]) if data else -1


def kept(data: bytes, out: Buffer[u8]) -> int:
    part = data[1:]
    for i in range(len(out)):
        out[i] = part[i]
    return max(part)
"""
NAMES = [line[4 : line.index("(")] for line in SOURCE.splitlines() if line.startswith("def ")]
LETTERS = "abxyzAZ09 \t\n\"\\?'éß²½٣İŉǅ\u0101\u2028\ud800\U0001f600\U0001d7d9\x00\x1c\x85\xff"
PLACES = (-(2**63), -3, -1, 0, 1, 2, 5, 2**63 - 1)
SEVERAL = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
TEXTS = st.text(st.sampled_from(LETTERS), max_size=6) | st.text(max_size=6)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    flags = (*FLAGS, *SANITIZERS) if SANITIZED else FLAGS
    folder: Path = tmp_path_factory.mktemp("texts")
    found = build("from ppy import Buffer, u8\n" + SOURCE, folder, flags)
    assert found.remarks == ()
    assert found.bound == set(NAMES)
    return found


def check(built: Built, calls: dict[str, list[list[object]]]) -> None:
    for name, inputs in calls.items():
        assert differences(built, name, inputs) == [], name


@SEVERAL
@given(TEXTS, TEXTS, st.sampled_from(PLACES), st.sampled_from(PLACES))
def test_texts(built: Built, a: str, b: str, i: int, j: int) -> None:
    both = [[a, b], [a, a], [a, a + b], [a[:-1] + "\u0101", a]]
    calls: dict[str, list[list[object]]] = {
        "at": [[a, i], [b, j]],
        "compared": [*both],
        "parts": [[one, other, i, j] for one, other in both],
        "characters": [[one, other, 0] for one, other in both] + [[a, b, i]],
        "within": [[one, other, -1] for one, other in both] + [[a, b, i]],
        "kinds": [[a, i], [b, 0]],
        "cases": [[a, i], [b, 0]],
        "digits": [[a], ["0" + b], ["12"]],
        "chosen": [[a, True], [b, False]],
        "paired": [*both],
        "called": [[a, i], [b, 1]],
    }
    alone = ("folded", "whiled", "whole", "constants", "ends", "shrinking", "reverse")
    check(built, calls | {name: [[a], [b]] for name in alone})


def test_every_place_of_some_texts(built: Built) -> None:
    texts = ["", "x", "abc", "aé", "ab\u0101x", "a\U0001f600", "x" * 70 + "\u0101"]
    pairs = list(itertools.product(texts, texts))
    places = itertools.product(PLACES, PLACES)
    check(
        built,
        {
            "compared": [list(pair) for pair in pairs],
            "whole": [[each] for each in texts],
            "parts": [[a, b, i, j] for (i, j), (a, b) in itertools.product(places, pairs)],
        },
    )


def test_every_character(built: Built) -> None:
    """Of Latin letters all; of the others some of each block."""
    codes = [*range(0x180), *range(0x180, 0x11000, 37), *range(0x11000, 0x110000, 4099)]
    text = "".join(map(chr, codes))
    places: list[list[object]] = [[text, i] for i in range(len(text))]
    numbers: list[list[object]] = [
        [n] for n in (-1, 0, 65, 120, 0xE9, 0x10FFFF, 0x110000, 2**62)
    ]
    check(built, {"kinds": places, "cases": places, "made_of": numbers})


def test_stores_beside_text(built: Built) -> None:
    out: list[list[object]] = [[text, array("q", [7] * 3)] for text in ("", "ab", "xaé\u0101")]
    data: list[list[object]] = [[d, array("B", [7] * 2)] for d in (b"", b"ab", b"ab\xff")]
    check(built, {"stored": out, "kept": data})


def test_other_arguments_are_pythons(built: Built) -> None:
    class Text(str):
        def __getitem__(self, index: object) -> str:
            return "z"

    class Data(bytes):
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter((1, 2))

    check(
        built,
        {
            "at": [[Text("abc"), 1], [b"abc", 1], [["a"], 0], [None, 0]],
            "folded": [[Text("abc")], [("a", "b")], ["ab"]],
            "crc": [[Data(b"abc"), 0, 9], [bytearray(b"abc"), 0, 3], ["abc", 0, 1]],
        },
    )


@SEVERAL
@given(st.binary(max_size=6), st.sampled_from(PLACES), st.sampled_from(PLACES))
def test_bytes(built: Built, data: bytes, i: int, j: int) -> None:
    check(built, {"crc": [[data, i, j]], "ended": [[data, i], [data + b"\xff\x00", j]]})


def test_a_text_of_the_module_that_changes(built: Built) -> None:
    native = built.native
    assert native.constants("aeb") == (2, 3)
    native.VOWELS = "b"
    try:
        assert native.constants("aeb") == (1, 3)
    finally:
        native.VOWELS = "aeiou"
    assert native.constants("aeb") == (2, 3)
