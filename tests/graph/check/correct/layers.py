"""Layers whose widths change between where they are made and where they are called."""

import torch
import torch.nn.functional as F
from torch import nn


class Grown(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.one = nn.Linear(8, 16)
        if wide:
            self.two = nn.Linear(32, 2)
        else:
            self.two = nn.Linear(16, 2)
        self.three = nn.Linear(4, 2)
        self.parts = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Unflatten(1, (2, 2)))
        self.chain = nn.Sequential(nn.Linear(8, 4), nn.GLU(), nn.Linear(2, 3))

    def forward(self, batch):
        inner = self.one(batch)
        if self.two.in_features == 32:
            inner = torch.cat([inner, inner], dim=-1)
        return self.parts(self.two(F.relu(inner))), self.chain(batch)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 2)
        self.pair = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 6))

    def forward(self, batch):
        first = self.pair[0](batch)
        return self.pair[1](torch.cat([first, first[:, :1]], dim=1))


model = Grown(True)
model.three = nn.Linear(2, 2)
print(model(torch.zeros(3, 8))[0].shape, model.three(torch.zeros(1, 2)).shape)
head = Head()
head.last.in_features = 7
print(head(torch.zeros(1, 3)).shape)
layer = nn.Linear(4, 2)
for size in (4, 6):
    layer = nn.Linear(size, 2)
    print(layer(torch.zeros(1, size)).shape)
