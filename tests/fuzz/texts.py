"""Generated expressions about text, and about generators."""

from __future__ import annotations

from tests.fuzz.expressions import COMPARE, Expressions
from tests.fuzz.values import ELEMENT

LETTERS = ["a", "Z", "7", " ", "é", "ß", "\\u0101", "\\U0001f600"]
TESTS = ["isalpha", "isdigit", "isspace", "isalnum", "isupper", "islower", "isnumeric"]


class Texts(Expressions):
    """Adds to what ints and bools are made of."""

    def int_expression(self, depth: int) -> str:
        match self.number(9):
            case 8 if self.names("str"):
                return self.text_number(depth)
            case 9:
                return f"sum({self.generated('int', depth)})"
        return super().int_expression(depth)

    def float_expression(self, depth: int) -> str:
        if self.number(11) == 11:
            function = self.pick(["sum", "min", "max"])
            return f"float({function}({self.generated('float', depth)}))"
        return super().float_expression(depth)

    def bool_expression(self, depth: int) -> str:
        match self.number(9):
            case 8 if self.names("str"):
                return self.text_test(depth)
            case 9:
                return f"{self.pick(['any', 'all'])}({self.generated('bool', depth)})"
        return super().bool_expression(depth)

    def text(self) -> str:
        name = self.pick(self.names("str"))
        return name if self.number(2) else f"{name}[{self.bound()}:{self.bound()}]"

    def character(self, depth: int) -> str:
        name = self.pick(self.names("str"))
        plain = f"{name}[({self.expression('int', depth)}) % max(len({name}), 1)]"
        return self.pick([plain, plain, f"{plain}.lower()", f"{name}[{self.number(2)} - 1]"])

    def text_number(self, depth: int) -> str:
        character = self.character(depth)
        forms = [f"ord({character})", f"ord({character})", f"len({self.text()})"]
        count = f"sum(1 for ch in {self.text()}{self.step()} if ch {self.pick(COMPARE)} 'b')"
        return self.pick([*forms, f"int({character})", count])

    def text_test(self, depth: int) -> str:
        one, other = self.character(depth), self.character(depth)
        letters = "".join(self.pick(LETTERS) for _ in range(self.number(4)))
        return self.pick(
            [
                f"({one} {self.pick(COMPARE)} {other})",
                f"({self.text()} {self.pick(COMPARE)} {self.text()})",
                f"({self.text()} {self.pick(['==', '!='])} '{letters}')",
                f"({one} {self.pick(['in', 'not in'])} '{letters}')",
                f"({one} in {self.text()})",
                f"({one} in ('a', '7', '{letters}'))",
                f"{one}.{self.pick(TESTS)}()",
                f"{self.text()}.{self.pick(['startswith', 'endswith'])}('{letters}')",
            ]
        )

    def step(self) -> str:
        return self.pick(["", "", "[::2]", "[::-1]", "[1:-1:3]", f"[::{self.leaf('int')}]"])

    def generated(self, type: str, depth: int) -> str:
        """A generator expression over a buffer or a range, whose variable is `g`."""
        sources = [name for name in self.readable() if ELEMENT[self.scope[name]] == type]
        inner = "int" if type == "bool" else type
        outer = dict(self.scope)
        if sources and self.number(2):
            source = f"{self.pick(sources)}{self.step()}"
            self.scope["g"] = type
        else:
            source = f"range(({self.expression('int', 0)}) % 7)"
            self.scope["g"] = "int"
        item = self.expression(type, min(depth, 1))
        where = f" if {self.expression('bool', 1)}" if self.number(2) == 0 else ""
        self.scope = outer
        if type == inner and self.number(1):
            item = f"g + {item}"
        return f"{item} for g in {source}{where}"
