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
MATH = ["sqrt", "exp", "log", "sin", "tanh", "fabs", "floor", "ceil", "trunc", "atan", "log2"]
SCALARS = ["int", "float", "bool"]
BUFFERS = ["Buffer[float]", "Buffer[int]"]
ELEMENT = {"Buffer[float]": "float", "Buffer[int]": "int"}


@dataclass
class Writer:
    """Draws one function; `scope` maps the variables bound so far to their types."""

    draw: Draw
    scope: dict[str, str]
    known: Mapping[str, tuple[tuple[str, ...], str]]
    """Functions written before this one: parameter types and result type."""
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
        leaf = depth <= 0 or self.number(4) == 0
        return self.leaf(type) if leaf else getattr(self, f"{type}_expression")(depth - 1)

    def leaf(self, type: str) -> str:
        names = self.names(type)
        if names and self.number(3):
            return self.pick(names)
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
        buffers = [name for name, bound in self.scope.items() if bound in BUFFERS]
        if buffers and self.number(3):
            return f"({index}) % max(len({self.pick(buffers)}), 1)"
        return index

    def call(self, type: str, depth: int) -> str:
        fitting = [
            name
            for name, (parameters, result) in self.known.items()
            if result == type
            and all(kind in SCALARS or self.names(kind) for kind in parameters)
        ]
        if not fitting:
            return self.leaf(type)
        name = self.pick(fitting)
        args = [
            self.expression(kind, depth) if kind in SCALARS else self.pick(self.names(kind))
            for kind in self.known[name][0]
        ]
        return f"{name}({', '.join(args)})"

    def int_expression(self, depth: int) -> str:
        def some() -> str:
            return self.expression("int", depth)

        kind = self.number(13)
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

        kind = self.number(11)
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
        kind = self.number(4)
        if kind == 0:
            return f"(not {self.expression('bool', depth)})"
        if kind == 1:
            both = self.expression("bool", depth), self.expression("bool", depth)
            return f"({both[0]} {self.pick(['and', 'or', '==', '!='])} {both[1]})"
        if kind == 2:
            mixed = self.expression("int", depth), self.expression("float", depth)
            return f"({mixed[0]} {self.pick(COMPARE)} {mixed[1]})"
        return f"({left} {self.pick(COMPARE)} {right})"

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
        kind = self.number(11)
        if kind <= 2:
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
        type = self.pick(SCALARS)
        value = self.expression(type, 3)
        name = self.name()
        self.write(indent, f"{name}: {type} = {value}")
        self.scope[name] = type

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
        buffers = [name for name, bound in self.scope.items() if bound in BUFFERS]
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
        else:
            self.write(indent, f"for {name} in range({self.bounds()}):")
        outer = dict(self.scope)
        self.scope[name] = "int"
        self.block(indent + 1, depth - 1, looping=True)
        self.scope = outer
        if self.number(5) == 0:
            self.write(indent, "else:")
            self.block(indent + 1, depth - 1, looping=False)

    def bounds(self) -> str:
        buffers = [name for name, bound in self.scope.items() if bound in BUFFERS]
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
    known: dict[str, tuple[tuple[str, ...], str]] = {}
    texts = ["import math", "from ppy import Buffer", ""]
    for number in range(functions):
        types = draw(
            st.lists(st.sampled_from(SCALARS[:2] * 2 + ["bool"] + BUFFERS * 2), max_size=4)
        )
        assert isinstance(types, list)
        result = str(draw(st.sampled_from(["int", "float", "float", "bool"])))
        scope = {f"p{position}": type for position, type in enumerate(types)}
        writer = Writer(draw, dict(scope), known)
        header = ", ".join(f"{name}: {type}" for name, type in scope.items())
        for _ in range(1 + writer.number(4)):
            writer.statement(1, 2, looping=False)
        writer.write(1, f"return {writer.expression(result, 3)}")
        texts += [f"def f{number}({header}) -> {result}:", *writer.lines, "", ""]
        known[f"f{number}"] = (tuple(types), result)
    return "\n".join(texts)


def values(type: str) -> st.SearchStrategy[object]:
    """Arguments of a type, extreme ones included."""
    if type == "int":
        return st.sampled_from(INTS) | st.integers(-20, 20)
    if type == "float":
        return st.sampled_from([float(eval(text)) for text in FLOATS]) | st.floats()
    if type == "bool":
        return st.booleans()
    if type == "Buffer[float]":
        return st.lists(values("float"), max_size=7).map(lambda items: array.array("d", items))
    small = st.sampled_from(INTS[:-1]) | st.integers(-20, 20)
    return st.lists(small, max_size=7).map(lambda items: array.array("q", items))
