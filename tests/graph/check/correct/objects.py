"""Objects whose attributes come from elsewhere, classes that take what they do not show, and
functions that look as if they gave nothing."""

import enum
import sys
import typing
from dataclasses import KW_ONLY, InitVar, dataclass, field

import torch


class Open:
    def __init__(self, **given):
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        return name


class Base:
    def run(self):
        return self.step() + self.size


class Derived(Base):
    size = 3

    def step(self):
        return 1


class Mixed:
    def show(self):
        return self.title


class Titled:
    title = "t"


class Both(Mixed, Titled):
    pass


class Color(enum.Enum):
    RED = 1


class Point(typing.NamedTuple):
    x: int
    y: int = 0


class Meta(type):
    def __call__(cls, *given):
        return given


class Made(metaclass=Meta):
    pass


class Singleton:
    def __new__(cls, *given):
        return super().__new__(cls)


@dataclass
class Options:
    rate: float
    limit: typing.ClassVar[int] = 3
    seed: InitVar[int] = 0
    _: KW_ONLY
    deep: bool = False
    log: list = field(default_factory=list, init=False)

    def __post_init__(self, seed):
        self.total = seed


class Grown(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(1))
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(2))
        self.add_module("head", torch.nn.Linear(2, 2))

    def forward(self, batch, mask=None):
        for layer in self.layers:
            batch = layer(batch)
        return self.head(batch) + self.steps


class Shape:
    def area(self):
        raise NotImplementedError

    def name(self):
        pass


class Square(Shape):
    def area(self):
        return 4

    def name(self):
        return "square"


def total(shape):
    return shape.area() + len(shape.name())


def compare(first, second):
    found = None
    for each in (first, second):
        if found is None or each < found:
            found = each
    return found + 1


def pair(flag):
    values = (1, 2) if flag else (1, 2, 3)
    if len(values) == 2:
        first, second = values
        return first + second
    return None


@dataclass
class Configured:
    rate: float
    if sys.version_info >= (3, 8):
        depth: int = 3


class Replaced:
    def __init__(self) -> None:
        self.values = ()


def take_three(self: Replaced, a: int, b: int, c: int) -> None:
    self.values = (a, b, c)


Replaced.__init__ = take_three


print(Open(a=1).a, Derived().run(), Both().show(), Color(1).name, Point(1).x, Made(1, 2))
print(Singleton(1, 2) is not None, Options(0.1, 3, deep=True).total)
model = Grown()
print(model(torch.zeros(1, 2)).shape, model(torch.zeros(1, 2), mask=3).shape)
model.note = "kept"
print(model.note, total(Square()), compare(1, 2), pair(True), 1 == "a", "a" in ["b"])
print(Configured(1.0, 2).depth, Replaced(1, 2, 3).values)
