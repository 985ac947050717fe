"""The tables of the runtime are what `tables.py` computes."""

from __future__ import annotations

import unicodedata

import pytest

from ppybuild.emit.runtime.standalone import tables
from tests.emit.runtime.standalone.driving import RUNTIME


def test_powers() -> None:
    assert (RUNTIME / "ppy_powers.h").read_text("ascii") == tables.powers()


def test_unicode() -> None:
    if unicodedata.unidata_version != tables.UNICODE:
        pytest.skip(f"this Python has another Unicode than {tables.UNICODE}")
    assert (RUNTIME / "ppy_unicode_tables.h").read_text("ascii") == tables.unicode_tables()
