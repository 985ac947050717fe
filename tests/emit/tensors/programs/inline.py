"""Training steps inside other code: loops, methods, scripts. A `run_*` for each program."""

import pickle
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, features, hidden, out):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden)
        self.fc2 = nn.Linear(hidden, out)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def state(model):
    return [(p.detach().clone(), p.grad, p._version) for p in model.parameters()]


def run_shuffled():
    """Mini-batches by a permutation, with a progress line now and then."""
    X = torch.randn(128, 10)
    Y = (X[:, :1] * 2 - X[:, 1:2]).detach()
    model = Net(10, 32, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.MSELoss()
    history = []
    lines = []
    for epoch in range(2):
        perm = torch.randperm(X.size(0))
        total = 0.0
        for i in range(0, 128, 32):
            idx = perm[i : i + 32]
            xb, yb = X[idx], Y[idx]
            optimizer.zero_grad()
            out = model(xb)
            loss = criterion(out, yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * xb.size(0)
            if i == 0:
                lines.append(f"epoch {epoch}: {loss:.2f}")
        history.append(total)
    return history, lines, state(model), loss.item()


def make_model(width):
    return nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, 3))


def fit(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += float(loss)
    return total / len(loader)


@torch.no_grad()
def accuracy(model, X, y):
    model.eval()
    return (model(X).argmax(dim=1) == y).float().mean().item()


def run_loader():
    """A loader of a data set, a function for an epoch, one that evaluates, a factory."""
    X = torch.randn(96, 6)
    y = torch.randint(0, 3, (96,))
    loader = DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True)
    model = make_model(16).to("cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = [fit(model, loader, optimizer) for _ in range(3)]
    return losses, accuracy(model, X, y), state(model)


class Trainer:
    """A step as a method, and one inside the loop of another."""

    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        self.criterion = nn.L1Loss()
        self.steps = 0

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        return loss.item()

    def fit(self, X, Y, batch):
        losses = []
        for start in range(0, len(X), batch):
            losses.append(self.train_step(X[start : start + batch], Y[start : start + batch]))
        return losses


def run_trainer():
    X = torch.randn(40, 5)
    Y = X.sum(1, keepdim=True)
    trainer = Trainer(Net(5, 8, 1), 0.05)
    losses = trainer.fit(X, Y, 8)
    losses += trainer.fit(X, Y, 16)  # the last batch is smaller
    return losses, trainer.steps, state(trainer.model)


def run_by_hand():
    """Tensors and an update by hand, and a rate that falls."""
    x = torch.linspace(-1, 1, 50).unsqueeze(1)
    y = 3 * x + 0.5
    w = torch.zeros(1, 1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    lr = 0.2
    losses = []
    for step in range(6):
        if step == 4:
            lr *= 0.1
        pred = x @ w + b
        loss = ((pred - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
            b -= lr * b.grad
        w.grad = None
        b.grad = None
        losses.append(loss.item())
    return losses, w.detach(), b.detach(), w._version, w.requires_grad


def run_watched():
    """What is read afterwards needs the graph, or may fail: Python's own steps."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(16, 4)
    kept = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        kept.append(loss)
    message = ""
    try:
        optimizer.zero_grad()
        loss = model(x[:, :3]).pow(2).mean()
        loss.backward()
        optimizer.step()
    except RuntimeError as error:
        message = str(error)
    return [k.requires_grad for k in kept], message, state(model)


def run_errors():
    """A batch that does not fit: the exception, its lines, and what was done before it."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []

    def go(x):
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())

    go(torch.randn(16, 4))
    try:
        go(pickle.loads(pickle.dumps(torch.randn(16, 5))))
    except RuntimeError as error:
        frames = traceback.extract_tb(error.__traceback__)
        seen.append([(frame.name, frame.lineno) for frame in frames[1:3]])
    seen.append([p.grad is None for p in model.parameters()])
    return seen, state(model)


def main():
    return {name: found() for name, found in list(globals().items()) if name.startswith("run_")}
