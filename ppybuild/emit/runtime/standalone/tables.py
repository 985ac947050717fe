"""Write the tables of the C runtime that are computed: `python -m <this module>`.

ppy_unicode_tables.h   what the Unicode that CPython 3.11 has says of code points
ppy_powers.h           powers of ten, for the shortest digits of a double
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

UNICODE = "14.0.0"
"""The version that CPython 3.11 has; another Python would write other tables."""

LOWEST_POWER, HIGHEST_POWER = -292, 324
"""Exponents of ten that scaling a double to 16 or 17 digits takes."""


def unicode_tables() -> str:
    """The text of `ppy_unicode_tables.h`."""
    printable = _changes(lambda code: chr(code).isprintable())
    space = _changes(lambda code: chr(code).isspace())
    zeros = [code for code in range(0x110000) if unicodedata.decimal(chr(code), None) == 0]
    return f"""\
/* Written by tables.py from Unicode {UNICODE}, which CPython 3.11 has. */
#include <stdint.h>

/* Code points at which being printable begins and ends, in turn. */
static const uint32_t printable_changes[] = {{
{_rows(f"0x{code:x}" for code in printable)}
}};

/* The same for white space. */
static const uint32_t space_changes[] = {{
{_rows(f"0x{code:x}" for code in space)}
}};

/* Decimal digits of value 0; 1 to 9 follow each. */
static const uint32_t decimal_zeros[] = {{
{_rows(f"0x{code:x}" for code in zeros)}
}};
"""


def powers() -> str:
    """The text of `ppy_powers.h`."""
    rows = (_power(exponent) for exponent in range(LOWEST_POWER, HIGHEST_POWER + 1))
    pairs = (f"    {{0x{g >> 64:016x}, 0x{g & (1 << 64) - 1:016x}}}," for g in rows)
    lines = "\n".join(pairs)
    return f"""\
/* Written by tables.py. */
#include <stdint.h>

#define LOWEST_POWER ({LOWEST_POWER})

/* 10**k for k from LOWEST_POWER on, scaled by a power of two to 128 bits, rounded down, plus
 * one: the high and the low half. */
static const uint64_t powers[][2] = {{
{lines}
}};
"""


def _power(exponent: int) -> int:
    above, below = (10**exponent, 1) if exponent >= 0 else (1, 10**-exponent)
    shift = 128 - (above.bit_length() - below.bit_length())
    for by in (shift, shift - 1):
        scaled = (above << by) // below if by >= 0 else above // (below << -by)
        if scaled.bit_length() == 128:
            return scaled + 1
    raise AssertionError("one of two shifts fits")


def _changes(holds: Callable[[int], bool]) -> Iterator[int]:
    before = False
    for code in range(0x110000):
        now = holds(code)
        if now is not before:
            yield code
        before = now
    if before:
        yield 0x110000


def _rows(numbers: Iterable[str]) -> str:
    found = list(numbers)
    lines = (found[at : at + 10] for at in range(0, len(found), 10))
    return "\n".join(f"    {', '.join(line)}," for line in lines)


def main() -> None:
    """Write both beside this file."""
    if unicodedata.unidata_version != UNICODE:
        raise SystemExit(
            f"this Python has Unicode {unicodedata.unidata_version}, not {UNICODE}"
        )
    folder = Path(__file__).parent
    (folder / "ppy_unicode_tables.h").write_text(unicode_tables(), encoding="ascii")
    (folder / "ppy_powers.h").write_text(powers(), encoding="ascii")


if __name__ == "__main__":
    main()
