# ruff: noqa: B023  (what tests compare with is called at once)
"""Digits, formats, parsing and texts: what CPython gives, value for value, error for error.

`PPY_FUZZ_EXAMPLES` asks for more, and new, examples.
"""

from __future__ import annotations

import math
import os
import random
import struct
from array import array
from collections.abc import Callable

import pytest

from tests.emit.runtime.standalone.driving import Runtime

EXAMPLES = int(os.environ.get("PPY_FUZZ_EXAMPLES", "2"))
"""Thousands of each kind."""

FLOATS = (
    *(
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        0.1,
        1 / 3,
        100.0,
        1234.5,
        12345678.0,
        123456789.123,
    ),
    *(
        9.995,
        99999.5,
        999999.5,
        -0.004,
        0.001,
        1e-4,
        1e-5,
        1e15,
        1e16,
        1e22,
        1e23,
        1e100,
        2**-44,
    ),
    *(1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, math.inf, -math.inf, math.nan),
    -math.nan,
)
INTS = (0, 1, -1, 7, -10, 65, 255, 999, 1000, -1234567, 0x10FFFF, 0x110000, 2**63 - 1, -(2**63))
TEXTS = (
    "",
    "a",
    "abc",
    "héllo",
    "日本語",
    "😀x",
    "a\ud800b",
    "'",
    "'\"",
    "\t\\\x7f\x85\xad\u2028",
)

SPEC = (
    ("", "<", ">", "^", "=", "x<", "0=", "é^", "😀>", "0<", "{="),
    ("", "", "+", "-", " "),
    ("", "", "z"),
    ("", "#"),
    ("", "0"),
    ("", "1", "5", "12", "20", "٣"),
    ("", "", ",", "_", ",,", "_,", ",_"),
    ("", ".0", ".1", ".3", ".6", ".17", ".30", ".", ".٢"),
    ("", *"bcdoxXneEfFgG%sry", "é", "\x7f", "dd"),
)
PERCENT = (
    ("", "-", "+", " ", "#", "0", "-0", "+0", " #0"),
    ("", "1", "12"),
    ("", ".", ".0", ".5"),
)
NUMBERS = (
    *(
        "1_000",
        "0x_ff",
        "0b1",
        "010",
        "00",
        "0_0",
        "1__0",
        "_1",
        "1_",
        "0x",
        "0xg",
        "+-1",
        "- 1",
    ),
    *("1e5", "1.5e-3", "1_e5", "1e_5", "1e5_0", "1._5", "5.", ".5", ".", "e5", "1e", "1e+"),
    *(
        "inf",
        "nan",
        "-Infinity",
        "infinit",
        "١٢",
        "\x1c1",
        "1\x00",
        "\u30001\u2028",
        "\x851",
        "",
    ),
    *("9223372036854775807", "-9223372036854775808", "1" * 4301 + "x", "0" * 5000, "x" * 300),
    *("1e99999999999", "0e999999999999", "1e-99999999999", "0." + "0" * 400 + "1e400"),
    *("2.4703282292062328e-324", "2.4703282292062327e-324", "1.7976931348623159e308"),
)


@pytest.fixture
def draw() -> random.Random:
    return random.Random(None if "PPY_FUZZ_EXAMPLES" in os.environ else 20)


def said(make: Callable[[], object]) -> str:
    """As `Runtime` says it."""
    try:
        return f"={make()}"
    except Exception as error:
        return f"!{error!r}"


def from_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def differing(native: Runtime, values: list[float]) -> list[tuple[str, str]]:
    found = native.str_floats(array("d", values))
    return [(a, repr(b)) for a, b in zip(found, values, strict=True) if a != repr(b)]


def test_shortest_digits(native: Runtime, draw: random.Random) -> None:
    """Random bits; each exponent, hard significands; short decimals and their neighbours."""
    for _ in range(EXAMPLES):
        assert differing(native, [from_bits(draw.getrandbits(64)) for _ in range(20_000)]) == []
    values: list[float] = []
    for exponent in range(2047):
        hard = [0, 1, 2, (1 << 52) - 1, 1 << 51, *(1 << draw.randrange(52) for _ in range(5))]
        hard += [draw.getrandbits(52) for _ in range(10)]
        values += [from_bits(exponent << 52 | significand) for significand in hard]
    for power in range(-330, 309):
        for digits in (1, 2, 5, 9, 99, 9007199254740993, draw.randrange(1, 10**17)):
            value = float(f"{digits}e{power}")
            values += [value, math.nextafter(value, 0), math.nextafter(value, math.inf)]
    values += [
        draw.getrandbits(draw.randrange(1, 64)) / 2 ** draw.randrange(60) for _ in range(9999)
    ]
    values += FLOATS
    assert differing(native, values) == []


def test_formats(native: Runtime, draw: random.Random) -> None:
    for _ in range(1000 * EXAMPLES):
        spec = "".join(map(draw.choice, SPEC))
        if draw.random() < 0.2:
            spec = "".join(
                draw.choices("<>=^+- z#0123,_.bcdoxXneEfFgG%sxé", k=draw.randrange(7))
            )
        number = draw.choice((draw.choice(FLOATS), draw.uniform(-1e5, 1e5)))
        whole, text, truth = draw.choice(INTS), draw.choice(TEXTS), draw.random() < 0.5
        assert native("format_float", spec, d=number) == said(lambda: format(number, spec)), (
            number,
            spec,
        )
        assert native("format_int", spec, i=whole) == said(lambda: format(whole, spec)), (
            whole,
            spec,
        )
        assert native("format_bool", spec, i=truth) == said(lambda: format(truth, spec)), (
            truth,
            spec,
        )
        assert native("format_text", spec, text) == said(lambda: format(text, spec)), (
            text,
            spec,
        )


@pytest.mark.parametrize(
    "spec",
    [
        "9" * 20,
        "." + "9" * 20,
        ".2147483648",
        ".400f",
        ".1100e",
        "#.400g",
        "400",
        "0400,",
        "0401_x",
    ],
)
def test_large_formats(native: Runtime, spec: str) -> None:
    for number in FLOATS:
        assert native("format_float", spec, d=number) == said(lambda: format(number, spec))
    for whole in INTS:
        assert native("format_int", spec, i=whole) == said(lambda: format(whole, spec))
    for text in TEXTS:
        assert native("format_text", spec, text) == said(lambda: format(text, spec))


def test_percent(native: Runtime, draw: random.Random) -> None:
    for _ in range(1000 * EXAMPLES):
        start = "%" + "".join(map(draw.choice, PERCENT))
        number, whole, text = draw.choice(FLOATS), draw.choice(INTS), draw.choice(TEXTS)
        spec = start + draw.choice("eEfFgG")
        assert native("percent_float", spec, d=number) == said(lambda: spec % number), (
            spec,
            number,
        )
        spec = start + draw.choice("diuxXoc")
        assert native("percent_int", spec, i=whole) == said(lambda: spec % whole), (spec, whole)
        spec = start + "s"
        assert native("percent_text", spec, text) == said(lambda: spec % text), (spec, text)


def test_parsing(native: Runtime, draw: random.Random) -> None:
    drawn = (
        "".join(draw.choices("0123456789_+-. eExXbBoOaAfFinf\t\u2003١é", k=draw.randrange(8)))
        for _ in range(1000 * EXAMPLES)
    )
    for text in (*NUMBERS, *drawn):
        for base in (10, draw.choice((0, 2, 3, 8, 16, 36, 1, 37, -1))):
            wanted = said(lambda: int(text, base))
            if wanted[0] == "=" and not -(2**63) <= int(wanted[1:]) < 2**63:
                continue
            assert native("int_of_text", text, i=base) == wanted, (text, base)
        assert native("float_of_text", text) == said(lambda: float(text)), text


def test_repr_of_every_kind_of_character(native: Runtime) -> None:
    for code in (*range(0x3000), *range(0x3000, 0x110000, 499)):
        assert native("repr_text", chr(code)) == f"={chr(code)!r}"
        assert native("ascii_text", chr(code)) == f"={chr(code)!a}"


def test_texts(native: Runtime, draw: random.Random) -> None:
    characters = "aAb é日😀'\"\\\n\t\x00\x85\u2028\ud800\U000e0001 "
    bounds = (None, 0, 1, 2, -1, -2, 5, -5, 100, -100, 2**62, -(2**62))
    for _ in range(500 * EXAMPLES):
        a, b, c = ("".join(draw.choices(characters, k=draw.randrange(k))) for k in (9, 3, 4))
        i, j, k = (draw.choice(bounds) for _ in range(3))
        given = {
            name: -(2**63) if at is None else at
            for name, at in zip("ijk", (i, j, k), strict=True)
        }
        n = draw.randrange(-9, 9)
        assert native("slice", a, **given) == said(lambda: a[i:j:k]), (a, i, j, k)
        assert native("item", a, i=n) == said(lambda: a[n])
        assert native("repr_text", a) == said(lambda: repr(a))
        assert native("find", a, b) == said(lambda: a.find(b))
        assert native("count", a, b) == said(lambda: a.count(b))
        assert native("replace", a, b, c) == said(lambda: a.replace(b, c))
        assert native("strip", a) == said(a.strip)
        assert native("strip_left", a) == said(a.lstrip)
        assert native("strip_right", a) == said(a.rstrip)
        assert native("repeat", a, i=n) == said(lambda: a * n)
        assert native("compare", a, b) == said(lambda: (a > b) - (a < b))
        assert native("starts_with", a, b) == said(lambda: a.startswith(b))
        assert native("ends_with", a, b) == said(lambda: a.endswith(b))
        assert native("join", a, b, c) == said(lambda: a.join([b, c, b]))
        assert native("ordinal", b) == said(lambda: ord(b))


def test_characters(native: Runtime) -> None:
    for code in (-1, 0, 65, 0xD800, 0x10FFFF, 0x110000, 2**31, 2**40, -(2**40)):
        assert native("character", i=code) == said(lambda: chr(code))
    for whole in INTS:
        assert native("str_int", i=whole) == f"={whole}"
