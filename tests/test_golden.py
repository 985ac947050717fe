from pathlib import Path

import pytest

from tests.golden import check_case, read_cases

TEXT = """\
[case one] fp=strict n=2
def f(): ...

[ir]
old
[case two]
x = [1]
[ir]
same
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cases.txt"
    path.write_text(TEXT)
    return path


def test_reads(path: Path) -> None:
    one, two = read_cases(path)
    assert (one.name, one.options, one.source) == (
        "one",
        {"fp": "strict", "n": "2"},
        "def f(): ...\n",
    )
    assert two.sections == {"ir": "same\n"}


def test_differences_and_missing_sections_fail(path: Path) -> None:
    one, two = read_cases(path)
    check_case(two, {"ir": "same"}, update=False)
    with pytest.raises(AssertionError):
        check_case(one, {"ir": "new"}, update=False)
    with pytest.raises(AssertionError, match="--update"):
        check_case(one, {"c": "new"}, update=False)


def test_update_rewrites_and_is_stable(path: Path) -> None:
    for _ in range(2):
        one, two = read_cases(path)
        check_case(one, {"ir": "new\n\n", "c": "int x;"}, update=True)
        check_case(two, {"ir": "same"}, update=True)
    assert path.read_text() == TEXT.replace("...\n\n", "...\n").replace(
        "old\n", "new\n[c]\nint x;\n\n"
    )
