"""Draws what generated functions do with arrays and lists of their own."""

from __future__ import annotations

from tests.fuzz.texts import Texts
from tests.fuzz.values import ELEMENT, LISTS, TYPECODES

MADE = {"Buffer[float]": "float", "Buffer[int]": "int", **LISTS}


class Made(Texts):
    """Statements about arrays that are made; `write` and `name` are the writer's."""

    own: list[str]
    """Names that stand for what the function has made."""

    def write(self, indent: int, line: str) -> None:
        raise NotImplementedError

    def name(self) -> str:
        raise NotImplementedError

    def made(self, type: str) -> str:
        """An expression that makes an array or a list of this type."""
        item = MADE[type]
        count = f"({self.expression('int', 1)}) % 9"
        sources = [name for name in self.readable() if ELEMENT[self.scope[name]] == item]
        number = self.expression(item, 1)
        forms = [f"[{number}] * ({count})", f"[{number}, {self.expression(item, 1)}]"]
        forms += [f"[{self.inside(item)} for x in range({count})]"]
        if sources:
            source = self.pick(sources)
            forms += [
                f"[{self.pick(['x', '-x', number])} for x in {source}]",
                f"[x for x in {source} if {self.pick(['x > 0', 'x != x', 'x <= 1'])}]",
                f"list({source})",
            ]
        text = self.pick(forms)
        if type not in TYPECODES:
            return text
        code = TYPECODES[type]
        return self.pick([f'array.array("{code}", {text})', f'array.array("{code}")'])

    def inside(self, item: str) -> str:
        """What a comprehension over a range gives."""
        if item == "int":
            return self.pick(["x", "x * x", "7 - x", self.expression("int", 1)])
        return self.pick(["x * 0.5", "1.0 / (x + 1)", self.expression("float", 1)])

    def make(self, indent: int) -> None:
        """Make one, or use one that is there."""
        held = [name for name in self.own if name in self.scope]
        if not held or self.number(2) == 0:
            type = self.pick(list(MADE))
            again = [name for name in held if self.scope[name] == type]
            target = self.pick(again) if again and self.number(2) == 0 else self.name()
            self.write(indent, f"{target} = {self.made(type)}")
            self.scope[target] = type
            self.own.append(target)
            return
        name = self.pick(held)
        item = MADE[self.scope[name]]
        alike = [each for each in held if self.scope[each] == self.scope[name]]
        match self.number(5):
            case 0 | 1:
                self.write(indent, f"{name}.append({self.expression(item, 2)})")
            case 2:
                fresh = self.name()
                self.write(indent, f"{fresh}: {item} = {self.leaf(item)}")
                self.write(indent, f"if len({name}) > {self.number(1)}:")
                self.write(indent + 1, f"{fresh} = {name}.pop()")
                self.scope[fresh] = item
            case 3:
                index = f"{name}[{self.index(1)}]"
                self.write(indent, f"{index} = {self.expression(item, 2)}")
            case 4:
                self.write(indent, f"{self.pick(alike)} = {self.pick(alike)}")
            case _:
                one, other = self.pick(alike), self.pick(alike)
                self.write(indent, f"{one}, {other} = {other}, {one}")
