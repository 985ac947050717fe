"""A Hypothesis strategy for modules of typed functions: loops, buffers, mixed arithmetic.

Every generated function ends (its loops count to small numbers), is valid Python, and may
fail in any way that Python fails. Types are right most of the time; where a function turns
out not to lower, it stays in Python and the comparison is trivially true.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.fuzz.expressions import FLOAT_BINARY, INT_BINARY, Known
from tests.fuzz.made import MADE, Made
from tests.fuzz.values import BUFFERS, ELEMENT, LARGEST, PASSED, SCALARS, SLICES, TUPLES, Draw

PARAMETERS = [
    *SCALARS[:2] * 4, "bool", *BUFFERS[:2] * 4, *BUFFERS[2:], *["str"] * 4,
]  # fmt: skip
DEFAULTS = {"int": "3", "float": "-0.5", "bool": "True"}


@dataclass
class Writer(Made):
    """Draws one function."""

    lines: list[str] = field(default_factory=list)
    fresh: int = 0
    own: list[str] = field(default_factory=list)
    protected: set[str] = field(default_factory=set)
    """Loop counters that keep a `while` finite."""

    def write(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def block(self, indent: int, depth: int, looping: bool) -> None:
        """Statements that bind names only within the block's own scope."""
        outer = dict(self.scope)
        for _ in range(1 + self.number(3)):
            self.statement(indent, depth, looping)
        self.scope = outer

    def statement(self, indent: int, depth: int, looping: bool) -> None:
        kind = self.number(15)
        if kind >= 14:
            self.make(indent)
        elif kind == 13:
            self.slice(indent)
        elif kind == 12 and depth > 0:
            self.rows(indent)
        elif kind <= 2:
            self.bind(indent)
        elif kind <= 4:
            self.update(indent)
        elif kind <= 6:
            self.store(indent)
        elif kind == 7 and looping:
            self.write(indent, f"if {self.expression('bool', 1)}:")
            self.write(indent + 1, self.pick(["break", "continue"]))
        elif kind == 8:
            check = self.pick(["assert {}", "if {}:\n{}raise ValueError('found')"])
            pad = "    " * (indent + 1)
            self.write(indent, check.format(self.expression("bool", 1), pad))
        elif depth <= 0:
            self.bind(indent)
        elif kind == 9:
            self.write(indent, f"if {self.expression('bool', 2)}:")
            self.block(indent + 1, depth - 1, looping)
            if self.number(1):
                self.write(indent, "else:")
                self.block(indent + 1, depth - 1, looping)
        else:
            self.loop(indent, depth)

    def bind(self, indent: int) -> None:
        type = self.pick(SCALARS * 2 + list(TUPLES))
        value = self.expression(type, 3)
        name = self.name()
        self.write(indent, f"{name}: {type} = {value}")
        self.scope[name] = type
        if type in TUPLES and self.number(1):
            items = {self.name(): item for item in TUPLES[type]}
            self.write(indent, f"{', '.join(items)} = {name}")
            self.scope |= items

    def slice(self, indent: int) -> None:
        """Bind a slice, and mostly use it at once."""
        readable = self.readable()
        if not readable:
            self.bind(indent)
            return
        source = self.pick(readable)
        name = self.name()
        step = self.pick(["", "", "", ":2", ":-1", f":{self.leaf('int')}"])
        self.write(indent, f"{name} = {source}[{self.bound()}:{self.bound()}{step}]")
        bound = self.scope[source]
        self.scope[name] = SLICES.get(bound, bound)
        if self.number(2):
            used, type = self.name(), ELEMENT[bound]
            self.write(indent, f"{used}: {type} = {name}[{self.index(1)}]")
            del self.scope[name]
            self.scope[used] = type

    def update(self, indent: int) -> None:
        type = self.pick(["int", "float"])
        names = [name for name in self.names(type) if name not in self.protected]
        if names:
            name = self.pick(names)
            operator = self.pick(INT_BINARY if type == "int" else FLOAT_BINARY)
            self.write(indent, f"{name} {operator}= {self.expression(type, 2)}")
            if type == "int" and indent > 1:
                # CPython's ints would grow with every turn until memory ends.
                self.write(indent, f"{name} = max(min({name}, {LARGEST}), -{LARGEST})")
        else:
            self.bind(indent)

    def store(self, indent: int) -> None:
        buffers = self.buffers()
        if not buffers:
            self.bind(indent)
            return
        name = self.pick(buffers)
        type = ELEMENT[self.scope[name]]
        operators = [""] + (INT_BINARY if type == "int" else FLOAT_BINARY)
        target = f"{name}[{self.index(2)}]"
        self.write(indent, f"{target} {self.pick(operators)}= {self.expression(type, 2)}")

    def loop(self, indent: int, depth: int) -> None:
        name = self.name()
        if self.number(3) == 0:
            self.write(indent, f"{name}: int = 0")
            self.protected.add(name)
            self.scope[name] = "int"
            self.write(indent, f"while {name} < {self.number(6)}:")
            self.write(indent + 1, f"{name} += 1")
            bound = {name: "int"}
        else:
            bound = self.heading(indent, name)
        outer = dict(self.scope)
        self.scope |= bound
        self.block(indent + 1, depth - 1, looping=True)
        self.scope = outer
        if self.number(5) == 0:
            self.write(indent, "else:")
            self.block(indent + 1, depth - 1, looping=False)

    def rows(self, indent: int) -> None:
        """A loop over rows: loops that sum within a row, then some that carry something."""
        outer = dict(self.scope)
        row, item, total, around = (self.name() for _ in range(4))
        across = self.bounds()
        self.write(indent, f"{total}: float = {self.leaf('float')}")
        self.write(indent, f"{around}: int = {self.expression('int', 1)} % 14")
        self.write(indent, f"for {row} in range({around}):")
        self.scope |= {row: "int"}
        sums = [self.name() for _ in range(1 + self.number(1))]
        for name in sums:
            self.write(indent + 1, f"{name}: float = {self.leaf('float')}")
            self.scope[name] = "float"
            self.write(indent + 1, f"for {item} in range({across}):")
            self.scope[item] = "int"
            self.write(
                indent + 2, f"{name} {self.pick(['+', '-', '*'])}= {self.near(item, row)}"
            )
            del self.scope[item]
        self.scope[total] = "float"
        for _ in range(1 + self.number(2)):
            match self.number(3):
                case 0:
                    self.statement(indent + 1, 0, looping=True)
                case 1:
                    self.write(indent + 1, f"{total} += {self.expression('float', 2)}")
                case _:
                    self.write(indent + 1, f"for {item} in range({across}):")
                    self.scope[item] = "int"
                    if self.number(1):
                        self.store(indent + 2)
                    self.write(indent + 2, f"{total} += {self.near(item, row)}")
                    del self.scope[item]
        if self.number(7) == 0:
            self.write(indent + 1, f"{around} = {self.number(9)}")
        self.scope = {**outer, total: "float"}

    def near(self, item: str, row: str) -> str:
        """A float of a row's item."""
        buffers = [name for name in self.buffers() if ELEMENT[self.scope[name]] == "float"]
        if not buffers:
            return self.expression("float", 2)
        name = self.pick(buffers)
        place = self.pick(
            [item, f"{item} + {row}", f"({row} * 3 + {item}) % max(len({name}), 1)"]
        )
        return f"({name}[{place}] {self.pick(['+', '-', '*'])} {self.leaf('float')})"

    def heading(self, indent: int, name: str) -> dict[str, str]:
        """A `for` over a range or buffers; the names that it binds."""
        buffers = self.buffers()
        if not buffers or self.number(2):
            self.write(indent, f"for {name} in range({self.bounds()}):")
            return {name: "int"}
        one, other = self.pick(buffers), self.pick(buffers)
        kinds = ELEMENT[self.scope[one]], ELEMENT[self.scope[other]]
        also = self.name()
        match self.number(6):
            case 0:
                self.write(indent, f"for {name} in {self.items(one)}:")
                return {name: kinds[0]}
            case 1:
                start = self.pick(["", f", {self.expression('int', 1)}"])
                self.write(indent, f"for {name}, {also} in enumerate({one}{start}):")
                return {name: "int", also: kinds[0]}
            case 4:
                self.write(indent, f"for {name} in reversed(range({self.bounds()})):")
                return {name: "int"}
            case 5:
                self.write(indent, f"for {name}, {also} in enumerate(reversed({one})):")
                return {name: "int", also: kinds[0]}
            case 6:
                self.write(indent, f"for {name}, {also} in zip(range({self.bounds()}), {one}):")
                return {name: "int", also: kinds[0]}
            case 2:
                self.write(indent, f"for {name}, {also} in zip({self.items(one)}, {other}):")
                return {name: kinds[0], also: kinds[1]}
            case _:
                target = f"{other}[{self.index(1)}]"
                if kinds[1] == "int" and kinds[0] == "float":
                    target = also
                self.write(indent, f"for {name}, {target} in zip({one}, {one}):")
                return {name: kinds[0]}

    def result(self, type: str) -> str:
        """What is returned."""
        if type not in MADE:
            return self.expression(type, 3)
        held = [name for name in self.own if self.scope.get(name) == type]
        return self.pick(held) if held and self.number(3) else self.made(type)

    def bounds(self) -> str:
        buffers = self.buffers()
        small = f"({self.expression('int', 1)}) % 9"
        if buffers and self.number(1):
            buffer = self.pick(self.readable())
            return self.pick([f"len({buffer})", f"len({buffer}) - 1", f"1, len({buffer})"])
        return self.pick(
            [
                small,
                f"{self.number(5)}, {small}",
                f"{small}, -{self.number(4)}, -{1 + self.number(2)}",
            ]
        )


@st.composite
def modules(draw: Draw, functions: int = 4) -> str:
    """The source of a module of up to that many functions named `f0`, `f1`, ..."""
    known: dict[str, Known] = {}
    texts = ["import array", "import math", "from ppy import Buffer, f32, i8, i32, u8", ""]
    for number in range(functions):
        types = draw(
            st.lists(st.sampled_from(PARAMETERS) | st.sampled_from(list(TUPLES)), max_size=5)
        )
        assert isinstance(types, list)
        result = str(draw(st.sampled_from(["int", "float", "float", "bool", *TUPLES, *MADE])))
        if result in MADE and draw(st.integers(0, 1)):
            result = "float"
        name = f"f{number}"
        recursive = result not in MADE and draw(st.integers(0, 4)) == 0
        if recursive:
            types.insert(0, "int")
        scope = {f"p{position}": type for position, type in enumerate(types)}
        writer = Writer(draw, dict(scope), known)
        keywords = 0
        while keywords < len(types) - recursive and types[-keywords - 1] in SCALARS:
            keywords += 1
        keywords = writer.number(keywords) if keywords else 0
        head = [f"{name}: {type}" for name, type in scope.items()]
        for position in range(len(types) - keywords, len(types)):
            head[position] += f" = {DEFAULTS[types[position]]}"
        if recursive:
            writer.write(1, f"if not 0 < p0 < {2 + writer.number(4)}:")
            writer.write(2, f"return {writer.expression(result, 1)}")
        for _ in range(1 + writer.number(4)):
            writer.statement(1, 2, looping=False)
        if recursive:
            rest = [
                writer.argument(type, 1) if type in PASSED else writer.expression(type, 1)
                for type in types[1 : len(types) - keywords]
            ]
            fresh = writer.name()
            writer.write(1, f"{fresh}: {result} = {name}({', '.join(['p0 - 1', *rest])})")
            writer.scope[fresh] = result
        writer.write(1, f"return {writer.result(result)}")
        texts += [f"def {name}({', '.join(head)}) -> {result}:", *writer.lines, "", ""]
        if result not in MADE:
            known[name] = Known(tuple(types), result, keywords)
    return "\n".join(texts)
