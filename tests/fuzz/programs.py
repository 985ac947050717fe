"""A Hypothesis strategy for modules of typed functions: loops, buffers, mixed arithmetic.

Every generated function ends (its loops count to small numbers), is valid Python, and may
fail in any way that Python fails. Types are right most of the time; where a function turns
out not to lower, it stays in Python and the comparison is trivially true.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[object]], object]

INTS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    -5,
    10,
    2**31,
    -(2**31),
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
]
LARGEST = 2**63 - 1
FLOATS = [
    "0.0", "-0.0", "1.0", "-1.5", "0.1", "3.0", "1e-310", "1e308", "-1e308", "4.5e15",
    "9007199254740993.0", "9.3e18", 'float("inf")', 'float("-inf")', 'float("nan")',
]  # fmt: skip
INT_BINARY = ["+", "-", "*", "//", "%", "&", "|", "^"]
FLOAT_BINARY = ["+", "-", "*", "/", "//", "%"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
MATH = [
    "sqrt", "exp", "log", "sin", "tanh", "fabs", "floor", "ceil", "trunc", "atan", "log2",
    "gamma", "lgamma", "hypot",
]  # fmt: skip
SCALARS = ["int", "float", "bool"]
TYPECODES = {
    "Buffer[float]": "d",
    "Buffer[int]": "q",
    "Buffer[f32]": "f",
    "Buffer[i32]": "i",
    "Buffer[u8]": "B",
    "Buffer[i8]": "b",
}
BUFFERS = list(TYPECODES)
ELEMENT = {name: "float" if code in "df" else "int" for name, code in TYPECODES.items()}
TUPLES = {
    "tuple[int, float]": ("int", "float"),
    "tuple[float, bool, int]": ("float", "bool", "int"),
}
DEFAULTS = {"int": "3", "float": "-0.5", "bool": "True"}


@dataclass(frozen=True)
class Known:
    """A function that may be called."""

    parameters: tuple[str, ...]
    result: str
    keywords: int = 0
    """How many parameters, from the last, have defaults."""


@dataclass
class Writer:
    """Draws one function; `scope` maps the variables bound so far to their types."""

    draw: Draw
    scope: dict[str, str]
    known: Mapping[str, Known]
    """Functions written before this one, and this one itself where it may recurse."""
    lines: list[str] = field(default_factory=list)
    fresh: int = 0
    protected: set[str] = field(default_factory=set)
    """Loop counters that keep a `while` finite."""

    def pick(self, options: list[str]) -> str:
        return str(self.draw(st.sampled_from(options)))

    def number(self, most: int) -> int:
        return int(str(self.draw(st.integers(0, most))))

    def names(self, type: str) -> list[str]:
        return [name for name, bound in self.scope.items() if bound == type]

    def expression(self, type: str, depth: int) -> str:
        if type in TUPLES:
            return self.tuple_of(type, depth - 1)
        leaf = depth <= 0 or self.number(4) == 0
        return self.leaf(type) if leaf else getattr(self, f"{type}_expression")(depth - 1)

    def leaf(self, type: str) -> str:
        names = self.names(type)
        if names and self.number(3):
            return self.pick(names)
        for kind, items in TUPLES.items():
            found = self.names(kind)
            if found and type in items and not self.number(3):
                return f"{self.pick(found)}[{items.index(type)}]"
        if type == "int":
            return str(self.draw(st.sampled_from(INTS[:-1]) | st.integers(-9, 9)))
        return self.pick(FLOATS if type == "float" else ["True", "False"])

    def element(self, type: str, depth: int) -> str:
        buffers = [name for name, bound in self.scope.items() if ELEMENT.get(bound) == type]
        if not buffers:
            return self.leaf(type)
        return f"{self.pick(buffers)}[{self.index(depth)}]"

    def index(self, depth: int) -> str:
        index = self.expression("int", depth)
        buffers = self.buffers()
        if buffers and self.number(3):
            return f"({index}) % max(len({self.pick(buffers)}), 1)"
        return index

    def call(self, type: str, depth: int) -> str:
        fitting = [
            name
            for name, known in self.known.items()
            if type in (known.result, *TUPLES.get(known.result, ()))
            and all(kind not in BUFFERS or self.names(kind) for kind in known.parameters)
        ]
        if not fitting:
            return self.leaf(type)
        name = self.pick(fitting)
        known = self.known[name]
        given = len(known.parameters) - (self.number(known.keywords) if known.keywords else 0)
        args = [self.argument(kind, depth) for kind in known.parameters[:given]]
        named = self.number(min(known.keywords, given))
        for position in range(given - named, given):
            args[position] = f"p{position}={args[position]}"
        if known.keywords and self.number(1):
            last = args[given - named :]
            args[given - named :] = last[::-1]
        called = f"{name}({', '.join(args)})"
        if known.result == type:
            return called
        return f"{called}[{TUPLES[known.result].index(type)}]"

    def argument(self, kind: str, depth: int) -> str:
        if kind in BUFFERS:
            return self.pick(self.names(kind))
        return self.expression(kind, depth)

    def tuple_of(self, type: str, depth: int) -> str:
        names = self.names(type)
        if names and self.number(1):
            return self.pick(names)
        return f"({', '.join(self.expression(item, depth) for item in TUPLES[type])})"

    def int_expression(self, depth: int) -> str:
        def some() -> str:
            return self.expression("int", depth)

        kind = self.number(15)
        if kind == 14:
            count = f"({some()} & {self.pick(['3', '31', '63', '127', '-1'])})"
            return f"({some()} {self.pick(['<<', '>>'])} {count})"
        if kind == 15:
            return f"divmod({some()}, {some()})[{self.number(1)}]"
        if kind <= 5:
            return f"({some()} {self.pick(INT_BINARY)} {some()})"
        if kind == 6:
            return f"{self.pick(['-', '~', 'abs'])}({some()})"
        if kind == 7:
            return f"({some()} {self.pick(['<<', '>>', '**'])} {self.number(70)})"
        if kind == 8:
            return f"int({self.expression('float', depth)})"
        if kind == 9:
            return f"{self.pick(['min', 'max'])}({some()}, {some()})"
        if kind == 10:
            return f"({some()} if {self.expression('bool', depth)} else {some()})"
        if kind == 11:
            return self.call("int", depth)
        if kind == 12:
            return f"round({self.expression('float', depth)})"
        return self.element("int", depth)

    def float_expression(self, depth: int) -> str:
        def some() -> str:
            return self.expression("float", depth)

        kind = self.number(17)
        if kind == 14:
            return f"math.{self.pick(['hypot', 'copysign', 'fmod'])}({some()}, {some()})"
        if kind == 15:
            return f"round({some()}, {self.number(20) - 4})"
        if kind == 16:
            whole = self.pick(["0", "1", "-3"])
            either = self.pick(
                [
                    f"max({some()}, {whole})",
                    f"min({whole}, {some()})",
                    f"({some()} if {self.expression('bool', depth)} else {whole})",
                ]
            )
            return f"({some()} {self.pick(FLOAT_BINARY)} {either})"
        if kind == 17:
            buffers = self.buffers()
            function = self.pick(["fsum", "prod"])
            if buffers and self.number(1):
                return f"float(math.{function}({self.pick(buffers)}))"
            return f"math.{function}(({some()}, {self.expression('int', depth)}, {some()}))"
        if kind == 12:
            exponent = self.pick(["2", "3", "-1", "0.5", "-2.0", some()])
            return f"float(abs({some()}) ** {exponent})"
        if kind == 13:
            buffers = [name for name in self.buffers() if ELEMENT[self.scope[name]] == "float"]
            if buffers:
                return f"float({self.pick(['sum', 'min', 'max'])}({self.pick(buffers)}))"
        if kind <= 4:
            return f"({some()} {self.pick(FLOAT_BINARY)} {some()})"
        if kind == 5:
            return f"({some()} {self.pick(FLOAT_BINARY)} {self.expression('int', depth)})"
        if kind == 6:
            return f"({self.expression('int', depth)} / {self.expression('int', depth)})"
        if kind == 7:
            return f"float({self.pick(['math.' + name for name in MATH])}({some()}))"
        if kind == 8:
            return f"{self.pick(['min', 'max'])}({some()}, {some()})"
        if kind == 9:
            return f"({some()} if {self.expression('bool', depth)} else {some()})"
        if kind == 10:
            return self.call("float", depth)
        return self.element("float", depth)

    def bool_expression(self, depth: int) -> str:
        type = self.pick(["int", "float"])
        left, right = self.expression(type, depth), self.expression(type, depth)
        kind = self.number(6)
        if kind == 6 and type == "float":
            return f"math.isclose({left}, {right}, abs_tol={self.pick(['0.5', '1e-3'])})"
        if kind == 5:
            third = self.expression(self.pick(["int", "float"]), depth)
            return f"({left} {self.pick(COMPARE)} {right} {self.pick(COMPARE)} {third})"
        if kind == 0:
            return f"(not {self.expression('bool', depth)})"
        if kind == 1:
            both = self.expression("bool", depth), self.expression("bool", depth)
            return f"({both[0]} {self.pick(['and', 'or', '==', '!='])} {both[1]})"
        if kind == 2:
            mixed = self.expression("int", depth), self.expression("float", depth)
            return f"({mixed[0]} {self.pick(COMPARE)} {mixed[1]})"
        return f"({left} {self.pick(COMPARE)} {right})"

    def buffers(self) -> list[str]:
        return [name for name, bound in self.scope.items() if bound in BUFFERS]

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
        kind = self.number(12)
        if kind == 12 and depth > 0:
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
                self.write(indent, f"for {name} in {one}:")
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
                self.write(indent, f"for {name}, {also} in zip({one}, {other}):")
                return {name: kinds[0], also: kinds[1]}
            case _:
                target = f"{other}[{self.index(1)}]"
                if kinds[1] == "int" and kinds[0] == "float":
                    target = also
                self.write(indent, f"for {name}, {target} in zip({one}, {one}):")
                return {name: kinds[0]}

    def bounds(self) -> str:
        buffers = self.buffers()
        small = f"({self.expression('int', 1)}) % 9"
        if buffers and self.number(1):
            buffer = self.pick(buffers)
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
    texts = ["import math", "from ppy import Buffer, f32, i8, i32, u8", ""]
    for number in range(functions):
        types = draw(
            st.lists(
                st.sampled_from(SCALARS[:2] * 4 + ["bool"] + BUFFERS[:2] * 4 + BUFFERS[2:])
                | st.sampled_from(list(TUPLES)),
                max_size=5,
            )
        )
        assert isinstance(types, list)
        result = str(draw(st.sampled_from(["int", "float", "float", "bool", *TUPLES])))
        name = f"f{number}"
        recursive = draw(st.integers(0, 4)) == 0
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
                writer.argument(type, 1) if type in BUFFERS else writer.expression(type, 1)
                for type in types[1 : len(types) - keywords]
            ]
            fresh = writer.name()
            writer.write(1, f"{fresh}: {result} = {name}({', '.join(['p0 - 1', *rest])})")
            writer.scope[fresh] = result
        writer.write(1, f"return {writer.expression(result, 3)}")
        texts += [f"def {name}({', '.join(head)}) -> {result}:", *writer.lines, "", ""]
        known[name] = Known(tuple(types), result, keywords)
    return "\n".join(texts)


def values(type: str) -> st.SearchStrategy[object]:
    """Arguments of a type, extreme ones included."""
    if type == "int":
        return st.sampled_from(INTS) | st.integers(-20, 20)
    if type == "float":
        return st.sampled_from([float(eval(text)) for text in FLOATS]) | st.floats()
    if type == "bool":
        return st.booleans()
    if type in TUPLES:
        return st.tuples(*(values(item) for item in TUPLES[type]))
    code = TYPECODES[type]
    if code in "df":
        width = 64 if code == "d" else 32
        some = st.sampled_from([0.0, -0.0, 1.5, -2.0]) | st.floats(width=width)
        return st.lists(some, max_size=7).map(lambda items: array.array(code, items))
    least, most = LIMITS[code]
    small = st.sampled_from([least, most, 0, 1, 2]) | st.integers(max(-20, least), 20)
    return st.lists(small, max_size=7).map(lambda items: array.array(code, items))


LIMITS = {
    "q": (-(2**63), 2**63 - 1),
    "i": (-(2**31), 2**31 - 1),
    "B": (0, 255),
    "b": (-128, 127),
}
