"""A node as the rules see it: arguments by place, with the Python values of literals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.derivatives.builder import NotDifferentiable
from ppybuild.emit.tensors.ir import Argument, Constant, Items, Node, Value


@final
@dataclass(frozen=True, slots=True)
class Call:
    node: Node

    def __getitem__(self, index: int) -> Argument:
        return self.node.args[index]

    def __len__(self) -> int:
        return len(self.node.args)

    @property
    def out(self) -> Value:
        return self.node.results[0]

    @property
    def outs(self) -> tuple[Value, ...]:
        return self.node.results

    def value(self, index: int) -> Value:
        arg = self.node.args[index]
        if not isinstance(arg, Value):
            raise NotDifferentiable(f"{self.node.op} with a literal as argument {index + 1}")
        return arg

    def optional(self, index: int) -> Value | None:
        arg = self.node.args[index]
        return arg if isinstance(arg, Value) else None

    def number(self, index: int) -> float:
        arg = self.node.args[index]
        if not isinstance(arg, Constant) or not isinstance(arg.value, int | float):
            raise NotDifferentiable(
                f"{self.node.op} with argument {index + 1} not a known number"
            )
        return arg.value

    def integer(self, index: int) -> int:
        return int(self.number(index))

    def flag(self, index: int) -> bool:
        arg = self.node.args[index]
        return isinstance(arg, Constant) and bool(arg.value)

    def given(self, index: int) -> bool:
        return self.node.args[index] != Constant(None)

    def items(self, index: int) -> tuple[Argument, ...]:
        arg = self.node.args[index]
        return arg.items if isinstance(arg, Items) else (arg,)

    def values(self, index: int) -> tuple[Value, ...]:
        return tuple(item for item in self.items(index) if isinstance(item, Value))
