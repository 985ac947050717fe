"""Programs with layers that keep state, pool or activate, a function for each.

As `trained.py`, which it is run beside.
"""

import torch
import torch.nn.functional as F
from torch import nn


def left(model, optimizer):
    """What a program can see afterwards."""
    kept = [(name, value, value._version) for name, value in model.state_dict().items()]
    return kept, [(p.grad, p.requires_grad, p._version) for p in model.parameters()]


def normed_step(
    model: nn.Sequential, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_normed():
    model = nn.Sequential(
        nn.Linear(5, 8),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Linear(8, 6),
        nn.BatchNorm1d(6, 1e-3, 0.3, affine=False),
        nn.Linear(6, 2),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(30, 5), torch.randn(30, 2)
    losses = [normed_step(model, optimizer, x, y) for _ in range(4)]
    model.eval()
    losses.append(normed_step(model, optimizer, x, y))
    model.train()
    model[1].momentum = 0.5
    losses.append(normed_step(model, optimizer, x, y))
    model[1].momentum = 0.1
    try:
        normed_step(model, optimizer, x[:1], y[:1])
    except ValueError as error:
        losses.append(str(error))
    losses += [normed_step(model, optimizer, x[:n], y[:n]) for n in (2, 17)]
    return losses, left(model, optimizer)


class Pooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2)
        self.second = nn.Conv2d(4, 6, 3, padding=1)
        self.means = nn.AvgPool2d(3, 2, 1)
        self.last = nn.AdaptiveAvgPool2d((1, 1))
        self.flat = nn.Flatten()
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(torch.relu(self.norm(self.first(x))))
        x = x + F.max_pool2d(self.means(self.second(x)), 2).mean()
        x = F.dropout(self.flat(self.last(self.second(x))), 0.2, training=self.training)
        return self.head(x)


def pooled_step(
    model: Pooled, optimizer: torch.optim.Adam, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_pooled():
    model = Pooled()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x, y = torch.randn(9, 1, 12, 12), torch.randint(3, (9,))
    losses = [pooled_step(model, optimizer, x, y) for _ in range(5)]
    model.training = False
    losses.append(pooled_step(model, optimizer, x, y))
    return losses, left(model, optimizer), torch.rand(2)


def signal_step(
    model: nn.Sequential, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_signal():
    model = nn.Sequential(
        nn.Conv1d(2, 4, 3),
        nn.BatchNorm1d(4),
        nn.Mish(),
        nn.LogSigmoid(),
        nn.MaxPool1d(3, stride=2, ceil_mode=True),
        nn.AvgPool1d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(16, 3),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(11, 2, 19), torch.randint(3, (11,))
    losses = [signal_step(model, optimizer, x, y) for _ in range(5)]
    return losses, left(model, optimizer), torch.rand(2)


def activated_step(
    model: nn.Sequential, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_activated():
    model = nn.Sequential(
        nn.Linear(6, 8),
        nn.SiLU(),
        nn.Linear(8, 8),
        nn.LeakyReLU(0.1),
        nn.Softplus(),
        nn.Linear(8, 8),
        nn.ELU(0.5),
        nn.Softmax(dim=1),
        nn.GELU(approximate="tanh"),
        nn.Linear(8, 2),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(20, 6), torch.randn(20, 2)
    losses = [activated_step(model, optimizer, x, y) for _ in range(4)]
    return losses, left(model, optimizer)


RUNS = [run_normed, run_pooled, run_signal, run_activated]


def main():
    found = {}
    for run in RUNS:
        torch.manual_seed(1)
        found[run.__name__] = run()
    return found
