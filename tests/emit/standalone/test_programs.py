"""Programs under CPython and without it: the same output, last line of errors, and status."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ppybuild.emit.standalone.program import Standalone
from tests.emit.standalone.building import Builder, emitted, refusals, run_native, run_python

PROGRAMS = Path(__file__).parent / "cases"
PLAIN = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "errors")


@pytest.mark.parametrize("name", PLAIN)
def test_does_as_cpython(name: str, builder: Builder, tmp_path: Path) -> None:
    text = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
    program = builder.build(tmp_path, {"main.py": text})
    assert run_native(program, ["a", "ö"], "7\nline\n") == run_python(
        tmp_path, ["a", "ö"], "7\nline\n"
    )


ORDINARY = sorted((PROGRAMS / "programs").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", ORDINARY, ids=[path.stem for path in ORDINARY])
def test_ordinary_programs(path: Path, builder: Builder, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    beside = path.with_suffix(".in")
    given = beside.read_text(encoding="utf-8") if beside.exists() else ""
    program = builder.build(tmp_path, {"main.py": text})
    assert run_native(program, given=given) == run_python(tmp_path, given=given)


def test_errors(builder: Builder, tmp_path: Path) -> None:
    text = (PROGRAMS / "errors.py").read_text(encoding="utf-8")
    program = builder.build(tmp_path, {"main.py": text})
    for which in range(37):
        given = f"{which}\n"
        assert run_native(program, given=given) == run_python(tmp_path, given=given), which


MODULES = {
    "main.py": """\
import app
from app import tools
from app.tools import LIMIT, bump

print("main", LIMIT, app.NAME)
for _ in range(3):
    bump()
print(tools.count, tools.history)
if __name__ == "__main__":
    print("run", __name__, tools.own_name())
""",
    "app/__init__.py": 'NAME = "the app"\nprint("package")\n',
    "app/tools.py": """\
print("tools")
LIMIT = 10
count = 0
history = []


def bump(by: int = 2) -> None:
    global count
    count += by
    history.append(count)


def own_name() -> str:
    return __name__
""",
}


def test_modules(builder: Builder, tmp_path: Path) -> None:
    program = builder.build(tmp_path, MODULES)
    assert run_native(program) == run_python(tmp_path)


@pytest.mark.parametrize(
    "expression",
    [
        "x + 1",
        "x * 3",
        "-(-x - 1)",
        "abs(-x - 1)",
        "2 ** (x // 2**57)",
        "x << 1",
        "-(x + 0) - 2",
    ],
)
def test_integers_stop_beyond_64_bits(
    expression: str, builder: Builder, tmp_path: Path
) -> None:
    text = (
        f"x = int(input())\ntry:\n    print({expression})\nexcept ArithmeticError:\n    pass\n"
    )
    program = builder.build(tmp_path, {"main.py": text})
    done = run_native(program, given=f"{2**63 - 1}\n")
    assert (done.output, done.status) == ("", 1)
    assert done.last.startswith("an integer needs more than 64 bits")


def test_what_needs_python_is_listed(tmp_path: Path) -> None:
    text = """\
import json
class A(list):
    pass
d = {}
xs = [1, 2.5]
def f():
    yield 1
for i in f():
    print(i)
print(sum([1, 2.0]))
"""
    found = refusals(tmp_path, {"main.py": text})
    assert [line for line, _ in found] == [1, 2, 4, 5, 8, 10]


def test_nan_is_not_sorted(builder: Builder, tmp_path: Path) -> None:
    text = "xs = [2.0, float(input()), 1.0]\nxs.sort()\nprint(xs)\n"
    program = builder.build(tmp_path, {"main.py": text})
    assert run_native(program, given="3").output == "[1.0, 2.0, 3.0]\n"
    assert run_native(program, given="nan").last.startswith("a list with nan is sorted")


def test_case_of_letters_beyond_ascii(builder: Builder, tmp_path: Path) -> None:
    text = "try:\n    print(input().upper())\nexcept Exception:\n    print('caught')\n"
    program = builder.build(tmp_path, {"main.py": text})
    assert run_native(program, given="straße").output == ""
    assert run_native(program, given="straße").last.startswith(
        "the case of letters beyond ASCII"
    )
    assert run_native(program, given="strasse").output == "STRASSE\n"


def test_memory_is_given_back(builder: Builder, tmp_path: Path) -> None:
    """Lists and texts that nothing reaches: 4 GB in all, in 100 MB."""
    text = """\
total = 0
for i in range(40000):
    row = [i] * 10000
    name = f"row {len(row)}" * 100
    total += row[-1] + len(name)
print(total)
"""
    program = builder.build(tmp_path, {"main.py": text})
    limited = subprocess.run(
        ["sh", "-c", f"ulimit -v 100000; exec '{program}'"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (limited.stdout, limited.stderr) == ("835980000\n", "")


def test_under_sanitizers(tmp_path: Path) -> None:
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    builder = Builder(tmp_path, flags)
    sources = {"main.py": (PROGRAMS / "more.py").read_text(encoding="utf-8")}
    program = builder.build(tmp_path / "more", sources)
    done = run_native(program)
    assert done.last == "ZeroDivisionError: integer division or modulo by zero"
    assert done.output == run_python(tmp_path / "more").output


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('"hello".startswith(("ell", "x"), 1)', "these arguments of `str.startswith`"),
        ('"hello".endswith(("he", "x"), 0, 2)', "these arguments of `str.endswith`"),
        ('"hello".startswith()', "these arguments of `str.startswith`"),
        ('"hello".casefold()', "`str.casefold`"),
        ("max(Money(), Money())", "`max` of Money"),
        ("max(1, 2.5)", "`max` of values of several types"),
        ("ascii(1)", "`ascii`"),
    ],
)
def test_what_is_said_of_an_expression(expression: str, message: str, tmp_path: Path) -> None:
    text = f"""\
class Money:
    pass


try:
    print({expression})
except TypeError:
    pass
"""
    ((line, said),) = refusals(tmp_path, {"main.py": text})
    assert line == 6
    assert said.startswith(f"{message}: ")


def test_equal_takes_the_class_itself(tmp_path: Path) -> None:
    text = """\
class Money:
    def __eq__(self, other: object) -> bool:
        return True


print(Money() == Money())
"""
    found = emitted(tmp_path, {"main.py": text})
    assert not isinstance(found, Standalone)
    assert [each.help for each in found] == ["declare `other: Money`, and `-> bool`"]
