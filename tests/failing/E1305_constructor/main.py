from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Config:
    rate: float
    steps: int = 10
    names: list = field(default_factory=list)


class Env:
    def __init__(self, size, *, seed=0):
        self.size = size
        self.seed = seed


class Empty:
    pass


class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, batch, hidden):
        return self.layer(batch) + hidden


print(Config(steps=3))
print(Config(0.1, 3, [], 4))
print(Config("fast"))
print(Env())
print(Env(3, 4))
print(Env(3, sed=4))
print(Empty(1))
cell = Cell()
print(cell(torch.zeros(2, 3)))
count = 3
print(count())
