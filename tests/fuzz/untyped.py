"""A Hypothesis strategy for small untyped programs of three modules that call each other.

`shelf` has a class, `work` functions, `main` the calls: its `main()` prints everything. Every
program ends and is valid Python; what a call raises is caught in `main` and printed. Lists
are filled, indexed, sliced, nested, shared and shown, so that some can be buffers and some
cannot; numbers are now and then too large for 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

FIELD = re.compile(r"\{(\w+)\}")
Draw = Callable[[st.SearchStrategy[object]], object]

KINDS = ["int", "float", "ints", "floats", "grid", "counts", "pair", "shelf"]
"""The kinds of values: numbers, lists of them, a list of lists, a dict, a tuple, an object."""
RESULTS = ["int", "float", "floats", "ints", "pair", "maybe"]
INTS = ["0", "1", "-1", "2", "3", "-4", "7", "100", "2**40", "2**63"]
FLOATS = ["0.0", "-0.0", "1.0", "0.5", "-2.25", "1e300", 'float("nan")', 'float("inf")']
SHELF = '''"""A shelf of numbers."""


class Shelf:
    def __init__(self, size, start={start}):
        self.items = {items}
        self.limit = size
        self.label = None

    def put(self, at, value):
        self.items[at] = {value}
        return self

    def total(self):
        total = 0.0
        for item in self.items:
            total += item
        return total

    def name(self, label):
        if self.label is None:
            self.label = label
        return self.label
'''
MAKERS = {
    "ints": [
        "[0] * {n}", "[1, 2, {i}]", "[k % 5 for k in range({n})]", "list(range({n}))",
        "[{i} & 255 for _ in range({n})]", "[]",
    ],
    "floats": [
        "[0.0] * {n}", "[0.5, {f}]", "[{f} for _ in range({n})]",
        "[k * 0.5 for k in range({n})]", "[1.0] * {n} + [{f}]",
    ],
    "grid": [
        "[[0.0] * {n} for _ in range({n})]", "[[1.0, {f}], [2.0, 0.5]]",
        "[[k * 1.0 + j for j in range({n})] for k in range({n})]", "[[0.0] * {n}] * {n}",
        "[[0.0] * (k + 1) for k in range({n})]",
    ],
    "counts": ['{"a": {i}}', '{"a": 1, "b": {i}}'],
    "pair": ["({i}, {f})"],
    "shelf": ["Shelf({n})", "Shelf({n}, {f})", "Shelf(start={f}, size={n})"],
}  # fmt: skip
"""How a value of each kind is made; `{n}` a small size, `{i}` an int, `{f}` a float."""
READS = {
    "int": [
        "{ints}[{at}]", "len({ints})", "len({floats})", "len({grid})", "len({grid}[{at}])",
        "sum({ints})", "{counts}['a']", "{pair}[0]", "{shelf}.limit", "sum({ints}[{at}:])",
        "max({ints})", "({i} + {i})", "({i} * {i})", "({i} // {i})", "({i} % 7)", "abs({i})",
        "({i} if {f} > 0.0 else {i})", "{ints}.index({i})", "len({floats}[{at}:{at}])",
    ],
    "float": [
        "{floats}[{at}]", "sum({floats}, 0.0)", "{pair}[1]", "{shelf}.total()",
        "{grid}[{at}][{at}]", "{shelf}.items[{at}]", "({f} + {f})", "({f} * {i})",
        "({f} / {f})", "min({f}, {f})", "math.sqrt(abs({f}))", "sum({floats}[{at}:{at}], 0.0)",
        "float({i})", "{floats}[{i}]", "sum({grid}[{at}], 0.0)",
    ],
    "floats": ["{floats}[{at}:]", "{grid}[{at}]", "{shelf}.items", "list({floats})"],
    "ints": ["{ints}[:{at}]", "sorted({ints})", "list({ints})"],
}  # fmt: skip
STATEMENTS = [
    "{ints}[{at}] = {i}", "{floats}[{at}] = {f}", "{grid}[{at}][{at}] = {f}",
    "{floats}[{at}] += {f}", "{ints}[{at}] += 1", "{ints}[{at}] = {i} % 1000",
    "{grid}[{at}] = {floats}", "{ints}.append({i})", "{floats}.append({f})",
    "{counts}['a'] += 1", "{counts}['b'] = {counts}.get('b', 0) + {i}",
    "{shelf}.put({at}, {f})", "{shelf}.limit = {i}", "{shelf}.items[{at}] *= 0.5",
    "{floats}.pop()", "{floats}[{at}], {floats}[{at}] = {floats}[{at}], {floats}[{at}]",
]  # fmt: skip
SHOWN = {
    "int": ["print({x})"],
    "float": ["print({x})"],
    "pair": ["print({x})", "print(*{x})"],
    "ints": ["print(len({x}))", "print(*{x})", "print({x})", "print({x} == [0])"],
    "floats": ["print(len({x}))", "print(*{x})", "print({x})", "print(bool({x}))"],
    "grid": ["print(len({x}))", "print({x})", "for line in {x}:\n    print(*line)"],
    "counts": ["print({x})", "print(sorted({x}.items()))"],
    "shelf": ["print({x}.total(), {x}.limit)", "print(*{x}.items)", "print({x}.name('s'))"],
}


@dataclass(frozen=True)
class Known:
    """A function that may be called."""

    parameters: tuple[str, ...]
    result: str
    defaults: int = 0
    """How many parameters, from the last, have one: these are numbers."""
    star: bool = False
    """Takes floats as `*args`, and nothing else."""


@dataclass
class Writer:
    """Draws the body of one function; `scope` maps the variables bound so far to kinds."""

    draw: Draw
    scope: dict[str, str]
    known: dict[str, Known]
    lines: list[str] = field(default_factory=list)
    fresh: int = 0

    def number(self, most: int) -> int:
        return int(str(self.draw(st.integers(0, most))))

    def pick(self, options: list[str]) -> str:
        return str(self.draw(st.sampled_from(options)))

    def line(self, text: str, depth: int) -> None:
        self.lines.extend("    " * depth + part for part in text.split("\n"))

    def name(self, kind: str, depth: int) -> str:
        """A variable of this kind, a new one where there is none."""
        found = [name for name, bound in self.scope.items() if bound == kind]
        return self.pick(found) if found else self.make(kind, depth)

    def make(self, kind: str, depth: int) -> str:
        self.fresh += 1
        name = f"{kind}{self.fresh}"
        text = self.fill(self.pick(MAKERS[kind]), depth, 1)
        self.line(f"{name} = {text}", depth)
        self.scope[name] = kind
        return name

    def fill(self, template: str, depth: int, deep: int) -> str:
        """The template with something drawn for each of its fields."""
        parts = FIELD.split(template)
        for at in range(1, len(parts), 2):
            parts[at] = self.piece(parts[at], depth, deep)
        return "".join(parts)

    def piece(self, what: str, depth: int, deep: int) -> str:
        match what:
            case "n":
                return str(1 + self.number(3))
            case "i":
                return self.expression("int", depth, deep - 1)
            case "f":
                return self.expression("float", depth, deep - 1)
            case "at":
                counters = [name for name, kind in self.scope.items() if kind == "at"]
                near = ["0", "1", "-1", "2", "-3"]
                return self.pick(counters * 4 + near)
        return self.name(what, depth)

    def expression(self, kind: str, depth: int, deep: int) -> str:
        if deep <= 0 or not self.number(3):
            names = [name for name, bound in self.scope.items() if bound == kind]
            leaves = INTS if kind == "int" else FLOATS
            return self.pick(names) if names and self.number(2) else self.pick(leaves)
        calls = [name for name, known in self.known.items() if known.result == kind]
        if calls and self.number(2):
            return self.call(self.pick(calls), depth, deep - 1)
        return self.fill(self.pick(READS[kind]), depth, deep - 1)

    def value(self, kind: str, depth: int, deep: int) -> str:
        if kind in ("int", "float"):
            return self.expression(kind, depth, deep)
        if kind in READS and not self.number(3):
            return self.fill(self.pick(READS[kind]), depth, deep - 1)
        return self.name(kind, depth)

    def call(self, name: str, depth: int, deep: int) -> str:
        known = self.known[name]
        if known.star:
            given = [self.value("float", depth, deep) for _ in range(self.number(3))]
            if not self.number(2):
                given.append(f"*{self.name('floats', depth)}")
            return f"{name}({', '.join(given)})"
        count = len(known.parameters) - self.number(known.defaults)
        given = [self.value(kind, depth, deep) for kind in known.parameters[:count]]
        if count and not self.number(2):
            given[-1] = f"p{count - 1}={given[-1]}"
        return f"{name}({', '.join(given)})"

    def statement(self, depth: int) -> None:
        match self.number(9):
            case 0:
                self.make(self.pick(list(MAKERS)), depth)
            case 1 | 2:
                self.block(f"for k{depth} in range({self.bound(depth)}):", f"k{depth}", depth)
            case 3:
                over = self.name(self.pick(["floats", "ints", "grid"]), depth)
                kind = {"floats": "float", "ints": "int", "grid": "floats"}[self.scope[over]]
                self.block(f"for each{depth} in list({over}):"
                           if self.number(1) else f"for each{depth} in {over}[:]:",
                           f"each{depth}", depth, kind)  # fmt: skip
            case 4:
                maybes = [name for name, known in self.known.items() if known.result == "maybe"]
                if maybes:
                    self.fresh += 1
                    name = f"found{self.fresh}"
                    self.line(f"{name} = {self.call(self.pick(maybes), depth, 1)}", depth)
                    self.block(f"if {name} is not None:", name, depth, "float")
            case 5:
                kind = self.pick(["int", "float"])
                self.fresh += 1
                name = f"x{self.fresh}"
                self.line(f"{name} = {self.expression(kind, depth, 3)}", depth)
                self.scope[name] = kind
            case _:
                self.line(self.fill(self.pick(STATEMENTS), depth, 2), depth)

    def bound(self, depth: int) -> str:
        sizes = ["3", "len({ints})", "len({floats})", "len({grid})"]
        return self.fill(self.pick(sizes), depth, 1)

    def block(self, head: str, name: str, depth: int, kind: str = "at") -> None:
        if depth > 3:
            return
        self.line(head, depth)
        outside = dict(self.scope)
        self.scope[name] = kind
        for _ in range(1 + self.number(2)):
            self.statement(depth + 1)
        self.line("pass", depth + 1)
        self.scope = outside

    def result(self, kind: str) -> str:
        if kind == "maybe":
            value = self.expression("float", 1, 2)
            test = self.expression("float", 1, 1)
            return f"return None if {test} > 0.5 else {value}"
        if kind == "pair":
            return f"return {self.expression('int', 1, 2)}, {self.expression('float', 1, 2)}"
        return f"return {self.value(kind, 1, 2)}"


def function(draw: Draw, name: str, known: dict[str, Known]) -> list[str]:
    """One function; what it is goes into `known`."""
    kinds = tuple(
        str(kind)
        for kind in _list(draw, st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    )
    result = str(draw(st.sampled_from(RESULTS)))
    scope = {f"p{at}": kind for at, kind in enumerate(kinds)}
    writer = Writer(draw, scope, dict(known))
    star = not writer.number(7)
    defaults = 0
    while not star and defaults < len(kinds) and kinds[-1 - defaults] in ("int", "float"):
        defaults += 1
    defaults = writer.number(defaults)
    shown = [
        f"p{at}" if at < len(kinds) - defaults else f"p{at}={3 if kind == 'int' else -0.5}"
        for at, kind in enumerate(kinds)
    ]
    head = f"def {name}({'*p0' if star else ', '.join(shown)}):"
    if star:
        writer.scope = {"p0": "pack"}
        writer.line("floats0 = [0.0]\nfor one in p0:\n    floats0.append(one)", 1)
        writer.scope["floats0"] = "floats"
    if not star and kinds[0] == "int" and result in ("int", "float") and writer.number(1):
        rest = "".join(f", p{at}" for at in range(1, len(kinds)))
        writer.line("if 0 < p0 < 6:", 1)
        writer.line(f"return {writer.expression(result, 2, 0)} + {name}(p0 - 1{rest})", 2)
    for _ in range(1 + writer.number(3)):
        writer.statement(1)
    writer.line(writer.result(result), 1)
    known[name] = Known(kinds, result, defaults, star)
    return [head, *writer.lines, "", ""]


def _list(draw: Draw, strategy: st.SearchStrategy[list[str]]) -> list[object]:
    drawn = draw(strategy)  # type: ignore[arg-type]
    assert isinstance(drawn, list)
    return drawn


def main(draw: Draw, known: dict[str, Known]) -> list[str]:
    """Calls everything, prints what it gives and what became of its arguments."""
    lines = ["def main():"]
    writer = Writer(draw, {}, {})
    for kind in MAKERS:
        writer.make(kind, 1)
    told = writer.pick(["type(failure).__name__"] * 4 + ["failure"])
    for name in known:
        for _ in range(1 + writer.number(1)):
            call = _call(writer, name, known)
            failures = "except (ArithmeticError, LookupError, ValueError) as failure:"
            writer.line(f"try:\n    got = {call}", 1)
            writer.line(writer.pick(_shown(known[name].result)).replace("{x}", "got"), 2)
            writer.line(f"{failures}\n    print({told})", 1)
    for name, kind in list(writer.scope.items()):
        if writer.number(1):
            writer.line(writer.pick(SHOWN[kind]).replace("{x}", name), 1)
    return [*lines, *writer.lines, ""]


def _call(writer: Writer, name: str, known: dict[str, Known]) -> str:
    writer.known = {name: known[name]}
    text = writer.call(name, 1, 1)
    writer.known = {}
    return text


def _shown(result: str) -> list[str]:
    return SHOWN["float" if result == "maybe" else result]


@st.composite
def programs(draw: Draw) -> dict[str, str]:
    """The modules by name, in the order in which they can be imported."""
    shelf = SHELF.format(
        start=draw(st.sampled_from(["0.0", "1.5"])),
        items=draw(st.sampled_from(["[start] * size", "[start for _ in range(size)]"])),
        value=draw(st.sampled_from(["value", "value * 2.0", "value + self.items[0]"])),
    )
    known: dict[str, Known] = {}
    modules = {"shelf": shelf}
    imported = ["import math", "", "from shelf import Shelf"]
    for module in ("base", "work"):
        lines = list(imported)
        lines += ["", ""]
        before = list(known)
        for at in range(int(str(draw(st.integers(1, 3))))):
            lines += function(draw, f"{module}{at}", known)
        modules[module] = "\n".join(lines)
        imported.append(f"from {module} import " + ", ".join(set_minus(known, before)))
    modules["main"] = "\n".join([*imported, "", "", *main(draw, known)])
    return modules


def set_minus(known: dict[str, Known], before: list[str]) -> list[str]:
    return [name for name in known if name not in before]
