"""Training steps with branches on values of Python, a function `run_*` for each. It is read as
text by `test_branching.py`.
"""

import torch
import torch.nn.functional as F
from torch import nn


def left(model):
    return [(p.detach(), p.grad, p._version) for p in model.parameters()]


def train(model, optimizer, x, y, kind):
    losses = []
    for _ in range(5):
        out = model(x)
        if kind == "l1":
            loss = F.l1_loss(out, y)
        elif kind == "mse":
            loss = F.mse_loss(out, y)
        else:
            loss = F.smooth_l1_loss(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def run_kinds():
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    found = []
    for kind in ("l1", "mse", "other"):
        model = nn.Linear(6, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        found.append((train(model, optimizer, x, y, kind), left(model)))
    return found


def regularised(model, optimizer, x, y, robust: bool, rate: float):
    losses = []
    for _ in range(5):
        loss = F.smooth_l1_loss(model(x), y) if robust else F.mse_loss(model(x), y)
        if rate > 0:
            loss = loss + 0.1 * model.weight.pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def run_two():
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    found = []
    for robust, rate in ((True, 0.1), (False, 0.1), (True, 0.0), (False, 0.0)):
        model = nn.Linear(6, 1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        found.append((regularised(model, optimizer, x, y, robust, rate), left(model)))
    return found


def run_logged():
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    lines = []
    for epoch in range(12):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        if epoch % 5 == 0:
            lines.append(f"epoch {epoch}: {loss.item():.4f}")
            print(lines[-1])
        loss.backward()
        optimizer.step()
    return lines, left(model)


def main():
    found = {}
    for name, run in [*globals().items()]:
        if name.startswith("run_"):
            torch.manual_seed(3)
            found[name] = run()
    return found
