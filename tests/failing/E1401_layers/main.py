import torch
import torch.nn.functional as F
from torch import nn

WIDTH = 16


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.one = nn.Linear(8, WIDTH)
        self.two: nn.Linear = nn.Linear(32, 2)
        self.free = nn.Linear(hidden, 2)

    def forward(self, batch):
        inner = self.free(F.relu(self.one(batch)))
        return inner + self.two(torch.relu(self.one(batch)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, batch):
        return self.head(self.body(batch))


layer = nn.Linear(16, 8)
print(layer(torch.zeros(4, 32)))
print(layer(torch.zeros(4, 16)))
chain = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
print(chain(torch.zeros(4, 16)))
print(nn.Sequential(nn.Flatten(), nn.Linear(12, 2))(torch.zeros(4, 3, 4)))
print(Net(16)(torch.zeros(4, 8)), Block()(torch.zeros(4, 8)))
