"""A Hypothesis strategy for small untyped programs whose loops become C once converted.

`low` and `high` hold functions over numbers and lists of numbers, `main` makes the lists, calls
the functions and prints what they give and leave. Every list can be a buffer and every
function can be native: ints that are stored stay small, a variable has one type, a list is
used by index, slices and loops alone. Indexes may miss; `main` then prints that they did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.fuzz.values import Draw

FIELD = re.compile(r"\{(\w+)\}")
PARAMETERS = ["floats", "floats", "ints", "grid", "row", "float", "int"]
LISTS = frozenset({"floats", "ints", "grid", "row"})
EXPRESSIONS = {
    "float": [
        "({f} + {f})", "({f} - {f})", "({f} * {f})", "({f} / ({f} + 3.5))", "{floats}[{at}]",
        "float({i})", "min({f}, {f})", "abs({f})", "({f} if {test} else {f})",
        "{grid}[{at}][{at}]", "sum({grid}[{at}], 0.0)", "{row}[{at}]",
        "sum({floats}[{at}:], 0.0)",
        "max({floats}[{at}:{at}])", "math.sqrt(abs({f}))",
    ],
    "int": [
        "({i} + {i})", "({i} * {i})", "({i} - {i})", "({i} // 3)", "({i} % 7)", "({i} & 255)",
        "{ints}[{at}]", "len({floats})", "len({grid})", "len({grid}[{at}])",
        "len({ints}[{at}:{at}])", "sum({ints}[:{at}])",
        "(1 if {test} else {i})", "({i} ^ {i})", "max({i}, {i})",
    ],
}  # fmt: skip
TESTS = ["{f} < {f}", "{i} == {i}", "{i} > {i}", "{f} != {f} or {i} < 2"]
LEAVES = {"float": ["0.5", "-1.25", "3.0", "-0.0"], "int": ["0", "1", "-2", "5", "100"]}
PLACES = ["0", "1", "-1", "2", "-3"]
STATEMENTS = [
    "{floats}[{at}] = {f}", "{floats}[{at}] += {f}", "{ints}[{at}] = {i} % 1009",
    "{ints}[{at}] = {i} & 255", "{set_float} += {f}", "{set_int} = {i} % 100003",
    "{row}[{at}] = {f}", "{row}[{at}] *= {f}",
    "{set_float} = {f}", "{grid}[{at}][{at}] = {f}", "{grid}[{at}][{at}] -= {f}",
]  # fmt: skip
READS = [
    "for row in {grid}:\n    for one in row:\n        {set_float} += one * 0.5",
    "line = {grid}[{at}]\nfor one in line:\n    {set_float} = one - {set_float}",
    "part = {floats}[{at}:{at}]\nfor one in part:\n    {set_float} += one",
    "for one in {floats}:\n    {set_float} -= one * 0.5",
    "for at, one in enumerate({ints}[{at}:]):\n    {set_int} = ({set_int} + at * one) % 65537",
    "few = {ints}[:{at}]\nif few:\n    {set_int} = len(few) + few[-1]",
]
MAKERS = {
    "floats": [
        "[0.0] * {n}", "[0.5 * k for k in range({n})]", "[1.5, -2.0, 0.25]",
        "[]\nfor k in range({n}):\n    {name}.append(k * 0.75)",
    ],
    "ints": [
        "[0] * {n}", "[k % 5 for k in range({n})]", "[3, 1, 2]", "list(range({n}))",
        "[]\nfor k in range({n}):\n    {name}.append(k * 3)",
    ],
    "grid": [
        "[[0.0] * {n} for _ in range({n})]", "[[1.5, -2.0], [0.25, 3.0]]",
        "[[0.5 * k - j for j in range({n})] for k in range(3)]",
    ],
    "float": ["0.5", "-3.25"],
    "int": ["2", "-1", "7"],
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    parameters: tuple[str, ...]
    result: str
    written: frozenset[int]
    """The lists among the parameters that are stored into."""


@dataclass
class Writer:
    """Draws one function; `scope` maps names to kinds."""

    draw: Draw
    scope: dict[str, str]
    known: dict[str, Kernel]
    lines: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)

    def number(self, most: int) -> int:
        return int(str(self.draw(st.integers(0, most))))

    def pick(self, options: list[str]) -> str:
        return str(self.draw(st.sampled_from(options)))

    def line(self, text: str, depth: int) -> None:
        self.lines.extend("    " * depth + part for part in text.split("\n"))

    def names(self, kind: str) -> list[str]:
        return [name for name, bound in self.scope.items() if bound == kind]

    def fits(self, template: str) -> bool:
        """Whether there is a list for each that it names."""
        fields = set(FIELD.findall(template))
        return all(self.names(kind) for kind in fields & LISTS)

    def filled(self, options: list[str], deep: int) -> str:
        parts = FIELD.split(self.pick([each for each in options if self.fits(each)]))
        drawn: dict[str, str] = {}
        for at in range(1, len(parts), 2):
            what = parts[at]
            if what.startswith("set_"):  # one variable, wherever the statement names it
                drawn.setdefault(what, self.pick(self.names(what.removeprefix("set_"))))
            parts[at] = drawn.get(what) or self.piece(what, deep)
        return "".join(parts)

    def piece(self, what: str, deep: int) -> str:
        match what:
            case "f":
                return self.expression("float", deep - 1)
            case "i":
                return self.expression("int", deep - 1)
            case "test":
                return self.filled(TESTS, deep - 1)
            case "at":
                return self.pick([*PLACES, *self.names("counter") * 4])
        return self.pick(self.names(what))

    def expression(self, kind: str, deep: int) -> str:
        if deep <= 0 or not self.number(3):
            names = self.names(kind) + (self.names("counter") if kind == "int" else [])
            return self.pick([*LEAVES[kind], *names * 2])
        calls = [
            name
            for name, kernel in self.known.items()
            if kernel.result == kind
            and all(each not in LISTS or self.listed(each) for each in kernel.parameters)
        ]
        if calls and not self.number(2):
            return self.call(self.pick(calls), deep)
        return self.filled(EXPRESSIONS[kind], deep)

    def listed(self, kind: str) -> list[str]:
        """What can be passed where a list of this kind is wanted."""
        rows = [f"{name}[{place}]" for name in self.names("grid") for place in ("0", "-1")]
        return self.names(kind) + (rows if kind == "row" else [])

    def call(self, name: str, deep: int) -> str:
        kernel = self.known[name]
        given = []
        for at, kind in enumerate(kernel.parameters):
            if kind in ("float", "int"):
                given.append(self.expression(kind, deep - 1))
                continue
            passed = self.pick(self.listed(kind))
            if at in kernel.written:
                self.written.add(passed.partition("[")[0])
            elif kind in ("floats", "ints") and not kernel.written and not self.number(2):
                passed = f"{passed}[{self.pick(PLACES)}:]"
            given.append(passed)
        return f"{name}({', '.join(given)})"

    def statement(self, depth: int) -> None:
        kind = self.number(7)
        if kind == 0 and depth < 3:
            self.loop(depth)
        elif kind == 1 and depth < 3:
            self.line(f"if {self.filled(TESTS, 2)}:", depth)
            self.statement(depth + 1)
        elif kind == 2 and depth < 3 and any(map(self.fits, READS)):
            self.line(self.filled(READS, 2), depth)
        else:
            text = self.filled(STATEMENTS, 3)
            self.written.add(text.partition("[")[0])
            self.line(text, depth)

    def loop(self, depth: int) -> None:
        counter = f"k{depth}"
        lists = [f"len({name})" for name, kind in self.scope.items() if kind in LISTS]
        self.line(f"for {counter} in range({self.pick(['3', *lists * 3])}):", depth)
        outside = dict(self.scope)
        self.scope[counter] = "counter"
        for _ in range(1 + self.number(2)):
            self.statement(depth + 1)
        self.scope = outside


def kernel(draw: Draw, name: str, known: dict[str, Kernel]) -> list[str]:
    """One function; what it is goes into `known`."""
    drawn = draw(st.lists(st.sampled_from(PARAMETERS), min_size=1, max_size=4))
    assert isinstance(drawn, list)
    kinds = ("floats", *map(str, drawn))
    scope = {f"p{at}": kind for at, kind in enumerate(kinds)}
    writer = Writer(draw, {**scope, "total": "float", "count": "int"}, dict(known))
    writer.line("total = 0.0\ncount = 0", 1)
    writer.loop(1)
    for _ in range(1 + writer.number(2)):
        writer.statement(1)
    result = writer.pick(["float", "int"])
    writer.line(f"return {writer.expression(result, 2)}", 1)
    written = frozenset(at for at in range(len(kinds)) if f"p{at}" in writer.written)
    known[name] = Kernel(kinds, result, written)
    return [f"def {name}({', '.join(scope)}):", *writer.lines, "", ""]


def main(draw: Draw, known: dict[str, Kernel]) -> list[str]:
    """Calls every kernel, prints what it gives, then what is in the lists."""
    writer = Writer(draw, {}, {})
    for at, kind in enumerate([*MAKERS, "floats"]):
        name = f"{kind}{at}"
        made = writer.pick(MAKERS[kind]).replace("{n}", str(writer.number(5)))
        writer.line(f"{name} = {made.replace('{name}', name)}", 1)
        writer.scope[name] = kind
    if writer.number(1):
        held = writer.names("floats")
        writer.line(f"held = ({', '.join(held)})\nagain = held[0]", 1)
        writer.scope["again"] = "floats"
    for name, kernel_ in known.items():
        for _ in range(1 + writer.number(1)):
            given = [writer.pick(writer.listed(kind)) for kind in kernel_.parameters]
            writer.line(f"try:\n    print({name}({', '.join(given)}))", 1)
            for failure in ("ArithmeticError", "LookupError", "ValueError"):
                writer.line(f"except {failure}:\n    print('{failure}')", 1)
    for name in (*writer.names("floats"), *writer.names("ints")):
        writer.line(f"for one in {name}:\n    print(one)", 1)
    for name in writer.names("grid"):
        writer.line(f"for row in {name}:\n    for one in row:\n        print(one)", 1)
    return ["def main():", *writer.lines, ""]


@st.composite
def kernel_programs(draw: Draw) -> dict[str, str]:
    """The modules by name, in the order in which they can be imported."""
    known: dict[str, Kernel] = {}
    modules: dict[str, str] = {}
    imported = ["import math", ""]
    for module in ("low", "high"):
        before = list(known)
        lines = [*imported, "", ""]
        for at in range(int(str(draw(st.integers(1, 2))))):
            lines += kernel(draw, f"{module}{at}", known)
        modules[module] = "\n".join(lines)
        names = [name for name in known if name not in before]
        imported.append(f"from {module} import {', '.join(names)}")
    modules["main"] = "\n".join([*imported, "", "", *main(draw, known)])
    return modules
