"""Generated expressions: mixed arithmetic, items and slices of buffers, calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.fuzz.values import BUFFERS, ELEMENT, FLOATS, INTS, PASSED, SLICES, TUPLES, Draw

INT_BINARY = ["+", "-", "*", "//", "%", "&", "|", "^"]
FLOAT_BINARY = ["+", "-", "*", "/", "//", "%"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
MATH = [
    "sqrt", "exp", "log", "sin", "tanh", "fabs", "floor", "ceil", "trunc", "atan", "log2",
    "gamma", "lgamma", "hypot",
]  # fmt: skip


@dataclass(frozen=True)
class Known:
    """A function that may be called."""

    parameters: tuple[str, ...]
    result: str
    keywords: int = 0
    """How many parameters, from the last, have defaults."""


@dataclass
class Expressions:
    """Draws expressions; `scope` maps the variables bound so far to their types."""

    draw: Draw
    scope: dict[str, str]
    known: Mapping[str, Known]
    """Functions written before this one, and this one itself where it may recurse."""

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
            and all(kind not in PASSED or self.names(kind) for kind in known.parameters)
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
            slices = self.names(SLICES[kind])
            if slices and self.number(1):
                return self.pick(slices)
        if kind in PASSED:
            return self.items(self.pick(self.names(kind)))
        return self.expression(kind, depth)

    def items(self, name: str) -> str:
        """A buffer or a slice by its name, or a slice of it."""
        return name if self.number(2) else f"{name}[{self.bound()}:{self.bound()}]"

    def bound(self) -> str:
        return self.pick(["", "0", "1", "-1", "3", "-2", self.leaf("int")])

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
                return f"float(math.{function}({self.items(self.pick(buffers))}))"
            return f"math.{function}(({some()}, {self.expression('int', depth)}, {some()}))"
        if kind == 12:
            exponent = self.pick(["2", "3", "-1", "0.5", "-2.0", some()])
            return f"float(abs({some()}) ** {exponent})"
        if kind == 13:
            buffers = [name for name in self.buffers() if ELEMENT[self.scope[name]] == "float"]
            if buffers:
                items = self.items(self.pick(buffers))
                return f"float({self.pick(['sum', 'min', 'max'])}({items}))"
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

    def readable(self) -> list[str]:
        return [name for name, bound in self.scope.items() if bound in ELEMENT]
